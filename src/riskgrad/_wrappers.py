"""The wrappers that `gymnasium.make` puts around an environment."""

from typing import Any

import gymnasium
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit


def bare(env: "gymnasium.Env[Any, Any]") -> "gymnasium.Env[Any, Any]":
    """Take off the wrappers of `gymnasium.make`, from the outside until something else is met."""
    layer: Any = env
    while _is_of_make(layer):
        layer = layer.env
    return layer


def time_limit(env: "gymnasium.Env[Any, Any]") -> int | None:
    """Give the shortest time limit among the wrappers of an environment, or that of its specification."""
    limits: list[int] = []
    layer: Any = env
    while layer is not env.unwrapped:
        limits += [int(layer._max_episode_steps)] if _limits(layer) else []  # noqa: SLF001 - has no public name
        layer = layer.env
    if limits:
        return min(limits)
    return env.spec.max_episode_steps if env.spec is not None else None


def _is_of_make(layer: object) -> bool:
    return isinstance(layer, TimeLimit | OrderEnforcing | PassiveEnvChecker)


def _limits(layer: object) -> bool:
    return isinstance(layer, TimeLimit)

"""Which Gymnasium ids have a compiled twin."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from riskgrad.envs.base import CompiledEnv
from riskgrad.envs.maze import compiled_maze

TWINS: Mapping[str, Callable[..., CompiledEnv]] = {
    "riskgrad/GuardedMaze-v0": compiled_maze,
}


def compiled_twin(identifier: str, options: Mapping[str, Any] | None = None) -> CompiledEnv | None:
    """Give the compiled twin of a Gymnasium id, or None where there is none that knows the options.

    Args:
        identifier: the id, such as "CartPole-v1".
        options: options for `gymnasium.make`.
    """
    twin, given = TWINS.get(identifier), dict(options or {})
    if twin is None or not set(given) <= set(inspect.signature(twin).parameters):
        return None
    return twin(**given)

"""How environments are made: what goes wrong, and the wrappers that `gymnasium.make` puts around them."""

import contextlib
import sys
import warnings
from collections.abc import Generator
from typing import Any

import gymnasium
from gymnasium.envs.registration import find_highest_version, get_env_id, parse_env_id
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from riskgrad.errors import InputError, RiskgradError

SELF_EXPLAINING = (gymnasium.error.Error, TypeError, ImportError)  # their messages need no kind of error in front


def full_id(name: str) -> str:
    """Give an id with its version: without one the highest that is registered, as `gymnasium.make` takes it."""
    try:
        space, plain, version = parse_env_id(name)
    except gymnasium.error.Error:
        return name
    highest = find_highest_version(space, plain) if version is None and name not in gymnasium.registry else None
    return name if highest is None else get_env_id(space, plain, highest)


def refuse_import(name: str, advice: str) -> str:
    """Give the name of an environment that a file holds; refuse one whose module would have to be imported.

    An id such as "module:Name-v0" imports the module, and modules run code: whoever wrote the file would run code on
    the machine of whoever reads it. One that is imported already, as after a training in this process, runs nothing.

    Args:
        name: what the file says.
        advice: how a user who trusts the module names it instead.
    """
    module = name.rpartition(":")[0]
    if module and module not in sys.modules:
        rule = "be registered already where a file names it, since importing its module runs code"
        raise InputError("env", rule, name, advice)
    return name


@contextlib.contextmanager
def explain_failure(name: str, rule: str = "be an environment that can be built") -> Generator[None]:
    """Say in one line why an environment cannot be built, whatever its module or constructor raises."""
    try:
        yield
    except RiskgradError:
        raise
    except (Exception, SystemExit) as error:  # a module that is a script ends the program
        words = str(error) if isinstance(error, SELF_EXPLAINING) else f"{type(error).__name__}: {error}"
        raise InputError("env", rule, name, words) from error


def close_or_warn(thing: Any, name: str) -> None:
    """Close an environment, or what holds environments; only warn where that fails, since the work is done by then."""
    try:
        thing.close()
    except Exception as error:
        warnings.warn(f"{name} could not be closed: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2)


def strip_wrappers(env: "gymnasium.Env[Any, Any]") -> "gymnasium.Env[Any, Any]":
    """Take off the wrappers of `gymnasium.make`, from the outside to the first one that is not among them."""
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

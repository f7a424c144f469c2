"""How environments are made: errors, the wrappers of `gymnasium.make`, and the limit on the steps of an episode."""

import contextlib
import sys
import warnings
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final, cast

import gymnasium
import numpy as np
from gymnasium.envs.registration import find_highest_version, get_env_id, parse_env_id
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from riskgrad.errors import InputError, RiskgradError

DEFAULT_LIMIT: Final = 1000  # steps, where an environment has no limit of its own
LARGEST_LIMIT: Final = 10**7  # a larger number stands for no limit
# where environments keep a limit of their own: those of RL libraries, MiniGrid, or-gymnasium, pyRDDLGym
LIMIT_NAMES: Final = ("max_episode_steps", "_max_episode_steps", "max_steps", "step_limit", "episode_length", "horizon")
SELF_EXPLAINING = (gymnasium.error.Error, TypeError, ImportError)  # their messages need no class name in front


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

    An id such as "module:Name-v0" imports the module, and modules run code: the author of the file would run code on
    the reader's machine. A module that is imported already, as after a training in this process, runs nothing more.

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


@dataclass(frozen=True)
class StepLimit:
    """The number of steps after which an episode is cut, and where that number comes from.

    Attributes:
        steps: the number of steps.
        note: what a reader of a run must know about the limit; empty where the user or a time limit sets it.
        is_default: whether it is riskgrad's default, since nothing else gives a limit.
    """

    steps: int
    note: str = ""
    is_default: bool = False

    @property
    def warning(self) -> str:
        """The note for episodes that reach the default limit."""
        return f"episodes reached the {self.steps:,} steps after which they are cut by default; give horizon="


def find_limit(env: "gymnasium.Env[Any, Any]", given: int | None) -> StepLimit:
    """Find after how many steps an episode is cut.

    What the user says goes first, then a time limit, then a number that the environment has under a usual name, from
    the outermost wrapper inward; else it is DEFAULT_LIMIT.

    Args:
        env: the environment, with its wrappers.
        given: what the user says, if anything.
    """
    steps = time_limit(env) if given is None else given
    if steps is not None:
        return StepLimit(steps)
    layer: Any = env
    while True:
        for name in LIMIT_NAMES:
            if (found := _own_count(layer, name)) is not None:
                return StepLimit(found, f"episodes are cut after {found:,} steps, the environment's {name}")
        if layer is env.unwrapped:
            break
        layer = layer.env
    note = (
        f"episodes are cut after {DEFAULT_LIMIT:,} steps, since the environment has no limit of its own; see horizon="
    )
    return StepLimit(DEFAULT_LIMIT, note, is_default=True)


def _own_count(layer: object, name: str) -> int | None:
    """Give the number of steps that a layer itself has under a name; None where it has none that can be one."""
    found: object = vars(layer).get(name)
    is_count = isinstance(found, int | np.integer) and not isinstance(found, bool)
    steps = int(cast("int", found)) if is_count else 0
    return steps if 1 <= steps <= LARGEST_LIMIT else None


def _is_of_make(layer: object) -> bool:
    return isinstance(layer, TimeLimit | OrderEnforcing | PassiveEnvChecker)


def _limits(layer: object) -> bool:
    return isinstance(layer, TimeLimit)

"""The compiled twins of Gymnasium environments, by id."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium

from riskgrad.envs import acrobot, cart_pole, mountain_car
from riskgrad.envs.base import CompiledEnv
from riskgrad.envs.maze import compiled_maze
from riskgrad.kinds import checks_kinds

OWN = ("gymnasium.envs.classic_control.", "riskgrad.envs.")  # modules of the environments with a twin


def _classic(file: Any) -> Callable[[], CompiledEnv]:
    """Give a function that makes the environment of a file from its shape and its functions."""

    def make() -> CompiledEnv:
        functions = {name: getattr(file, name) for name in ("reset", "step", "observe", "play")}
        return CompiledEnv(**functions, **file.SHAPE._asdict())

    make.__doc__ = str(file.__doc__)
    return make


TWINS: Mapping[str, Callable[..., CompiledEnv]] = {
    **{file.SHAPE.id: _classic(file) for file in (acrobot, cart_pole, mountain_car)},
    "riskgrad/GuardedMaze-v0": compiled_maze,
}


@checks_kinds
def compiled_twin(identifier: str, options: Mapping[str, Any] | None = None) -> CompiledEnv | None:
    """Give the compiled twin of a Gymnasium id, or None where there is none that takes the options.

    An id that was registered again, for another environment, step limit or wrapper, has no twin either.

    Args:
        identifier: the id, such as "CartPole-v1".
        options: options for `gymnasium.make`.
    """
    twin, given = TWINS.get(identifier), dict(options or {})
    if twin is None or not set(given) <= set(inspect.signature(twin).parameters):
        return None
    made, spec = twin(**given), gymnasium.spec(identifier)
    same = str(spec.entry_point).startswith(OWN) and spec.max_episode_steps == made.horizon
    return made if same and not spec.additional_wrappers else None

"""Environments in which risk matters, and compiled twins of well-known ones.

Importing this folder registers `riskgrad/GuardedMaze-v0` with Gymnasium. Its names are loaded when they are asked for,
so that the import takes no longer than that of Gymnasium.
"""

import importlib
from typing import TYPE_CHECKING, Any

from gymnasium.envs.registration import (
    register,  # pyright: ignore[reportUnknownVariableType]
    registry,
)

if TYPE_CHECKING:
    from riskgrad.envs.base import CompiledEnv as CompiledEnv
    from riskgrad.envs.floor_plan import FloorPlan as FloorPlan
    from riskgrad.envs.guarded_maze import GuardedMaze as GuardedMaze
    from riskgrad.envs.twins import compiled_twin as compiled_twin

_HOMES = {
    "CompiledEnv": "riskgrad.envs.base",
    "FloorPlan": "riskgrad.envs.floor_plan",
    "GuardedMaze": "riskgrad.envs.guarded_maze",
    "compiled_twin": "riskgrad.envs.twins",
}

__all__ = ["CompiledEnv", "FloorPlan", "GuardedMaze", "compiled_twin"]

if "riskgrad/GuardedMaze-v0" not in registry:
    register(id="riskgrad/GuardedMaze-v0", entry_point="riskgrad.envs.guarded_maze:GuardedMaze", max_episode_steps=160)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'riskgrad.envs' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__

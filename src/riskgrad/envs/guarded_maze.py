"""The guarded maze as a Gymnasium environment, `riskgrad/GuardedMaze-v0`.

The dynamics, the map and their source are in `maze`; this class only draws the random numbers and the pictures, so that
it and the compiled environment are one process. The limit of 160 steps is Gymnasium's `TimeLimit`.
"""

from typing import Any, Final, Literal

import gymnasium
import numpy as np
from numpy.typing import NDArray

from riskgrad.envs import maze
from riskgrad.envs.floor_plan import FloorPlan
from riskgrad.envs.maze_picture import picture
from riskgrad.errors import InputError
from riskgrad.types import FloatArray

Observation = Literal["cells", "position"]
PLAN: Final = FloorPlan(
    columns=maze.SIZE,
    rows=maze.SIZE,
    walls=frozenset((int(x), int(y)) for x, y in np.argwhere(maze.WALLS)),
    goals=frozenset([maze.GOAL]),
    hazards={maze.GUARDED: "guarded"},
    start=(maze.START_LOW, maze.START_LOW, maze.START_HIGH, maze.START_HIGH),
    moves=tuple((float(right), float(up)) for right, up in maze.MOVES),
)


class GuardedMaze(gymnasium.Env[FloatArray, np.int64]):
    """A maze whose short way passes a guard, who is seldom there and then costs dearly.

    Actions: 0 east, 1 north, 2 west, 3 south. `info` holds the position, and after a step the cost paid to the guard.

    Args:
        observation: "cells" for the 64 weights of a soft one-hot of the position, "position" for (x, y).
        render_mode: "rgb_array" for pictures, or None.

    Attributes:
        floor_plan: what stands where, for pictures of what a policy does.
    """

    floor_plan: Final = PLAN
    metadata = {"render_modes": ["rgb_array"], "render_fps": 8}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, observation: Observation = "cells", render_mode: str | None = None) -> None:
        self._cells = maze.observed_as(observation) == "cells"
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError("render_mode", "be 'rgb_array' or None", render_mode)
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "soft_one_hot": self._cells}
        high, shape = (1.0, (maze.SIZE**2,)) if self._cells else (maze.SIZE - 1.0, (2,))
        self.observation_space = gymnasium.spaces.Box(0.0, high, shape, dtype=np.float64)
        self.action_space = gymnasium.spaces.Discrete(maze.N_ACTIONS)
        self._state = np.zeros(maze.STATE_SIZE)
        self._path: list[tuple[float, float]] = []

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> tuple[FloatArray, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        x, y, guard = self.np_random.random(3)
        maze.start(self._state, x, y, guard, self.np_random.standard_exponential())
        self._path = [self.position]
        return self._observed(), {"position": self.position}

    def step(self, action: np.int64) -> tuple[FloatArray, float, bool, bool, dict[str, Any]]:
        """Make a move."""
        if not self.action_space.contains(action):
            raise InputError("action", "be 0, 1, 2 or 3", action)
        if not self._path:
            raise InputError("step", "come after reset", "no episode")
        east, north = self.np_random.standard_normal(2)
        owed = float(self._state[2])
        reward, over = maze.move(self._state, int(action), east, north)
        self._path.append(self.position)
        return self._observed(), reward, over, False, {"position": self.position, "paid": owed - float(self._state[2])}

    def render(self) -> NDArray[np.uint8] | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Draw the maze and the way walked so far, [height, width, 3]."""
        return None if self.render_mode is None else picture(self._path)

    @property
    def position(self) -> tuple[float, float]:
        """Where the walker is, (x, y)."""
        return float(self._state[0]), float(self._state[1])

    def _observed(self) -> FloatArray:
        if not self._cells:
            return self._state[:2].copy()
        indices, values = np.empty(4, dtype=np.int64), np.empty(4)
        maze.observe(self._state, indices, values)
        observation = np.zeros(maze.SIZE**2)
        observation[indices] = values
        return observation

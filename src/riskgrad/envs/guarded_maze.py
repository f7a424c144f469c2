"""The guarded maze as a Gymnasium environment, `riskgrad/GuardedMaze-v0`.

`maze` holds the map, the dynamics and their source; the class here only draws the random numbers, so that it has the
same dynamics as the compiled environment. Pictures are made with NumPy alone. The limit of 160 steps is that of
Gymnasium's `TimeLimit`.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, Literal

import gymnasium
import numpy as np
from numpy.typing import NDArray

from riskgrad.envs import maze
from riskgrad.envs.floor_plan import FloorPlan
from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls
from riskgrad.types import FloatArray

Image = NDArray[np.uint8]
Observation = Literal["cells", "position"]

CELL: Final = 48  # side of a cell in pixels
FLOOR, WALL, GRID = (247, 246, 242), (64, 66, 72), (226, 224, 217)
GOAL, GUARDED, WAY, WALKER = (88, 160, 104), (208, 92, 76), (116, 146, 190), (34, 72, 140)

PLAN: Final = FloorPlan(
    columns=maze.SIZE,
    rows=maze.SIZE,
    walls=frozenset((int(x), int(y)) for x, y in np.argwhere(maze.WALLS)),
    goals=frozenset([maze.GOAL]),
    hazards={maze.GUARDED: "guarded"},
    start=(maze.START_LOW, maze.START_LOW, maze.START_HIGH, maze.START_HIGH),
    moves=tuple((float(right), float(up)) for right, up in maze.MOVES),
)


@checks_calls
class GuardedMaze(gymnasium.Env[FloatArray, np.int64]):
    """A maze whose short way passes a guard, who is seldom there and then costs dearly.

    Actions: 0 east, 1 north, 2 west, 3 south. `info` holds the position, and after a step the cost paid to the guard.

    Args:
        observation: "cells" for the 64 weights of a soft one-hot of the position, "position" for (x, y).
        render_mode: "rgb_array" for pictures, or None.

    Attributes:
        floor_plan: the layout, on which reports draw the walks of a policy.
    """

    floor_plan: Final = PLAN
    metadata = {"render_modes": ["rgb_array"], "render_fps": 8}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, observation: Observation = "cells", render_mode: str | None = None) -> None:
        self._cells = maze.check_observation(observation) == "cells"
        if render_mode is not None and (not isinstance(render_mode, str) or render_mode != "rgb_array"):
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
        return self._observation(), {"position": self.position}

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
        return (
            self._observation(),
            reward,
            over,
            False,
            {"position": self.position, "paid": owed - float(self._state[2])},
        )

    def render(self) -> Image | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Draw the maze and the way walked so far, [height, width, 3]."""
        return None if self.render_mode is None else draw_maze(self._path)

    @property
    def position(self) -> tuple[float, float]:
        """The position of the walker, (x, y)."""
        return float(self._state[0]), float(self._state[1])

    def _observation(self) -> FloatArray:
        if not self._cells:
            return self._state[:2].copy()
        indices, values = np.empty(4, dtype=np.int64), np.empty(4)
        maze.observe(self._state, indices, values)
        observation = np.zeros(maze.SIZE**2)
        observation[indices] = values
        return observation


def draw_maze(path: Sequence[tuple[float, float]]) -> Image:
    """Give an image [384, 384, 3] of the maze and a walk, with the walker at its last position; y points upwards."""
    image = _ground()
    for (x, y), (to_x, to_y) in pairwise(path):
        for part in np.linspace(0.0, 1.0, CELL // 3):
            _dot(image, x + part * (to_x - x), y + part * (to_y - y), 0.05, WAY)
    if path:
        _dot(image, *path[-1], 0.22, WALKER)
    return image[::-1].copy()


def _ground() -> Image:
    image = np.empty((maze.SIZE * CELL, maze.SIZE * CELL, 3), dtype=np.uint8)
    image[:] = FLOOR
    image[::CELL], image[:, ::CELL] = GRID, GRID
    cells = [(int(x), int(y), WALL) for x, y in np.argwhere(maze.WALLS)]
    for x, y, color in [*cells, (*maze.GOAL, GOAL), (*maze.GUARDED, GUARDED)]:
        image[y * CELL : (y + 1) * CELL, x * CELL : (x + 1) * CELL] = color
    return image


def _dot(image: Image, x: float, y: float, radius: float, color: tuple[int, int, int]) -> None:
    """Fill a disc; position and radius are in cells."""
    across, up, reach = (x + 0.5) * CELL, (y + 0.5) * CELL, radius * CELL
    rows = slice(max(0, int(up - reach)), int(up + reach) + 2)
    columns = slice(max(0, int(across - reach)), int(across + reach) + 2)
    part = image[rows, columns]
    high, wide = np.ogrid[rows.start : rows.start + part.shape[0], columns.start : columns.start + part.shape[1]]
    part[(high - up) ** 2 + (wide - across) ** 2 <= reach * reach] = color

"""A picture of the guarded maze, drawn with arrays alone: walls, goal, guarded cell, the way walked, the walker."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from riskgrad.envs import maze

CELL: Final = 48  # pixels
FLOOR, WALL, GRID = (247, 246, 242), (64, 66, 72), (226, 224, 217)
GOAL, GUARDED, WAY, WALKER = (88, 160, 104), (208, 92, 76), (116, 146, 190), (34, 72, 140)

Picture = NDArray[np.uint8]


def picture(path: Sequence[tuple[float, float]]) -> Picture:
    """Draw the maze with y upwards and the positions of a walk, the last one as the walker: [384, 384, 3]."""
    image = _ground()
    for (x, y), (to_x, to_y) in pairwise(path):
        for part in np.linspace(0.0, 1.0, CELL // 3):
            _dot(image, x + part * (to_x - x), y + part * (to_y - y), 0.05, WAY)
    if path:
        _dot(image, *path[-1], 0.22, WALKER)
    return image[::-1].copy()


def _ground() -> Picture:
    image = np.empty((maze.SIZE * CELL, maze.SIZE * CELL, 3), dtype=np.uint8)
    image[:] = FLOOR
    image[::CELL], image[:, ::CELL] = GRID, GRID
    cells = [(int(x), int(y), WALL) for x, y in np.argwhere(maze.WALLS)]
    for x, y, color in [*cells, (*maze.GOAL, GOAL), (*maze.GUARDED, GUARDED)]:
        image[y * CELL : (y + 1) * CELL, x * CELL : (x + 1) * CELL] = color
    return image


def _dot(image: Picture, x: float, y: float, radius: float, color: tuple[int, int, int]) -> None:
    """Fill a disc; position and radius are in cells."""
    across, up, reach = (x + 0.5) * CELL, (y + 0.5) * CELL, radius * CELL
    rows = slice(max(0, int(up - reach)), int(up + reach) + 2)
    columns = slice(max(0, int(across - reach)), int(across + reach) + 2)
    part = image[rows, columns]
    high, wide = np.ogrid[rows.start : rows.start + part.shape[0], columns.start : columns.start + part.shape[1]]
    part[(high - up) ** 2 + (wide - across) ** 2 <= reach * reach] = color

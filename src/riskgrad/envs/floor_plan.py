"""The floor plan of an environment, on which a report draws its episodes.

An environment provides two attributes, which a report reads from `env.unwrapped`:

    floor_plan   a `FloorPlan`: the layout
    position     (x, y), where the walker is now

A report plays the policy, notes the positions and the actions, and draws the walks. It needs to know neither what the
policy observes nor how the environment moves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from riskgrad.kinds import checks_calls

Cell = tuple[int, int]


@checks_calls
@dataclass(frozen=True)
class FloorPlan:
    """The layout of an environment; the cell (i, j) is the square of side 1 around the position (i, j), y points up.

    Attributes:
        columns: number of cells from left to right.
        rows: number of cells from bottom to top.
        walls: cells that cannot be entered.
        goals: cells that a walk should reach.
        hazards: dangerous cells, each with a word for its label, such as "guarded".
        start: the rectangle in which walks begin: left, bottom, right, top; None draws none.
        moves: the direction (right, up) in which each action means to go; None draws no arrows.
    """

    columns: int
    rows: int
    walls: frozenset[Cell] = frozenset()
    goals: frozenset[Cell] = frozenset()
    hazards: Mapping[Cell, str] = field(default_factory=dict[Cell, str])
    start: tuple[float, float, float, float] | None = None
    moves: tuple[tuple[float, float], ...] | None = None

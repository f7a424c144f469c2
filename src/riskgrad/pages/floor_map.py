# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""A policy's walks drawn on a floor plan: walls, goal, what hurts, where it starts, and the ways that it takes.

The lines are some of the walks, thin enough for many of them to be seen; the arrows and the shares are of all of them.
"""

from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle

from riskgrad.envs.floor_plan import FloorPlan
from riskgrad.pages.played import Played
from riskgrad.pages.run_figures import Drawn, Mark
from riskgrad.pages.shared_figures import letter
from riskgrad.pages.theme import GRID, INK, MUTED, PAPER, canvas, color
from riskgrad.pages.walks import Walks, walks_of
from riskgrad.pages.words import number, percent
from riskgrad.types import FloatArray

LINES: Final = 60
LONGEST: Final = 60  # steps of a walk that are drawn
SEEN: Final = 0.01  # share of the walks from which on a cell has an arrow
UNDECIDED: Final = 0.15  # length of a mean direction below which there is none
LONGEST_ARROW: Final = 0.62  # in cells, of a policy that always does the same
STRIPES: Final = 8  # of half a cell that hurts
RIM: Final = 0.3  # what is seen of the walls around the floor


def floor_map(one: Played, index: int, seed: int = 0) -> Drawn | None:
    """Draw a run's walks on the floor plan of its environment; None where that has none."""
    walks = walks_of(one, seed=seed)
    if walks is None:
        return None
    left, bottom, right, top = _frame(walks.plan)
    page, axis = canvas(4.8 * (top - bottom) / (right - left))
    draw_walks(axis, walks, index)
    size = number(len(walks.paths))
    return Drawn(
        f"map-{index}",
        f"{letter(index)} {one.name}",
        page,
        f"A floor plan of {walks.plan.columns} columns and {walks.plan.rows} rows with walks of the policy. "
        f"Of {size} walks {told(walks)}.",
        f"Of {size} walks {told(walks)}. Arrows: where it heads, longer where it is surer.",
        [Mark(f"{min(LINES, len(walks.paths))} of its walks", index, "line"), Mark("where it heads", -1, "line")],
    )


def told(walks: Walks) -> str:
    """Say what the walks do, to follow "of 1,000 walks"."""
    words = [f"{percent(walks.through(cell))} pass the {name} cell" for cell, name in walks.plan.hazards.items()]
    if walks.plan.goals:
        words.append(f"{percent(walks.arrived)} reach the goal")
    return ", ".join([*words, f"and they take {number(round(walks.steps, 1))} steps on average"])


def draw_walks(axis: Axes, walks: Walks, index: int) -> None:
    """Draw walks and choices of one policy on its floor plan.

    Args:
        axis: where to draw.
        walks: of the policy.
        index: of its color.
    """
    _draw_floor(axis, walks.plan)
    lines = [path[: LONGEST + 1] for path in walks.paths[:LINES]]
    axis.add_collection(LineCollection(lines, colors=color(index), linewidths=1.1, alpha=0.35, capstyle="round"))
    starts = np.array([path[0] for path in lines])
    axis.plot(starts[:, 0], starts[:, 1], "o", markersize=2.6, color=color(index), markeredgewidth=0)
    _draw_headings(axis, walks)
    left, bottom, right, top = _frame(walks.plan)
    axis.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", xticks=[], yticks=[])
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)


def _frame(plan: FloorPlan) -> tuple[float, float, float, float]:
    """What is shown: all cells that can be entered, with a rim of what is around them."""
    free = np.array([(i, j) for i in range(plan.columns) for j in range(plan.rows) if (i, j) not in plan.walls])
    (left, bottom), (right, top) = free.min(axis=0) - 0.5 - RIM, free.max(axis=0) + 0.5 + RIM
    return float(left), float(bottom), float(right), float(top)


def _draw_floor(axis: Axes, plan: FloorPlan) -> None:
    left, bottom, right, top = _frame(plan)
    axis.add_patch(Rectangle((left, bottom), right - left, top - bottom, facecolor=MUTED, alpha=0.55, linewidth=0))
    for i in range(plan.columns):
        for j in range(plan.rows):
            if (i, j) not in plan.walls:
                axis.add_patch(Rectangle((i - 0.5, j - 0.5), 1, 1, facecolor=PAPER, edgecolor=GRID, linewidth=0.8))
    if plan.start is not None:
        left, bottom, right, top = plan.start
        zone = Rectangle((left, bottom), right - left, top - bottom, facecolor="none", edgecolor=MUTED, linestyle="--")
        axis.add_patch(zone)
        _label(axis, left, top + 0.05, "start", "bottom")
    for i, j in plan.goals:
        axis.add_patch(Rectangle((i - 0.5, j - 0.5), 1, 1, facecolor=INK, alpha=0.14, linewidth=0))
        _label(axis, i - 0.43, j + 0.43, "goal", "top")
    for (i, j), name in plan.hazards.items():
        axis.add_collection(LineCollection(_stripes(i, j), colors=INK, linewidths=1.0, alpha=0.45))
        border = Rectangle((i - 0.5, j - 0.5), 1, 1, facecolor="none", edgecolor=INK, linewidth=1.4, zorder=3)
        axis.add_patch(border)
        _label(axis, i - 0.43, j + 0.43, name, "top")


def _stripes(i: int, j: int) -> list[FloatArray]:
    """Slanting lines through a cell: x + y is the same all along each of them, from side to side."""
    sums = np.arange(1, 2 * STRIPES) / STRIPES
    low, high = np.maximum(0.0, sums - 1.0), np.minimum(1.0, sums)
    corner = np.array([i - 0.5, j - 0.5])
    return [corner + np.array([[a, c - a], [b, c - b]]) for a, b, c in zip(low, high, sums, strict=True)]


def _label(axis: Axes, x: float, y: float, text: str, side: str) -> None:
    box = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "alpha": 0.75, "linewidth": 0}
    axis.text(x, y, text, ha="left", va=side, fontsize=10, color=INK, bbox=box, zorder=4)


def _draw_headings(axis: Axes, walks: Walks) -> None:
    headings = walks.headings
    if headings is None:
        return
    i, j = np.nonzero((walks.visited > SEEN) & (np.hypot(headings[..., 0], headings[..., 1]) > UNDECIDED))
    x, y = LONGEST_ARROW * headings[i, j].T
    look: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "pivot": "mid", "units": "x"}
    head: dict[str, Any] = {"headwidth": 5.5, "headlength": 5.5, "headaxislength": 5.0, "minlength": 0.0}
    axis.quiver(i, j, x, y, color=INK, width=0.03, zorder=3, **look, **head)

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""A policy's walks on a floor plan, with walls, goals, hazards and the start.

The episodes are played on the Gymnasium environment, even if the run was trained on a compiled one, since only the
Gymnasium environment gives the position. The lines are some of the walks; the arrows and the shares are of all walks.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import gymnasium
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from riskgrad.envs.floor_plan import Cell, FloorPlan
from riskgrad.errors import InputError
from riskgrad.making import close_or_warn, refuse_import
from riskgrad.pages.played import PlayedRun
from riskgrad.pages.prose import percent, write
from riskgrad.pages.run_figures import Drawing, Mark
from riskgrad.pages.style import GRID, INK, MUTED, PAPER, canvas, run_color
from riskgrad.random import Purpose, Stream
from riskgrad.sources.gymnasium.recipe import Env, EnvRecipe
from riskgrad.sources.gymnasium.source import GymnasiumSource
from riskgrad.types import FloatArray, IntArray

WALKS: Final = 400
LINES: Final = 60
LONGEST: Final = 60  # most steps of a walk that are drawn
SEEN: Final = 0.01  # a cell has an arrow if more than this share of the walks visit it,
UNDECIDED: Final = 0.15  # and if its mean direction is longer than this
LONGEST_ARROW: Final = 0.62  # in cells, where the action is always the same
STRIPES: Final = 8  # along each side of a hazard's cell
RIM: Final = 0.3  # width of the walls that are shown around the floor, in cells


@dataclass(frozen=True, eq=False)
class Walks:
    """Walks of one policy on a floor plan.

    Attributes:
        plan: the floor plan.
        routes: the positions of each walk, its start and its end included [steps + 1, 2].
        actions: the action at each position but the last [steps].
    """

    plan: FloorPlan
    routes: tuple[FloatArray, ...]
    actions: tuple[tuple[Any, ...], ...]

    @property
    def share_in_goal(self) -> float:
        """The share of walks that end in a goal."""
        ends = _cells_of(np.array([route[-1] for route in self.routes]))
        return float(np.mean([(int(column), int(row)) in self.plan.goals for column, row in ends]))

    @property
    def steps(self) -> float:
        """The mean number of steps."""
        return float(np.mean([len(route) - 1 for route in self.routes]))

    def through(self, cell: Cell) -> float:
        """Give the share of walks with an end or the midpoint of a step in a cell."""
        return float(np.mean([_touches(route, cell) for route in self.routes]))

    @property
    def visit_shares(self) -> FloatArray:
        """The share of walks that make a step from a cell, for each cell [columns, rows]."""
        seen = np.zeros((self.plan.columns, self.plan.rows))
        for route in self.routes:
            cells = np.unique(self._inside(route[:-1])[0], axis=0)
            seen[cells[:, 0], cells[:, 1]] += 1.0
        return seen / len(self.routes)

    @property
    def headings(self) -> FloatArray | None:
        """The mean direction of the actions in each cell [columns, rows, 2]; None if the plan has no moves."""
        if self.plan.moves is None:
            return None
        sums, counts = np.zeros((self.plan.columns, self.plan.rows, 2)), np.zeros((self.plan.columns, self.plan.rows))
        cells, inside = self._inside(np.concatenate([route[:-1] for route in self.routes]))
        done = np.concatenate([np.asarray(actions, dtype=np.int64) for actions in self.actions])[inside]
        np.add.at(sums, (cells[:, 0], cells[:, 1]), np.asarray(self.plan.moves)[done])
        np.add.at(counts, (cells[:, 0], cells[:, 1]), 1.0)
        return sums / np.maximum(counts, 1.0)[:, :, np.newaxis]

    def _inside(self, positions: FloatArray) -> tuple[IntArray, NDArray[np.bool_]]:
        """Give the cells of the positions that lie on the plan [n, 2], and the mask of these positions."""
        cells = _cells_of(positions)
        inside = np.all((cells >= 0) & (cells < (self.plan.columns, self.plan.rows)), axis=1)
        return cells[inside], inside


def walks_of(one: PlayedRun, walks: int = WALKS, seed: int = 0) -> Walks | None:
    """Play a run's policy and give its walks; None if the environment has no floor plan.

    Args:
        one: the run, played.
        walks: how many episodes.
        seed: the seed of the episodes.
    """
    make = _environment_of(one)
    ours = one.source.makes_anew
    plan = None if make is None else _find_plan(make, ours)
    if make is None or plan is None:
        return None
    routes, actions = list[list[tuple[float, float]]](), list[list[Any]]()
    logs: dict[int, _WalkLog] = {}

    def make_logging() -> Env:
        env = make()
        return logs.setdefault(id(env), _WalkLog(env, routes, actions))  # a factory may give the same environment again

    settings = one.run.settings
    source = GymnasiumSource(make_logging, settings.horizon, 1.0 if settings.discount is None else settings.discount)
    with contextlib.ExitStack() as stack:
        if ours:
            stack.callback(close_or_warn, source, source.env_name)
        source.returns(one.run.policy, one.run.theta[np.newaxis], walks, Stream(seed, Purpose.EXAMPLE))
    return Walks(plan, tuple(np.array(route) for route in routes), tuple(tuple(done) for done in actions))


def _find_plan(make: Callable[[], Env], ours: bool) -> FloorPlan | None:
    """Make an environment and give its floor plan, None if it has none; close the environment if it is `ours`."""
    env = make()
    plan = getattr(env.unwrapped, "floor_plan", None)
    if ours:
        close_or_warn(env, "the environment")
    return plan if isinstance(plan, FloorPlan) else None


class _WalkLog(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Notes the position after the reset and after each step, and the actions.

    Several wrappers write to the same lists, with an entry for each episode in the order in which episodes begin.
    """

    def __init__(self, env: Env, routes: list[list[tuple[float, float]]], actions: list[list[Any]]) -> None:
        gymnasium.Wrapper.__init__(self, env)
        self._routes, self._actions = routes, actions
        self._inner: Any = env.unwrapped

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        answer = self.env.reset(seed=seed, options=options) if options else self.env.reset(seed=seed)
        self._path, self._done = [self._inner.position], list[Any]()
        self._routes.append(self._path)
        self._actions.append(self._done)
        return answer

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        answer: tuple[Any, Any, bool, bool, dict[str, Any]] = self.env.step(action)
        self._path.append(self._inner.position)
        self._done.append(action)
        return answer


def _environment_of(one: PlayedRun) -> Callable[[], Env] | None:
    """Give a function that makes the Gymnasium environment of a run; None if there is none, as for a finite model."""
    if one.source.env_maker is not None:
        return one.source.env_maker
    name = one.source.env_id or one.run.settings.env
    try:
        return EnvRecipe.of(refuse_import(str(name), "name it with --env"), one.run.env_options).make
    except InputError:
        return None


def _cells_of(positions: FloatArray) -> IntArray:
    """Give the cell of each position [n, 2]."""
    return np.floor(positions + 0.5).astype(np.int64)


def _touches(route: FloatArray, cell: Cell) -> bool:
    points = np.concatenate([route, 0.5 * (route[1:] + route[:-1])])
    return bool(np.any(np.all(_cells_of(points) == cell, axis=1)))


def floor_map(one: PlayedRun, index: int, seed: int = 0) -> Drawing | None:
    """Draw a run's walks on the floor plan of its environment; None if it has none."""
    walks = walks_of(one, seed=seed)
    if walks is None:
        return None
    left, bottom, right, top = _frame(walks.plan)
    page, axis = canvas(4.8 * (top - bottom) / (right - left))
    draw_walks(axis, walks, one.hue)
    size = write(len(walks.routes))
    return Drawing(
        f"map-{index}",
        one.label,
        page,
        f"A floor plan of {walks.plan.columns} columns and {walks.plan.rows} rows with walks of the policy. "
        f"Of {size} walks {describe_walks(walks)}.",
        f"Of {size} walks {describe_walks(walks)}. Arrows: where it heads, longer where it is surer.",
        [Mark(f"{min(LINES, len(walks.routes))} of its walks", one.hue, "line"), Mark("where it heads", -1, "line")],
    )


def describe_walks(walks: Walks) -> str:
    """Say what the walks do, in words that continue "of 1,000 walks"."""
    words = [f"{percent(walks.through(cell))} pass the {name} cell" for cell, name in walks.plan.hazards.items()]
    if walks.plan.goals:
        words.append(f"{percent(walks.share_in_goal)} reach the goal")
    return ", ".join([*words, f"and they take {write(round(walks.steps, 1))} steps on average"])


def draw_walks(axis: Axes, walks: Walks, hue: int) -> None:
    """Draw the walks of one policy on its floor plan, with the mean direction of its actions in each cell.

    Args:
        axis: where to draw.
        walks: the walks of the policy.
        hue: the hue of its color.
    """
    _draw_floor(axis, walks.plan)
    lines = [route[: LONGEST + 1] for route in walks.routes[:LINES]]
    axis.add_collection(LineCollection(lines, colors=run_color(hue), linewidths=1.1, alpha=0.35, capstyle="round"))
    starts = np.array([route[0] for route in lines])
    axis.plot(starts[:, 0], starts[:, 1], "o", markersize=2.6, color=run_color(hue), markeredgewidth=0)
    _draw_headings(axis, walks)
    left, bottom, right, top = _frame(walks.plan)
    axis.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", xticks=[], yticks=[])
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)


def _frame(plan: FloorPlan) -> tuple[float, float, float, float]:
    """Give left, bottom, right and top of what is shown: all cells without walls, and a rim around them."""
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
    """Give diagonal lines through a cell, from side to side; x + y is constant on each."""
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
    i, j = np.nonzero((walks.visit_shares > SEEN) & (np.hypot(headings[..., 0], headings[..., 1]) > UNDECIDED))
    x, y = LONGEST_ARROW * headings[i, j].T
    look: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "pivot": "mid", "units": "x"}
    head: dict[str, Any] = {"headwidth": 5.5, "headlength": 5.5, "headaxislength": 5.0, "minlength": 0.0}
    axis.quiver(i, j, x, y, color=INK, width=0.03, zorder=3, **look, **head)

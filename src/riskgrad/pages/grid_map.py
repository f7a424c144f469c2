# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""A policy on the map of a grid world: how often it visits each cell, its actions there, and its most frequent routes.

The visits are exact, computed from the model. The routes are those of sampled episodes.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from riskgrad.mdp import FiniteMDP
from riskgrad.pages.played import PlayedRun
from riskgrad.pages.prose import percent, write
from riskgrad.pages.run_figures import Drawing, Mark
from riskgrad.pages.style import GRID, INK, canvas, run_color
from riskgrad.random import Purpose, Stream
from riskgrad.types import FloatArray, IntArray

UP, RIGHT, DOWN, LEFT = (-1, 0), (0, 1), (1, 0), (0, -1)
EPISODES: Final = 400
ROUTES: Final = 3
FREQUENT: Final = 0.02  # smallest share of the episodes of a route that is drawn
LONGEST: Final = 60  # most steps of a route
SEEN: Final = 0.005  # visits per episode below which a cell is left empty


@dataclass(frozen=True)
class Grid:
    """The map of the states: state = row * columns + column.

    Attributes:
        rows: number of rows.
        columns: number of columns.
        moves: the step (down, right) of each action.
        pits: states that are marked as pits although they do not end an episode.
    """

    rows: int
    columns: int
    moves: tuple[tuple[int, int], ...]
    pits: frozenset[int] = frozenset()

    def place(self, state: int) -> tuple[float, float]:
        """Give the middle of the cell of a state as (x, y), where y points downwards."""
        row, column = divmod(state, self.columns)
        return column + 0.5, row + 0.5


def grid_of(env: str | None, mdp: FiniteMDP) -> Grid | None:
    """Give the map of a model by the name of its environment; None if it is not known to be a grid."""
    name, states = str(env).split("/")[-1], mdp.n_states
    if name == "slippery-grid":
        return Grid(3, states // 3, (UP, RIGHT, DOWN))
    if name.startswith("CliffWalking") and states == 48:
        return Grid(4, 12, (UP, RIGHT, DOWN, LEFT), frozenset(range(37, 47)))
    side = round(states**0.5)
    if name.startswith("FrozenLake") and side * side == states:
        return Grid(side, side, (LEFT, DOWN, RIGHT, UP))
    return None


def policy_map(one: PlayedRun, index: int, seed: int = 0) -> Drawing | None:
    """Draw a run's policy on its map; None if there is no map, or if the policy has memory."""
    mdp = one.source.mdp
    remembers = one.run.policy.memory is not None
    grid = None if mdp is None or remembers else grid_of(one.run.settings.env, mdp)
    if mdp is None or grid is None:
        return None
    table = one.run.policy.probabilities(one.run.theta, np.arange(mdp.n_states))
    seen = visits(mdp, table)
    routes = common_routes(mdp, table, Stream(seed, Purpose.EXAMPLE).generator())
    page, axis = canvas(0.2 + min(4.6, 4.6 * grid.rows / grid.columns))
    _draw_cells(axis, grid, mdp, seen, one.hue)
    for rank, (route, share) in enumerate(routes):
        points = np.array([grid.place(state) for state in route]) + 0.06 * (rank - (len(routes) - 1) / 2.0)
        axis.plot(points[:, 0], points[:, 1], color=run_color(one.hue), linewidth=1.0 + 3.0 * share, alpha=0.9)
    acting = [state for state in np.flatnonzero(seen > SEEN).tolist() if state not in ends_of(mdp)]
    _draw_arrows(axis, grid, table, acting)
    axis.set(xlim=(0, grid.columns), ylim=(grid.rows, 0), aspect="equal", xticks=[], yticks=[])
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    told = ["no route is taken often"] if not routes else []
    told += [
        f"{percent(share)} of episodes take {len(route) - 1} steps: {_tell_route(grid, route)}"
        for route, share in routes
    ]
    ends = ", ".join(
        f"{percent(float(seen[state]))} end in cell {state}" for state in ends_of(mdp) if seen[state] > SEEN
    )
    return Drawing(
        f"map-{index}",
        one.label,
        page,
        f"A map of {grid.rows} rows and {grid.columns} columns. {'; '.join(told)}. {ends}.",
        "The stronger a cell's color, the more often it is visited. Arrows: what the policy does there, longer where "
        "it is surer."
        + (" Lines: the routes it takes most often." if routes else "")
        + " S start, G goal, \N{MULTIPLICATION SIGN} pit.",
        [
            Mark("visits", one.hue, "band"),
            *([Mark("frequent routes", one.hue, "line")] if routes else []),
            Mark("choice", -1, "line"),
        ],
    )


def visits(mdp: FiniteMDP, table: FloatArray) -> FloatArray:
    """Give the expected number of visits to each state in an episode, the last state included [S]."""
    pair = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.offsets))
    chance = table.ravel()[pair] * mdp.probabilities
    state = pair // mdp.n_actions
    now, total = mdp.start.copy(), mdp.start.copy()
    for _ in range(mdp.horizon):
        flow = now[state] * chance
        total += np.bincount(mdp.next_states, flow, mdp.n_states)
        now = np.bincount(mdp.next_states, np.where(mdp.ends, 0.0, flow), mdp.n_states)
    return total


def common_routes(mdp: FiniteMDP, table: FloatArray, rng: np.random.Generator) -> list[tuple[tuple[int, ...], float]]:
    """Give the most frequent sequences of states among sampled episodes, with their share, most frequent first."""
    found = Counter(_walk(mdp, table, rng) for _ in range(EPISODES))
    return [(route, count / EPISODES) for route, count in found.most_common(ROUTES) if count >= FREQUENT * EPISODES]


def ends_of(mdp: FiniteMDP) -> IntArray:
    """Give the states in which an episode can end before its horizon."""
    return np.unique(mdp.next_states[mdp.ends])


def _walk(mdp: FiniteMDP, table: FloatArray, rng: np.random.Generator) -> tuple[int, ...]:
    state = int(np.searchsorted(np.cumsum(mdp.start), rng.random()))
    route = [state]
    for _ in range(min(mdp.horizon, LONGEST)):
        action = min(int(np.searchsorted(np.cumsum(table[state]), rng.random())), mdp.n_actions - 1)
        row = state * mdp.n_actions + action
        first, last = int(mdp.offsets[row]), int(mdp.offsets[row + 1])
        if first == last:
            break
        drawn = first + int(np.searchsorted(np.cumsum(mdp.probabilities[first:last]), rng.random()))
        outcome = min(drawn, last - 1)
        state = int(mdp.next_states[outcome])
        route.append(state)
        if mdp.ends[outcome]:
            break
    return tuple(route)


def _draw_cells(axis: Axes, grid: Grid, mdp: FiniteMDP, seen: FloatArray, hue: int) -> None:
    ends = ends_of(mdp)
    entered = {int(state): float(np.max(mdp.rewards[mdp.ends & (mdp.next_states == state)])) for state in ends}
    goal = max(entered.values(), default=0.0)
    for state in range(mdp.n_states):
        x, y = grid.place(state)
        strength = min(1.0, float(seen[state]))
        axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="none", edgecolor=GRID, linewidth=1.0))
        if strength > SEEN:
            shade = Rectangle((x - 0.47, y - 0.47), 0.94, 0.94, facecolor=run_color(hue), alpha=0.05 + 0.35 * strength)
            axis.add_patch(shade)
        text = "S" if mdp.start[state] > 0.0 else ""
        if state in entered:
            text = "G" if entered[state] == goal else "\N{MULTIPLICATION SIGN}"
        if state in grid.pits:
            text = "\N{MULTIPLICATION SIGN}"
        axis.annotate(text, (x - 0.46, y - 0.44), ha="left", va="top", fontsize=10, color=INK)


def _draw_arrows(axis: Axes, grid: Grid, table: FloatArray, states: Sequence[int]) -> None:
    head = {"arrowstyle": "-|>,head_width=0.25,head_length=0.4", "color": INK, "linewidth": 1.0, "shrinkA": 0}
    for state in states:
        x, y = grid.place(state)
        for (down, right), chance in zip(grid.moves, table[state], strict=True):
            if chance > 0.1:
                tip = (x + 0.4 * chance * right, y + 0.4 * chance * down)
                axis.annotate("", tip, (x, y), arrowprops=head)


def _tell_route(grid: Grid, route: tuple[int, ...]) -> str:
    """Give a route in words, such as "up, right 3 times, down"."""
    names = {UP: "up", RIGHT: "right", DOWN: "down", LEFT: "left"}
    steps: list[tuple[str, int]] = []
    for before, after in pairwise(route):
        (row, column), (down, right) = divmod(before, grid.columns), divmod(after, grid.columns)
        step = names.get((down - row, right - column), "stay" if before == after else "thrown back")
        if steps and steps[-1][0] == step:
            steps[-1] = (step, steps[-1][1] + 1)
        else:
            steps.append((step, 1))
    return ", ".join(step if count == 1 else f"{step} {write(count)} times" for step, count in steps)

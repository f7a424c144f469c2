"""Walks: what a policy does in an environment that has a floor plan, position by position.

The episodes are played on the Gymnasium environment itself, whatever the run was trained on, since it is the
environment that knows where it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import gymnasium
import numpy as np
from numpy.typing import NDArray

from riskgrad.envs.floor_plan import Cell, FloorPlan
from riskgrad.errors import InputError
from riskgrad.pages.played import Played
from riskgrad.random import Purpose, Stream
from riskgrad.sources.compiled import CompiledSource
from riskgrad.sources.gymnasium.recipe import Env, EnvRecipe
from riskgrad.sources.gymnasium.source import GymnasiumSource
from riskgrad.types import FloatArray, IntArray

WALKS: Final = 400


@dataclass(frozen=True, eq=False)
class Walks:
    """Walks of one policy on a floor plan.

    Attributes:
        plan: the floor plan.
        paths: the positions of each walk, its start and its end included [steps + 1, 2].
        actions: what was done at each position but the last [steps].
    """

    plan: FloorPlan
    paths: tuple[FloatArray, ...]
    actions: tuple[tuple[Any, ...], ...]

    @property
    def arrived(self) -> float:
        """The share of walks that end in a goal."""
        ends = _cells(np.array([path[-1] for path in self.paths]))
        return float(np.mean([(int(column), int(row)) in self.plan.goals for column, row in ends]))

    @property
    def steps(self) -> float:
        """The mean number of steps."""
        return float(np.mean([len(path) - 1 for path in self.paths]))

    def through(self, cell: Cell) -> float:
        """The share of walks that come through a cell, with the end or the midpoint of a step."""
        return float(np.mean([_touches(path, cell) for path in self.paths]))

    @property
    def visited(self) -> FloatArray:
        """The share of walks that make a step from a cell, for each cell [columns, rows]."""
        seen = np.zeros((self.plan.columns, self.plan.rows))
        for path in self.paths:
            cells = np.unique(self._inside(path[:-1])[0], axis=0)
            seen[cells[:, 0], cells[:, 1]] += 1.0
        return seen / len(self.paths)

    @property
    def headings(self) -> FloatArray | None:
        """The mean direction of the actions in each cell, (0, 0) where none was taken [columns, rows, 2]."""
        if self.plan.moves is None:
            return None
        sums, counts = np.zeros((self.plan.columns, self.plan.rows, 2)), np.zeros((self.plan.columns, self.plan.rows))
        cells, inside = self._inside(np.concatenate([path[:-1] for path in self.paths]))
        done = np.concatenate([np.asarray(actions, dtype=np.int64) for actions in self.actions])[inside]
        np.add.at(sums, (cells[:, 0], cells[:, 1]), np.asarray(self.plan.moves)[done])
        np.add.at(counts, (cells[:, 0], cells[:, 1]), 1.0)
        return sums / np.maximum(counts, 1.0)[:, :, np.newaxis]

    def _inside(self, positions: FloatArray) -> tuple[IntArray, NDArray[np.bool_]]:
        """The cells of those positions that are on the plan [n, 2], and which these are."""
        cells = _cells(positions)
        inside = np.all((cells >= 0) & (cells < (self.plan.columns, self.plan.rows)), axis=1)
        return cells[inside], inside


def walks_of(one: Played, walks: int = WALKS, seed: int = 0) -> Walks | None:
    """Let a run's policy walk; None where the environment has no floor plan.

    Args:
        one: the run, played.
        walks: how many episodes.
        seed: of the episodes.
    """
    make = _maker(one)
    plan = None if make is None else getattr(make().unwrapped, "floor_plan", None)
    if make is None or not isinstance(plan, FloorPlan):
        return None
    paths, actions = list[list[tuple[float, float]]](), list[list[Any]]()
    logs: dict[int, _Log] = {}

    def logged() -> Env:
        env = make()
        return logs.setdefault(id(env), _Log(env, paths, actions))  # a factory may hand out one environment again

    source = GymnasiumSource(logged, one.run.settings.get("horizon"))
    source.returns(one.run.policy, one.run.theta[np.newaxis], walks, Stream(seed, Purpose.EXAMPLE))
    return Walks(plan, tuple(np.array(path) for path in paths), tuple(tuple(done) for done in actions))


class _Log(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Notes where the environment is after its reset and each of its steps, and what was done.

    Several of them write into the same lists, an entry for each episode in the order in which episodes begin.
    """

    def __init__(self, env: Env, paths: list[list[tuple[float, float]]], actions: list[list[Any]]) -> None:
        gymnasium.Wrapper.__init__(self, env)
        self._paths, self._actions = paths, actions
        self._inner: Any = env.unwrapped

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        answer = self.env.reset(seed=seed, options=options) if options else self.env.reset(seed=seed)
        self._path, self._done = [self._inner.position], list[Any]()
        self._paths.append(self._path)
        self._actions.append(self._done)
        return answer

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        answer: tuple[Any, Any, bool, bool, dict[str, Any]] = self.env.step(action)
        self._path.append(self._inner.position)
        self._done.append(action)
        return answer


def _maker(one: Played) -> Callable[[], Env] | None:
    """What makes the Gymnasium environment of a run; None where there is none, as for a model that is only a table."""
    if isinstance(one.source, GymnasiumSource):
        return one.source.make
    name = one.source.env.id if isinstance(one.source, CompiledSource) else one.run.settings.get("env")
    try:
        return EnvRecipe.of(str(name), one.run.env_options).make
    except InputError:
        return None


def _cells(positions: FloatArray) -> IntArray:
    """The cell of each position [n, 2]."""
    return np.floor(positions + 0.5).astype(np.int64)


def _touches(path: FloatArray, cell: Cell) -> bool:
    points = np.concatenate([path, 0.5 * (path[1:] + path[:-1])])
    return bool(np.any(np.all(_cells(points) == cell, axis=1)))

"""Memory: a policy sees, besides the observation, how much time is left and the return so far.

    t steps done   T horizon   y_t = sum_{i < t} discount^i r_i, the return so far   n states   k numbers of a vector

Under a risk measure the best action depends on both, since it depends on what was earned and on what can still be
lost. A policy with memory is a policy of the usual kind whose observations are extended. What a source gives becomes:

    States(n)     one integer for (time cell, return cell, state s): (time * return_cells + return) * n + s
    Vectors(k)    the k numbers, then the share of time left (T - t) / T, and asinh((y - center) / spread)

Each time has a cell of its own if T <= 64; longer horizons have 64 cells of about equal length. The cells of the return
and the center and spread are fixed once, from the returns so far of a pilot (see `riskgrad.training.pilot`). If they
take at most 48 values, each value has a cell of its own; otherwise cells hold about equally many returns. asinh takes
any return: it is linear near the center and grows as a logarithm far from it. A policy that is linear in its inputs
also gets five bumps (Gaussian functions) of each of the two numbers, so that it can depend on them nonlinearly.

A source shows the policy `memory.extend(observations, times, returns)` and records that; `plain` recovers observations.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import MemoryKind
from riskgrad.errors import InputError
from riskgrad.kernels.formulas import exp_of, log_of
from riskgrad.kinds import checks_calls
from riskgrad.types import FloatArray, IntArray, ObservationKind, States, Vectors, freeze

if TYPE_CHECKING:
    from riskgrad.policy.base import Policy

MOST_TIMES: Final = 64  # cells of time
MOST_VALUES: Final = 48  # most distinct returns so far that have a cell each
USUAL_CELLS: Final = 32  # most cells of the return where there are more values
SAME: Final = 1e-9  # neighboring returns so far that are closer than this part of their range count as one value
TIME_BUMPS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)  # centers on the share of time left; as wide as their distance
RETURN_BUMPS: Final = (-2.0, -1.0, 0.0, 1.0, 2.0)  # centers on the scaled return


@checks_calls
@dataclass(frozen=True)
class Memory:
    """What a policy remembers, and how that is shown to it.

    Attributes:
        kind: what is shown, "time", "return" or "both".
        observations: the kind of observation that the source gives, before it is extended.
        horizon: T; later times have the cell of the last time, or no time left.
        discount: the discount of the return so far.
        edges: for states, where the cells of the return begin, except the first; increasing.
        center: for vectors, the return so far that is shown as 0.
        spread: for vectors, the unit of the return so far.
        bumps: for vectors, whether bumps are shown besides the numbers.
    """

    kind: MemoryKind
    observations: ObservationKind
    horizon: int
    discount: float
    edges: tuple[float, ...] = ()
    center: float = 0.0
    spread: float = 1.0
    bumps: bool = False

    @property
    def holds_time(self) -> bool:
        """Whether the time left is shown."""
        return self.kind != "return"

    @property
    def holds_return(self) -> bool:
        """Whether the return so far is shown."""
        return self.kind != "time"

    @property
    def time_cells(self) -> int:
        """How many cells of time there are."""
        return min(self.horizon, MOST_TIMES) if self.holds_time else 1

    @property
    def return_cells(self) -> int:
        """How many cells of the return there are."""
        return len(self.edges) + 1

    @property
    def cells(self) -> int:
        """How many cells, of time and return together, each state has."""
        return self.time_cells * self.return_cells

    @property
    def extra(self) -> int:
        """How many numbers are added to a vector."""
        return (self.holds_time + self.holds_return) * (1 + (len(TIME_BUMPS) if self.bumps else 0))

    @property
    def shows(self) -> ObservationKind:
        """The kind of observation that a policy with this memory reads."""
        if isinstance(self.observations, States):
            return States(self.observations.n * self.cells)
        return Vectors(self.observations.size + self.extra)

    def gives(self, plain: ObservationKind) -> ObservationKind:
        """Give the kind that a policy reads where a source gives `plain`; refuse one that this memory cannot extend."""
        if plain != self.observations:
            raise InputError("policy", f"remember observations of this kind, {plain}", self.observations)
        return self.shows

    def extend(self, observations: NDArray[Any], times: IntArray, returns: FloatArray) -> NDArray[Any]:
        """Give observations [B, ...] as the policy reads them.

        Args:
            observations: states [B], or vectors [B, k].
            times: steps done, t [B].
            returns: returns so far, y [B].
        """
        if isinstance(self.observations, States):
            return self.find_cells(times, returns) * self.observations.n + observations
        parts: list[FloatArray] = [observations]
        if self.holds_time:
            parts.append(self._show(self.share_left(times), TIME_BUMPS))
        if self.holds_return:
            parts.append(self._show(self.scale(returns), RETURN_BUMPS))
        return np.concatenate(parts, axis=1)

    def plain(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Give the observations [B, ...] of the source from what `extend` made of them."""
        if isinstance(self.observations, States):
            return observations % self.observations.n
        return observations[:, : self.observations.size]

    @cached_property
    def cells_of_times(self) -> IntArray:
        """For each time 0 .. T - 1, the index of its cell with the lowest returns [T]."""
        times = np.arange(self.horizon, dtype=np.int64)
        return freeze(times * self.time_cells // self.horizon * self.return_cells)

    @cached_property
    def edges_of_returns(self) -> FloatArray:
        """The edges as an array [return_cells - 1]."""
        return freeze(np.array(self.edges, dtype=np.float64))

    def find_cells(self, times: IntArray, returns: FloatArray) -> IntArray:
        """Give the cell of each time and return so far [B]."""
        found = self.cells_of_times[np.minimum(times, self.horizon - 1)]
        return found + np.searchsorted(self.edges_of_returns, returns, side="right")

    def share_left(self, times: IntArray) -> FloatArray:
        """Give the share of the horizon that is left at each time [B]."""
        return np.maximum(self.horizon - times, 0) / self.horizon

    def scale(self, returns: FloatArray) -> FloatArray:
        """Give asinh((y - center) / spread) of returns so far [B]."""
        gaps = (returns - self.center) / self.spread
        sizes = np.abs(gaps)
        return np.copysign(log_of(sizes + np.sqrt(sizes * sizes + 1.0)), gaps)

    def _show(self, numbers: FloatArray, bumps: tuple[float, ...]) -> FloatArray:
        """Give numbers [B] as columns: the numbers, and after them the bumps if they are shown."""
        if not self.bumps:
            return numbers[:, np.newaxis]
        gaps = (numbers[:, np.newaxis] - np.array(bumps)) / (bumps[1] - bumps[0])
        return np.concatenate([numbers[:, np.newaxis], exp_of(-0.5 * gaps * gaps)], axis=1)

    def recipe(self) -> dict[str, Any]:
        """Give what `from_recipe` makes the memory from, in JSON's types."""
        states = isinstance(self.observations, States)
        size = self.observations.n if isinstance(self.observations, States) else self.observations.size
        return {
            "kind": self.kind,
            "states" if states else "vectors": size,
            "horizon": self.horizon,
            "discount": self.discount,
            "edges": list(self.edges),
            "center": self.center,
            "spread": self.spread,
            "bumps": self.bumps,
        }

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any]) -> "Memory":
        """Make the memory that a recipe describes."""
        rest = {name: value for name, value in recipe.items() if name not in ("states", "vectors", "edges")}
        kind = States(recipe["states"]) if "states" in recipe else Vectors(recipe["vectors"])
        return cls(observations=kind, edges=tuple(recipe["edges"]), **rest)

    def __str__(self) -> str:
        how = f"{self.cells} cells" if isinstance(self.observations, States) else f"{self.extra} numbers"
        return f"memory of {MEMORY_WORDS[self.kind]}, {how}"


MEMORY_WORDS: Final = {"time": "the time left", "return": "the return so far", "both": "time left and return so far"}


def find_edges(returns: ArrayLike) -> tuple[float, ...]:
    """Give the edges of cells for returns so far [V]: between all values where there are few, else at quantiles.

    An edge is half-way between two neighboring values, so that rounding cannot move a value over it.
    """
    values = np.sort(np.asarray(returns, dtype=np.float64))
    cuts = np.flatnonzero(np.diff(values) > SAME * (values[-1] - values[0]))
    edges = 0.5 * (values[cuts] + values[cuts + 1])
    if len(edges) >= MOST_VALUES:
        # a frequent value, such as the 0 at each start, counts as at most one cell's share
        counts = np.minimum(np.diff(cuts + 1, prepend=0, append=len(values)), len(values) / USUAL_CELLS)
        shares = np.cumsum(counts) / np.sum(counts)
        edges = edges[np.unique(np.searchsorted(shares[:-2], np.arange(1, USUAL_CELLS) / USUAL_CELLS))]
    return tuple(edges.tolist())


def find_scale(returns: ArrayLike) -> tuple[float, float]:
    """Give the center and the spread of returns so far [V].

    The center is the median, the spread half the distance between the 10% and 90% quantiles; where that is 0, the
    standard deviation, or 1.
    """
    values = np.asarray(returns, dtype=np.float64)
    low, center, high = (float(part) for part in np.quantile(values, [0.1, 0.5, 0.9]))
    spread = 0.5 * (high - low) or float(np.std(values)) or 1.0
    return center, spread


def with_memory(policy: "Policy", memory: Memory) -> "Policy":
    """Give a policy like this one that reads what the memory shows; refuse a policy that cannot be resized."""
    recipe, reads = policy.recipe(), memory.shows
    if recipe is None or not policy.sized_by:
        raise InputError("policy", "be one that memory can be given to", policy, "try policy='linear' or 'mlp'")
    inputs = reads.n if isinstance(reads, States) else reads.size
    made = type(policy).from_recipe({**recipe, policy.sized_by: inputs})
    made.memory = memory
    return made

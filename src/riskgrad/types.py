"""The few kinds of data that flow through riskgrad, every field with its axes.

    P policies at once   m episodes each   T steps   d parameters   K atoms of a law   V visits

`Returns` is what a source of episodes gives for many policies, `Episodes` is a recorded batch of one policy that can be
reweighted for others, `Steps` is a batch in the order of time, `DiscreteLaw` is an exact law of the return, and
`Gradient` is an estimate with its error.

What passes between an environment and a policy has a type as well. A source says what it gives and what it takes, a
policy says what it reads and how it acts, and `riskgrad.sources.base.check_fit` compares them by value:

    observations   States(n)   Vectors(size)
    actions        Choice(n)   Choices(sizes)   Numbers(low, high)   Both(choices, numbers)
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import are_usable, as_reals, return_rule
from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls
from riskgrad.markup import html_table

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)
Line = dict[str, Any]  # facts by name, as JSON holds them, such as an iteration in the record of a run

MASS_TOLERANCE = 1e-9
ROWS = 12  # most atoms of a law that a notebook shows


@checks_calls
@dataclass(frozen=True, slots=True)
class States:
    """Observations that are one of n states, the integers 0 .. n - 1."""

    n: int

    @property
    def description(self) -> Line:
        """The states as a space in JSON; see `riskgrad.descriptions`."""
        return {"kind": "Discrete", "n": self.n, "start": 0}


@checks_calls
@dataclass(frozen=True, slots=True)
class Vectors:
    """Observations that are vectors of numbers.

    Attributes:
        size: how many numbers.
        one_hot: whether they are a soft one-hot, not negative and summing to 1. It does not count in
            comparisons, since a policy that reads vectors of this size reads these too.
    """

    size: int
    one_hot: bool = field(default=False, compare=False)

    @property
    def description(self) -> Line:
        """The vectors as a space in JSON, without bounds."""
        return {"kind": "Box", "low": None, "high": None, "shape": [self.size], "dtype": "float64"}


@checks_calls
@dataclass(frozen=True, slots=True)
class Choice:
    """Actions that are one of n choices, the integers 0 .. n - 1."""

    n: int

    @property
    def description(self) -> Line:
        """The choice as a space in JSON, which is that of as many states."""
        return States(self.n).description


@checks_calls
@dataclass(frozen=True, slots=True)
class Choices:
    """Actions of several components, each a choice of its own, one of sizes[i]."""

    sizes: tuple[int, ...]

    @property
    def description(self) -> Line:
        """The choices as a space in JSON."""
        starts = [0] * len(self.sizes)
        return {"kind": "MultiDiscrete", "nvec": [*self.sizes], "start": starts, "dtype": "int64"}


@checks_calls
@dataclass(frozen=True, slots=True)
class Numbers:
    """Actions that are vectors of numbers.

    Attributes:
        low: the smallest value of each coordinate; -inf where there is none.
        high: the largest value of each coordinate; inf where there is none.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.low)

    @property
    def description(self) -> Line:
        """The numbers as a space in JSON; a bound is one number where all are the same, None where there is none."""
        sides = [[bound if math.isfinite(bound) else None for bound in side] for side in (self.low, self.high)]
        low, high = (side[0] if len(set(side)) == 1 else side for side in sides)
        return {"kind": "Box", "low": low, "high": high, "shape": [self.size], "dtype": "float64"}


@checks_calls
@dataclass(frozen=True, slots=True)
class Both:
    """Actions of which the first components are choices and the others are numbers.

    Attributes:
        choices: the first components.
        numbers: the others.
    """

    choices: Choices
    numbers: Numbers

    @property
    def description(self) -> Line:
        """Both parts as a space in JSON."""
        return {"kind": "Tuple", "parts": [self.choices.description, self.numbers.description]}


ObservationKind = States | Vectors
ActionKind = Choice | Choices | Numbers | Both


@checks_calls
@dataclass(frozen=True, slots=True)
class Returns:
    """The returns of P policies, m episodes each.

    Attributes:
        values: discounted returns [P, m]; larger is better.
        lengths: steps of each episode [P, m].
    """

    values: FloatArray
    lengths: IntArray


@checks_calls
@dataclass(frozen=True, slots=True)
class Episodes:
    """A recorded batch of m episodes of one behavior policy, kept as visits so that it can be reweighted.

    What an episode did is a bag of visits: the pairs (observation, action) that it met and how often. That is all that
    an importance ratio or a score needs. Visits of episode i are the rows offsets[i]:offsets[i + 1].

    Attributes:
        values: discounted returns [m].
        lengths: steps of each episode [m].
        offsets: where each episode's visits begin [m + 1].
        observations: a state index [V], or an observation [V, ...].
        actions: an action index [V], or an action [V, ...].
        counts: how often the episode made this visit [V].
        log_behavior: log b(action | observation) of the policy that acted [V].
    """

    values: FloatArray
    lengths: IntArray
    offsets: IntArray
    observations: NDArray[Any]
    actions: NDArray[Any]
    counts: IntArray
    log_behavior: FloatArray


@checks_calls
@dataclass(frozen=True, slots=True)
class Steps:
    """The N steps of m episodes in the order of time; those of episode i are the rows offsets[i]:offsets[i + 1].

    Attributes:
        values: discounted returns [m].
        offsets: where each episode begins [m + 1].
        ended: whether the environment ended the episode [m]; False where it was cut at the horizon.
        observations: what the policy read before each step [N, ...].
        actions: what it chose [N, ...].
        rewards: what the step earned, not discounted [N].
    """

    values: FloatArray
    offsets: IntArray
    ended: NDArray[np.bool_]
    observations: NDArray[Any]
    actions: NDArray[Any]
    rewards: FloatArray


@checks_calls
@dataclass(frozen=True, slots=True)
class Gradient:
    """An estimate of the gradient of a risk measure, with its own error.

    Attributes:
        vector: the estimate [d].
        standard_error: square root of the estimated E||vector - E vector||^2, a number; NaN where it is not known.
    """

    vector: FloatArray
    standard_error: float

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Give the vector, so that NumPy's functions take a gradient as an array [d]."""
        return np.array(self.vector, dtype=dtype, copy=copy)

    @property
    def norm(self) -> float:
        """Euclidean norm of the estimate."""
        return float(np.sqrt(np.sum(self.vector * self.vector)))


@checks_calls
@dataclass(frozen=True, eq=False)
class DiscreteLaw:
    """The law of a return that takes finitely many values.

    Equal values are merged and atoms of probability zero are dropped, so that `values` is strictly increasing.

    Args:
        values: the atoms [K], finite, in any order.
        probabilities: their masses [K], not negative, summing to 1 within 1e-9.
    """

    values: FloatArray
    probabilities: FloatArray

    def __init__(self, values: ArrayLike, probabilities: ArrayLike) -> None:
        atoms, masses = _check_atoms(values, probabilities)
        kept = masses > 0.0
        support, merged = atoms[kept], masses[kept]
        if not np.all(support[:-1] < support[1:]):  # most laws are in order already, and need no sort
            support, where = np.unique(support, return_inverse=True)
            merged = np.asarray(np.bincount(where, weights=merged, minlength=len(support)), dtype=np.float64)
        object.__setattr__(self, "values", freeze(support))
        object.__setattr__(self, "probabilities", freeze(merged))

    @cached_property
    def upper_mass(self) -> FloatArray:
        """P(R >= values[i]) for each atom [K]; its first entry is 1 by definition, not by summation."""
        tails = np.minimum(np.cumsum(self.probabilities[::-1])[::-1], 1.0)
        tails[0] = 1.0
        return freeze(tails)

    @cached_property
    def lower_mass(self) -> FloatArray:
        """P(R <= values[i]) for each atom [K]; its last entry is 1."""
        heads = np.minimum(np.cumsum(self.probabilities), 1.0)
        heads[-1] = 1.0
        return freeze(heads)

    @cached_property
    def mean(self) -> float:
        """E[R]."""
        return float(np.sum(self.probabilities * self.values))

    @cached_property
    def variance(self) -> float:
        """Var[R], computed about the mean, so never negative."""
        return float(np.sum(self.probabilities * (self.values - self.mean) ** 2))

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Give F(x) = P(R <= x), elementwise."""
        index = np.searchsorted(self.values, as_reals("x", x), side="right")
        return np.concatenate([[0.0], self.lower_mass])[index]

    def quantile(self, level: ArrayLike) -> FloatArray:
        """Give inf{x : F(x) >= level} for levels in (0, 1], elementwise; level 0 gives the smallest atom."""
        levels = as_reals("level", level)
        if not np.all((levels >= 0.0) & (levels <= 1.0)):
            raise InputError("level", "be in [0, 1]", level)
        return self.values[np.searchsorted(self.lower_mass, levels, side="left")]

    def __len__(self) -> int:
        return len(self.values)

    def _repr_html_(self) -> str:
        most = np.sort(np.argsort(-self.probabilities, kind="stable")[:ROWS])
        rows = [(f"{self.values[place]:.6g}", f"{self.probabilities[place]:.4g}") for place in most.tolist()]
        left = [f"and {len(self) - ROWS:,} less likely values"] if len(self) > ROWS else []
        title = f"mean {self.mean:.6g}, standard deviation {self.variance**0.5:.6g}"
        return html_table(rows, title=title, header=("return", "probability"), notes=left)


def describe(thing: object) -> str:
    """Describe a thing in words, without the address that a bare object prints and that differs between processes."""
    words = str(thing)
    return type(thing).__name__ if " at 0x" in words else words


def digest(array: NDArray[Any]) -> str:
    """Give a name for an array: 16 hexadecimal digits that depend on its bits."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def as_json(line: Mapping[str, Any]) -> str:
    """Write a line as JSON; numbers that are not finite become null."""
    infinite = {name: None for name, value in line.items() if isinstance(value, float) and not math.isfinite(value)}
    return json.dumps({**line, **infinite}, allow_nan=False)


def round_trip(line: Mapping[str, Any]) -> Line:
    """Give the line as it will be read back, so that a run in memory and one from the disk are equal."""
    return json.loads(as_json(line))


def freeze(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Make an array read-only, and give it."""
    array.flags.writeable = False
    return array


def _check_atoms(values: ArrayLike, probabilities: ArrayLike) -> tuple[FloatArray, FloatArray]:
    atoms, masses = as_reals("values", values), as_reals("probabilities", probabilities)
    if atoms.ndim != 1 or atoms.shape != masses.shape or atoms.size == 0:
        got = f"shapes {atoms.shape} and {masses.shape}"
        raise InputError("values and probabilities", "be two vectors of one length, not empty", got)
    if not np.all(are_usable(atoms)):
        bad = float(atoms[~are_usable(atoms)][0])
        raise InputError("values", return_rule(bad), bad)
    if not np.all(masses >= 0.0):
        raise InputError("probabilities", "not be negative or NaN", masses[~(masses >= 0.0)][0])
    with np.errstate(over="ignore"):
        total = float(np.sum(masses))
    if not abs(total - 1.0) <= MASS_TOLERANCE:
        raise InputError("probabilities", "sum to 1", total)
    return atoms, masses

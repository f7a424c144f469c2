"""How unbounded numbers become the coordinates of an action that an environment accepts.

    executed = low + (high - low) * (f(a) + 1) / 2       f clips to [-1, 1], or squashes by tanh
    executed = clip(a, low, high)                        in coordinates without two finite bounds

A bound as large as the largest number of single precision counts as infinite, since environments write it for that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import as_reals
from riskgrad.errors import InputError
from riskgrad.kernels.formulas import tanh_of
from riskgrad.types import FloatArray, Numbers

UNBOUNDED: Final = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Bounds:
    """The bounds of the coordinates of an action; made by `Bounds.of`.

    Attributes:
        low: smallest values [n].
        high: largest values [n].
        squashed: whether tanh keeps actions inside, rather than clipping.
        center: middle of the range [n]; 0 where a bound is not finite.
        half: half of the range [n]; 1 where a bound is not finite.
    """

    low: FloatArray
    high: FloatArray
    squashed: bool
    center: FloatArray
    half: FloatArray

    @classmethod
    def of(cls, low: ArrayLike, high: ArrayLike, squashed: bool) -> "Bounds":
        """Check the bounds [n] and work out the middle and half of the range."""
        least, most = (np.atleast_1d(as_reals("low and high", side)) for side in (low, high))
        if least.ndim != 1 or least.shape != most.shape or not least.size or not np.all(least <= most):
            raise InputError("low and high", "be two vectors of one length with low <= high", (low, high))
        finite = (least > -UNBOUNDED) & (most < UNBOUNDED)
        if squashed and not np.all(finite):
            raise InputError("squashed", "be False where an action has no finite bounds", squashed)
        center, half = np.zeros(len(least)), np.ones(len(least))
        center[finite] = 0.5 * (least[finite] + most[finite])
        half[finite] = 0.5 * (most[finite] - least[finite])
        return cls(least, most, bool(squashed), center, half)

    @property
    def size(self) -> int:
        """Number of coordinates n."""
        return len(self.low)

    @property
    def numbers(self) -> Numbers:
        """The bounds as a kind of action."""
        return Numbers(tuple(self.low.tolist()), tuple(self.high.tolist()))

    def recipe(self) -> dict[str, Any]:
        """Give the entries of a policy's recipe for its bounds; an infinite one is None, since JSON has no infinity."""
        low, high = ([float(value) if np.isfinite(value) else None for value in side] for side in (self.low, self.high))
        return {"low": low, "high": high, "squashed": self.squashed}

    def apply(self, actions: NDArray[Any]) -> FloatArray:
        """Give the executed actions [..., n]."""
        bent = tanh_of(actions) if self.squashed else actions
        # for the few actions of one step, np.clip alone takes as long as this whole line
        return np.minimum(np.maximum(self.center + self.half * bent, self.low), self.high)

    def __repr__(self) -> str:
        ends = f"low={self.low.tolist()}, high={self.high.tolist()}"
        return f"{ends}, squashed=True" if self.squashed else ends


def with_infinities(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Give a policy's recipe with infinite bounds in the place of None."""
    sides = {
        name: recipe[name] and [missing if value is None else value for value in recipe[name]]
        for name, missing in (("low", -np.inf), ("high", np.inf))
    }
    return {**recipe, **sides}

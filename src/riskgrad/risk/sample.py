"""A checked sample: returns and importance weights, refused in one line where they cannot be right.

Nothing is dropped silently: a NaN or infinite return, a negative, NaN or infinite weight, a row of weights that are all
zero, an empty sample and shapes that do not fit are errors that say where.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.errors import InputError
from riskgrad.types import FloatArray


@dataclass(frozen=True)
class Sample:
    """Returns and weights that have passed the checks.

    Attributes:
        values: returns [..., m].
        weights: weights [..., m], or None for equal ones.
    """

    values: FloatArray
    weights: FloatArray | None

    @property
    def size(self) -> int:
        """The number of episodes m in each row."""
        return self.values.shape[-1]

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes, broadcast [...]."""
        rows = () if self.weights is None else self.weights.shape[:-1]
        return np.broadcast_shapes(self.values.shape[:-1], rows)

    def mean(self) -> FloatArray:
        """The (self-normalized) mean of each row [...]."""
        if self.weights is None:
            return np.mean(self.values, axis=-1)
        center = self.values[..., :1]  # shifting by a sample keeps the digits when the returns are large and alike
        shifted = np.sum(self.weights * (self.values - center), axis=-1)
        return center[..., 0] + shifted / np.sum(self.weights, axis=-1)


def checked_sample(values: ArrayLike, weights: ArrayLike | None) -> Sample:
    """Check returns and weights completely.

    Args:
        values: returns [..., m], finite, m >= 1.
        weights: None or weights [..., m], finite, not negative, not all zero in any row.
    """
    sample = shaped_sample(values, weights)
    refuse_bad_values(sample.values)
    if sample.weights is not None:
        refuse_bad_weights(sample.weights)
    return sample


def shaped_sample(values: ArrayLike, weights: ArrayLike | None) -> Sample:
    """Check the shapes only, for estimators that meet bad numbers anyway on their way through the data."""
    returns = np.asarray(values, dtype=np.float64)
    if returns.ndim == 0 or returns.shape[-1] == 0:
        raise InputError("values", "hold at least one return along the last axis", f"shape {returns.shape}")
    if weights is None:
        return Sample(returns, None)
    ratios = np.asarray(weights, dtype=np.float64)
    if ratios.ndim == 0 or ratios.shape[-1] != returns.shape[-1]:
        raise InputError("weights", f"have one entry per return ({returns.shape[-1]})", f"shape {ratios.shape}")
    sample = Sample(returns, ratios)
    try:
        _ = sample.shape
    except ValueError as mismatch:
        shapes = f"shapes {returns.shape} and {ratios.shape}"
        raise InputError("values and weights", "have leading axes that broadcast", shapes) from mismatch
    return sample


def refuse_bad_values(values: FloatArray) -> None:
    """Raise if any return is NaN or infinite, naming the first."""
    good = np.isfinite(values)
    if not good.all():
        where = tuple(int(i) for i in np.argwhere(~good)[0])
        raise InputError("values", "be finite", f"{values[where]} at {_place(where)}", "no episode is dropped silently")


def refuse_bad_weights(weights: FloatArray) -> None:
    """Raise if any weight is negative, NaN or infinite, or if a row is all zero, naming the first."""
    good = np.isfinite(weights) & (weights >= 0.0)
    if not good.all():
        where = tuple(int(i) for i in np.argwhere(~good)[0])
        raise InputError("weights", "be finite and not negative", f"{weights[where]} at {_place(where)}")
    empty = ~weights.any(axis=-1)
    if empty.any():
        row = tuple(int(i) for i in np.argwhere(empty)[0]) if weights.ndim > 1 else ()
        where = f" in row {_place(row)}" if row else ""
        raise InputError(
            "weights", "not be all zero", f"no positive weight{where}", "the batch says nothing of this policy"
        )
    total = np.sum(weights, axis=-1)
    if not np.all(np.isfinite(total)):
        raise InputError(
            "weights", "have a finite sum", float(np.max(total)), "pass exp(log ratio - largest log ratio)"
        )


def _place(index: tuple[int, ...]) -> str:
    return f"index {index[0] if len(index) == 1 else index}"

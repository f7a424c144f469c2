"""Returns with importance weights: checked, sorted, and summed with the weights of a distortion.

Nothing is dropped silently: a NaN or infinite return, a negative, NaN or infinite weight, a row of weights that are all
zero, an empty sample and shapes that do not fit are errors that say where.

The estimate of a distortion measure is a sum over order statistics, with one sort for all policies. For
R_(1) <= ... <= R_(m), ratios psi_(i) belonging to R_(i), and S_i the estimated mass at or above R_(i),

    rho = sum_i R_(i) (g(S_i) - g(S_{i+1})) = R_(1) + sum_{i >= 2} (R_(i) - R_(i-1)) g(S_i),

and the estimators differ only in S_i:

    on-policy (`eq:hat_rho_G1`)       S_i = 1 - (i - 1) / m
    self-normalized                   S_i = sum_{k >= i} psi_(k) / sum_k psi_k
    literal (`eq:hat_rho_H1`)         S_i = 1 - min(1, sum_{k < i} psi_(k) / m)

Rows are worked through in blocks that stay in the cache. Every row is summed in an order that depends on m alone, so
that a row's result does not depend on which other rows came with it. Bad numbers need no pass of their own: NaN and
infinite returns sort to the ends of a row, and the loop over the weights finds bad weights.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import LARGEST_RETURN, are_usable, as_reals, return_rule
from riskgrad.distortion import DistortionFunction
from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.types import FloatArray, IntArray

PIECE = 1 << 12  # numbers whose squares are added in one call of BLAS
BLOCK = 1 << 15  # numbers worked on at once: 256 KiB, half of a usual second-level cache


@checks_calls
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
        """Compute the (self-normalized) mean of each row [...]."""
        if self.weights is None:
            return np.mean(self.values, axis=-1)
        center = self.values[..., :1]  # shifting by a sample keeps the digits when the returns are large and alike
        with np.errstate(over="ignore", invalid="ignore"):
            shifted = np.sum(self.weights * (self.values - center), axis=-1)
            found = center[..., 0] + shifted / np.sum(self.weights, axis=-1)
        if np.isfinite(found).all():
            return found
        # huge weights times huge returns overflowed: shares of the largest weight have the same mean
        return Sample(self.values, self.weights / np.max(self.weights, axis=-1, keepdims=True)).mean()


@checks_kinds
def check_sample(values: ArrayLike, weights: ArrayLike | None) -> Sample:
    """Check returns and weights completely.

    Args:
        values: returns [..., m], finite, m >= 1.
        weights: None or weights [..., m], finite, not negative, not all zero in any row.
    """
    sample = check_shapes(values, weights)
    refuse_bad_values(sample.values)
    if sample.weights is not None:
        refuse_bad_weights(sample.weights)
    return sample


def check_shapes(values: ArrayLike, weights: ArrayLike | None) -> Sample:
    """Check the shapes only, for estimators that find bad numbers themselves while they work through the data."""
    returns = as_reals("values", values)
    if returns.ndim == 0 or returns.shape[-1] == 0:
        raise InputError("values", "hold at least one return along the last axis", f"shape {returns.shape}")
    if weights is None:
        return Sample(returns, None)
    ratios = as_reals("weights", weights)
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
    """Raise if any return is NaN, infinite or too large, naming the first."""
    # one quick pass for nearly all samples: where the sum of the squares is small enough, so is each return
    if _sum_squares(values) <= LARGEST_RETURN**2:
        return
    good = are_usable(values)
    if not good.all():
        where = tuple(int(i) for i in np.argwhere(~good)[0])
        got = f"{values[where]} at {_index_text(where)}"
        raise InputError("values", return_rule(float(values[where])), got, "no episode is dropped silently")


def _sum_squares(values: FloatArray) -> float:
    """Give the sum of the squares, NaN or infinite where a value is or squares overflow.

    Pieces are short enough that BLAS starts no threads, which would keep the other cores busy long after the call.
    """
    flat = values.reshape(-1)
    whole = len(flat) - len(flat) % PIECE
    pieces, rest = flat[:whole].reshape(-1, PIECE), flat[whole:]
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.sum(np.vecdot(pieces, pieces)) + np.vecdot(rest, rest))


def refuse_bad_weights(weights: FloatArray) -> None:
    """Raise if any weight is negative, NaN or infinite, or if a row is all zero, naming the first."""
    good = np.isfinite(weights) & (weights >= 0.0)
    if not good.all():
        where = tuple(int(i) for i in np.argwhere(~good)[0])
        raise InputError("weights", "be finite and not negative", f"{weights[where]} at {_index_text(where)}")
    empty = ~weights.any(axis=-1)
    if empty.any():
        row = tuple(int(i) for i in np.argwhere(empty)[0]) if weights.ndim > 1 else ()
        where = f" in row {_index_text(row)}" if row else ""
        raise InputError(
            "weights", "not be all zero", f"no positive weight{where}", "the batch says nothing of this policy"
        )
    with np.errstate(over="ignore"):
        total = np.sum(weights, axis=-1)
    if not np.all(np.isfinite(total)):
        raise InputError(
            "weights", "have a finite sum", float(np.max(total)), "pass exp(log ratio - largest log ratio)"
        )


def mean_of_products(sample: Sample) -> FloatArray:
    """Give the mean of psi R for each row [...], `eq:Jm_b`; refuse one that overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return refuse_overflow(np.mean(cast("FloatArray", sample.weights) * sample.values, axis=-1))


def refuse_overflow(estimate: FloatArray) -> FloatArray:
    """Give an estimate from finite weights and returns as it is; refuse one that overflowed."""
    if not np.isfinite(estimate).all():
        rule = "give an estimate that fits into 64 bits"
        raise InputError("weights times values", rule, "an overflow", "self-normalized estimators do not overflow")
    return estimate


def distorted_mean(g: DistortionFunction, values: FloatArray) -> FloatArray:
    """Give `eq:hat_rho_G1` for each row of values [..., m]: a sort and one product with fixed coefficients."""
    in_order = values.ndim == 1 and bool(np.all(values[:-1] <= values[1:]))  # as where many measures share one sample
    ordered = values if in_order else np.sort(np.ascontiguousarray(values), axis=-1)
    if not are_usable(ordered[..., [0, -1]]).all():
        refuse_bad_values(values)
    return np.einsum("...m,m->...", ordered, order_coefficients(g, values.shape[-1]))


def weighted_distorted_mean(g: DistortionFunction, sample: Sample, *, literal: bool) -> FloatArray:
    """Give the self-normalized estimate, or the literal one, for each row [...]."""
    values, weights, size = sample.values, sample.weights, sample.size
    if weights is None:  # at equal weights both are the on-policy estimator
        return distorted_mean(g, values)
    from riskgrad.kernels.ladder import find_masses  # noqa: PLC0415 - brings numba, which others do not need

    full = (*sample.shape, size)
    rows = np.ascontiguousarray(np.broadcast_to(weights, full)).reshape(-1, size)
    shared = values.size == size  # then one sort serves every row of weights
    table = np.ascontiguousarray(values if shared else np.broadcast_to(values, full)).reshape(-1, size)
    climbed = _climb(table) if shared else None
    result = np.empty(len(rows))
    step = max(1, BLOCK // size)
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        order, lowest, steps, usable = climbed or _climb(table[block])
        levels, sound = find_masses(order, rows[block], literal)
        if not (usable and sound):
            refuse_bad_values(values)
            refuse_bad_weights(weights)
        subscripts = "bm,m->b" if shared else "bm,bm->b"
        result[block] = lowest + np.einsum(subscripts, g.at(levels), steps[0] if shared else steps)
    return result.reshape(sample.shape)[()]


def counted_distorted_mean(g: DistortionFunction, values: FloatArray, counts: IntArray) -> FloatArray:
    """Give the on-policy estimate from different returns [K] and how often each occurs in each sample [B, K].

    Sums of counts are exact, so that it has the same bits as the self-normalized estimate with counts as weights.
    """
    if not are_usable(values).all():
        refuse_bad_values(values)
    if not np.all(values[:-1] <= values[1:]):
        order = np.argsort(values, kind="stable")
        values, counts = values[order], np.take(counts, order, axis=1)
    steps, result = np.diff(values), np.empty(len(counts))
    rows = max(1, BLOCK // len(values))
    for start in range(0, len(counts), rows):
        block = slice(start, start + rows)
        above = np.cumsum(counts[block, ::-1], axis=1)[:, ::-1]
        if not (np.min(counts[block]) >= 0 and np.min(above[:, 0]) > 0):
            refuse_bad_weights(np.asarray(counts, dtype=np.float64))
        levels = above[:, 1:] / above[:, :1]
        result[block] = values[0] + np.einsum("bm,m->b", g.at(levels), steps)
    return result


def _climb(values: FloatArray) -> tuple[NDArray[np.intp], FloatArray, FloatArray, bool]:
    """Sort each row of returns [B, m]; give the order, the smallest, the steps between them, and if all are usable."""
    from riskgrad.kernels.ladder import find_steps  # noqa: PLC0415 - as above

    order = np.argsort(values, axis=1)
    return order, *find_steps(values, order)


def upper_masses(sample: Sample, order: NDArray[np.intp]) -> FloatArray:
    """Give S_i of the self-normalized estimator for i = 2..m, along sorted rows [..., m - 1]."""
    if sample.weights is None:
        return 1.0 - np.arange(1, sample.size) / sample.size
    ascending = np.take_along_axis(np.broadcast_to(sample.weights, order.shape), order, axis=-1)
    tails = np.cumsum(ascending[..., ::-1], axis=-1)[..., ::-1]
    return tails[..., 1:] / tails[..., :1]


@lru_cache(maxsize=64)
def order_coefficients(g: DistortionFunction, size: int) -> FloatArray:
    """Give g(S_i) - g(S_{i+1}), the weights on sorted returns of equal mass [m]."""
    levels = 1.0 - np.arange(size + 1) / size
    return -np.diff(g.at(levels))


def _index_text(index: tuple[int, ...]) -> str:
    return f"index {index[0] if len(index) == 1 else index}"

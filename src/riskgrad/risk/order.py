"""Distorted sums over order statistics: the inner loop of every distortion measure, one sort for all policies.

With R_(1) <= ... <= R_(m), ratios psi_(i) belonging to R_(i), and S_i the estimated mass at or above R_(i),

    rho = sum_i R_(i) (g(S_i) - g(S_{i+1})) = R_(1) + sum_{i >= 2} (R_(i) - R_(i-1)) g(S_i),

and the estimators differ only in S_i:

    on-policy (`eq:hat_rho_G1`)       S_i = 1 - (i - 1) / m
    self-normalised                   S_i = sum_{k >= i} psi_(k) / sum_k psi_k
    literal (`eq:hat_rho_H1`)         S_i = 1 - min(1, sum_{k < i} psi_(k) / m)

Rows are worked through in blocks that stay in the cache. Every row is summed in an order that depends on m alone, so
that a row's result does not depend on which other rows came with it. NaN and infinities need no pass of their own: they
sort to the ends of a row, and bad weights show in a block's smallest weight and its sums.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from riskgrad.distortion import DistortionFunction
from riskgrad.risk.sample import Sample, refuse_bad_values, refuse_bad_weights
from riskgrad.types import FloatArray

BLOCK = 1 << 15  # numbers worked on at once: 256 KiB, half of a usual second-level cache


def equal_weights(g: DistortionFunction, values: FloatArray) -> FloatArray:
    """`eq:hat_rho_G1` for each row of values [..., m]: a sort and one product with fixed coefficients."""
    ordered = np.sort(np.ascontiguousarray(values), axis=-1)
    if not np.isfinite(ordered[..., [0, -1]]).all():
        refuse_bad_values(values)
    return np.einsum("...m,m->...", ordered, _coefficients(g, values.shape[-1]))


def weighted(g: DistortionFunction, sample: Sample, *, literal: bool) -> FloatArray:
    """The self-normalised estimate, or the literal one, for each row [...]."""
    values, weights, size = sample.values, sample.weights, sample.size
    if weights is None:  # at equal weights both are the on-policy estimator
        return equal_weights(g, values)
    if values.size == size:  # one sort serves every row of weights
        ladder = _climb(values.reshape(1, size), sample, literal)
        rows = np.ascontiguousarray(weights).reshape(-1, size)
        estimates = [
            _climbed(g, np.take(rows[block], ladder.order[0], axis=1, mode="clip"), ladder, sample, literal)
            for block in _blocks(rows)
        ]
    else:
        table = np.ascontiguousarray(np.broadcast_to(values, (*sample.shape, size))).reshape(-1, size)
        rows = np.broadcast_to(weights, (*sample.shape, size)).reshape(-1, size)
        estimates: list[FloatArray] = []
        for block in _blocks(rows):
            ladder = _climb(table[block], sample, literal)
            picked = np.take_along_axis(rows[block], ladder.order, axis=1)
            estimates.append(_climbed(g, picked, ladder, sample, literal))
    return np.concatenate(estimates).reshape(sample.shape)[()]


def upper_masses(sample: Sample, order: NDArray[np.intp]) -> FloatArray:
    """S_i of the self-normalised estimator for i = 2..m, along sorted rows [..., m - 1]."""
    if sample.weights is None:
        return 1.0 - np.arange(1, sample.size) / sample.size
    ascending = np.take_along_axis(np.broadcast_to(sample.weights, order.shape), order, axis=-1)
    tails = np.cumsum(ascending[..., ::-1], axis=-1)[..., ::-1]
    return tails[..., 1:] / tails[..., :1]


@lru_cache(maxsize=64)
def _coefficients(g: DistortionFunction, size: int) -> FloatArray:
    levels = 1.0 - np.arange(size + 1) / size
    return -np.diff(g(levels))


@dataclass(frozen=True)
class _Ladder:
    """Sorted rows as a lowest value and the steps up from it; B = 1 serves every row of weights.

    Attributes:
        order: which sample stands where [B, m]; from the best down, for the literal form from the worst up.
        lowest: the smallest value [B].
        steps: differences of neighbours in that order [B, m - 1].
    """

    order: NDArray[np.intp]
    lowest: FloatArray
    steps: FloatArray


def _climb(values: FloatArray, sample: Sample, literal: bool) -> _Ladder:
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    if not np.isfinite(ordered[:, [0, -1]]).all():
        refuse_bad_values(sample.values)
    steps = np.diff(ordered, axis=1)
    if literal:
        return _Ladder(order, ordered[:, 0], steps)
    return _Ladder(np.ascontiguousarray(order[:, ::-1]), ordered[:, 0], np.ascontiguousarray(steps[:, ::-1]))


def _climbed(g: DistortionFunction, picked: FloatArray, ladder: _Ladder, sample: Sample, literal: bool) -> FloatArray:
    """R_(1) + sum of steps times g(S) for weights [B, m] in the order of the ladder; overwrites the weights."""
    smallest = picked.min()
    sums = np.cumsum(picked, axis=1, out=picked)
    total = sums[:, -1:]
    if not (smallest >= 0.0 and (total > 0.0).all() and np.isfinite(total).all()):
        refuse_bad_weights(cast("FloatArray", sample.weights))
    below = sums[:, :-1]
    levels = 1.0 - np.minimum(1.0, below / sums.shape[1]) if literal else below / total
    steps = ladder.steps
    if len(steps) == 1:
        return ladder.lowest + np.einsum("bm,m->b", g(levels), steps[0])
    return ladder.lowest + np.einsum("bm,bm->b", g(levels), steps)


def _blocks(rows: FloatArray) -> list[slice]:
    count, size = rows.shape
    step = max(1, BLOCK // size)
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]

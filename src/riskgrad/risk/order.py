"""Distorted sums over order statistics: the inner loop of every distortion measure, one sort for all policies.

With R_(1) <= ... <= R_(m), ratios psi_(i) belonging to R_(i), and S_i the estimated mass at or above R_(i),

    rho = sum_i R_(i) (g(S_i) - g(S_{i+1})) = R_(1) + sum_{i >= 2} (R_(i) - R_(i-1)) g(S_i),

and the estimators differ only in S_i:

    on-policy (`eq:hat_rho_G1`)       S_i = 1 - (i - 1) / m
    self-normalized                   S_i = sum_{k >= i} psi_(k) / sum_k psi_k
    literal (`eq:hat_rho_H1`)         S_i = 1 - min(1, sum_{k < i} psi_(k) / m)

Rows are worked through in blocks that stay in the cache. Every row is summed in an order that depends on m alone, so
that a row's result does not depend on which other rows came with it. Bad numbers need no pass of their own: NaN and
infinite returns sort to the ends of a row, and the loop over the weights sees the rest.
"""

from functools import lru_cache

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
    """The self-normalized estimate, or the literal one, for each row [...]."""
    values, weights, size = sample.values, sample.weights, sample.size
    if weights is None:  # at equal weights both are the on-policy estimator
        return equal_weights(g, values)
    from riskgrad.kernels.ladder import build_ladder  # noqa: PLC0415 - brings numba, which unweighted estimates do not need

    full = (*sample.shape, size)
    rows = np.ascontiguousarray(np.broadcast_to(weights, full)).reshape(-1, size)
    shared = values.size == size  # then one sort serves every row of weights
    table = np.ascontiguousarray(values if shared else np.broadcast_to(values, full)).reshape(-1, size)
    order = np.argsort(table, axis=1) if shared else None
    result = np.empty(len(rows))
    step = max(1, BLOCK // size)
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        owned = table if shared else table[block]
        ranks = np.argsort(owned, axis=1) if order is None else order
        lowest, steps, levels, sound = build_ladder(owned, ranks, rows[block], literal)
        if not sound:
            refuse_bad_values(values)
            refuse_bad_weights(weights)
        subscripts = "bm,m->b" if shared else "bm,bm->b"
        result[block] = lowest + np.einsum(subscripts, g.at(levels), steps[0] if shared else steps)
    return result.reshape(sample.shape)[()]


def upper_masses(sample: Sample, order: NDArray[np.intp]) -> FloatArray:
    """S_i of the self-normalized estimator for i = 2..m, along sorted rows [..., m - 1]."""
    if sample.weights is None:
        return 1.0 - np.arange(1, sample.size) / sample.size
    ascending = np.take_along_axis(np.broadcast_to(sample.weights, order.shape), order, axis=-1)
    tails = np.cumsum(ascending[..., ::-1], axis=-1)[..., ::-1]
    return tails[..., 1:] / tails[..., :1]


@lru_cache(maxsize=64)
def _coefficients(g: DistortionFunction, size: int) -> FloatArray:
    levels = 1.0 - np.arange(size + 1) / size
    return -np.diff(g.at(levels))

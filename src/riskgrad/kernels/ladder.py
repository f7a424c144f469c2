"""The compiled loops of weighted distortion estimates: steps between sorted returns, and the mass above each."""

import numpy as np
from numpy.typing import NDArray

from riskgrad.checks import LARGEST_RETURN
from riskgrad.kernels.arrays import FLOAT, INTEGER
from riskgrad.kernels.compile import helper, kernel
from riskgrad.types import FloatArray


@helper
def _settle_ties(values: FloatArray, order: NDArray[np.intp]) -> None:
    """Sort equal returns by their index, within the ascending order [m] of returns [m], in place.

    NumPy's default sort orders equal returns differently on different processors; its stable sort takes five times as
    long.
    """
    size = len(values)
    groups, places = np.empty(size, INTEGER), np.empty(size, INTEGER)
    count, previous = 0, np.nan
    for i in range(size):
        current = values[order[i]]
        if current != previous:
            places[count] = i
            count += 1
        groups[order[i]] = count - 1
        previous = current
    for i in range(size):
        order[places[groups[i]]] = i
        places[groups[i]] += 1


@kernel
def find_steps(values: FloatArray, order: NDArray[np.intp]) -> tuple[FloatArray, FloatArray, bool]:
    """Give the steps between the sorted returns of each row.

    Args:
        values: returns [B, m].
        order: indices that sort them in ascending order [B, m]; changed in place, so that equal returns are in the
            order of their indices, on which the rounding of sums of weights depends.

    Returns:
        the smallest return of each row [B], the steps R_(i) - R_(i-1) for i = 2..m [B, m - 1], and whether all returns
        are within LARGEST_RETURN.
    """
    count, size = values.shape
    lowest, steps = np.empty(count, FLOAT), np.empty(count * (size - 1), FLOAT).reshape(count, size - 1)
    sound = True
    for b in range(count):
        previous, ties = values[b, order[b, 0]], 0
        lowest[b] = previous
        for i in range(1, size):
            current = values[b, order[b, i]]
            steps[b, i - 1] = current - previous
            ties += 1 if current == previous else 0
            previous = current
        if ties > 0:
            _settle_ties(values[b], order[b])
        sound &= abs(lowest[b]) <= LARGEST_RETURN and abs(previous) <= LARGEST_RETURN
    return lowest, steps, sound


@kernel
def find_masses(order: NDArray[np.intp], weights: FloatArray, literal: bool) -> tuple[FloatArray, bool]:
    """Give the estimated mass at or above each return but the smallest, in ascending order of the returns.

    Args:
        order: indices that sort the returns in ascending order [B, m], or [1, m] for returns that all rows share.
        weights: ratios psi [B, m].
        literal: whether the mass is that of `eq:hat_rho_H1`; otherwise it is the self-normalized one.

    Returns:
        the mass S_i for i = 2..m [B, m - 1], and whether all rows have weights of at least 0 with a finite positive
        sum.
    """
    count, size = weights.shape
    levels = np.empty(count * (size - 1), FLOAT).reshape(count, size - 1)
    sound = True
    for b in range(count):
        rank = order[b if len(order) > 1 else 0]
        least, total = np.inf, 0.0
        if literal:
            for i in range(size - 1):
                weight = weights[b, rank[i]]
                least = min(least, weight)
                total += weight
                levels[b, i] = 1.0 - min(1.0, total / size)
            weight = weights[b, rank[size - 1]]
        else:
            for i in range(size - 1, 0, -1):
                weight = weights[b, rank[i]]
                least = min(least, weight)
                total += weight
                levels[b, i - 1] = total
            weight = weights[b, rank[0]]
        least = min(least, weight)
        total += weight
        if not literal:
            for i in range(size - 1):
                levels[b, i] /= total
        # a NaN weight makes the total NaN, an infinite one makes it infinite
        sound &= least >= 0.0 and 0.0 < total < np.inf
    return levels, sound

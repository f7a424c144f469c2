"""Some observations together under a linear softmax: their entries that are not zero, and the softmax at each.

    n observations at most   k features   A actions   theta[f * A + a]

The observations are the last axis of what is computed, so that the compiler takes several exponentials at a time. Every
number is made of its own observation alone, in one order.
"""

from typing import NamedTuple

import numpy as np

from riskgrad.kernels.compile import helper
from riskgrad.kernels.elementary import exp, trailing_zeros
from riskgrad.types import FloatArray, IntArray

TOGETHER = 64  # observations at most
WORD = 64  # features that are looked at together for those that are not zero
NOTHING, ONE = np.uint64(0), np.uint64(1)


class Block(NamedTuple):
    """Some observations, n at most, by the entries that are not zero, and what policies make of them.

    Attributes:
        visits: which observations they are [n].
        rows: by which policy each is looked at [n].
        indices, values, counts: their entries [n, k + 1], [n, k + 1], [n]; there is room for one too many.
        logs: logits minus the largest [A, n].
        chances: exp(logs) [A, n].
        totals: sums of the chances [n].
    """

    visits: IntArray
    rows: IntArray
    indices: IntArray
    values: FloatArray
    counts: IntArray
    logs: FloatArray
    chances: FloatArray
    totals: FloatArray


@helper
def empty_block(size: int, n_features: int, n_actions: int) -> Block:
    """Make room for a block of at most `size` observations."""
    n = max(1, min(size, TOGETHER))
    return Block(
        visits=np.zeros(n, dtype=np.int64),
        rows=np.zeros(n, dtype=np.int64),
        indices=np.empty((n, n_features + 1), dtype=np.int64),
        values=np.empty((n, n_features + 1)),
        counts=np.zeros(n, dtype=np.int64),
        logs=np.empty((n_actions, n)),
        chances=np.empty((n_actions, n)),
        totals=np.empty(n),
    )


@helper
def gather(block: Block, n: int, observations: FloatArray) -> None:
    """Find the entries of the first n observations of a block that are not zero.

    First one bit for each of 64 features, several at a time, then a turn for each bit: a branch for each feature would
    often be predicted wrongly, which costs more than all the rest.
    """
    indices, values, n_features = block.indices, block.values, observations.shape[1]
    whole = n_features - n_features % WORD
    for i in range(n):
        b, count = block.visits[i], 0
        for first in range(0, whole, WORD):
            bits = NOTHING
            for f in range(WORD):
                bits |= (ONE if observations[b, first + f] != 0.0 else NOTHING) << np.uint64(f)
            while bits != NOTHING:
                f = first + trailing_zeros(bits)
                indices[i, count], values[i, count] = f, observations[b, f]
                count += 1
                bits &= bits - ONE
        for f in range(whole, n_features):
            indices[i, count], values[i, count] = f, observations[b, f]
            count += 1 if observations[b, f] != 0.0 else 0
        block.counts[i] = count


@helper
def weigh(block: Block, n: int, thetas: FloatArray) -> None:
    """Fill logs, chances and totals of the first n observations."""
    indices, values, logs, chances, totals = block.indices, block.values, block.logs, block.chances, block.totals
    n_actions = len(logs)
    for i in range(n):
        row, count = block.rows[i], block.counts[i]
        for a in range(n_actions):
            total = 0.0
            for k in range(count):
                total += values[i, k] * thetas[row, indices[i, k] * n_actions + a]
            logs[a, i] = total
        totals[i] = logs[0, i]
    for a in range(1, n_actions):
        for i in range(n):
            totals[i] = max(totals[i], logs[a, i])
    for a in range(n_actions):
        for i in range(n):
            logs[a, i] -= totals[i]
            chances[a, i] = exp(logs[a, i])
    for i in range(n):
        totals[i] = 0.0
    for a in range(n_actions):
        for i in range(n):
            totals[i] += chances[a, i]


@helper
def pull(block: Block, n: int, total: FloatArray, c: int) -> None:
    """Add the gradients of `logs`, taken as slopes, times the logits of the first n observations to total[c]."""
    indices, values, slopes = block.indices, block.values, block.logs
    n_actions = len(slopes)
    for i in range(n):
        for k in range(block.counts[i]):
            first, value = indices[i, k] * n_actions, values[i, k]
            for a in range(n_actions):
                total[c, first + a] += value * slopes[a, i]

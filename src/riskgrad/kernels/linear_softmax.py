"""The sums of linear softmax policies, compiled, in which entries of observations [B, k] that are zero cost little.

    P policies   B observations   k features   A actions   d = k A parameters, theta[f * A + a]

A soft one-hot of 64 features, of which 4 are not zero, takes a sixteenth of the products of a full matrix. Every number
is summed in one fixed order, so that a row has the same bits whatever else is in the batch. Sums over the batch are
made in chunks of a fixed size, whose totals are then added in order, so that threads do not change them.

Up to 64 observations are processed together. They are the last axis of what is computed, so that the compiler takes
several exponentials at a time.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskgrad.kernels.compile import as_contiguous, cores, helper, in_blocks, kernel
from riskgrad.kernels.elementary import exp, log, trailing_zeros
from riskgrad.types import FloatArray, IntArray

TOGETHER = 64  # observations at most that are processed together
WORD = 64  # features of which those that are not zero are found together
NOTHING, ONE = np.uint64(0), np.uint64(1)
CHUNK = 4096  # observations whose gradients are added up together


class ObservationBlock(NamedTuple):
    """Some observations, n at most, given by the entries that are not zero, and their softmax under policies.

    Attributes:
        visits: indices of the observations in the batch [n].
        rows: index of the policy under which each is taken [n].
        indices, values, counts: indices and values of the entries that are not zero [n, k + 1], and how many there are
            [n]; the room for one more takes a zero, which the next entry overwrites.
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
def make_block(size: int, n_features: int, n_actions: int) -> ObservationBlock:
    """Make room for a block of at most `size` observations."""
    n = max(1, min(size, TOGETHER))
    return ObservationBlock(
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
def find_entries(block: ObservationBlock, n: int, observations: FloatArray) -> None:
    """Find the entries of the first n observations of a block that are not zero.

    A first loop sets one bit for each of 64 features, a second one has a turn for each bit that is 1: a branch for each
    feature would often be predicted wrongly, which costs more than all the rest.
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
def weigh_block(block: ObservationBlock, n: int, thetas: FloatArray) -> None:
    """Fill logs, chances and totals of the first n observations, each under the policy thetas[rows[i]]."""
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
def pull_block(block: ObservationBlock, n: int, total: FloatArray, c: int) -> None:
    """Add the gradient of the logits of the first n observations times slopes, which are in `logs`, to total[c]."""
    indices, values, slopes = block.indices, block.values, block.logs
    n_actions = len(slopes)
    for i in range(n):
        for k in range(block.counts[i]):
            first, value = indices[i, k] * n_actions, values[i, k]
            for a in range(n_actions):
                total[c, first + a] += value * slopes[a, i]


@kernel
def _fill_probabilities(begin: int, end: int, thetas: FloatArray, observations: FloatArray, answer: FloatArray) -> None:
    """Fill answer [P, B, A] with pi(a | o_b) for the observations begin:end."""
    block = make_block(end - begin, observations.shape[1], answer.shape[2])
    for first in range(begin, end, TOGETHER):
        n = min(TOGETHER, end - first)
        for i in range(n):
            block.visits[i] = first + i
        find_entries(block, n, observations)
        for p in range(len(thetas)):
            block.rows[:] = p
            weigh_block(block, n, thetas)
            for i in range(n):
                for a in range(answer.shape[2]):
                    answer[p, first + i, a] = block.chances[a, i] / block.totals[i]


@kernel
def _fill_own_probabilities(thetas: FloatArray, rows: IntArray, observations: FloatArray, answer: FloatArray) -> None:
    """Fill answer [B, A] with pi(a | o_b), each observation under the policy thetas[rows[b]]."""
    block = make_block(len(rows), observations.shape[1], answer.shape[1])
    for first in range(0, len(rows), TOGETHER):
        n = min(TOGETHER, len(rows) - first)
        for i in range(n):
            block.visits[i], block.rows[i] = first + i, rows[first + i]
        find_entries(block, n, observations)
        weigh_block(block, n, thetas)
        for i in range(n):
            for a in range(answer.shape[1]):
                answer[first + i, a] = block.chances[a, i] / block.totals[i]


@kernel
def _fill_log_probabilities(
    begin: int,
    end: int,
    thetas: FloatArray,
    observations: FloatArray,
    actions: IntArray,
    n_actions: int,
    answer: FloatArray,
) -> None:
    """Fill answer [P, B] with log pi(a_b | o_b) for the observations begin:end."""
    block = make_block(end - begin, observations.shape[1], n_actions)
    totals, shifts = block.totals, np.empty(len(block.totals))
    for first in range(begin, end, TOGETHER):
        n = min(TOGETHER, end - first)
        for i in range(n):
            block.visits[i] = first + i
        find_entries(block, n, observations)
        for p in range(len(thetas)):
            block.rows[:] = p
            weigh_block(block, n, thetas)
            for i in range(n):
                shifts[i] = log(totals[i])
            for i in range(n):
                answer[p, first + i] = block.logs[actions[first + i], i] - shifts[i]


@kernel
def _add_scores(
    begin: int,
    end: int,
    theta: FloatArray,
    observations: FloatArray,
    actions: IntArray,
    coefficients: FloatArray,
    n_actions: int,
    answer: FloatArray,
) -> None:
    """Add sum_b c_b grad log pi(a_b | o_b) of the chunks begin:end to their rows of answer [chunks, d]."""
    block, thetas = make_block(len(actions), observations.shape[1], n_actions), theta.reshape(1, -1)
    logs, chances, totals, visits = block.logs, block.chances, block.totals, block.visits
    for c in range(begin, end):
        b, last = c * CHUNK, min((c + 1) * CHUNK, len(actions))
        while b < last:
            n = 0
            while b < last and n < len(visits):
                visits[n] = b
                n += 1 if coefficients[b] != 0.0 else 0
                b += 1
            find_entries(block, n, observations)
            weigh_block(block, n, thetas)
            for a in range(n_actions):
                for i in range(n):
                    logs[a, i] = chances[a, i] / totals[i] * -coefficients[visits[i]]
            for i in range(n):
                logs[actions[visits[i]], i] += coefficients[visits[i]]
            pull_block(block, n, answer, c)


@kernel
def _add_entropy_slopes(
    begin: int,
    end: int,
    theta: FloatArray,
    observations: FloatArray,
    coefficients: FloatArray,
    n_actions: int,
    answer: FloatArray,
) -> None:
    """Add sum_b c_b grad H(pi(. | o_b)) of the chunks begin:end to their rows of answer [chunks, d].

    The slope of H in the logit of a is -pi(a) (log pi(a) + H).
    """
    block, thetas = make_block(len(observations), observations.shape[1], n_actions), theta.reshape(1, -1)
    logs, chances, totals = block.logs, block.chances, block.totals
    shifts, entropies = np.empty(len(totals)), np.empty(len(totals))
    for c in range(begin, end):
        for first in range(c * CHUNK, min((c + 1) * CHUNK, len(observations)), TOGETHER):
            n = min(TOGETHER, len(observations) - first)
            for i in range(n):
                block.visits[i] = first + i
            find_entries(block, n, observations)
            weigh_block(block, n, thetas)
            for i in range(n):
                shifts[i], entropies[i] = log(totals[i]), 0.0
            for a in range(n_actions):
                for i in range(n):
                    logs[a, i] -= shifts[i]
                    chances[a, i] /= totals[i]
                    entropies[i] -= chances[a, i] * logs[a, i]
            for a in range(n_actions):
                for i in range(n):
                    logs[a, i] = -coefficients[first + i] * chances[a, i] * (logs[a, i] + entropies[i])
            pull_block(block, n, answer, c)


def all_probabilities(thetas: FloatArray, observations: FloatArray, n_actions: int) -> FloatArray:
    """Give pi(a | o_b) of every policy [P, B, A]."""
    rows, answer = as_contiguous(thetas, np.float64), np.empty((len(thetas), len(observations), n_actions))

    def block(begin: int, end: int) -> None:
        _fill_probabilities(begin, end, rows, observations, answer)

    in_blocks(block, len(observations), cores())
    return answer


def own_probabilities(thetas: FloatArray, rows: IntArray, observations: NDArray[Any], n_actions: int) -> FloatArray:
    """Give pi(a | o_b) of the policy thetas[rows[b]] for each observation [B, A]."""
    answer = np.empty((len(rows), n_actions))
    _fill_own_probabilities(
        as_contiguous(thetas, np.float64),
        as_contiguous(rows, np.int64),
        as_contiguous(observations, np.float64),
        answer,
    )
    return answer


def all_log_probabilities(
    thetas: FloatArray, observations: FloatArray, actions: NDArray[Any], n_actions: int
) -> FloatArray:
    """Give log pi(a_b | o_b) of every policy [P, B]."""
    rows, taken, answer = (
        as_contiguous(thetas, np.float64),
        as_contiguous(actions, np.int64),
        np.empty((len(thetas), len(actions))),
    )

    def block(begin: int, end: int) -> None:
        _fill_log_probabilities(begin, end, rows, observations, taken, n_actions, answer)

    in_blocks(block, len(taken), cores())
    return answer


def score_total(
    theta: FloatArray, observations: FloatArray, actions: NDArray[Any], coefficients: FloatArray, n_actions: int
) -> FloatArray:
    """Give sum_b c_b grad log pi(a_b | o_b) [d]."""
    vector, taken, scale = (
        as_contiguous(theta, np.float64),
        as_contiguous(actions, np.int64),
        as_contiguous(coefficients, np.float64),
    )
    totals = np.zeros((-(-len(taken) // CHUNK), len(vector)))

    def block(begin: int, end: int) -> None:
        _add_scores(begin, end, vector, observations, taken, scale, n_actions, totals)

    in_blocks(block, len(totals), cores())
    return np.sum(totals, axis=0)


def entropy_total(theta: FloatArray, observations: FloatArray, coefficients: FloatArray, n_actions: int) -> FloatArray:
    """Give sum_b c_b grad H(pi(. | o_b)) [d]."""
    vector, scale = as_contiguous(theta, np.float64), as_contiguous(coefficients, np.float64)
    totals = np.zeros((-(-len(scale) // CHUNK), len(vector)))

    def block(begin: int, end: int) -> None:
        _add_entropy_slopes(begin, end, vector, observations, scale, n_actions, totals)

    in_blocks(block, len(totals), cores())
    return np.sum(totals, axis=0)

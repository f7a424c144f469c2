"""The sums of a linear softmax, compiled: observations [B, k] are read once, and entries that are zero cost nothing.

    P policies   B observations   k features   A actions   theta[f * A + a]

A soft one-hot of 64 features with 4 entries takes a sixteenth of the products with a full matrix. Every number
is summed in one fixed order, so that a row has the same bits whatever else is in the batch. Sums over the batch are
made in chunks of a fixed size, whose totals are then added in order, so that threads do not change them.

Small functions are pasted into the kernels: to pass an array to a function costs more than what they do.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskgrad.compiled import cores, in_blocks, inlined, kernel, plain
from riskgrad.elementary import exp, trailing_zeros
from riskgrad.types import FloatArray, IntArray

CHUNK = 4096  # observations whose scores are added up together
WORD = 64  # features that are looked at together for those that are not zero
NOTHING, ONE = np.uint64(0), np.uint64(1)


@inlined
def _entries(observations: FloatArray, b: int, indices: IntArray, values: FloatArray) -> int:
    """Gather the entries of observations[b] that are not zero; give their number.

    First one bit for each of 64 features, several at a time, then a turn for each bit: a branch for each feature would
    often be predicted wrongly, which costs more than all the rest.
    """
    count, n_features = 0, observations.shape[1]
    whole = n_features - n_features % WORD
    for first in range(0, whole, WORD):
        bits = NOTHING
        for f in range(WORD):
            bits |= (ONE if observations[b, first + f] != 0.0 else NOTHING) << np.uint64(f)
        while bits != NOTHING:
            f = first + trailing_zeros(bits)
            indices[count], values[count] = f, observations[b, f]
            count += 1
            bits &= bits - ONE
    for f in range(whole, n_features):
        indices[count], values[count] = f, observations[b, f]
        count += 1 if observations[b, f] != 0.0 else 0
    return count


@inlined
def _logits(
    thetas: FloatArray, p: int, indices: IntArray, values: FloatArray, count: int, n_actions: int, logits: FloatArray
) -> float:
    """Fill the logits [A] of the policy thetas[p] at one observation; give the largest."""
    for a in range(n_actions):
        logits[a] = 0.0
    for k in range(count):
        for a in range(n_actions):
            logits[a] += values[k] * thetas[p, indices[k] * n_actions + a]
    top = -np.inf
    for a in range(n_actions):
        top = max(top, logits[a])
    return top


@inlined
def _softmax(
    thetas: FloatArray, p: int, indices: IntArray, values: FloatArray, count: int, n_actions: int, row: FloatArray
) -> None:
    """Fill the probabilities [A] of the policy thetas[p] at one observation."""
    top = _logits(thetas, p, indices, values, count, n_actions, row)
    total = 0.0
    for a in range(n_actions):
        row[a] = exp(row[a] - top)
    for a in range(n_actions):
        total += row[a]
    for a in range(n_actions):
        row[a] /= total


@inlined
def _pull(
    indices: IntArray, values: FloatArray, count: int, n_actions: int, slopes: FloatArray, total: FloatArray, c: int
) -> None:
    """Add the gradient of slopes [A] times the logits of one observation to total[c]."""
    for k in range(count):
        for a in range(n_actions):
            total[c, indices[k] * n_actions + a] += values[k] * slopes[a]


@kernel
def _probabilities(begin: int, end: int, thetas: FloatArray, observations: FloatArray, answer: FloatArray) -> None:
    """Fill answer [P, B, A] for the observations begin:end."""
    indices, values = np.empty(observations.shape[1] + 1, dtype=np.int64), np.empty(observations.shape[1] + 1)
    n_actions = answer.shape[2]
    row = np.empty(n_actions)
    for b in range(begin, end):
        count = _entries(observations, b, indices, values)
        for p in range(len(thetas)):
            _softmax(thetas, p, indices, values, count, n_actions, row)
            for a in range(n_actions):
                answer[p, b, a] = row[a]


@kernel
def _own_probabilities(thetas: FloatArray, rows: IntArray, observations: FloatArray, answer: FloatArray) -> None:
    """Fill answer [B, A], each observation by the policy thetas[rows[b]]."""
    indices, values = np.empty(observations.shape[1] + 1, dtype=np.int64), np.empty(observations.shape[1] + 1)
    n_actions = answer.shape[1]
    row = np.empty(n_actions)
    for b in range(len(rows)):
        count = _entries(observations, b, indices, values)
        _softmax(thetas, rows[b], indices, values, count, n_actions, row)
        for a in range(n_actions):
            answer[b, a] = row[a]


@kernel
def _log_probabilities(
    begin: int,
    end: int,
    thetas: FloatArray,
    observations: FloatArray,
    actions: IntArray,
    n_actions: int,
    answer: FloatArray,
) -> None:
    """Fill answer [P, B] with log pi(a_b | o_b) for the observations begin:end."""
    indices, values = np.empty(observations.shape[1] + 1, dtype=np.int64), np.empty(observations.shape[1] + 1)
    logits = np.empty(n_actions)
    for b in range(begin, end):
        count = _entries(observations, b, indices, values)
        for p in range(len(thetas)):
            top = _logits(thetas, p, indices, values, count, n_actions, logits)
            chosen, total = logits[actions[b]] - top, 0.0
            for a in range(n_actions):
                logits[a] = exp(logits[a] - top)
            for a in range(n_actions):
                total += logits[a]
            answer[p, b] = chosen - math.log(total)


@kernel
def _score_sums(
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
    indices, values = np.empty(observations.shape[1] + 1, dtype=np.int64), np.empty(observations.shape[1] + 1)
    slopes, thetas = np.empty(n_actions), theta.reshape(1, -1)
    for c in range(begin, end):
        for b in range(c * CHUNK, min((c + 1) * CHUNK, len(actions))):
            if coefficients[b] == 0.0:
                continue
            count = _entries(observations, b, indices, values)
            _softmax(thetas, 0, indices, values, count, n_actions, slopes)
            for a in range(n_actions):
                slopes[a] *= -coefficients[b]
            slopes[actions[b]] += coefficients[b]
            _pull(indices, values, count, n_actions, slopes, answer, c)


@kernel
def _entropy_sums(
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
    indices, values = np.empty(observations.shape[1] + 1, dtype=np.int64), np.empty(observations.shape[1] + 1)
    logs, chances, thetas = np.empty(n_actions), np.empty(n_actions), theta.reshape(1, -1)
    for c in range(begin, end):
        for b in range(c * CHUNK, min((c + 1) * CHUNK, len(observations))):
            count = _entries(observations, b, indices, values)
            top = _logits(thetas, 0, indices, values, count, n_actions, logs)
            total = 0.0
            for a in range(n_actions):
                logs[a] -= top
                chances[a] = exp(logs[a])
            for a in range(n_actions):
                total += chances[a]
            shift, entropy = math.log(total), 0.0
            for a in range(n_actions):
                logs[a] -= shift
                chances[a] /= total
                entropy -= chances[a] * logs[a]
            for a in range(n_actions):
                logs[a] = -coefficients[b] * chances[a] * (logs[a] + entropy)
            _pull(indices, values, count, n_actions, logs, answer, c)


def all_probabilities(thetas: FloatArray, observations: FloatArray, n_actions: int) -> FloatArray:
    """Give pi(a | o_b) of every policy [P, B, A]."""
    rows, answer = plain(thetas, np.float64), np.empty((len(thetas), len(observations), n_actions))

    def block(begin: int, end: int) -> None:
        _probabilities(begin, end, rows, observations, answer)

    in_blocks(block, len(observations), cores())
    return answer


def own_probabilities(thetas: FloatArray, rows: IntArray, observations: NDArray[Any], n_actions: int) -> FloatArray:
    """Give pi(a | o_b) of the policy thetas[rows[b]] for each observation [B, A]."""
    answer = np.empty((len(rows), n_actions))
    _own_probabilities(plain(thetas, np.float64), plain(rows, np.int64), plain(observations, np.float64), answer)
    return answer


def all_log_probabilities(
    thetas: FloatArray, observations: FloatArray, actions: NDArray[Any], n_actions: int
) -> FloatArray:
    """Give log pi(a_b | o_b) of every policy [P, B]."""
    rows, taken, answer = plain(thetas, np.float64), plain(actions, np.int64), np.empty((len(thetas), len(actions)))

    def block(begin: int, end: int) -> None:
        _log_probabilities(begin, end, rows, observations, taken, n_actions, answer)

    in_blocks(block, len(taken), cores())
    return answer


def score_total(
    theta: FloatArray, observations: FloatArray, actions: NDArray[Any], coefficients: FloatArray, n_actions: int
) -> FloatArray:
    """Give sum_b c_b grad log pi(a_b | o_b) [d]."""
    vector, taken, scale = plain(theta, np.float64), plain(actions, np.int64), plain(coefficients, np.float64)
    totals = np.zeros((-(-len(taken) // CHUNK), len(vector)))

    def block(begin: int, end: int) -> None:
        _score_sums(begin, end, vector, observations, taken, scale, n_actions, totals)

    in_blocks(block, len(totals), cores())
    return np.sum(totals, axis=0)


def entropy_total(theta: FloatArray, observations: FloatArray, coefficients: FloatArray, n_actions: int) -> FloatArray:
    """Give sum_b c_b grad H(pi(. | o_b)) [d]."""
    vector, scale = plain(theta, np.float64), plain(coefficients, np.float64)
    totals = np.zeros((-(-len(scale) // CHUNK), len(vector)))

    def block(begin: int, end: int) -> None:
        _entropy_sums(begin, end, vector, observations, scale, n_actions, totals)

    in_blocks(block, len(totals), cores())
    return np.sum(totals, axis=0)

"""The sums of a linear softmax, compiled: observations [B, k] are read once, and entries that are zero cost nothing.

    P policies   B observations   k features   A actions   theta[f * A + a]

A soft one-hot of 64 features with 4 entries is then 16 times cheaper than its product with a full matrix. Every number
is summed in one fixed order, so that a row has the same bits whatever else is in the batch.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskgrad.compiled import cores, in_blocks, kernel, plain
from riskgrad.types import FloatArray, IntArray


@kernel
def _entries(observation: FloatArray, indices: IntArray, values: FloatArray) -> int:
    """Gather the entries of an observation [k] that are not zero; give their number."""
    count = 0
    for f in range(len(observation)):
        if observation[f] != 0.0:
            indices[count], values[count] = f, observation[f]
            count += 1
    return count


@kernel
def _logits(theta: FloatArray, indices: IntArray, values: FloatArray, count: int, logits: FloatArray) -> float:
    """Fill the logits [A] of one policy at one observation; give the largest."""
    n_actions = len(logits)
    for a in range(n_actions):
        logits[a] = 0.0
    for k in range(count):
        first = indices[k] * n_actions
        for a in range(n_actions):
            logits[a] += values[k] * theta[first + a]
    top = logits[0]
    for a in range(1, n_actions):
        top = max(top, logits[a])
    return top


@kernel
def _softmax(theta: FloatArray, indices: IntArray, values: FloatArray, count: int, row: FloatArray) -> None:
    """Fill the probabilities [A] of one policy at one observation."""
    top, total = _logits(theta, indices, values, count, row), 0.0
    for a in range(len(row)):
        row[a] = math.exp(row[a] - top)
        total += row[a]
    for a in range(len(row)):
        row[a] /= total


@kernel
def _pull(indices: IntArray, values: FloatArray, count: int, slopes: FloatArray, gradient: FloatArray) -> None:
    """Add the gradient [d] of slopes [A] times the logits of one observation."""
    n_actions = len(slopes)
    for k in range(count):
        first = indices[k] * n_actions
        for a in range(n_actions):
            gradient[first + a] += values[k] * slopes[a]


@kernel
def _probabilities(begin: int, end: int, thetas: FloatArray, observations: FloatArray, answer: FloatArray) -> None:
    """Fill answer [P, B, A] for the observations begin:end."""
    indices, values = np.empty(observations.shape[1], dtype=np.int64), np.empty(observations.shape[1])
    for b in range(begin, end):
        count = _entries(observations[b], indices, values)
        for p in range(len(thetas)):
            _softmax(thetas[p], indices, values, count, answer[p, b])


@kernel
def _own_probabilities(thetas: FloatArray, rows: IntArray, observations: FloatArray, answer: FloatArray) -> None:
    """Fill answer [B, A], each observation by the policy thetas[rows[b]]."""
    indices, values = np.empty(observations.shape[1], dtype=np.int64), np.empty(observations.shape[1])
    for b in range(len(rows)):
        count = _entries(observations[b], indices, values)
        _softmax(thetas[rows[b]], indices, values, count, answer[b])


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
    indices, values = np.empty(observations.shape[1], dtype=np.int64), np.empty(observations.shape[1])
    logits = np.empty(n_actions)
    for b in range(begin, end):
        count = _entries(observations[b], indices, values)
        for p in range(len(thetas)):
            top, total = _logits(thetas[p], indices, values, count, logits), 0.0
            for a in range(n_actions):
                total += math.exp(logits[a] - top)
            answer[p, b] = (logits[actions[b]] - top) - math.log(total)


@kernel
def _score_sum(
    theta: FloatArray, observations: FloatArray, actions: IntArray, coefficients: FloatArray, n_actions: int
) -> FloatArray:
    """Give sum_b c_b grad log pi(a_b | o_b) [d], in the order of the visits."""
    indices, values = np.empty(observations.shape[1], dtype=np.int64), np.empty(observations.shape[1])
    slopes, gradient = np.empty(n_actions), np.zeros(len(theta))
    for b in range(len(actions)):
        if coefficients[b] == 0.0:
            continue
        count = _entries(observations[b], indices, values)
        _softmax(theta, indices, values, count, slopes)
        for a in range(n_actions):
            slopes[a] *= -coefficients[b]
        slopes[actions[b]] += coefficients[b]
        _pull(indices, values, count, slopes, gradient)
    return gradient


@kernel
def _entropy_sum(theta: FloatArray, observations: FloatArray, coefficients: FloatArray, n_actions: int) -> FloatArray:
    """Give sum_b c_b grad H(pi(. | o_b)) [d]: the slope of H in the logit of a is -pi(a) (log pi(a) + H)."""
    indices, values = np.empty(observations.shape[1], dtype=np.int64), np.empty(observations.shape[1])
    logs, gradient = np.empty(n_actions), np.zeros(len(theta))
    for b in range(len(observations)):
        count = _entries(observations[b], indices, values)
        top, total = _logits(theta, indices, values, count, logs), 0.0
        for a in range(n_actions):
            total += math.exp(logs[a] - top)
        shift, entropy = top + math.log(total), 0.0
        for a in range(n_actions):
            logs[a] -= shift
            entropy -= math.exp(logs[a]) * logs[a]
        for a in range(n_actions):
            logs[a] = -coefficients[b] * math.exp(logs[a]) * (logs[a] + entropy)
        _pull(indices, values, count, logs, gradient)
    return gradient


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
    scale = plain(coefficients, np.float64)
    return _score_sum(plain(theta, np.float64), observations, plain(actions, np.int64), scale, n_actions)


def entropy_total(theta: FloatArray, observations: FloatArray, coefficients: FloatArray, n_actions: int) -> FloatArray:
    """Give sum_b c_b grad H(pi(. | o_b)) [d]."""
    return _entropy_sum(plain(theta, np.float64), observations, plain(coefficients, np.float64), n_actions)

"""The sums of a linear softmax, compiled: observations [B, k] are read once, and entries that are zero cost nothing.

    P policies   B observations   k features   A actions   theta[f * A + a]

A soft one-hot of 64 features with 4 entries is then 16 times cheaper than its product with a full matrix. Every number
is summed in one fixed order, so that a row has the same bits whatever else is in the batch.
"""

import math

import numpy as np

from riskgrad.compiled import kernel
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
def probabilities(begin: int, end: int, thetas: FloatArray, observations: FloatArray, answer: FloatArray) -> None:
    """Fill answer [P, B, A] for the observations begin:end."""
    n_features = observations.shape[1]
    indices, values = np.empty(n_features, dtype=np.int64), np.empty(n_features)
    for b in range(begin, end):
        count = _entries(observations[b], indices, values)
        for p in range(len(thetas)):
            row = answer[p, b]
            top, total = _logits(thetas[p], indices, values, count, row), 0.0
            for a in range(len(row)):
                row[a] = math.exp(row[a] - top)
                total += row[a]
            for a in range(len(row)):
                row[a] /= total


@kernel
def log_probabilities(
    begin: int,
    end: int,
    thetas: FloatArray,
    observations: FloatArray,
    actions: IntArray,
    n_actions: int,
    answer: FloatArray,
) -> None:
    """Fill answer [P, B] with log pi(a_b | o_b) for the observations begin:end."""
    n_features = observations.shape[1]
    indices, values, logits = np.empty(n_features, dtype=np.int64), np.empty(n_features), np.empty(n_actions)
    for b in range(begin, end):
        count = _entries(observations[b], indices, values)
        for p in range(len(thetas)):
            top, total = _logits(thetas[p], indices, values, count, logits), 0.0
            for a in range(n_actions):
                total += math.exp(logits[a] - top)
            answer[p, b] = (logits[actions[b]] - top) - math.log(total)


@kernel
def score_sum(
    theta: FloatArray, observations: FloatArray, actions: IntArray, coefficients: FloatArray, n_actions: int
) -> FloatArray:
    """Give sum_b c_b grad log pi(a_b | o_b) [d], in the order of the visits."""
    n_features = observations.shape[1]
    indices, values, weights = np.empty(n_features, dtype=np.int64), np.empty(n_features), np.empty(n_actions)
    answer = np.zeros(n_features * n_actions)
    for b in range(len(actions)):
        if coefficients[b] == 0.0:
            continue
        count = _entries(observations[b], indices, values)
        top, total = _logits(theta, indices, values, count, weights), 0.0
        for a in range(n_actions):
            weights[a] = math.exp(weights[a] - top)
            total += weights[a]
        for a in range(n_actions):
            weights[a] *= -coefficients[b] / total
        weights[actions[b]] += coefficients[b]
        for k in range(count):
            first = indices[k] * n_actions
            for a in range(n_actions):
                answer[first + a] += values[k] * weights[a]
    return answer

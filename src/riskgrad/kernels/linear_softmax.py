"""The sums of a linear softmax, compiled: observations [B, k] are read once, and entries that are zero cost nothing.

    P policies   B observations   k features   A actions   theta[f * A + a]

A soft one-hot of 64 features with 4 entries takes a sixteenth of the products with a full matrix. Every number
is summed in one fixed order, so that a row has the same bits whatever else is in the batch. Sums over the batch are
made in chunks of a fixed size, whose totals are then added in order, so that threads do not change them.

Up to 64 observations are done together (see `_linear_block`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskgrad.kernels.compile import cores, in_blocks, kernel, plain
from riskgrad.kernels.elementary import log
from riskgrad.kernels.linear_block import TOGETHER, empty_block, gather, pull, weigh
from riskgrad.types import FloatArray, IntArray

CHUNK = 4096  # observations whose scores are added up together


@kernel
def _probabilities(begin: int, end: int, thetas: FloatArray, observations: FloatArray, answer: FloatArray) -> None:
    """Fill answer [P, B, A] for the observations begin:end."""
    block = empty_block(end - begin, observations.shape[1], answer.shape[2])
    for first in range(begin, end, TOGETHER):
        n = min(TOGETHER, end - first)
        for i in range(n):
            block.visits[i] = first + i
        gather(block, n, observations)
        for p in range(len(thetas)):
            block.rows[:] = p
            weigh(block, n, thetas)
            for i in range(n):
                for a in range(answer.shape[2]):
                    answer[p, first + i, a] = block.chances[a, i] / block.totals[i]


@kernel
def _own_probabilities(thetas: FloatArray, rows: IntArray, observations: FloatArray, answer: FloatArray) -> None:
    """Fill answer [B, A], each observation by the policy thetas[rows[b]]."""
    block = empty_block(len(rows), observations.shape[1], answer.shape[1])
    for first in range(0, len(rows), TOGETHER):
        n = min(TOGETHER, len(rows) - first)
        for i in range(n):
            block.visits[i], block.rows[i] = first + i, rows[first + i]
        gather(block, n, observations)
        weigh(block, n, thetas)
        for i in range(n):
            for a in range(answer.shape[1]):
                answer[first + i, a] = block.chances[a, i] / block.totals[i]


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
    block = empty_block(end - begin, observations.shape[1], n_actions)
    for first in range(begin, end, TOGETHER):
        n = min(TOGETHER, end - first)
        for i in range(n):
            block.visits[i] = first + i
        gather(block, n, observations)
        for p in range(len(thetas)):
            block.rows[:] = p
            weigh(block, n, thetas)
            for i in range(n):
                answer[p, first + i] = block.logs[actions[first + i], i] - log(block.totals[i])


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
    block, thetas = empty_block(len(actions), observations.shape[1], n_actions), theta.reshape(1, -1)
    logs, chances, totals, visits = block.logs, block.chances, block.totals, block.visits
    for c in range(begin, end):
        b, last = c * CHUNK, min((c + 1) * CHUNK, len(actions))
        while b < last:
            n = 0
            while b < last and n < len(visits):
                visits[n] = b
                n += 1 if coefficients[b] != 0.0 else 0
                b += 1
            gather(block, n, observations)
            weigh(block, n, thetas)
            for a in range(n_actions):
                for i in range(n):
                    logs[a, i] = chances[a, i] / totals[i] * -coefficients[visits[i]]
            for i in range(n):
                logs[actions[visits[i]], i] += coefficients[visits[i]]
            pull(block, n, answer, c)


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
    block, thetas = empty_block(len(observations), observations.shape[1], n_actions), theta.reshape(1, -1)
    logs, chances, totals = block.logs, block.chances, block.totals
    shifts, entropies = np.empty(len(totals)), np.empty(len(totals))
    for c in range(begin, end):
        for first in range(c * CHUNK, min((c + 1) * CHUNK, len(observations)), TOGETHER):
            n = min(TOGETHER, len(observations) - first)
            for i in range(n):
                block.visits[i] = first + i
            gather(block, n, observations)
            weigh(block, n, thetas)
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
            pull(block, n, answer, c)


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

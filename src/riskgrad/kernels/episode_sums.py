"""Sums along episodes, compiled: discounted rewards of a step in many lanes, log ratios over the visits of episodes.

    P policies   m episodes   V visits   U different pairs (observation, action)   B lanes   k numbers of an observation

For ratios, policies are the last axis: for each visit one row of the table of log-probabilities, of up to 64 policies,
is added to the episode's row of sums, several policies per instruction. Reading one number per policy and visit, from a
table with the policies as its first axis, takes three times as long.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskgrad.kernels.compile import inline_kernel, kernel
from riskgrad.types import FloatArray, IntArray

TOGETHER = 32  # episodes summed before they are written, so that writes fill whole cache lines


@inline_kernel
def _add_visits(
    begin: int,
    end: int,
    index: IntArray,
    counts: IntArray,
    log_behavior: FloatArray,
    table: FloatArray,
    total: FloatArray,
) -> None:
    """Write the log ratios of the visits begin:end, summed, to total [P].

    Visits are added two at a time, so that the sums are read and written half as often.
    """
    for p in range(len(total)):
        total[p] = 0.0
    for v in range(begin, end - 1, 2):
        row, count, base = table[index[v]], np.float64(counts[v]), log_behavior[v]
        next_row, next_count, next_base = table[index[v + 1]], np.float64(counts[v + 1]), log_behavior[v + 1]
        for p in range(len(total)):
            total[p] = (total[p] + count * (row[p] - base)) + next_count * (next_row[p] - next_base)
    if (end - begin) % 2:
        row, count, base = table[index[end - 1]], np.float64(counts[end - 1]), log_behavior[end - 1]
        for p in range(len(total)):
            total[p] += count * (row[p] - base)


@kernel
def add_log_ratios(
    begin: int,
    end: int,
    offsets: IntArray,
    index: IntArray,
    counts: IntArray,
    log_behavior: FloatArray,
    table: FloatArray,
    ratios: FloatArray,
) -> None:
    """Fill the log ratios of the episodes begin:end: the sum over visits of count * (log pi(a | o) - log_behavior).

    Args:
        begin: first episode.
        end: one past the last episode.
        offsets: where each episode's visits begin [m + 1].
        index: row of the table of each visit [V].
        counts: how often each visit occurred in its episode [V].
        log_behavior: log-probability of each visit's action under the policy that played it [V].
        table: log-probabilities under the target policies [U, P].
        ratios: log ratios [P, m]; columns begin:end are filled.
    """
    n_policies = table.shape[1]
    sums = np.empty((TOGETHER, n_policies))
    for first in range(begin, end, TOGETHER):
        together = min(TOGETHER, end - first)
        for i in range(together):
            _add_visits(offsets[first + i], offsets[first + i + 1], index, counts, log_behavior, table, sums[i])
        for p in range(n_policies):
            for i in range(together):
                ratios[p, first + i] = sums[i, p]


@kernel
def add_rewards(
    rewards: FloatArray, discount: float, totals: FloatArray, factors: FloatArray, observations: NDArray[Any]
) -> bool:
    """Add rewards [B] times factors [B] to totals [B], and multiply the factors by the discount.

    Returns:
        whether all totals and all numbers of the observations, flat [B * k], are finite.
    """
    finite = True
    for b in range(len(rewards)):
        totals[b] += factors[b] * rewards[b]
        factors[b] *= discount
        finite &= totals[b] - totals[b] == 0.0
    for number in observations:
        finite &= number - number == 0.0  # without a branch, so that several are checked at a time
    return finite

"""Sums along episodes, compiled: discounted rewards of a step in many lanes, log ratios over the visits of episodes.

For ratios, policies are the inner axis: a visit reads one row of the table of log-probabilities, for 64 policies at a
time, and adds it to its episode's row of sums, several policies per instruction. Reading one number per policy and
visit instead, from a table with the policies outside, takes three times as long.
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
    """Sum the visits begin:end into total [P], two at a time, so that the sums are read and written half as often."""
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
    """Fill ratios [P, m] for the episodes begin:end.

    Args:
        begin: first episode.
        end: one past the last episode.
        offsets: where each episode's visits begin [m + 1].
        index: row of the table of each visit [V].
        counts: [V].
        log_behavior: [V].
        table: log-probabilities under the target policies [U, P].
        ratios: filled.
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
    """Add discounted rewards [B] to totals [B], and move factors [B] on.

    Returns:
        whether all totals, and all observations, one after the other [B * k], are finite.
    """
    finite = True
    for b in range(len(rewards)):
        totals[b] += factors[b] * rewards[b]
        factors[b] *= discount
        finite &= totals[b] - totals[b] == 0.0
    for number in observations:
        finite &= number - number == 0.0  # several at a time
    return finite

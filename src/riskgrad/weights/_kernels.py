"""The compiled sum of log ratios over the visits of episodes.

Policies are the inner axis: a visit reads one row of the table of log-probabilities, for 64 policies at a time, and adds
it to its episode's row of sums, several policies per instruction. Reading one number per policy and visit instead, from a
table with the policies outside, takes three times as long.
"""

import numpy as np

from riskgrad.compiled import kernel
from riskgrad.types import FloatArray, IntArray

TOGETHER = 8  # episodes summed before they are written, so that writes fill whole cache lines


@kernel
def add_up(  # noqa: PLR0917
    begin: int,
    end: int,
    offsets: IntArray,
    index: IntArray,
    counts: IntArray,
    log_behaviour: FloatArray,
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
        log_behaviour: [V].
        table: log-probabilities under the target policies [U, P].
        ratios: filled.
    """
    n_policies = table.shape[1]
    sums = np.empty((TOGETHER, n_policies))
    for first in range(begin, end, TOGETHER):
        together = min(TOGETHER, end - first)
        for i in range(together):
            total = sums[i]
            for p in range(n_policies):
                total[p] = 0.0
            for v in range(offsets[first + i], offsets[first + i + 1]):
                row, count, base = table[index[v]], np.float64(counts[v]), log_behaviour[v]
                for p in range(n_policies):
                    total[p] += count * (row[p] - base)
        for p in range(n_policies):
            for i in range(together):
                ratios[p, first + i] = sums[i, p]

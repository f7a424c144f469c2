"""A learned model with the return so far in its state, as `value_sweeps` reads it.

    T steps   S states   A actions   G groups: outcomes of one (state, action) with one reward   K outcomes

A node is (t, s, y), y one of the knots of time t. At time t, state s has the knots from lo[t * S + s] to hi[t * S + s],
counted from the first knot of that time; its nodes are numbered from node[t * S + s] on. A step from y by a reward r
lands between two knots of the next time: chances are split between them so that the mean stays, and values are
interpolated, or continued with the utility's own slope beyond the first and the last knot. Where a step lands depends
on the group alone, so that all outcomes of a group share the search.
"""

from typing import NamedTuple

import numpy as np

from riskgrad.kernels.arrays import full_array
from riskgrad.kernels.compile import inline_helper, kernel
from riskgrad.types import FloatArray, IntArray

NEARLY = 1e-7  # a share of the gap between two knots that counts as 0: it is the rounding of sums of rewards


class Layout(NamedTuple):
    """Nodes and outcomes as the sweeps read them.

    Attributes:
        horizon: T.
        n_states: S.
        n_actions: A.
        powers: the discount to the power of t [T].
        groups: the groups of (s, a) are groups[s * A + a]:groups[s * A + a + 1] [S * A + 1].
        group_rewards: the reward of each group [G].
        firsts: the outcomes of group k are firsts[k]:firsts[k + 1] [G + 1].
        nexts: the next state of each outcome, S for the end [K].
        chances: chance of each outcome given (s, a) [K].
        starts: chance of each state to be the first [S].
        knot_offsets: the knots of time t are knot_offsets[t]:knot_offsets[t + 1] [T + 1].
        knots: returns so far, rising at each time.
        knot_slopes: 1 over the gap to the next knot, 0 for the last one.
        ends: knots of the final return, rising [E].
        end_slopes: 1 over the gap to the next, 0 for the last one [E].
        lo: the first knot of (t, s), counted from knot_offsets[t] [T * S].
        hi: its last knot, counted likewise; -1 where s cannot be reached at t [T * S].
        node: where its nodes begin [T * S + 1].
        cells: memory cell of each knot: in state s a policy reads row cell * S + s of its table; 0 without memory.
    """

    horizon: int
    n_states: int
    n_actions: int
    powers: FloatArray
    groups: IntArray
    group_rewards: FloatArray
    firsts: IntArray
    nexts: IntArray
    chances: FloatArray
    starts: FloatArray
    knot_offsets: IntArray
    knots: FloatArray
    knot_slopes: FloatArray
    ends: FloatArray
    end_slopes: FloatArray
    lo: IntArray
    hi: IntArray
    node: IntArray
    cells: IntArray


@inline_helper
def find_knot(knots: FloatArray, begin: int, end: int, y: float) -> int:
    """Give the last knot in begin:end that is not above y, or the first one."""
    low, high = begin, end - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if knots[middle] <= y:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def find_ranges(
    horizon: int,
    n_states: int,
    n_actions: int,
    powers: FloatArray,
    groups: IntArray,
    group_rewards: FloatArray,
    firsts: IntArray,
    nexts: IntArray,
    starts: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Give the smallest and the largest return so far at each time [T + 1]; time T stands for the final return."""
    low, high = full_array(horizon + 1, np.inf), full_array(horizon + 1, -np.inf)
    least, most = full_array(n_states + 1, np.inf), full_array(n_states + 1, -np.inf)
    for s in range(n_states):
        if starts[s] > 0.0:
            least[s], most[s] = 0.0, 0.0
    low[0], high[0] = 0.0, 0.0
    end_low, end_high = np.inf, -np.inf
    for t in range(horizon):
        then_least, then_most = full_array(n_states + 1, np.inf), full_array(n_states + 1, -np.inf)
        for s in range(n_states):
            if most[s] < least[s]:
                continue
            for k in range(groups[s * n_actions], groups[(s + 1) * n_actions]):
                r = powers[t] * group_rewards[k]
                for o in range(firsts[k], firsts[k + 1]):
                    n = nexts[o]
                    then_least[n] = min(then_least[n], least[s] + r)
                    then_most[n] = max(then_most[n], most[s] + r)
        least, most = then_least, then_most
        end_low, end_high = min(end_low, least[n_states]), max(end_high, most[n_states])
        for s in range(n_states):
            low[t + 1], high[t + 1] = min(low[t + 1], least[s]), max(high[t + 1], most[s])
    low[horizon], high[horizon] = min(low[horizon], end_low), max(high[horizon], end_high)
    return low, high


@kernel
def find_windows(layout: Layout) -> None:
    """Write to `lo` and `hi` which knots can be reached in each state at each time.

    Initially `lo` holds a number that is larger than any knot's, `hi` -1.
    """
    lo, hi, knots, slopes, offsets = layout.lo, layout.hi, layout.knots, layout.knot_slopes, layout.knot_offsets
    n_states, n_actions, powers, rewards = layout.n_states, layout.n_actions, layout.powers, layout.group_rewards
    groups, firsts, nexts = layout.groups, layout.firsts, layout.nexts
    for s in range(n_states):
        if layout.starts[s] > 0.0:
            lo[s], hi[s] = 0, 0
    for t in range(layout.horizon - 1):
        here, begin, end = offsets[t], offsets[t + 1], offsets[t + 2]
        for s in range(n_states):
            q = t * n_states + s
            if hi[q] < 0:
                continue
            for k in range(groups[s * n_actions], groups[(s + 1) * n_actions]):
                r = powers[t] * rewards[k]
                lowest, highest = knots[here + lo[q]] + r, knots[here + hi[q]] + r
                i, j = find_knot(knots, begin, end, lowest), find_knot(knots, begin, end, highest)
                if (lowest - knots[i]) * slopes[i] > 1.0 - NEARLY:
                    i += 1
                if (highest - knots[j]) * slopes[j] > NEARLY:
                    j += 1
                for o in range(firsts[k], firsts[k + 1]):
                    n = nexts[o]
                    if n < n_states:
                        then = (t + 1) * n_states + n
                        lo[then], hi[then] = min(lo[then], i - begin), max(hi[then], j - begin)

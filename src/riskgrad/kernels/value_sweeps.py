"""Sweeps over a learned model with the return so far in the state: forward the chances, backward the values.

    T steps   S states   A actions   G groups: outcomes of one (state, action) with one reward   K outcomes

A node is (t, s, y), y one of the knots of time t. A state has the knots from lo[t * S + s] to hi[t * S + s], numbered
from node[t * S + s]. A step from y by a reward r lands between two knots of the next time: chances are split among
them so that the mean stays, and values are read off the line between them, or off the utility's own slope beyond the
first and the last knot. What lands where depends on the group alone, so that all its outcomes share the search.
"""

from typing import NamedTuple

import numpy as np

from riskgrad.kernels.compile import kernel
from riskgrad.types import FloatArray, IntArray

NEARLY = 1e-7  # a part of the gap between two knots that counts as none: rounding of sums of rewards
NOTHING = 1e-16  # a chance below which a node is not visited


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
        chances: of each outcome given (s, a) [K].
        starts: chance of each state to be the first [S].
        knot_offsets: the knots of time t are knot_offsets[t]:knot_offsets[t + 1] [T + 1].
        knots: returns so far, rising at each time.
        knot_slopes: 1 over the gap to the next knot, 0 for the last one.
        ends: knots of the final return, rising [E].
        end_slopes: 1 over the gap to the next, 0 for the last one [E].
        lo: the first knot of (t, s) [T * S].
        hi: its last; -1 where s cannot be reached at t [T * S].
        node: where its nodes begin [T * S + 1].
        cells: what a policy with memory makes of (t, y): its row of the table is cell * S + s; 0 without memory.
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


@kernel
def _find(knots: FloatArray, begin: int, end: int, y: float) -> int:
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
    """Give the smallest and the largest return so far that can be reached at each time [T + 1], the last at the end."""
    low, high = np.full(horizon + 1, np.inf), np.full(horizon + 1, -np.inf)
    least, most = np.full(n_states + 1, np.inf), np.full(n_states + 1, -np.inf)
    least[:n_states] = np.where(starts > 0.0, 0.0, np.inf)
    most[:n_states] = np.where(starts > 0.0, 0.0, -np.inf)
    low[0], high[0] = 0.0, 0.0
    end_low, end_high = np.inf, -np.inf
    for t in range(horizon):
        then_least, then_most = np.full(n_states + 1, np.inf), np.full(n_states + 1, -np.inf)
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
        low[t + 1], high[t + 1] = np.min(least[:n_states]), np.max(most[:n_states])
    low[horizon], high[horizon] = min(low[horizon], end_low), max(high[horizon], end_high)
    return low, high


@kernel
def find_windows(layout: Layout) -> None:
    """Fill `lo` and `hi`: which knots can be reached in each state at each time."""
    lo, hi, knots = layout.lo, layout.hi, layout.knots
    n_states, n_actions = layout.n_states, layout.n_actions
    lo[:] = len(knots)
    hi[:] = -1
    for s in range(n_states):
        if layout.starts[s] > 0.0:
            lo[s], hi[s] = 0, 0
    for t in range(layout.horizon - 1):
        here, begin, end = layout.knot_offsets[t], layout.knot_offsets[t + 1], layout.knot_offsets[t + 2]
        for s in range(n_states):
            q = t * n_states + s
            if hi[q] < 0:
                continue
            for k in range(layout.groups[s * n_actions], layout.groups[(s + 1) * n_actions]):
                r = layout.powers[t] * layout.group_rewards[k]
                lowest, highest = knots[here + lo[q]] + r, knots[here + hi[q]] + r
                i, j = _find(knots, begin, end, lowest), _find(knots, begin, end, highest)
                if (lowest - knots[i]) * layout.knot_slopes[i] > 1.0 - NEARLY:
                    i += 1
                if (highest - knots[j]) * layout.knot_slopes[j] > NEARLY:
                    j += 1
                for o in range(layout.firsts[k], layout.firsts[k + 1]):
                    n = layout.nexts[o]
                    if n < n_states:
                        then = (t + 1) * n_states + n
                        lo[then], hi[then] = min(lo[then], i - begin), max(hi[then], j - begin)


@kernel
def sweep_forward(layout: Layout, table: FloatArray, mass: FloatArray, law: FloatArray) -> None:
    """Fill the chance of each node, and of each knot of the final return [E], under a policy.

    Args:
        layout: the model.
        table: the chance of each action [rows, A], 0 for actions that were never met.
        mass: of each node; filled.
        law: of each final knot [E]; filled.
    """
    horizon, n_states, n_actions = layout.horizon, layout.n_states, layout.n_actions
    knots, slopes, ends, firsts, nexts = layout.knots, layout.knot_slopes, layout.ends, layout.firsts, layout.nexts
    lo, hi, node = layout.lo, layout.hi, layout.node
    mass[:] = 0.0
    law[:] = 0.0
    for s in range(n_states):
        if layout.starts[s] > 0.0:
            mass[node[s]] = layout.starts[s]
    landed, taken = np.zeros(len(knots) + 2), np.zeros(np.max(hi) + 2)
    for t in range(horizon):
        for s in range(n_states):
            q = t * n_states + s
            if hi[q] < 0:
                continue
            here, first = layout.knot_offsets[t] + lo[q], node[q]
            j0, j1 = 0, hi[q] - lo[q] + 1
            while j0 < j1 and mass[first + j0] < NOTHING:
                j0 += 1
            while j1 > j0 and mass[first + j1 - 1] < NOTHING:
                j1 -= 1
            if j0 == j1:
                continue
            for a in range(n_actions):
                for j in range(j0, j1):
                    taken[j] = mass[first + j] * table[layout.cells[here + j] * n_states + s, a]
                for k in range(layout.groups[s * n_actions + a], layout.groups[s * n_actions + a + 1]):
                    r = layout.powers[t] * layout.group_rewards[k]
                    over, goes_on = 0.0, False
                    for o in range(firsts[k], firsts[k + 1]):
                        if t == horizon - 1 or nexts[o] == n_states:
                            over += layout.chances[o]
                        else:
                            goes_on = True
                    if over > 0.0:
                        i = _find(ends, 0, len(ends), knots[here + j0] + r)
                        for j in range(j0, j1):
                            y = knots[here + j] + r
                            while i + 1 < len(ends) and ends[i + 1] <= y:
                                i += 1
                            part = (y - ends[i]) * layout.end_slopes[i]
                            law[i] += over * taken[j] * (1.0 - part if part > NEARLY else 1.0)
                            if part > NEARLY:
                                law[i + 1] += over * taken[j] * part
                    if goes_on:
                        begin, end = layout.knot_offsets[t + 1], layout.knot_offsets[t + 2]
                        i = _find(knots, begin, end, knots[here + j0] + r)
                        lowest = i
                        landed[i], landed[i + 1] = 0.0, 0.0
                        for j in range(j0, j1):
                            y = knots[here + j] + r
                            while i + 1 < end and knots[i + 1] <= y:
                                i += 1
                                landed[i + 1] = 0.0
                            part = (y - knots[i]) * slopes[i]
                            if part > NEARLY:
                                landed[i] += taken[j] * (1.0 - part)
                                landed[i + 1] += taken[j] * part
                            else:
                                landed[i] += taken[j]
                        for o in range(firsts[k], firsts[k + 1]):
                            if nexts[o] < n_states:
                                then = (t + 1) * n_states + nexts[o]
                                shift, chance = node[then] - begin - lo[then], layout.chances[o]
                                # what lies beyond the window is rounding; it is kept at the window's edge
                                for x in range(lowest, min(i + 2, end)):
                                    inside = min(max(x, begin + lo[then]), begin + hi[then])
                                    mass[shift + inside] += chance * landed[x]


@kernel
def sweep_backward(
    layout: Layout,
    table: FloatArray,
    utility: FloatArray,
    tails: tuple[float, float],
    mass: FloatArray,
    astray: FloatArray,
    values: FloatArray,
    gains: FloatArray,
    weights: FloatArray,
    visits: FloatArray,
) -> None:
    """Fill the value of each node, and sum over nodes what each action gains over the policy.

    Args:
        layout: the model.
        table: the chance of each action [rows, A], 0 for actions that were never met.
        utility: of each final knot [E]; straight between them.
        tails: its slope below the first knot and above the last.
        mass: the chance of each node.
        astray: a small weight of each node, for those that the policy hardly ever visits.
        values: expected utility from each node; filled.
        gains: for each row of the table and action, the sum of both weights times (Q - V) [rows, A]; filled.
        weights: for each row, the sum of both weights [rows]; filled.
        visits: for each row, the sum of mass [rows]; filled.
    """
    horizon, n_states, n_actions = layout.horizon, layout.n_states, layout.n_actions
    knots, slopes, ends, firsts, nexts = layout.knots, layout.knot_slopes, layout.ends, layout.firsts, layout.nexts
    lo, hi, node = layout.lo, layout.hi, layout.node
    gains[:] = 0.0
    weights[:] = 0.0
    visits[:] = 0.0
    later, worth = np.zeros(len(knots) + 2), np.zeros((n_actions, np.max(hi) + 2))
    for back in range(horizon):
        t = horizon - 1 - back
        for s in range(n_states):
            q = t * n_states + s
            if hi[q] < 0:
                continue
            here, first, width = layout.knot_offsets[t] + lo[q], node[q], hi[q] - lo[q] + 1
            for a in range(n_actions):
                for j in range(width):
                    worth[a, j] = 0.0
                for k in range(layout.groups[s * n_actions + a], layout.groups[s * n_actions + a + 1]):
                    r = layout.powers[t] * layout.group_rewards[k]
                    over, goes_on = 0.0, False
                    for o in range(firsts[k], firsts[k + 1]):
                        if t == horizon - 1 or nexts[o] == n_states:
                            over += layout.chances[o]
                        else:
                            goes_on = True
                    if over > 0.0:
                        i = _find(ends, 0, len(ends), knots[here] + r)
                        for j in range(width):
                            y = knots[here + j] + r
                            while i + 1 < len(ends) and ends[i + 1] <= y:
                                i += 1
                            beyond = y - ends[i]
                            if beyond < 0.0:
                                value = utility[i] + beyond * tails[0]
                            elif i + 1 < len(ends):
                                value = utility[i] + beyond * layout.end_slopes[i] * (utility[i + 1] - utility[i])
                            else:
                                value = utility[i] + beyond * tails[1]
                            worth[a, j] += over * value
                    if goes_on:
                        begin, end = layout.knot_offsets[t + 1], layout.knot_offsets[t + 2]
                        lowest = _find(knots, begin, end, knots[here] + r)
                        highest = min(end, _find(knots, begin, end, knots[here + width - 1] + r) + 2)
                        for x in range(lowest, highest):
                            later[x] = 0.0
                        on = 0.0
                        for o in range(firsts[k], firsts[k + 1]):
                            if nexts[o] < n_states:
                                then = (t + 1) * n_states + nexts[o]
                                shift, chance = node[then] - begin - lo[then], layout.chances[o]
                                on += chance
                                for x in range(lowest, highest):
                                    inside = min(max(x, begin + lo[then]), begin + hi[then])
                                    later[x] += chance * values[shift + inside]
                        i = lowest
                        for j in range(width):
                            y = knots[here + j] + r
                            while i + 1 < end and knots[i + 1] <= y:
                                i += 1
                            beyond = y - knots[i]
                            if beyond < 0.0:
                                worth[a, j] += later[i] + on * beyond * tails[0]
                            elif i + 1 == end:
                                worth[a, j] += later[i] + on * beyond * tails[1]
                            elif beyond * slopes[i] > NEARLY:
                                worth[a, j] += later[i] + beyond * slopes[i] * (later[i + 1] - later[i])
                            else:
                                worth[a, j] += later[i]
            for j in range(width):
                row, value = layout.cells[here + j] * n_states + s, 0.0
                for a in range(n_actions):
                    value += table[row, a] * worth[a, j]
                values[first + j] = value
                weight = mass[first + j] + astray[first + j]
                if weight > 0.0:
                    visits[row] += mass[first + j]
                    weights[row] += weight
                    for a in range(n_actions):
                        gains[row, a] += weight * (worth[a, j] - value)


@kernel
def read_values(
    layout: Layout, values: FloatArray, states: IntArray, times: IntArray, sums: FloatArray, found: FloatArray
) -> None:
    """Fill the value at each step of a batch [N], straight between the knots of its time and flat beyond them.

    Args:
        layout: the model.
        values: of each node.
        states: at each step [N].
        times: of each step [N].
        sums: the return before it [N].
        found: filled [N].
    """
    for k in range(len(states)):
        q = times[k] * layout.n_states + states[k]
        begin = layout.knot_offsets[times[k]] + layout.lo[q]
        end, shift = begin + layout.hi[q] - layout.lo[q] + 1, layout.node[q] - begin
        i = _find(layout.knots, begin, end, sums[k])
        part = min(max((sums[k] - layout.knots[i]) * layout.knot_slopes[i], 0.0), 1.0) if i + 1 < end else 0.0
        found[k] = values[shift + i]
        if part > 0.0:
            found[k] += part * (values[shift + i + 1] - values[shift + i])

"""Sweeps over a learned model with the return so far in its state: forward the chances, backward the values."""

from riskgrad.kernels.arrays import ZERO, full_array, largest
from riskgrad.kernels.compile import inline_helper, kernel
from riskgrad.kernels.value_layout import NEARLY, Layout, find_knot
from riskgrad.types import FloatArray, IntArray

NOTHING = 1e-16  # a node whose chance is smaller counts as not visited


@inline_helper
def _chance_to_end(nexts: IntArray, chances: FloatArray, o0: int, o1: int, end: int) -> float:
    """Give the chance that one of the outcomes o0:o1 ends the episode: that its next state is at least `end`."""
    chance = 0.0
    for o in range(o0, o1):
        if nexts[o] >= end:
            chance += chances[o]
    return chance


@inline_helper
def _land(
    knots: FloatArray,
    slopes: FloatArray,
    end: int,
    i: int,
    j0: int,
    j1: int,
    shifted: FloatArray,
    taken: FloatArray,
    landed: FloatArray,
) -> int:
    """Split the chances taken[j0:j1] at rising returns among the knots around them; give the last knot used.

    Args:
        knots: where to land.
        slopes: 1 over the gap to the next knot.
        end: one past the last knot.
        i: the knot below the first return.
        j0: index of the first return.
        j1: one past the last return.
        shifted: returns.
        taken: their chances.
        landed: the chance at each knot; filled from knot i to the last knot used.
    """
    landed[i], landed[i + 1] = 0.0, 0.0
    for j in range(j0, j1):
        while i + 1 < end and knots[i + 1] <= shifted[j]:
            i += 1
            landed[i + 1] = 0.0
        part = (shifted[j] - knots[i]) * slopes[i]
        if part > NEARLY:
            landed[i] += taken[j] * (1.0 - part)
            landed[i + 1] += taken[j] * part
        else:
            landed[i] += taken[j]
    return min(i + 1, end - 1)


@inline_helper
def _find_visited(mass: FloatArray, first: int, last: int) -> tuple[int, int]:
    """Give the range of nodes first:last without unvisited ones at its ends, counted from `first`."""
    j0, j1 = 0, last - first
    while j0 < j1 and mass[first + j0] < NOTHING:
        j0 += 1
    while j1 > j0 and mass[first + j1 - 1] < NOTHING:
        j1 -= 1
    return j0, j1


@kernel
def sweep_forward(  # noqa: C901, PLR0912
    layout: Layout, table: FloatArray, mass: FloatArray, law: FloatArray
) -> None:
    """Add the chance of each node, and of each knot of the final return [E], under a policy.

    Args:
        layout: the model.
        table: the chance of each action [rows, A], 0 for actions that were never met.
        mass: zeros; the chance of each node is added.
        law: zeros [E]; the chance of each knot of the final return is added.
    """
    # local names for all that the loops use: each fetch from a tuple takes long to compile
    n_states, n_actions, knots, ends = layout.n_states, layout.n_actions, layout.knots, layout.ends
    lo, hi, node, cells, offsets = layout.lo, layout.hi, layout.node, layout.cells, layout.knot_offsets
    groups, rewards, firsts, nexts = layout.groups, layout.group_rewards, layout.firsts, layout.nexts
    chances, powers, horizon = layout.chances, layout.powers, layout.horizon
    knot_slopes, end_slopes = layout.knot_slopes, layout.end_slopes
    for s in range(n_states):
        if layout.starts[s] > 0.0:
            mass[node[s]] = layout.starts[s]
    landed, over = full_array(len(knots) + 2, 0.0), full_array(len(ends) + 2, 0.0)
    widest = largest(hi) + 2
    taken, shifted = full_array(widest, 0.0), full_array(widest, 0.0)
    for q in range(horizon * n_states):
        t, s = q // n_states, q % n_states
        begin = offsets[t + 1]
        here, first = offsets[t] + lo[q], node[q]
        j0, j1 = _find_visited(mass, first, node[q + 1])
        if j0 == j1:
            continue
        last = t == horizon - 1
        for a in range(n_actions):
            for j in range(j0, j1):
                taken[j] = mass[first + j] * table[cells[here + j] * n_states + s, a]
            for k in range(groups[s * n_actions + a], groups[s * n_actions + a + 1]):
                for j in range(j0, j1):
                    shifted[j] = knots[here + j] + powers[t] * rewards[k]
                o0, o1 = firsts[k], firsts[k + 1]
                chance = _chance_to_end(nexts, chances, o0, o1, ZERO if last else n_states)
                if chance > 0.0:
                    low = find_knot(ends, ZERO, len(ends), shifted[j0])
                    high = _land(ends, end_slopes, len(ends), low, j0, j1, shifted, taken, over)
                    for x in range(low, high + 1):
                        law[x] += chance * over[x]
                if not last and nexts[o0] < n_states:  # outcomes are sorted by next state, with the end last
                    end = offsets[t + 2]
                    low = find_knot(knots, begin, end, shifted[j0])
                    high = _land(knots, knot_slopes, end, low, j0, j1, shifted, taken, landed)
                    for o in range(o0, o1):
                        if nexts[o] < n_states:
                            then = (t + 1) * n_states + nexts[o]
                            _hand_on(chances[o], then, begin, lo, hi, node, low, high, landed, mass)


@inline_helper
def _hand_on(
    chance: float,
    then: int,
    begin: int,
    lo: IntArray,
    hi: IntArray,
    node: IntArray,
    low: int,
    high: int,
    landed: FloatArray,
    mass: FloatArray,
) -> None:
    """Add the chances on the knots low to high of the next time, times a chance, to the nodes of a state there."""
    first, last = begin + lo[then], begin + hi[then]
    shift = node[then] - first
    # only rounding puts a chance beyond a state's knots; it goes to the nearest of them
    for x in range(low, high + 1):
        mass[shift + min(max(x, first), last)] += chance * landed[x]


@inline_helper
def _gather(
    chance: float,
    then: int,
    begin: int,
    lo: IntArray,
    hi: IntArray,
    node: IntArray,
    low: int,
    high: int,
    values: FloatArray,
    later: FloatArray,
) -> None:
    """Add the values of a state of the next time, times a chance, to later[low:high + 1]."""
    first, last = begin + lo[then], begin + hi[then]
    shift = node[then] - first
    for x in range(low, high + 1):
        later[x] += chance * values[shift + min(max(x, first), last)]


@inline_helper
def _read_line(
    knots: FloatArray,
    slopes: FloatArray,
    end: int,
    i: int,
    shifted: FloatArray,
    heights: FloatArray,
    tails: tuple[float, float],
    chance: float,
    line: int,
    width: int,
    worth: FloatArray,
) -> None:
    """Add the piecewise linear function through heights at knots, at rising returns, to worth[line:line + width].

    Args:
        knots: where the function is given.
        slopes: 1 over the gap to the next knot.
        end: one past the last knot.
        i: the knot from which to search.
        shifted: returns.
        heights: the function at each knot, already times the chance.
        tails: its slopes below the first knot and above the last, not yet times the chance.
        chance: the factor of the tails.
        line: where to add it.
        width: how many returns there are.
        worth: what is worth what at each return; added to.
    """
    for j in range(width):
        while i + 1 < end and knots[i + 1] <= shifted[j]:
            i += 1
        beyond = shifted[j] - knots[i]
        if beyond < 0.0:
            worth[line + j] += heights[i] + chance * beyond * tails[0]
        elif i + 1 == end:
            worth[line + j] += heights[i] + chance * beyond * tails[1]
        elif beyond * slopes[i] > NEARLY:
            worth[line + j] += heights[i] + beyond * slopes[i] * (heights[i + 1] - heights[i])
        else:
            worth[line + j] += heights[i]


@kernel
def sweep_backward(  # noqa: C901, PLR0912
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
    """Fill the value of each node, and add up over nodes what each action gains over the policy.

    Args:
        layout: the model.
        table: the chance of each action [rows, A], 0 for actions that were never met.
        utility: utility at each knot of the final return [E]; linear between them.
        tails: its slope below the first knot and above the last.
        mass: the chance of each node.
        astray: a small weight of each node, for those that the policy hardly ever visits.
        values: expected utility from each node; filled.
        gains: zeros; for each row of the table and action, the sum over nodes of (mass + astray) (Q - V) [rows, A].
        weights: zeros; for each row, the sum over nodes of mass + astray [rows].
        visits: zeros; for each row, the sum over nodes of mass [rows].
    """
    n_states, n_actions, knots, ends = layout.n_states, layout.n_actions, layout.knots, layout.ends
    lo, hi, node, cells, offsets = layout.lo, layout.hi, layout.node, layout.cells, layout.knot_offsets
    groups, rewards, firsts, nexts = layout.groups, layout.group_rewards, layout.firsts, layout.nexts
    chances, powers, horizon = layout.chances, layout.powers, layout.horizon
    knot_slopes, end_slopes = layout.knot_slopes, layout.end_slopes
    widest = largest(hi) + 2
    later, over = full_array(len(knots) + 2, 0.0), full_array(len(ends), 0.0)
    shifted, worth = full_array(widest, 0.0), full_array(n_actions * widest, 0.0)
    for back in range(horizon * n_states):
        q = horizon * n_states - 1 - back
        t, s = q // n_states, q % n_states
        begin = offsets[t + 1]
        here, first, width = offsets[t] + lo[q], node[q], node[q + 1] - node[q]
        if width == 0:
            continue
        last = t == horizon - 1
        for a in range(n_actions):
            line = a * widest
            for j in range(width):
                worth[line + j] = 0.0
            for k in range(groups[s * n_actions + a], groups[s * n_actions + a + 1]):
                for j in range(width):
                    shifted[j] = knots[here + j] + powers[t] * rewards[k]
                o0, o1 = firsts[k], firsts[k + 1]
                chance = _chance_to_end(nexts, chances, o0, o1, ZERO if last else n_states)
                if chance > 0.0:
                    low = find_knot(ends, ZERO, len(ends), shifted[0])
                    high = find_knot(ends, low, len(ends), float(shifted[width - 1]))
                    for x in range(low, min(high + 2, len(ends))):
                        over[x] = chance * utility[x]
                    _read_line(ends, end_slopes, len(ends), low, shifted, over, tails, chance, line, width, worth)
                if not last and nexts[o0] < n_states:
                    end = offsets[t + 2]
                    low = find_knot(knots, begin, end, shifted[0])
                    high = min(find_knot(knots, low, end, float(shifted[width - 1])) + 1, end - 1)
                    chance = 0.0
                    for x in range(low, high + 1):
                        later[x] = 0.0
                    for o in range(o0, o1):
                        if nexts[o] < n_states:
                            then = (t + 1) * n_states + nexts[o]
                            chance += chances[o]
                            _gather(chances[o], then, begin, lo, hi, node, low, high, values, later)
                    _read_line(knots, knot_slopes, end, low, shifted, later, tails, chance, line, width, worth)
        for j in range(width):
            row, value = cells[here + j] * n_states + s, 0.0
            for a in range(n_actions):
                value += table[row, a] * worth[a * widest + j]
            values[first + j] = value
            weight = mass[first + j] + astray[first + j]
            if weight > 0.0:
                visits[row] += mass[first + j]
                weights[row] += weight
                for a in range(n_actions):
                    gains[row, a] += weight * (worth[a * widest + j] - value)


@kernel
def read_values(
    layout: Layout, values: FloatArray, states: IntArray, times: IntArray, sums: FloatArray, found: FloatArray
) -> None:
    """Fill the value at each step of a batch [N], linear between the knots of its state and time, constant beyond them.

    Where the model cannot reach the state at that time, the value is 0.

    Args:
        layout: the model.
        values: value of each node.
        states: state at each step [N].
        times: time of each step [N].
        sums: the return before it [N].
        found: values [N]; filled.
    """
    for k in range(len(states)):
        q = int(times[k]) * layout.n_states + int(states[k])
        found[k] = 0.0
        if layout.hi[q] < 0:
            continue
        begin = int(layout.knot_offsets[times[k]] + layout.lo[q])
        end, shift = begin + int(layout.hi[q] - layout.lo[q]) + 1, int(layout.node[q]) - begin
        i = find_knot(layout.knots, begin, end, sums[k])
        part = min(max((sums[k] - layout.knots[i]) * layout.knot_slopes[i], 0.0), 1.0) if i + 1 < end else 0.0
        found[k] = values[shift + i]
        if part > 0.0:
            found[k] += part * (values[shift + i + 1] - values[shift + i])

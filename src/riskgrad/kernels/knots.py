"""The knots of the return so far at each time; chances are split between neighboring knots, values are interpolated.

Where few returns can be reached, each of them is a knot and no return is rounded. Otherwise some knots are returns so
far that recent episodes had at that time, where most of the probability is: all different ones if they fit, else
quantiles, half of the knots. The others are evenly spread over the range that can be reached, where another policy may
go.
"""

import numpy as np

from riskgrad.kernels.arrays import FLOAT, ONE, ZERO, full_array, full_integers, resize, sort_part
from riskgrad.kernels.compile import helper, kernel
from riskgrad.types import FloatArray, IntArray

MOST_SUMS = 1 << 15  # sums of a knot and a reward; with more of them no exact set of knots is tried


@helper
def _merge(values: FloatArray, gap: float) -> FloatArray:
    """Give sorted values without those that are within `gap` of the last one kept."""
    kept = np.empty(len(values), FLOAT)
    used = ZERO
    for value in values:
        if used == 0 or value - kept[used - 1] > gap:
            kept[used] = value
            used += 1
    return resize(kept, used)


@helper
def _spread_knots(seen: FloatArray, low: float, high: float, most: int, gap: float) -> FloatArray:
    """Give at most `most` >= 3 knots: some of the sorted values that were seen, the others evenly from low to high."""
    distinct = _merge(seen, gap)
    half = len(distinct) if len(distinct) <= most - 2 else most // 2
    even = max(2, most - half)
    found = np.empty(half + even, FLOAT)
    for i in range(half):
        found[i] = distinct[i] if half == len(distinct) else seen[i * (len(seen) - 1) // (half - 1)]
    for i in range(even):
        found[half + i] = low + (high - low) * (i / (even - 1))
    sort_part(found, ZERO, len(found))
    return _merge(found, gap)


@helper
def _add_rewards(before: FloatArray, power: float, rewards: FloatArray, gap: float) -> FloatArray:
    """Give all sums before[i] + power * rewards[j], sorted and merged."""
    sums = np.empty(len(before) * len(rewards), FLOAT)
    for i in range(len(before)):
        for j in range(len(rewards)):
            sums[i * len(rewards) + j] = before[i] + power * rewards[j]
    sort_part(sums, ZERO, len(sums))
    return _merge(sums, gap)


@helper
def _join(values: FloatArray, others: FloatArray, gap: float) -> FloatArray:
    """Give the values of both arrays, sorted and merged."""
    both = resize(values, len(values) + len(others))
    for i in range(len(others)):
        both[len(values) + i] = others[i]
    sort_part(both, ZERO, len(both))
    return _merge(both, gap)


@kernel
def sort_by_time(horizon: int, times: IntArray, sums: FloatArray) -> tuple[IntArray, FloatArray]:
    """Give where each time begins [T + 1], and the returns so far, sums [N] at times [N], sorted by time and size."""
    begins = full_integers(horizon + 1, ZERO)
    for t in times:
        begins[t + 1] += 1
    for t in range(horizon):
        begins[t + 1] += begins[t]
    place, found = resize(begins, len(begins)), np.empty(len(sums), FLOAT)
    for k in range(len(sums)):
        found[place[times[k]]] = sums[k]
        place[times[k]] += 1
    for t in range(horizon):
        sort_part(found, begins[t], begins[t + 1])
    return begins, found


@kernel
def place_knots(
    powers: FloatArray,
    rewards: FloatArray,
    begins: IntArray,
    sums: FloatArray,
    returns: FloatArray,
    low: FloatArray,
    high: FloatArray,
    most: int,
    most_ends: int,
) -> tuple[bool, IntArray, FloatArray, FloatArray]:
    """Place the knots of each time and of the final return.

    Args:
        powers: the discount to the power of t [T].
        rewards: all different rewards, sorted.
        begins: where the sums of each time begin [T + 1].
        sums: returns so far of recent episodes, sorted within each time.
        returns: their final returns, sorted.
        low: the smallest return so far that can be reached at each time, and the smallest final return [T + 1].
        high: the largest ones [T + 1].
        most: most knots of each time, at least 3.
        most_ends: most knots of the final return, at least 3.

    Returns:
        whether every return that can be reached is a knot, where the knots of each time begin [T + 1], the knots, and
        those of the final return.
    """
    horizon = len(powers)
    gap = 0.0
    for t in range(horizon + 1):
        if low[t] <= high[t]:  # some state can be reached
            gap = max(gap, 1e-9 * max(abs(low[t]), abs(high[t])))
    offsets, before = full_integers(horizon + 1, ZERO), full_array(ONE, 0.0)
    knots = full_array(1 + horizon * (most + 1), 0.0)  # room for all; the only knot of time 0 is 0
    offsets[1] = 1
    exact = True
    every, ends, found = np.empty(ZERO, FLOAT), np.empty(ZERO, FLOAT), np.empty(ZERO, FLOAT)
    for t in range(1, horizon + 1):
        limit = most if t < horizon else most_ends
        exact = exact and len(before) * len(rewards) <= MOST_SUMS
        if exact:
            found = _add_rewards(before, powers[t - 1], rewards, gap)
            exact = len(found) <= limit
        if exact:
            every = _join(every, found, gap)
            exact = len(every) <= most_ends
        if t == horizon:
            ends = every if exact else _spread_knots(returns, low[t], high[t], most_ends, gap)
            break
        if not exact:
            found = before
            if high[t] >= low[t]:
                found = _spread_knots(sums[begins[t] : begins[t + 1]], low[t], high[t], most, gap)
        for i in range(len(found)):
            knots[offsets[t] + i] = found[i]
        offsets[t + 1] = offsets[t] + len(found)
        before = found
    return exact, offsets, resize(knots, offsets[horizon]), ends

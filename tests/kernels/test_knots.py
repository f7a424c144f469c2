"""Knots of the return so far, against plain NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskgrad.kernels.knots import place_knots, sort_by_time


def every_sum(rewards, powers):
    """Give every return so far at each time, and every final return of an episode that may end at any time."""
    found, ends = [np.zeros(1)], np.zeros(0)
    for power in powers:
        sums = np.unique(np.round((found[-1][:, None] + power * rewards).ravel(), 9))
        found.append(sums)
        ends = np.unique(np.round(np.append(ends, sums), 9))
    return found[:-1], ends


def ranges(rewards, powers):
    steps = np.concatenate([[[0.0, 0.0]], np.cumsum(powers[:, None] * [np.min(rewards), np.max(rewards)], axis=0)])
    return steps[:, 0].copy(), steps[:, 1].copy()


@settings(max_examples=40, deadline=None)
@given(st.sets(st.integers(-40, 40), min_size=1, max_size=4), st.integers(1, 4), st.sampled_from([1.0, 0.5, 0.9]))
def test_where_few_returns_can_be_reached_each_is_a_knot(rewards, horizon, discount):
    values, powers = np.array(sorted(rewards)) / 8.0, discount ** np.arange(horizon)
    nothing = np.zeros(horizon + 1, dtype=np.int64), np.zeros(0), np.zeros(0)
    exact, offsets, knots, ends = place_knots(powers, values, *nothing, *ranges(values, powers), 512, 2048)
    sums, finals = every_sum(values, powers)
    assert exact
    for t, expected in enumerate(sums):
        np.testing.assert_allclose(knots[offsets[t] : offsets[t + 1]], expected, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(ends, finals, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("most", [8, 33, 128])
def test_elsewhere_half_are_quantiles_of_what_was_seen_and_half_are_spread(most):
    rng, horizon = np.random.default_rng(most), 5
    rewards, powers = np.sort(rng.normal(size=300)), np.ones(horizon)
    times, sums = np.repeat(np.arange(horizon), 400), rng.normal(size=2000)
    begins, by_time = sort_by_time(horizon, times, sums)
    low, high = ranges(rewards, powers)
    exact, offsets, knots, ends = place_knots(
        powers, rewards, begins, by_time, np.sort(sums[-400:]), low, high, most, 2 * most
    )
    assert not exact
    for t in range(1, horizon):
        found, seen = knots[offsets[t] : offsets[t + 1]], np.sort(sums[times == t])
        half = most // 2
        quantiles = seen[np.arange(half) * (len(seen) - 1) // (half - 1)]
        expected = np.sort(np.append(quantiles, np.linspace(low[t], high[t], most - half)))
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)
    assert len(ends) <= 2 * most
    assert (ends[0], ends[-1]) == pytest.approx((low[-1], high[-1]))


def test_returns_are_sorted_within_each_time():
    rng = np.random.default_rng(0)
    times, sums = rng.integers(0, 6, 500), rng.normal(size=500)
    begins, found = sort_by_time(7, times, sums)
    for t in range(7):
        np.testing.assert_array_equal(found[begins[t] : begins[t + 1]], np.sort(sums[times == t]))

"""Counts of outcomes against a dictionary, and returns so far against a plain loop."""

from itertools import pairwise

import numpy as np
import pytest

from riskgrad.kernels.outcome_counts import EMPTY, count_steps, fill_slots, returns_so_far

STATES, ACTIONS, ROOM = 3, 2, 256


def a_batch(seed, episodes):
    """Episodes of which some have no step; rewards are few, so that outcomes recur."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 6, size=episodes))])
    size = int(offsets[-1])
    rewards = rng.choice([0.0, 0.1, -2.5], size=size)
    ended, shares = rng.uniform(size=episodes) < 0.5, rng.uniform(size=size)
    return offsets, ended, rng.integers(0, STATES, size), rng.integers(0, ACTIONS, size), rewards.view(np.int64), shares


def empty_columns():
    return np.zeros(ROOM, dtype=np.int64), np.zeros(ROOM, dtype=np.int64), np.zeros(ROOM, dtype=np.int64)


def count_plainly(found, sign, horizon, offsets, ended, states, actions, bits, shares):
    for begin, end, over in zip(offsets[:-1], offsets[1:], ended, strict=True):
        for k in range(begin, end):
            after = STATES + 1
            if k + 1 < end:
                after = int(states[k + 1])
            elif over and end - begin != horizon:
                after = STATES
            key = int(states[k] * ACTIONS + actions[k]), after, int(bits[k])
            found[key] = found.get(key, 0.0) + sign * shares[k]


@pytest.mark.parametrize("horizon", [0, 3])
@pytest.mark.parametrize("slots", [128, 4096])
@pytest.mark.parametrize("episodes", [0, 1, 40])
def test_outcomes_are_counted_as_in_a_dictionary(episodes, slots, horizon):
    columns, counts, used = empty_columns(), np.zeros(ROOM), 0
    table, expected = np.full(slots, EMPTY, dtype=np.int64), {}
    for seed, sign in ((0, 1), (1, 1), (0, -1)):
        batch = a_batch(seed, episodes)
        used = count_steps(sign, STATES, ACTIONS, horizon, *batch, table, used, *columns, counts)
        count_plainly(expected, sign, horizon, *batch)
        assert list(zip(*(column[:used].tolist() for column in columns), strict=True)) == list(expected)
        assert counts[:used].tolist() == list(expected.values())
    assert not np.any(counts[used:])


@pytest.mark.parametrize("slots", [128, 1024])
def test_slots_that_are_filled_anew_hold_each_outcome_once(slots):
    columns, counts, batch = empty_columns(), np.zeros(ROOM), a_batch(2, 40)
    first, again = (np.full(size, EMPTY, dtype=np.int64) for size in (256, slots))
    used = count_steps(1, STATES, ACTIONS, 0, *batch, first, 0, *columns, counts)
    fill_slots(again, used, *columns)
    assert np.array_equal(np.sort(again[again != EMPTY]), np.arange(used))
    once = counts.copy()
    assert count_steps(1, STATES, ACTIONS, 0, *batch, again, used, *columns, counts) == used
    np.testing.assert_allclose(counts, 2.0 * once, rtol=1e-14)


@pytest.mark.parametrize("discount", [1.0, 0.9])
@pytest.mark.parametrize("lengths", [[], [0], [1], [3, 0, 5, 1]], ids=str)
def test_the_return_before_a_step_is_the_discounted_sum_of_what_came(lengths, discount):
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    rewards = np.random.default_rng(3).normal(size=int(offsets[-1]))
    times, sums = np.full(len(rewards), -1), np.full(len(rewards), np.nan)
    returns_so_far(discount, offsets, rewards, times, sums)
    for begin, end in pairwise(offsets):
        total, factor = 0.0, 1.0
        for k in range(begin, end):
            assert (times[k], sums[k]) == (k - begin, total)
            total, factor = total + factor * rewards[k], factor * discount

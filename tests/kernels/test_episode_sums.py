"""Sums along episodes, bit for bit against the same in plain NumPy."""

import numpy as np
import pytest

from riskgrad.kernels.episode_sums import add_log_ratios, add_rewards


@pytest.mark.parametrize("episodes", [1, 7, 80])
def test_log_ratios_are_added_visit_by_visit(episodes):
    rng, policies, pairs = np.random.default_rng(episodes), 5, 12
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 6, size=episodes))])
    visits = int(offsets[-1])
    index, counts = rng.integers(0, pairs, size=visits), rng.integers(1, 4, size=visits)
    behavior, table = rng.normal(size=visits), rng.normal(size=(pairs, policies))
    ratios = np.full((policies, episodes), np.nan)
    add_log_ratios(0, episodes, offsets, index, counts, behavior, table, ratios)
    for i in range(episodes):
        total = np.zeros(policies)
        for v in range(offsets[i], offsets[i + 1]):
            total = total + counts[v] * (table[index[v]] - behavior[v])
        assert np.array_equal(ratios[:, i], total)


def test_rewards_are_discounted_and_bad_numbers_seen():
    rng = np.random.default_rng(0)
    rewards, totals, factors = rng.normal(size=9), rng.normal(size=9), rng.uniform(size=9)
    expected, moved = totals + factors * rewards, factors * 0.9
    assert add_rewards(rewards, 0.9, totals, factors, rng.normal(size=20))
    assert np.array_equal(totals, expected)
    assert np.array_equal(factors, moved)
    for bad in (np.nan, np.inf, -np.inf):
        assert not add_rewards(rewards, 0.9, totals.copy(), factors, np.array([1.0, bad]))
        assert not add_rewards(np.append(rewards[1:], bad), 0.9, totals.copy(), factors, np.ones(1))

"""Statistics of observations add up in any split, and the policy that uses them sees what they say."""

import numpy as np
import pytest

from riskgrad.errors import InputError
from riskgrad.policy import MLP, Normalized, ObservationStatistics

RNG = np.random.default_rng(5)
BATCH = RNG.normal(size=(200, 3)) * [1.0, 10.0, 0.1] + [0.0, 1e6, -3.0]


def test_parts_give_the_whole():
    whole = ObservationStatistics.of(BATCH)
    np.testing.assert_allclose(whole.mean, np.mean(BATCH, axis=0), rtol=1e-14)
    np.testing.assert_allclose(whole.std, np.std(BATCH, axis=0), rtol=1e-10)
    parts = ObservationStatistics.none(3)
    for piece in np.split(BATCH, [7, 50, 51]):
        parts = parts.merge(ObservationStatistics.of(piece))
    assert parts.count == 200
    np.testing.assert_allclose(parts.mean, whole.mean, rtol=1e-13)
    np.testing.assert_allclose(parts.std, whole.std, rtol=1e-9)


def test_episodes_add_up_about_the_mean_in_force():
    before = ObservationStatistics.of(BATCH[:80])
    lengths, sums = [], []
    for piece in (BATCH[80:90], BATCH[90:150], BATCH[150:]):
        gaps = piece - before.mean
        lengths.append(len(piece))
        sums.append([np.sum(gaps, axis=0), np.sum(gaps * gaps, axis=0)])
    after = before.add(lengths, np.array(sums))
    assert after.count == 200
    np.testing.assert_allclose(after.mean, np.mean(BATCH, axis=0), rtol=1e-13)
    np.testing.assert_allclose(after.std, np.std(BATCH, axis=0), rtol=1e-9)


def test_nothing_seen_changes_nothing():
    none = ObservationStatistics.none(3)
    policy = MLP(3, 2, ())
    theta = RNG.normal(size=policy.dim)
    seen = RNG.normal(size=(5, 3))
    np.testing.assert_array_equal(
        Normalized(policy, none).probabilities(theta, seen), policy.probabilities(theta, seen)
    )
    assert none.merge(none).count == 0
    constant = ObservationStatistics.of(np.ones((4, 2)))
    np.testing.assert_array_equal(constant.std, [1.0, 1.0])


def test_the_policy_sees_normalized_observations():
    statistics = ObservationStatistics.of(BATCH)
    policy = MLP(3, 2, (4,))
    theta, rows = RNG.normal(size=policy.dim), np.zeros(200, dtype=np.int64)
    normalized = Normalized(policy, statistics)
    plain = (BATCH - statistics.mean) / statistics.std
    np.testing.assert_allclose(normalized.rescale(BATCH), plain, rtol=1e-12)
    actions = normalized.act(theta[None], rows, BATCH, np.full((200, 1), 0.3))
    np.testing.assert_allclose(
        normalized.log_prob(theta, BATCH, actions), policy.log_prob(theta, plain, actions), rtol=1e-10
    )
    assert np.max(np.abs(normalized.rescale(BATCH + 1e9))) == 10.0


def test_arrays_come_back_to_the_bit():
    statistics = ObservationStatistics.of(BATCH)
    back = ObservationStatistics.from_arrays(statistics.arrays())
    assert back.count == statistics.count
    np.testing.assert_array_equal(back.mean, statistics.mean)
    np.testing.assert_array_equal(back.squares, statistics.squares)
    with pytest.raises(InputError, match="arrays must hold"):
        ObservationStatistics.from_arrays({"count": 1.0, "mean": np.zeros(2), "squares": np.zeros(3)})
    with pytest.raises(InputError, match="vectors of 3 numbers"):
        Normalized(MLP(3, 2, ()), statistics).rescale(np.zeros((2, 4)))

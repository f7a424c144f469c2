import numpy as np
import pytest

from riskgrad.policy import LinearGibbs, TabularGibbs
from riskgrad.training.problem import entropy_gradient
from riskgrad.types import Episodes


def visits(observations, counts):
    size = len(observations)
    return Episodes(
        values=np.zeros(1),
        lengths=np.ones(1, dtype=np.int64),
        offsets=np.array([0, size]),
        observations=observations,
        actions=np.zeros(size, dtype=np.int64),
        counts=np.asarray(counts),
        log_behavior=np.zeros(size),
    )


def mean_entropy(policy, theta, batch):
    chances = policy.probabilities(theta, batch.observations)
    each = -np.sum(chances * np.log(chances), axis=1)
    return np.sum(batch.counts * each) / np.sum(batch.counts)


def differences(policy, theta, batch):
    steps = 1e-5 * np.eye(policy.dim)
    return np.array(
        [(mean_entropy(policy, theta + h, batch) - mean_entropy(policy, theta - h, batch)) / 2e-5 for h in steps]
    )


def test_it_is_the_gradient_of_the_mean_entropy():
    rng = np.random.default_rng(0)
    table = TabularGibbs(3, 4)
    batch = visits(np.array([0, 2, 0, 1, 2]), [1, 3, 2, 1, 1])
    theta = rng.normal(size=12)
    np.testing.assert_allclose(entropy_gradient(table, theta, batch), differences(table, theta, batch), atol=1e-8)
    linear = LinearGibbs(lambda x: np.outer([1.0, 2.0, -1.0], x), np.zeros(2))
    batch = visits(rng.normal(size=(5, 2)), [1, 3, 2, 1, 1])
    theta = rng.normal(size=2)
    np.testing.assert_allclose(entropy_gradient(linear, theta, batch), differences(linear, theta, batch), atol=1e-8)


def test_it_vanishes_at_the_uniform_policy_and_points_back_to_it():
    table, batch = TabularGibbs(1, 3), visits(np.array([0]), [1])
    np.testing.assert_allclose(entropy_gradient(table, np.zeros(3), batch), 0.0, atol=1e-15)
    assert entropy_gradient(table, np.array([2.0, 0.0, 0.0]), batch)[0] < 0.0


def test_a_certain_action_is_no_nan():
    found = entropy_gradient(TabularGibbs(1, 2), np.array([2000.0, 0.0]), visits(np.array([0]), [1]))
    np.testing.assert_array_equal(found, 0.0)


@pytest.mark.parametrize("size", [4096, 20_000])
def test_many_observations_are_thinned_evenly(size):
    linear = LinearGibbs(lambda x: np.outer([1.0, -1.0], x), np.zeros(1))
    batch = visits(np.linspace(0.0, 1.0, size)[:, None], np.ones(size, dtype=np.int64))
    np.testing.assert_allclose(
        entropy_gradient(linear, np.array([1.0]), batch), differences(linear, np.array([1.0]), batch), atol=1e-3
    )

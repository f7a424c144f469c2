"""A sharper policy has the same preferences, times a factor."""

import numpy as np
import pytest

from riskgrad.kernels.formulas import exp_of
from riskgrad.policy import (
    MLP,
    Deterministic,
    Gaussian,
    LinearGibbs,
    Normalized,
    ObservationStatistics,
    SharedTable,
    TabularGibbs,
)
from riskgrad.policy.memory import Memory, with_memory
from riskgrad.types import States

MEMORY = Memory("both", States(3), 4, 1.0, edges=(-0.5, 0.5))
SCALING = [
    TabularGibbs(3, 4),
    SharedTable(3, 4),
    with_memory(TabularGibbs(3, 4), MEMORY),
    LinearGibbs(np.random.default_rng(0).normal(size=(3, 4, 5))),
]


@pytest.mark.parametrize("factor", [1.0, 2.0, 16.0])
@pytest.mark.parametrize("policy", SCALING, ids=repr)
def test_chances_are_the_powers_of_what_they_were(policy, factor):
    theta = np.random.default_rng(1).normal(size=policy.dim)
    sharper = policy.sharpen(theta, factor)
    before, after = (policy.probabilities(at, np.arange(3)) for at in (theta, sharper))
    powers = exp_of(factor * np.log(before))
    np.testing.assert_allclose(after, powers / np.sum(powers, axis=1, keepdims=True), rtol=1e-9)


def test_a_network_has_sharper_preferences_and_normal_actions_a_smaller_spread():
    network, normal = MLP(2, 3), Gaussian(2, -1.0, 1.0, hidden=(4,))
    seen, rng = np.array([[0.3, -0.7], [1.0, 2.0]]), np.random.default_rng(2)
    theta = rng.normal(size=network.dim)
    before, after = (network.probabilities(at, seen) for at in (theta, network.sharpen(theta, 4.0)))
    np.testing.assert_allclose(after, before**4 / np.sum(before**4, axis=1, keepdims=True), rtol=1e-9)
    theta = rng.normal(size=normal.dim)
    sharper = normal.sharpen(theta, 4.0)
    assert np.array_equal(normal.mean(sharper, seen), normal.mean(theta, seen))
    np.testing.assert_allclose(normal.std(sharper), normal.std(theta) / 4.0, rtol=1e-12)
    statistics = ObservationStatistics.of(seen)
    assert np.array_equal(Normalized(normal, statistics).sharpen(theta, 4.0), sharper)


def test_a_policy_without_preferences_has_none():
    assert Deterministic(2, 3).sharpen(np.zeros(Deterministic(2, 3).dim), 2.0) is None

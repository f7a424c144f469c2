from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riskgrad as rg
from riskgrad.errors import InputError, TooLargeError
from riskgrad.exact import gradient, return_law, value
from riskgrad.mdp import from_gymnasium, inventory, two_roads
from riskgrad.policy import Gibbs, LinearGibbs, TabularGibbs
from riskgrad.risk import Mean, parse

SMOOTH = [
    Mean(),
    rg.risk.MeanVariance(0.5),
    rg.risk.Distortion(rg.distortion.DualPower(2.0)),
    rg.risk.Distortion(rg.distortion.DualPower(3.0, attitude="seeking")),
    rg.risk.Distortion(rg.distortion.Exponential(1.0)),
    rg.risk.SmoothCVaR(0.2),
]
MEASURES = [*SMOOTH, rg.risk.CVaR(0.13)]


def differences(mdp, policy, theta, rho, step=1e-5):
    """Central differences of the exact value [d]."""
    shifts = step * np.eye(policy.dim)
    return np.array(
        [(value(mdp, policy, theta + e, rho) - value(mdp, policy, theta - e, rho)) / (2.0 * step) for e in shifts]
    )


@pytest.mark.parametrize("rho", MEASURES, ids=str)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_gradient_is_the_expected_influence_times_score(enumeration, make_model, discount, rho, seed):
    model, _ = make_model(seed, discount, horizon=3)
    policy = TabularGibbs(3, 2)
    theta = np.random.default_rng(seed).normal(size=6)
    table = policy.probabilities(theta, np.arange(3))
    every = enumeration(model, table, Fraction(discount))
    law = return_law(model, table)
    influence = rho.influence(law.values, law.probabilities)
    nearest = {total: influence[np.argmin(np.abs(law.values - float(total)))] for _, total, _ in every.episodes}
    expected = every.expected_score(nearest, table)
    scale = max(1.0, float(np.max(np.abs(influence))))
    np.testing.assert_allclose(gradient(model, policy, theta, rho), expected, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("rho", SMOOTH, ids=str)
@pytest.mark.parametrize("discounting", [1.0, 0.9])
def test_the_gradient_agrees_with_differences_of_the_value(rho, discounting):
    rng = np.random.default_rng(7)
    model = inventory(capacity=2, weeks=4, start=1, discount=discounting)
    features = rng.normal(size=(3, 3, 4))
    policies = [
        TabularGibbs(3, 3),
        LinearGibbs(features),
        Gibbs(lambda theta, state: np.sin(features[state] @ theta), 4),
    ]
    for policy in policies:
        theta = rng.normal(size=policy.dim)
        found, expected = gradient(model, policy, theta, rho), differences(model, policy, theta, rho)
        assert np.linalg.norm(found - expected) < 1e-6 * np.linalg.norm(expected)


def test_the_gradient_of_a_kinked_measure_agrees_away_from_the_kink():
    model, policy = two_roads(), TabularGibbs(4, 2)
    theta = np.random.default_rng(1).normal(size=8)
    found, expected = (f(model, policy, theta, rg.risk.CVaR(0.1)) for f in (gradient, differences))
    assert np.linalg.norm(found - expected) < 1e-6 * np.linalg.norm(expected)


def test_a_coin_has_the_gradient_on_paper():
    pay = [[[(1.0, 0, 0.0, False)], [(1.0, 0, 1.0, False)]]]
    model = rg.mdp.FiniteMDP.from_outcomes(pay, start=0, horizon=1)
    policy, theta = TabularGibbs(1, 2), np.log([3.0, 1.0])
    slope = 0.75 * 0.25 * np.array([-1.0, 1.0])  # of p = P(R = 1) = 1/4
    np.testing.assert_allclose(gradient(model, policy, theta, Mean()), slope, rtol=1e-14)
    # rho = p - lambda p (1 - p), and g(p) = p^2
    np.testing.assert_allclose(gradient(model, policy, theta, parse("mean-variance:1")), slope * 0.5, rtol=1e-14)
    np.testing.assert_allclose(gradient(model, policy, theta, parse("dual-power:2")), slope * 0.5, rtol=1e-14)


def test_policies_that_are_all_but_sure_have_a_finite_gradient():
    model, policy = inventory(), TabularGibbs(5, 5)
    theta = 1e4 * np.random.default_rng(0).normal(size=25)
    for rho in MEASURES:
        found = gradient(model, policy, theta, rho)
        np.testing.assert_allclose(found, 0.0, atol=1e-12)


class Worst(rg.risk.RiskMeasure):
    """The smallest return: a measure without an influence function."""

    attitude = "averse"

    def estimate(self, values, weights=None):
        del weights
        return np.min(values, axis=-1)

    def value(self, law):
        return float(law.values[0])


def test_a_sure_return_has_gradient_zero():
    model = rg.mdp.FiniteMDP.from_outcomes([[[(1.0, 0, 2.0, False)]] * 2], start=0, horizon=3)
    for rho in MEASURES:
        np.testing.assert_array_equal(gradient(model, TabularGibbs(1, 2), [0.3, -0.2], rho), [0.0, 0.0])


def test_a_measure_without_influence_has_a_value_but_no_gradient():
    model, policy = two_roads(), TabularGibbs(4, 2)
    assert value(model, policy, np.zeros(8), Worst()) == model.return_range[0]
    with pytest.raises(InputError, match="influence"):
        gradient(model, policy, np.zeros(8), Worst())


def test_too_many_atoms_and_wrong_shapes_are_refused():
    model = from_gymnasium("CliffWalking-v1", horizon=30, is_slippery=True)
    policy = TabularGibbs(48, 4)
    with pytest.raises(TooLargeError, match="at most 1,000 atoms"):
        gradient(model, policy, np.zeros(192), Mean(), max_atoms=1000)
    with pytest.raises(InputError, match="theta must have shape"):
        gradient(model, policy, np.zeros(3), Mean())
    with pytest.raises(InputError, match=r"observations must be states in 0\.\.4"):
        value(model, TabularGibbs(5, 4), np.zeros(20), Mean())


def test_the_mean_has_the_gradient_of_dynamic_programming():
    """On slippery CliffWalking, by the policy gradient theorem in matrix form, with no law involved."""
    model = from_gymnasium("CliffWalking-v1", horizon=40, discount=0.95, is_slippery=True)
    undiscounted = from_gymnasium("CliffWalking-v1", horizon=40, is_slippery=True)
    policy = TabularGibbs(48, 4)
    theta = np.random.default_rng(2).normal(size=192)
    table = policy.probabilities(theta, np.arange(48))
    expected = np.zeros((48, 4))
    transition, reward = undiscounted.dense()
    mean_reward = np.sum(transition * reward, axis=2)
    to_go = np.zeros((41, 48))
    action_values = np.zeros((40, 48, 4))
    for t in range(39, -1, -1):
        action_values[t] = mean_reward + transition @ to_go[t + 1]
        to_go[t] = np.sum(table * action_values[t], axis=1)
    occupied = undiscounted.start.copy()
    for t in range(40):
        expected += occupied[:, None] * table * (action_values[t] - to_go[t][:, None])
        occupied = np.einsum("s,sa,sat->t", occupied, table, transition)
        occupied[undiscounted.terminal] = 0.0
    found = gradient(undiscounted, policy, theta, Mean()).vector.reshape(48, 4)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    with pytest.raises(TooLargeError):
        value(model, policy, theta, Mean(), max_atoms=100_000)

import dataclasses
import math

import numpy as np
import pytest

from riskgrad import risk
from riskgrad.distortion import DualPower
from riskgrad.errors import InputError
from riskgrad.gradient import score
from riskgrad.policy import TabularGibbs
from riskgrad.types import DiscreteLaw, Episodes

REWARDS = np.array([[1.0, 3.0, -2.0], [0.5, -1.0, 4.0]])
POLICY = TabularGibbs(2, 3)
THETA = np.array([0.3, -0.2, 0.1, 0.0, 0.5, -0.4])
MEASURES = [risk.Mean(), risk.MeanVariance(0.4), risk.Distortion(DualPower(2.0))]


def batch_of(actions):
    """Two steps, states 0 then 1, one action each: the return is the sum of two rewards."""
    m = len(actions)
    return Episodes(
        values=REWARDS[0, actions[:, 0]] + REWARDS[1, actions[:, 1]],
        lengths=np.full(m, 2),
        offsets=np.arange(m + 1) * 2,
        observations=np.tile([0, 1], m),
        actions=actions.ravel(),
        counts=np.ones(2 * m, dtype=np.int64),
        log_behavior=POLICY.log_prob(THETA, np.tile([0, 1], m), actions.ravel()),
    )


EVERY = np.array([(a, b) for a in range(3) for b in range(3)])


def path_probabilities(theta):
    table = POLICY.probabilities(theta, np.array([0, 1]))
    return table[0, EVERY[:, 0]] * table[1, EVERY[:, 1]]


def exact_gradient(rho):
    """Central differences of the exact value, to about 1e-9."""
    values, steps = batch_of(EVERY).values, 1e-5 * np.eye(6)

    def at(theta):
        return rho.value(DiscreteLaw(values, path_probabilities(theta)))

    return np.array([(at(THETA + h) - at(THETA - h)) / 2e-5 for h in steps])


@pytest.mark.parametrize("rho", MEASURES, ids=str)
def test_weights_that_are_the_law_give_the_exact_gradient(rho):
    masses = path_probabilities(THETA)
    gain = 1 / (1 - np.sum(masses**2))
    estimate = score(rho, POLICY, THETA, batch_of(EVERY), masses)
    np.testing.assert_allclose(estimate.vector / gain, exact_gradient(rho), atol=1e-8)


@pytest.mark.parametrize("rho", MEASURES, ids=str)
def test_meets_the_exact_gradient_in_the_mean(rho):
    # 400 batches of 400 episodes; the mean over batches within 5 standard errors of the exact gradient and the
    # reported error within 15% of the true one
    rng, exact, masses = np.random.default_rng(5), exact_gradient(rho), path_probabilities(THETA)
    estimates = [score(rho, POLICY, THETA, batch_of(EVERY[rng.choice(9, size=400, p=masses)])) for _ in range(400)]
    errors = np.array([estimate.vector - exact for estimate in estimates])
    true, reported = np.mean(np.sum(errors**2, axis=1)), np.mean([e.standard_error**2 for e in estimates])
    assert np.linalg.norm(errors.mean(axis=0)) <= 5 * math.sqrt(true / 400)
    assert reported == pytest.approx(true, rel=0.15)


def test_off_policy_meets_the_exact_gradient_in_the_mean():
    rho, rng, masses = risk.Distortion(DualPower(2.0)), np.random.default_rng(6), path_probabilities(THETA)
    ratios = masses * 9
    estimates = []
    for _ in range(400):
        rows = rng.choice(9, size=400)
        estimates.append(score(rho, POLICY, THETA, batch_of(EVERY[rows]), ratios[rows]))
    errors = np.array([estimate.vector for estimate in estimates]) - exact_gradient(rho)
    true, reported = np.mean(np.sum(errors**2, axis=1)), np.mean([e.standard_error**2 for e in estimates])
    # 5 standard errors, plus the bias of order 1 / m of a self-normalized estimate
    assert np.linalg.norm(errors.mean(axis=0)) <= 5 * math.sqrt(true / 400) + 4 / 400
    assert reported == pytest.approx(true, rel=0.2)


def test_uniform_weights_equal_none():
    batch = batch_of(EVERY[np.random.default_rng(0).choice(9, size=40)])
    for rho in MEASURES:
        plain, weighted = (score(rho, POLICY, THETA, batch, w) for w in (None, np.full(40, 3.0)))
        np.testing.assert_allclose(plain.vector, weighted.vector, rtol=1e-12, atol=1e-14)
        assert plain.standard_error == pytest.approx(weighted.standard_error, rel=1e-12)


def test_shifting_all_returns_changes_nothing():
    batch = batch_of(EVERY[np.random.default_rng(1).choice(9, size=64)])
    ratios = np.random.default_rng(2).uniform(0.2, 3.0, size=64)
    shifted = dataclasses.replace(batch, values=batch.values + 100.0)
    for rho in MEASURES:
        near, far = (score(rho, POLICY, THETA, b, ratios) for b in (batch, shifted))
        np.testing.assert_allclose(near.vector, far.vector, atol=1e-10)


def test_the_mean_is_unbiased_even_from_two_episodes():
    # every pair of episodes with its probability: an exact expectation
    masses, total = path_probabilities(THETA), np.zeros(6)
    for i in range(9):
        for j in range(9):
            total += masses[i] * masses[j] * score(risk.Mean(), POLICY, THETA, batch_of(EVERY[[i, j]])).vector
    np.testing.assert_allclose(total, exact_gradient(risk.Mean()), atol=1e-9)


def test_bad_input_gets_one_line():
    with pytest.raises(InputError, match="batch must hold at least 2 episodes"):
        score(risk.Mean(), POLICY, THETA, batch_of(EVERY[:1]))
    for weights in ([1.0, 2.0], np.zeros(9), np.full(9, np.nan), np.full(9, -1.0)):
        with pytest.raises(InputError, match="weights must be 9 finite numbers"):
            score(risk.Mean(), POLICY, THETA, batch_of(EVERY), weights)

"""Gains by returns: whatever the model says of a state, the expected gradient is the exact one."""

import numpy as np
import pytest
from support.critics import enumerate_episodes, make_random_model, steps_of

import riskgrad as rg
from riskgrad.critic.returns import FEW_VISITS, weigh_returns
from riskgrad.policy import TabularGibbs


class Fixed:
    """A measure whose influence is held at one law."""

    def __init__(self, rho, law):
        self._rho, self._law = rho, law
        self._influence = rho.influence(law.values, law.probabilities)

    def influence(self, values):
        return np.interp(values, self._law.values, self._influence)


def expected_gradient(mdp, policy, theta, risk, baseline):
    """Give E of (visits + 5) pi gain score, which is the score gradient of one episode, over every episode."""
    table = policy.probabilities(theta, np.arange(mdp.n_states))
    total = np.zeros(policy.dim)
    for chance, value, steps, ended in enumerate_episodes(mdp, table):
        batch = steps_of([(value, steps, ended)])
        earned = np.concatenate([[0.0], np.cumsum(batch.rewards)[:-1]])
        gains, visits = weigh_returns(table, risk, batch, baseline(batch.observations, np.arange(len(earned)), earned))
        weights = (visits + FEW_VISITS)[:, None] * table * gains
        rows, actions = np.indices(table.shape)
        total += chance * policy.score_sum(theta, rows.ravel(), actions.ravel(), weights.ravel())
    return total


@pytest.mark.parametrize("rho", [rg.risk.Mean(), rg.risk.CVaR(0.13), rg.risk.MeanVariance(0.3)], ids=str)
@pytest.mark.parametrize("discount", [1.0, 0.5])
def test_a_wrong_critic_adds_no_bias(rho, discount):
    mdp = make_random_model(1, discount, horizon=3, n_states=3, n_actions=2)
    policy, rng = TabularGibbs(3, 2), np.random.default_rng(7)
    theta = rng.normal(size=policy.dim)
    law = rg.exact.return_law(mdp, policy.probabilities(theta, np.arange(3)))
    expected = rg.exact.gradient(mdp, policy, theta, rho).vector
    wrong = rng.normal(scale=10.0, size=(3, 3))
    baselines = [
        lambda states, times, earned: np.zeros(len(states)),
        lambda states, times, earned: wrong[states, times],
        lambda states, times, earned: wrong[states, times] * earned**2 - 40.0,
    ]
    for baseline in baselines:
        found = expected_gradient(mdp, policy, theta, Fixed(rho, law), baseline)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-10)
    # the test would see a baseline that looks at what follows
    peeking = expected_gradient(mdp, policy, theta, Fixed(rho, law), lambda s, t, y: wrong[s, t] * y[-1])
    assert np.linalg.norm(peeking - expected) > 0.1


def test_a_row_that_is_rarely_visited_is_trusted_less():
    """Only the length of its gains shrinks, by visits / (visits + 5)."""
    batch = steps_of([(1.0, [(0, 0, 1.0)], True)] * 5 + [(0.0, [(0, 1, 0.0)], True)] * 5)
    table = np.full((1, 2), 0.5)
    gains, visits = weigh_returns(table, rg.risk.Mean(), batch, np.full(10, 0.5))
    assert visits[0] == 10.0
    np.testing.assert_allclose(gains[0], np.array([0.5, -0.5]) * 10.0 / (10.0 + FEW_VISITS))

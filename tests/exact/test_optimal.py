import numpy as np
import pytest
from scipy.optimize import minimize

from riskgrad.errors import TooLargeError
from riskgrad.exact import best_deterministic, gradient, value
from riskgrad.mdp import from_gymnasium, inventory, risky_safe, ruin, slippery_grid, two_roads
from riskgrad.policy import TabularGibbs
from riskgrad.risk import CVaR, Mean, parse

TAIL = CVaR(0.1)

# model: actions of the mean-optimal policy, its mean and CVaR(0.1); the same for the CVaR-optimal one.
# These are the tables of the models' docstrings; None is a state in which the policy never acts.
BEST = {
    risky_safe: ([1, 0], 8.861, -4.200, [0, None], 4.000, 4.000),
    two_roads: ([0, 0, None], -22.800, -66.000, [1, None, 1], -28.000, -30.000),
    inventory: ([2, 1, 0, None, None], 35.600, -13.956, [3, 2, 1, 0, None], 30.800, 3.599),
    slippery_grid: ([1, 1, 1, 2, 1, 1, 1], -4.794, -19.551, [1, 1, 1, 2, 0, 0, 0], -5.419, -7.494),
    ruin: ([0, 0, 0, 0, 1, 1, 0, 1, 0], 1.318, -6.000, [0, 0, 0, 0, 0, 0, 0, 0, 0], 1.089, -4.007),
}


def agrees(actions, expected):
    return all(want is None or want == got for got, want in zip(actions, expected, strict=True))


@pytest.mark.parametrize("make", BEST, ids=lambda make: make.__name__)
def test_the_best_policies_for_the_mean_and_for_the_tail_differ(make):
    model = make()
    neutral, mean, tail, averse, averse_mean, averse_tail = BEST[make]
    acting = np.flatnonzero(model.reachable)
    actions, law = best_deterministic(model, Mean())
    assert agrees(actions[acting], neutral)
    np.testing.assert_allclose((law.mean, TAIL.value(law)), (mean, tail), atol=5e-4)
    actions, law = best_deterministic(model, TAIL)
    assert agrees(actions[acting], averse)
    np.testing.assert_allclose((law.mean, TAIL.value(law)), (averse_mean, averse_tail), atol=5e-4)
    assert averse_tail - tail >= 0.15 * max(abs(tail), abs(averse_tail))
    for figure in (mean, tail, averse_mean, averse_tail):
        assert f"{figure:.3f}" in make.__doc__


def test_seeking_savers_hold_shares_throughout():
    actions, law = best_deterministic(risky_safe(), parse("dual-power:8:seeking"))
    assert actions.tolist() == [1, 1]
    assert law.mean < best_deterministic(risky_safe(), Mean())[1].mean


@pytest.mark.parametrize("make", [two_roads, inventory, slippery_grid], ids=lambda make: make.__name__)
def test_climbing_the_exact_gradient_from_the_uniform_policy_finds_the_best_mean(make):
    model = make()
    policy = TabularGibbs(model.n_states, model.n_actions)

    def loss(theta):
        return -value(model, policy, theta, Mean()), -gradient(model, policy, theta, Mean()).vector

    found = minimize(loss, np.zeros(policy.dim), jac=True, method="L-BFGS-B", options={"maxiter": 100})
    best = best_deterministic(model, Mean())[1].mean
    assert abs(-found.fun - best) < 1e-3 * abs(best)


def test_a_search_that_would_never_end_is_refused():
    with pytest.raises(TooLargeError, match=r"4 actions in 37 states, 1.9e\+22 policies; climb"):
        best_deterministic(from_gymnasium("CliffWalking-v1", horizon=5), Mean())

import math

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.theory import Constants, constants


def test_the_paper_constants_by_hand(tools):
    model = tools.walk()  # rewards up to 2, gamma 0.9, two steps, |A| = 2, unit features
    c = constants(model.mdp, model.policy, literal=True)
    assert math.isclose(c.M_r, 2.0 * (1 - 0.9**2) / (1 - 0.9), rel_tol=1e-12)
    assert (c.M_e, c.M_d, c.M_h) == (2, 2.0, 6.0)
    assert math.isclose(c.M_s, 4.0, rel_tol=1e-12)
    linear = constants(tools.bandit().mdp, tools.bandit().policy, literal=True)
    norm = math.sqrt(1.25)
    assert math.isclose(linear.M_d, 3 * norm, rel_tol=1e-12)
    assert math.isclose(linear.M_h, 3 * norm**2 + 9 * norm**2, rel_tol=1e-12)


def test_the_limit_of_the_reward_bound_at_discount_one(tools):
    c = constants(tools.bandit().mdp, tools.bandit().policy, literal=True)
    assert c.M_r == 14.0
    outcomes = [[[(1.0, 0, 3.0, False)]]]
    near = rg.mdp.FiniteMDP.from_outcomes(outcomes, start=0, horizon=7, discount=1.0 - 1e-12)
    assert math.isclose(constants(near, rg.policy.TabularGibbs(1, 1), literal=True).M_r, 21.0, rel_tol=1e-9)


def test_sharp_constants_bound_every_episode_and_are_attained(model):
    c = constants(model.mdp, model.policy)
    assert math.isclose(c.M_r, np.max(np.abs(model.returns)), rel_tol=1e-12)
    assert math.isclose(c.half_range, np.ptp(model.returns) / 2, rel_tol=1e-12)
    assert c.M_e == model.lengths.max()
    behavior = np.full((model.mdp.n_states, model.mdp.n_actions), 1 / model.mdp.n_actions)
    behavior[:, 0] += 0.1
    behavior[:, 1] -= 0.1
    c = constants(model.mdp, model.policy, behavior=behavior)
    largest = np.max(np.sum(model.counts * -np.log(behavior), axis=(1, 2)))
    assert math.isclose(c.log_M_s, largest, rel_tol=1e-12)


def test_sharp_is_never_above_literal(model):
    sharp, literal = (constants(model.mdp, model.policy, literal=flag) for flag in (False, True))
    for name in ("M_r", "M_e", "M_d", "M_h", "M_s"):
        assert getattr(sharp, name) <= getattr(literal, name) * (1 + 1e-12), name


def test_score_and_hessian_bounds_hold_and_are_approached(model, some_thetas):
    c = constants(model.mdp, model.policy)
    states = np.arange(model.mdp.n_states)
    longest = widest = 0.0
    for theta in some_thetas(model.policy.dim, 200):
        for state in states:
            scores = np.array(
                [model.policy.score_sum(theta, [state], [action], [1.0]) for action in range(model.mdp.n_actions)]
            )
            longest = max(longest, np.max(np.linalg.norm(scores, axis=1)))
            pi = model.policy.probabilities(theta, state)
            covariance = np.einsum("a,ai,aj->ij", pi, scores, scores)  # minus the Hessian of log pi, linear preferences
            widest = max(widest, np.linalg.norm(covariance, 2))
    assert 0.95 * c.M_d < longest <= c.M_d * (1 + 1e-12)
    assert 0.9 * c.M_h < widest <= c.M_h * (1 + 1e-12)


def test_deviations_of_score_and_curvature(model, some_thetas):
    """E[ZZ'] and E[(u'Yu)^2] by enumeration, against D^2 M_e / 4 and the martingale bound."""
    c = constants(model.mdp, model.policy)
    rng = np.random.default_rng(3)
    largest = np.zeros(2)
    for theta in some_thetas(model.policy.dim, 100):
        table = np.exp(model.log_pi(theta))
        scores = np.array(
            [
                [model.policy.score_sum(theta, [s], [a], [1.0]) for a in range(model.mdp.n_actions)]
                for s in range(model.mdp.n_states)
            ]
        )
        covariances = np.einsum("sa,sai,saj->sij", table, scores, scores)
        z = np.einsum("esa,sai->ei", model.counts, scores)
        y = np.einsum("ei,ej->eij", z, z) - np.einsum("esa,sij->eij", model.counts, covariances)
        masses = model.masses(theta)
        assert np.allclose(masses @ z, 0.0, atol=1e-12)
        assert np.allclose(np.einsum("e,eij->ij", masses, y), 0.0, atol=1e-12)
        u = rng.normal(size=model.policy.dim)
        u = np.stack([u, np.eye(model.policy.dim)[0], scores[0, 0]])
        u /= np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-12)
        along = np.einsum("ki,eij,kj->ke", u, y, u)
        largest[0] = max(largest[0], np.sqrt(np.linalg.norm(np.einsum("e,ei,ej->ij", masses, z, z), 2)))
        largest[1] = max(largest[1], np.sqrt(np.max(along**2 @ masses)))
    assert 0.5 * c.score_deviation < largest[0] <= c.score_deviation * (1 + 1e-12)
    assert 0.29 * c.curvature_deviation < largest[1] <= c.curvature_deviation * (1 + 1e-12)


def test_the_ratio_of_a_perturbed_policy_is_bounded_and_nearly_attained(model):
    c = constants(model.mdp, model.policy, behavior="current")
    assert c.log_M_s == 0.0
    assert math.isclose(math.log(c.at(0.1).M_s), 0.1 * c.M_e * c.M_d, rel_tol=1e-12)
    rng = np.random.default_rng(0)
    theta = -20.0 * np.eye(model.policy.dim)[0]
    largest = 0.0
    for v in rng.normal(size=(300, model.policy.dim)):
        moved = theta + 0.1 * v / np.linalg.norm(v)
        largest = max(largest, np.max(np.sum(model.counts * (model.log_pi(moved) - model.log_pi(theta)), axis=(1, 2))))
    assert 0.2 * math.log(c.at(0.1).M_s) < largest <= math.log(c.at(0.1).M_s) * (1 + 1e-9)


def test_the_ratio_overflows_quietly():
    outcomes = [[[(1.0, 0, 1.0, False)], [(1.0, 0, 0.0, False)]]]
    mdp = rg.mdp.FiniteMDP.from_outcomes(outcomes, start=0, horizon=5000)
    c = constants(mdp, rg.policy.TabularGibbs(1, 2))
    assert math.isclose(c.log_M_s, 5000 * math.log(2.0), rel_tol=1e-12)
    assert c.M_s == math.inf
    for risk in ("mean", "mean-variance:0.5", "dual-power:2"):
        assert rg.theory.bound(risk, c, iterations=100, off_policy=True) == math.inf
        assert math.isfinite(rg.theory.bound(risk, c, iterations=100))


def test_an_early_end_shortens_the_longest_episode():
    mdp = rg.mdp.FiniteMDP.from_outcomes([[[(1.0, 0, 1.0, True)], [(1.0, 0, 0.0, True)]]], start=0, horizon=50)
    assert constants(mdp, rg.policy.TabularGibbs(1, 2)).M_e == 1
    assert constants(mdp, rg.policy.TabularGibbs(1, 2), literal=True).M_e == 50


def test_one_state_and_one_action_leave_nothing_to_learn():
    mdp = rg.mdp.FiniteMDP.from_outcomes([[[(1.0, 0, 1.0, False)]]], start=0, horizon=4)
    c = constants(mdp, rg.policy.TabularGibbs(1, 1))
    assert (c.M_d, c.M_h, c.M_s, c.half_range) == (0.0, 0.0, 1.0, 0.0)
    assert rg.theory.bound("dual-power:2", c, iterations=4) == 0.0


def test_a_preference_of_ones_own_needs_bounds():
    mdp = rg.mdp.FiniteMDP.from_outcomes([[[(1.0, 0, 1.0, True)], [(1.0, 0, 0.0, True)]]], start=0, horizon=1)
    with pytest.raises(InputError, match=r"policy must have known bounds .*pass bounds="):
        constants(mdp, rg.policy.Gibbs(lambda theta, _: np.array([np.sin(theta[0]), 0.0]), 1))
    c = constants(mdp, rg.policy.Gibbs(lambda theta, _: np.array([np.sin(theta[0]), 0.0]), 1, bounds=(1.0, 1.25)))
    assert (c.M_d, c.M_h, c.feature_spread) == (1.0, 1.25, None)
    assert math.isclose(c.score_deviation, 1.0)
    assert math.isclose(c.curvature_deviation, 0.5 + 1.25)


def test_a_policy_whose_score_has_no_bound_gets_one_line():
    with pytest.raises(InputError, match=r"policy must have known bounds .* a Gaussian has none") as caught:
        constants(rg.mdp.two_roads(), rg.policy.Gaussian(3, [-1.0], [1.0]))
    assert "\n" not in str(caught.value)


def test_bad_behavior_gets_one_line(tools):
    model = tools.coin()
    with pytest.raises(InputError, match=r"behavior of \(state 0, action 1\) must be positive"):
        constants(model.mdp, model.policy, behavior=[[1.0, 0.0]])
    with pytest.raises(InputError, match="behavior must be"):
        constants(model.mdp, model.policy, behavior="greedy")
    with pytest.raises(InputError, match="M_r must not be negative"):
        Constants(M_r=-1.0, M_e=1, M_d=1.0, M_h=1.0, dim=1)
    with pytest.raises(InputError, match="return_range must be finite"):
        Constants(M_r=1.0, M_e=1, M_d=1.0, M_h=1.0, dim=1, return_range=(1.0, -1.0))
    with pytest.raises(InputError, match="dim must be at least 1"):
        Constants(M_r=1.0, M_e=1, M_d=1.0, M_h=1.0, dim=0)


def test_a_policy_without_known_bounds_is_refused_in_one_line():
    normal = rg.policy.Gaussian(4, [-1.0], [1.0])
    with pytest.raises(InputError, match=r"^policy must have known bounds \(M_d, M_h\)") as caught:
        constants(rg.mdp.two_roads(), normal)
    assert "\n" not in str(caught.value)

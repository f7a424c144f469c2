"""The policy's step: along the exact gradient with an exact critic, of the length that is asked for."""

import numpy as np
import pytest
from support.critics import make_random_model, true_graph
from support.memory import enumerate_histories

import riskgrad as rg
from riskgrad.critic.assessment import LEAST_PREFERENCE, LONGEST_MOVE, Assessment, assess, gradient_of, move_table
from riskgrad.critic.graph import Sweeper
from riskgrad.mdp.models import inventory, risky_safe, ruin, slippery_grid, two_roads
from riskgrad.policy import MLP, LinearGibbs, TabularGibbs
from riskgrad.policy.memory import Memory, with_memory
from riskgrad.types import States

MEASURES = [
    rg.risk.parse("mean"),
    rg.risk.parse("cvar:0.1"),
    rg.risk.parse("dual-power:2"),
    rg.risk.parse("mean-variance:0.1"),
    rg.risk.SmoothCVaR(0.2),
    rg.risk.Distortion(rg.distortion.Custom(lambda s: 0.4 * s + 0.6 * s**3, lambda s: 0.4 + 1.8 * s**2)),
]
MODELS = {
    "two-roads": two_roads(),
    "inventory": inventory(capacity=2, weeks=3, start=1),
    "risky-safe": risky_safe(),
    "ruin": ruin(rounds=8),
    "slippery-grid": slippery_grid(horizon=12),
    **{
        f"random {seed}": make_random_model(seed, discount, horizon=3)
        for seed, discount in ((0, 1.0), (1, 0.5), (2, 0.75))
    },
}


def gradient_by_critic(mdp, policy, theta, rho, straight=False):
    graph = true_graph(mdp, policy, theta, straight)
    return graph, gradient_of(policy, theta, assess(Sweeper(graph), policy, theta, rho, 0.0))


def theta_of(policy, seed=3):
    return 0.7 * np.random.default_rng(seed).normal(size=policy.dim)


@pytest.mark.parametrize("rho", MEASURES, ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_an_exact_critic_gives_the_exact_gradient(name, rho):
    mdp = MODELS[name]
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    theta = theta_of(policy)
    graph, found = gradient_by_critic(mdp, policy, theta, rho)
    assert graph.exact
    expected = rg.exact.gradient(mdp, policy, theta, rho).vector
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-8 * max(1.0, float(np.max(np.abs(expected)))))
    assert np.max(np.abs(expected)) > 1e-4 or (name == "ruin" and "cvar" in str(rho))  # where ruin fills the tail


@pytest.mark.parametrize("rho", MEASURES, ids=str)
@pytest.mark.parametrize(
    "mdp", [inventory(), make_random_model(5, 0.9, horizon=8, unit=0.37)], ids=["inventory", "random"]
)
def test_with_many_returns_the_gradient_is_nearly_exact(mdp, rho):
    """Returns between knots are split among them: 3% off at the kink of a tail, 1% elsewhere, 0 for the mean."""
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    theta = theta_of(policy)
    graph, found = gradient_by_critic(mdp, policy, theta, rho)
    assert not graph.exact
    expected = rg.exact.gradient(mdp, policy, theta, rho).vector
    part = {"mean": 1e-10, "cvar:0.1": 0.03}.get(str(rho), 0.01)
    assert np.linalg.norm(found - expected) < part * np.linalg.norm(expected)


def test_few_knots_are_enough_for_a_straight_utility():
    mdp = inventory()
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    theta = theta_of(policy)
    graph, found = gradient_by_critic(mdp, policy, theta, rg.risk.Mean(), straight=True)
    assert graph.edges < 0.5 * true_graph(mdp, policy, theta).edges
    np.testing.assert_allclose(found, rg.exact.gradient(mdp, policy, theta, rg.risk.Mean()), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("rho", MEASURES[1:4], ids=str)
def test_policies_that_share_parameters_get_the_exact_gradient(rho):
    mdp, rng = two_roads(), np.random.default_rng(2)
    for policy in (LinearGibbs(rng.normal(size=(4, 2, 3))), MLP(4, 2, (3,))):
        theta = rng.normal(size=policy.dim)
        _, found = gradient_by_critic(mdp, policy, theta, rho)
        np.testing.assert_allclose(found, rg.exact.gradient(mdp, policy, theta, rho), rtol=0.0, atol=1e-8)


@pytest.mark.no_cover
@pytest.mark.parametrize("rho", [rho for rho in MEASURES if str(rho) != "cvar:0.1"], ids=str)
@pytest.mark.parametrize("kind", ["time", "return", "both"])
@pytest.mark.parametrize("discount", [1.0, 0.5])
def test_with_memory_it_is_the_gradient_of_every_history(rho, kind, discount):
    mdp = make_random_model(4, discount, horizon=3, n_states=2, n_actions=2)
    edges = () if kind == "time" else (-1.1, -0.3, 0.7)
    plain, memory = TabularGibbs(2, 2), Memory(kind, States(2), mdp.horizon, discount, edges=edges)
    policy = with_memory(plain, memory)
    theta = theta_of(policy)
    graph, found = gradient_by_critic(mdp, policy, theta, rho)
    assert graph.exact

    def value(shifted):
        return rho.value(enumerate_histories(mdp, policy, shifted)[0])

    shifts = 1e-5 * np.eye(policy.dim)
    expected = [(value(theta + e) - value(theta - e)) / 2e-5 for e in shifts]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-7)
    assert np.linalg.norm(expected) > 0.01


@pytest.mark.no_cover
def test_the_bonus_is_the_entropy_of_the_episode():
    """Its gradient is that of the sum of entropies over an episode, the states' chances held fixed."""
    mdp, rho = two_roads(), rg.risk.Mean()
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    theta = theta_of(policy)
    graph = true_graph(mdp, policy, theta)
    plain, more = (assess(Sweeper(graph), policy, theta, rho, bonus) for bonus in (0.0, 0.3))
    added = gradient_of(policy, theta, more) - gradient_of(policy, theta, plain)
    law = rg.exact.return_law(mdp, plain.table)
    spread = np.sqrt(law.variance)
    expected = 0.3 * spread / graph.mean_length * policy.entropy_sum(theta, np.arange(mdp.n_states), plain.visits)
    np.testing.assert_allclose(added, expected, rtol=0.0, atol=1e-10)
    assert more.foreseen == pytest.approx(law.mean)


def test_what_was_met_seldom_counts_less():
    mdp = two_roads()
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    theta, rho = theta_of(policy), rg.risk.Mean()
    graph = true_graph(mdp, policy, theta)
    sure = assess(Sweeper(graph), policy, theta, rho, 0.0)
    graph.model.counts[graph.model.counts > 0.0] = 20.0
    unsure = assess(Sweeper(graph), policy, theta, rho, 0.0)
    np.testing.assert_allclose(unsure.gains, 0.5 * sure.gains, rtol=1e-9)


def test_a_step_is_as_long_as_the_trust_says():
    mdp = two_roads()
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    theta = theta_of(policy)
    assessment = assess(Sweeper(true_graph(mdp, policy, theta)), policy, theta, rg.risk.parse("cvar:0.1"), 0.0)
    for trust in (1e-6, 1e-4):
        table = policy.probabilities(move_table(theta, assessment, trust), np.arange(mdp.n_states))
        divergences = np.sum(assessment.table * np.log(assessment.table / table), axis=1)
        assert np.sum(assessment.visits * divergences) / np.sum(assessment.visits) == pytest.approx(trust, rel=0.05)


def test_a_step_has_bounds():
    def assessment_of(gains):
        return Assessment(np.full((1, 2), 0.5), np.array([gains]), np.ones(1), 0.0)

    np.testing.assert_array_equal(move_table(np.zeros(2), assessment_of([0.0, 0.0]), 0.02), np.zeros(2))
    np.testing.assert_array_equal(move_table(np.zeros(2), assessment_of([1.0, -1.0]), 50.0), [0.0, -2.0 * LONGEST_MOVE])
    lowest = move_table(np.array([0.0, -29.9]), assessment_of([1.0, -1.0]), 0.02)
    np.testing.assert_array_equal(lowest, [0.0, LEAST_PREFERENCE])

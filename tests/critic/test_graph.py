"""The law of the return in a model, and values between knots."""

import numpy as np
import pytest
from support.critics import law_in, make_random_model, play_block, true_graph
from support.memory import enumerate_histories

import riskgrad as rg
from riskgrad.critic.graph import Sweeper
from riskgrad.mdp.models import inventory, risky_safe, ruin, slippery_grid, two_roads
from riskgrad.policy import TabularGibbs
from riskgrad.policy.memory import Memory, with_memory
from riskgrad.types import DiscreteLaw, States

MODELS = {
    "two-roads": two_roads(),
    "inventory": inventory(capacity=2, weeks=3, start=1),
    "risky-safe": risky_safe(),
    "ruin": ruin(rounds=8),
    "slippery-grid": slippery_grid(horizon=12),
    **{f"random {seed}": make_random_model(seed, discount, horizon=3) for seed, discount in ((0, 1.0), (1, 0.5))},
}


def same_laws(values, chances, law):
    """Compare distribution functions between the values, which rounding may move by a little."""
    places = law.values + 1e-6
    found = np.array([np.sum(chances[values <= place]) for place in places])
    np.testing.assert_allclose(found, np.cumsum(law.probabilities), rtol=0.0, atol=1e-10)
    assert np.sum(chances * values) == pytest.approx(law.mean, abs=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_where_no_return_is_rounded_the_law_is_exact(name):
    mdp = MODELS[name]
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    theta = np.random.default_rng(0).normal(size=policy.dim)
    graph = true_graph(mdp, policy, theta)
    assert graph.exact
    table = policy.probabilities(theta, np.arange(mdp.n_states))
    same_laws(*law_in(graph, policy, theta), rg.exact.return_law(mdp, table))


@pytest.mark.parametrize("discount", [1.0, 0.5])
def test_with_memory_it_is_that_of_every_history(discount):
    mdp = make_random_model(6, discount, horizon=3, n_states=2, n_actions=2)
    memory = Memory("both", States(2), mdp.horizon, discount, edges=(-0.6, 0.1))
    policy = with_memory(TabularGibbs(2, 2), memory)
    theta = np.random.default_rng(0).normal(size=policy.dim)
    law = enumerate_histories(mdp, policy, theta)[0]
    order = np.argsort(law.values)
    ordered = DiscreteLaw(law.values[order], law.probabilities[order])
    same_laws(*law_in(true_graph(mdp, policy, theta), policy, theta), ordered)


def test_between_knots_the_mean_stays():
    mdp = make_random_model(5, 0.9, horizon=8, unit=0.37)
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    theta = np.random.default_rng(0).normal(size=policy.dim)
    graph = true_graph(mdp, policy, theta)
    assert not graph.exact
    values, chances = law_in(graph, policy, theta)
    law = rg.exact.return_law(mdp, policy.probabilities(theta, np.arange(mdp.n_states)))
    assert np.sum(values * chances) == pytest.approx(law.mean, abs=1e-10)
    assert np.sum(chances * (values - law.mean) ** 2) == pytest.approx(law.variance, rel=0.01)


def test_values_are_read_where_a_batch_was():
    mdp = inventory(capacity=2, weeks=3, start=1)
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    theta = np.random.default_rng(0).normal(size=policy.dim)
    graph, block = true_graph(mdp, policy, theta), play_block(mdp, policy, theta, 20, seed=1)
    table, sweeper = policy.probabilities(theta, np.arange(mdp.n_states)), Sweeper(graph)
    sweeper.law(table)
    values = graph.read_values(sweeper.gains(table, graph.ends, (1.0, 1.0)), block)
    first = block.offsets[:-1]
    mean = rg.exact.return_law(mdp, table).mean
    np.testing.assert_allclose(values[first], mean, rtol=0.0, atol=1e-9)  # the start is one state


@pytest.mark.parametrize(("shrunk", "knots"), [(1.0, 128), (1.5, 85), (8.0, 64), (32.0, 32), (1000.0, 16)])
def test_a_large_model_has_fewer_knots_but_64_where_eight_times_the_sweep_allows(monkeypatch, shrunk, knots):
    mdp = make_random_model(5, 0.9, horizon=8, unit=0.37)
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    theta = np.random.default_rng(0).normal(size=policy.dim)
    full = true_graph(mdp, policy, theta)
    assert np.max(np.diff(full.layout.knot_offsets)) == 128
    monkeypatch.setattr("riskgrad.critic.graph.MOST_EDGES", full.edges / shrunk)
    fewer = true_graph(mdp, policy, theta)
    assert np.max(np.diff(fewer.layout.knot_offsets)) == knots

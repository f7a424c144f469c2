"""Sweeps over a learned model, against plain NumPy over every node."""

import numpy as np
import pytest
from support.critics import make_random_model, true_graph

from riskgrad.kernels import value_sweeps
from riskgrad.policy import TabularGibbs
from riskgrad.policy.memory import Memory, with_memory
from riskgrad.types import States

CASES = {
    "exact": {"discount": 1.0, "horizon": 3},
    "discounted": {"discount": 0.5, "horizon": 3},
    "between knots": {"discount": 0.9, "horizon": 8, "unit": 0.37},
}


def graph_of(name, with_cells):
    mdp = make_random_model(7, n_states=3, n_actions=2, **CASES[name])
    policy = TabularGibbs(3, 2)
    if with_cells:
        policy = with_memory(policy, Memory("both", States(3), mdp.horizon, mdp.discount, edges=(-0.3, 0.4)))
    theta = np.random.default_rng(0).normal(size=policy.dim)
    graph = true_graph(mdp, policy, theta)
    assert graph.exact == (name != "between knots")
    return graph, graph.among_known(policy.probabilities(theta, np.arange(len(graph.known))))


def knots_at(layout, t):
    return layout.knots[layout.knot_offsets[t] : layout.knot_offsets[t + 1]]


def split(knots, y):
    """Give the chance of each knot for a return, so that the mean stays."""
    found = np.zeros(len(knots))
    i = int(np.clip(np.searchsorted(knots, y, side="right") - 1, 0, len(knots) - 1))
    part = 0.0 if i + 1 == len(knots) else float(np.clip((y - knots[i]) / (knots[i + 1] - knots[i]), 0.0, 1.0))
    found[i] += 1.0 - part
    if part > 0.0:
        found[i + 1] += part
    return found


def outcomes(layout, s, a):
    """Give (reward, next state, chance) of a state and action."""
    for k in range(layout.groups[s * layout.n_actions + a], layout.groups[s * layout.n_actions + a + 1]):
        for o in range(layout.firsts[k], layout.firsts[k + 1]):
            yield layout.group_rewards[k], int(layout.nexts[o]), layout.chances[o]


def row_of(layout, t, s, j):
    return int(layout.cells[layout.knot_offsets[t] + j]) * layout.n_states + s


def go_forward(layout, table):
    """Give the chance of every (time, state, knot), and of each final knot."""
    mass = [np.zeros((layout.n_states, len(knots_at(layout, t)))) for t in range(layout.horizon)]
    law = np.zeros(len(layout.ends))
    mass[0][:, 0] = layout.starts
    for t in range(layout.horizon):
        for s, j in zip(*np.nonzero(mass[t]), strict=True):
            for a in range(layout.n_actions):
                here = mass[t][s, j] * table[row_of(layout, t, s, j), a]
                for reward, then, chance in outcomes(layout, s, a) if here > 0.0 else ():
                    y = knots_at(layout, t)[j] + layout.powers[t] * reward
                    if then == layout.n_states or t + 1 == layout.horizon:
                        law += here * chance * split(layout.ends, y)
                    else:
                        mass[t + 1][then] += here * chance * split(knots_at(layout, t + 1), y)
    return mass, law


def read(knots, heights, tails, y):
    """Give a line through knots at y, with a slope of its own beyond either end."""
    beyond = tails[0] * min(y - knots[0], 0.0) + tails[1] * max(y - knots[-1], 0.0)
    return float(np.interp(y, knots, heights)) + beyond


def go_back(layout, table, utility, tails):
    """Give the value of every (time, state, knot), and of each action there."""
    values, worth = [np.empty(0)] * layout.horizon, [np.empty(0)] * layout.horizon
    for t in reversed(range(layout.horizon)):
        knots = knots_at(layout, t)
        worth[t] = np.zeros((layout.n_states, len(knots), layout.n_actions))
        for s in range(layout.n_states):
            for j, base in enumerate(knots):
                for a in range(layout.n_actions):
                    for reward, then, chance in outcomes(layout, s, a):
                        y = base + layout.powers[t] * reward
                        ends = then == layout.n_states or t + 1 == layout.horizon
                        line = (layout.ends, utility) if ends else (knots_at(layout, t + 1), values[t + 1][then])
                        worth[t][s, j, a] += chance * read(*line, tails, y)
        rows = [[row_of(layout, t, s, j) for j in range(len(knots))] for s in range(layout.n_states)]
        values[t] = np.sum(table[np.array(rows)] * worth[t], axis=2)
    return values, worth


def nodes_of(layout):
    """Give (node, time, state, knot) of every node."""
    for q in range(layout.horizon * layout.n_states):
        for place in range(layout.node[q], layout.node[q + 1]):
            yield place, *divmod(q, layout.n_states), int(layout.lo[q] + place - layout.node[q])


@pytest.mark.parametrize("with_cells", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_both_sweeps_are_those_of_plain_sums(name, with_cells):
    graph, table = graph_of(name, with_cells)
    layout, rng = graph.layout, np.random.default_rng(1)
    count = int(layout.node[-1])
    mass, law = np.zeros(count), np.zeros(len(layout.ends))
    value_sweeps.sweep_forward(layout, table, mass, law)
    plain_mass, plain_law = go_forward(layout, table)
    np.testing.assert_allclose(law, plain_law, rtol=0.0, atol=1e-6)
    for node, t, s, j in nodes_of(layout):
        assert mass[node] == pytest.approx(plain_mass[t][s, j], abs=1e-6)

    utility, tails, astray = np.cumsum(rng.random(len(layout.ends))), (2.0, 0.5), 1e-3 * rng.random(count)
    values, gains = np.empty(count), np.zeros(table.shape)
    weights, visits = np.zeros(len(table)), np.zeros(len(table))
    value_sweeps.sweep_backward(layout, table, utility, tails, mass, astray, values, gains, weights, visits)
    plain_values, worth = go_back(layout, table, utility, tails)
    plain_gains, plain_weights, plain_visits = np.zeros(table.shape), np.zeros(len(table)), np.zeros(len(table))
    for node, t, s, j in nodes_of(layout):
        assert values[node] == pytest.approx(plain_values[t][s, j], rel=1e-6)
        row, weight = row_of(layout, t, s, j), mass[node] + astray[node]
        plain_gains[row] += weight * (worth[t][s, j] - plain_values[t][s, j])
        plain_weights[row] += weight
        plain_visits[row] += mass[node]
    np.testing.assert_allclose(gains, plain_gains, rtol=0.0, atol=1e-6 * np.max(utility))
    np.testing.assert_allclose(weights, plain_weights, rtol=1e-12)
    np.testing.assert_allclose(visits, plain_visits, rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_values_are_read_between_the_knots_of_a_state_and_time(name):
    """At knots, between them and beyond them; where a state cannot be reached, there is nothing to read."""
    graph, _ = graph_of(name, with_cells=False)
    layout, rng, size = graph.layout, np.random.default_rng(2), 500
    layout.hi[1] = -1
    values = rng.normal(size=int(layout.node[-1]))
    states, times = rng.integers(0, layout.n_states, size), rng.integers(0, layout.horizon, size)
    sums, found = (
        np.where(np.arange(size) % 3, 2.0 * rng.normal(size=size), rng.choice(layout.knots, size)),
        np.empty(size),
    )
    value_sweeps.read_values(layout, values, states, times, sums, found)
    for k in range(size):
        q, expected = times[k] * layout.n_states + states[k], 0.0
        if layout.hi[q] >= 0:
            knots = knots_at(layout, times[k])[layout.lo[q] : layout.hi[q] + 1]
            expected = np.interp(sums[k], knots, values[layout.node[q] : layout.node[q] + len(knots)])
        assert found[k] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    value_sweeps.read_values(layout, values, states[:0], times[:0], sums[:0], found[:0])

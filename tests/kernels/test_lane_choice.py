"""Logits and actions of lanes against the same in plain NumPy.

The rough exponential never decides what the good one would decide otherwise.
"""

import numpy as np
import pytest

from riskgrad.kernels import streams
from riskgrad.kernels.compile import fresh_kernel
from riskgrad.kernels.formulas import exp_of
from riskgrad.kernels.lane_choice import (
    ZERO,
    _draw_exactly,
    draw_from_many,
    draw_from_two,
    order_by_policy,
    run_networks_in_turn,
    take_largest,
    weigh_lanes,
)
from riskgrad.kernels.lane_state import LANES
from riskgrad.kernels.layers import make_workspace
from riskgrad.policy import MLP


@fresh_kernel
def draw(units, choices, actions):
    draw_from_two(units, ZERO, len(actions), choices, actions)


def drawn(x, words):
    """Actions for differences x of logits, at the numbers that follow the words, all in one call."""
    units, choices, actions = np.zeros((2, 1, len(x))), words.copy(), np.full(len(x), 7)
    units[0, 0] = x
    draw(units, choices, actions)
    assert np.array_equal(choices, words + streams.STEP)
    return actions


def words_and_borders():
    """Words, and the differences of logits from which on the second action is drawn."""
    words = np.random.default_rng(0).integers(0, 2**63, size=LANES).astype(np.uint64)
    u = np.array([streams.open_uniform(word) for word in words + streams.STEP])
    return words, np.log1p(-u) - np.log(u)


@pytest.mark.parametrize("distance", [1e-12, 1e-9, 1e-6, 3e-5, 1e-4, 3e-4, 1e-2, 1.0, 50.0, 1e9])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_border_is_where_it_is(distance, sign):
    words, border = words_and_borders()
    assert np.all(drawn(border + sign * distance, words) == (sign > 0))


def test_neighbors_do_not_matter():
    """One lane at the border makes all lanes take the good exponential: none of them changes its mind."""
    words, border = words_and_borders()
    x = np.random.default_rng(1).normal(size=LANES)
    near = np.where(np.arange(LANES) == 5, border, x)
    assert np.array_equal(np.delete(drawn(near, words), 5), np.delete(drawn(x, words), 5))
    for i in (0, 5, 100):
        assert drawn(x[i : i + 1], words[i : i + 1])[0] == drawn(x, words)[i]


@fresh_kernel
def think(thetas, rows, indices, entries, counts, units, widths, relu):
    order, work = np.empty(LANES, dtype=np.int64), make_workspace(LANES, widths)
    order_by_policy(rows, len(rows), order, np.empty(LANES, dtype=np.int64))
    run_networks_in_turn(thetas, rows, order, indices, entries, counts, units, len(rows), widths, relu, work)


@fresh_kernel
def order_lanes(rows, order):
    order_by_policy(rows, len(rows), order, np.empty(LANES, dtype=np.int64))


def test_lanes_of_one_policy_are_neighbors_in_the_order():
    """Each lane is in it once, and in their own order within a policy; policies may be more than there are lanes."""
    rng = np.random.default_rng(5)
    for rows in (rng.integers(300, 306, size=LANES), rng.integers(0, 10**9, size=50), np.arange(LANES)[::-1].copy()):
        order = np.full(LANES, -1)
        order_lanes(rows, order)
        expected = np.argsort(rows % LANES, kind="stable")
        assert np.array_equal(order[: len(rows)], expected)
        assert np.all(order[len(rows) :] == -1)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("n_actions", [2, 3])
@pytest.mark.parametrize("hidden", [(6,), (32, 47)])
def test_entries_may_be_some_or_all_in_any_order(activation, n_actions, hidden):
    rng, n_features = np.random.default_rng(2), 5
    policy = MLP(n_features, n_actions, hidden=hidden, activation=activation)
    thetas, rows = rng.normal(size=(3, policy.dim)), rng.integers(0, 3, size=40)
    seen, counts = np.zeros((40, n_features)), rng.integers(0, n_features + 1, size=40)
    indices, entries = np.zeros((n_features, LANES), dtype=np.int64), np.zeros((n_features, LANES))
    for lane, count in enumerate(counts):
        indices[:count, lane] = rng.permutation(n_features)[:count]
        entries[:count, lane] = rng.normal(size=count)
        seen[lane, indices[:count, lane]] = entries[:count, lane]
    widths, units = np.array([n_features, *hidden, n_actions]), np.zeros((2, 64, LANES))
    think(thetas, rows, indices, entries, counts, units, widths, activation == "relu")
    logits = policy.network.apply(thetas, rows, seen)
    expected = logits if n_actions == 3 else logits[:, 1:] - logits[:, :1]
    np.testing.assert_allclose(units[0, : expected.shape[1], :40].T, expected, rtol=1e-13, atol=1e-13)


@fresh_kernel
def weigh(weights, bias, inputs, units, n_out):
    weigh_lanes(weights, ZERO, bias, inputs, ZERO, inputs.shape[1], units, ZERO, n_out, inputs.shape[2])


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("n_in", [1, 4, 7])
def test_all_lanes_at_once_are_sums_of_products(bias, n_in):
    """A product and a sum are rounded once, so that NumPy is right within a unit of the last place of the terms."""
    rng, n_out = np.random.default_rng(3), 3
    weights, inputs = rng.normal(size=((n_in + bias) * n_out, LANES)), rng.normal(size=(1, n_in, LANES))
    units = np.full((2, 8, LANES), np.nan)
    weigh(weights, bias, inputs, units, n_out)
    by_layer = weights.reshape(n_in + bias, n_out, LANES)
    expected = np.einsum("il,ijl->jl", inputs[0], by_layer[:n_in]) + (by_layer[n_in] if bias else 0.0)
    np.testing.assert_allclose(units[0, :n_out], expected, rtol=0.0, atol=1e-14)


@fresh_kernel
def draw_many(units, choices, actions, greedy):
    if greedy:
        take_largest(units, ZERO, len(actions), units.shape[1], choices, actions)
    else:
        draw_from_many(units, ZERO, len(actions), units.shape[1], choices, actions)


def test_one_of_many_actions_is_drawn_by_the_inverse_cdf():
    rng = np.random.default_rng(4)
    words, logits = rng.integers(0, 2**63, size=LANES).astype(np.uint64), rng.normal(size=(5, LANES))
    chances = np.cumsum(exp_of(logits - np.max(logits, axis=0)), axis=0)
    u = np.array([streams.open_uniform(word) for word in words + streams.STEP])
    for greedy, expected in ((False, np.sum(chances[:-1] <= u * chances[-1], axis=0)), (True, logits.argmax(axis=0))):
        units, choices, actions = np.stack([logits, logits]), words.copy(), np.empty(LANES, dtype=np.int64)
        draw_many(units, choices, actions, greedy)
        assert np.array_equal(actions, expected)
        assert np.array_equal(choices, words + streams.STEP)


def test_rough_exponentials_decide_as_good_ones_do():
    """12,800 actions of three to six, from nearly equal logits to far ones; a rough sum alone would err in a few."""
    rng = np.random.default_rng(0)

    @fresh_kernel
    def draw_roughly(units, choices, actions):
        draw_from_many(units, ZERO, len(actions), units.shape[1], choices, actions)

    @fresh_kernel
    def draw_well(units, choices, actions):
        _draw_exactly(units, ZERO, len(actions), units.shape[1], choices, actions)

    for scale in np.repeat([0.1, 1.0, 5.0, 50.0, 800.0], 20):
        n_actions = int(rng.integers(3, 7))
        units = np.zeros((2, n_actions, 128))
        units[0] = scale * rng.normal(size=(n_actions, 128))
        shifted = units - np.max(units[0], axis=0)
        choices = rng.integers(0, 2**63, size=128, dtype=np.uint64)
        found, expected = np.zeros(128, dtype=np.int64), np.zeros(128, dtype=np.int64)
        moved = choices + np.uint64(streams.STEP)
        draw_roughly(units, choices, found)
        draw_well(shifted, moved, expected)
        np.testing.assert_array_equal(found, expected)

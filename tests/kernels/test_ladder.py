"""The ladder of weighted estimates against the same in plain NumPy."""

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.kernels.ladder import find_masses, find_steps


def build_ladder(values, order, weights, literal):
    lowest, steps, usable = find_steps(values, order)
    levels, sound = find_masses(order, weights, literal)
    return lowest, steps, levels, usable and sound


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_steps_and_levels(literal, shared):
    rng, rows, size = np.random.default_rng(0), 4, 30
    values, weights = rng.normal(size=(1 if shared else rows, size)), rng.exponential(size=(rows, size))
    order = np.argsort(values, axis=1)
    lowest, steps, levels, sound = build_ladder(values, order, weights, literal)
    ascending = np.sort(values, axis=1)
    ordered = np.take_along_axis(weights, np.broadcast_to(order, weights.shape), axis=1)
    below, above = np.cumsum(ordered, axis=1), np.cumsum(ordered[:, ::-1], axis=1)[:, ::-1]
    assert sound
    assert np.array_equal(lowest, ascending[:, 0])
    assert np.array_equal(steps, np.diff(ascending, axis=1))
    expected = 1.0 - np.minimum(1.0, below[:, :-1] / size) if literal else above[:, 1:] / above[:, :1]
    assert np.array_equal(levels, expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_numbers_are_seen(bad):
    good = np.ones((1, 3))
    spoiled = np.array([[1.0, bad, 1.0]])
    for values, weights in ((spoiled, good), (good, spoiled), (good, 0.0 * good), (good, -good)):
        assert not build_ladder(values, np.argsort(values, axis=1), weights, False)[3]


def test_equal_returns_are_taken_in_the_order_in_which_they_came():
    rng, values = np.random.default_rng(1), np.array([1.0, 0.0, 1.0, 1.0, 0.0, 2.0, 1.0, 2.0])
    weights, g = rng.exponential(size=(3, 8)), rg.distortion.DualPower(2.0)
    order = np.argsort(values, kind="stable")[np.newaxis]
    lowest, steps, levels, _ = build_ladder(values[np.newaxis], order.copy(), weights, False)
    other = np.lexsort([-np.arange(8), values])[np.newaxis]  # equal returns the other way round
    for found, expected in zip(
        build_ladder(values[np.newaxis], other, weights, False)[:3], (lowest, steps, levels), strict=True
    ):
        assert np.array_equal(found, expected)
    assert np.array_equal(other, order)
    expected = lowest + np.einsum("bm,m->b", g(levels), steps[0])
    assert np.array_equal(rg.risk.Distortion(g).estimate(values, weights), expected)


@pytest.mark.parametrize("kinds", [1, 2, 50, 10**9])
@pytest.mark.parametrize("shape", [(1, 2), (3, 2), (4, 1001)], ids=str)
def test_the_order_becomes_numpys_stable_one(kinds, shape):
    values = np.random.default_rng(kinds).integers(-kinds, kinds, size=shape) * 0.1
    values[values == 0.0] *= -1.0  # zeros of both signs are equal
    values.flat[::3] = np.abs(values.flat[::3])
    order = np.argsort(values, axis=1)
    build_ladder(values, order, np.ones(shape), False)
    assert np.array_equal(order, np.argsort(values, axis=1, kind="stable"))

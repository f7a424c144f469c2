"""The fit of quantiles, step by step, and sums along episodes, bit for bit against plain loops."""

import numpy as np
import pytest

from riskgrad.kernels.formulas import tanh_of
from riskgrad.kernels.quantile_fit import FitState, fit_quantiles, sum_differences, sum_rewards

SIZES = np.array([3, 4, 5])
DIM = 4 * 4 + 5 * 5


def in_order(left, right):
    """The product of two matrices; NumPy's own sums would add in another order."""
    total = np.zeros((left.shape[0], right.shape[1]))
    for column, row in zip(left.T, right, strict=True):
        total = total + column[:, None] * row
    return total


def layer(inputs, weights, bias):
    return in_order(np.column_stack([np.ones(len(inputs)), inputs]), np.vstack([bias, weights]))


def slopes_of_loss(outputs, targets, bend):
    """The loss, summed over the batch, and the slopes of its mean by the outputs."""
    loss, slopes, scale = 0.0, np.zeros(outputs.shape), 1.0 / targets.size
    for b in range(len(outputs)):
        for target in targets[b]:
            for i in range(outputs.shape[1]):
                gap, level = target - outputs[b, i], (i + 0.5) / outputs.shape[1]
                weight = level if gap > 0.0 else 1.0 - level
                part = abs(gap) - 0.5 * bend if abs(gap) > bend else 0.5 * gap * gap / bend
                loss += weight * part / targets.shape[1] / outputs.shape[1]
                slopes[b, i] -= weight * min(max(gap / bend, -1.0), 1.0) * scale
    return loss, slopes


def fit_plainly(theta, mean, square, powers, inputs, targets, order, minibatch, relu, step, longest, bend):
    theta, mean, square, powers, loss = theta.copy(), mean.copy(), square.copy(), powers.copy(), 0.0
    for first in range(0, len(order), minibatch):
        chosen = order[first : first + minibatch]
        batch, last = inputs[chosen], theta[16:36].reshape(4, 5)
        sums = layer(batch, theta[:12].reshape(3, 4), theta[12:16])
        units = np.maximum(sums, 0.0) if relu else tanh_of(sums)
        part, slopes = slopes_of_loss(layer(units, last, theta[36:]), targets[chosen], bend)
        loss += part
        below = in_order(slopes, last.T)
        below = np.where(units > 0.0, below, 0.0) if relu else below * (1.0 - units * units)
        ones = np.ones((1, len(chosen)))
        parts = (in_order(batch.T, below), in_order(ones, below), in_order(units.T, slopes), in_order(ones, slopes))
        gradient = np.concatenate([one.ravel() for one in parts])
        norm = np.sqrt(np.cumsum(gradient * gradient)[-1])
        gradient = gradient * (longest / norm if norm > longest else 1.0)
        powers *= [0.9, 0.999]
        mean = 0.9 * mean + (1.0 - 0.9) * gradient
        square = 0.999 * square + (1.0 - 0.999) * gradient * gradient
        root = np.sqrt(square / (1.0 - powers[1]))
        moves = step * mean / (1.0 - powers[0])
        theta -= np.divide(moves, root, out=np.zeros(DIM), where=root > 0.0)
    return loss / len(order), FitState(theta, mean, square, powers)


@pytest.mark.parametrize("longest", [np.inf, 0.05])
@pytest.mark.parametrize("relu", [False, True], ids=["tanh", "relu"])
@pytest.mark.parametrize(("size", "minibatch"), [(1, 1), (7, 7), (11, 4), (5, 20)], ids=str)
def test_a_pass_is_a_step_of_adam_for_each_minibatch(size, minibatch, relu, longest):
    rng = np.random.default_rng(size)
    state = FitState(rng.normal(size=DIM), 0.1 * rng.normal(size=DIM), rng.uniform(size=DIM), np.array([0.81, 0.998]))
    inputs, targets = rng.normal(size=(12, 3)), rng.normal(size=(12, 2))
    targets[:, 1] = targets[:, 0]
    rest = inputs, targets, rng.permutation(12)[:size], minibatch
    loss, expected = fit_plainly(*state, *rest, relu, 0.01, longest, 0.3)
    found = fit_quantiles(state, *rest, SIZES, relu, 0.01, longest, 0.3)
    assert found == pytest.approx(loss, rel=1e-12)
    for name, one, other in zip(FitState._fields, state, expected, strict=True):
        assert np.array_equal(one, other), name


def test_parameters_without_a_slope_stay():
    """Units of relu that are off, from the first step on."""
    theta, none = np.full(DIM, -1.0), np.zeros(DIM)
    state = FitState(theta.copy(), none.copy(), none.copy(), np.ones(2))
    fit_quantiles(state, np.ones((2, 3)), np.zeros((2, 1)), np.arange(2), 2, SIZES, True, 0.01, np.inf, 0.3)
    assert np.array_equal(state.theta[:36], theta[:36])
    assert np.all(state.theta[36:] > -1.0)


LENGTHS = pytest.mark.parametrize("lengths", [[], [0], [1], [4, 0, 1, 6]], ids=str)


@LENGTHS
@pytest.mark.parametrize("decay", [0.0, 0.7, 1.0])
def test_differences_are_summed_from_the_end_of_each_episode(lengths, decay):
    rng, offsets = np.random.default_rng(1), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    values, ends = rng.normal(size=int(offsets[-1])), rng.normal(size=len(lengths))
    sums = np.full(len(values), np.nan)
    sum_differences(values, ends, offsets, decay, sums)
    for begin, length, end in zip(offsets[:-1], lengths, ends, strict=True):
        line, total = np.append(values[begin : begin + length], end), 0.0
        for t in reversed(range(length)):
            total = line[t + 1] - line[t] + decay * total
            assert sums[begin + t] == total


@LENGTHS
@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_rewards_are_summed_before_each_step(lengths, discount):
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    rewards = np.random.default_rng(2).normal(size=int(offsets[-1]))
    so_far, scale = np.full(len(rewards), np.nan), np.full(len(rewards), np.nan)
    sum_rewards(rewards, offsets, discount, so_far, scale)
    for begin, length in zip(offsets[:-1], lengths, strict=True):
        total, factor = 0.0, 1.0
        for t in range(begin, begin + length):
            assert (so_far[t], scale[t]) == (total, factor)
            total, factor = total + factor * rewards[t], factor * discount

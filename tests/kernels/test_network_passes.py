"""Networks, forward and backward, bit for bit against plain NumPy that adds in the order that they promise."""

from itertools import pairwise

import numpy as np
import pytest

from riskgrad.kernels import batch_passes, network_passes
from riskgrad.kernels.compile import kernel
from riskgrad.kernels.formulas import exp_of, tanh_of
from riskgrad.kernels.layers import gather_entries, make_workspace, run_layers


def layers_of(theta, sizes):
    """The weights [in, out] and biases of each layer of a flat vector."""
    start = 0
    for n_in, n_out in pairwise(sizes):
        end = start + n_in * n_out
        yield theta[start:end].reshape(n_in, n_out), theta[end : end + n_out]
        start = end + n_out


def plain_units(theta, x, sizes, relu):
    """What goes into each layer, and the outputs; NumPy's own sums would add in another order."""
    units = [x]
    for layer, (weights, bias) in enumerate(layers_of(theta, sizes)):
        total = bias + 0.0
        for value, row in zip(units[-1], weights, strict=True):
            total = total + value * row
        hidden = layer < len(sizes) - 2
        units.append((np.maximum(total, 0.0) if relu else tanh_of(total)) if hidden else total)
    return units


@pytest.fixture(params=[(3, 2), (8, 32, 32, 4), (5, 7, 1), (64, 30, 6), (13, 9, 17, 3)], ids=str)
def sizes(request):
    return np.array(request.param)


def networks(sizes, batch=40, policies=3):
    rng = np.random.default_rng(int(np.sum(sizes)))
    dim = int(np.sum((sizes[:-1] + 1) * sizes[1:]))
    thetas, rows = rng.normal(size=(policies, dim)), rng.integers(0, policies, size=batch)
    inputs = rng.normal(size=(batch, sizes[0])) * (rng.uniform(size=(batch, sizes[0])) < 0.6)
    inputs[0], inputs[1] = 0.0, -np.abs(inputs[1])
    return thetas, rows, inputs


@pytest.mark.parametrize("relu", [False, True], ids=["tanh", "relu"])
def test_outputs_are_sums_in_the_order_of_the_inputs(sizes, relu):
    thetas, rows, inputs = networks(sizes)
    expected = np.array([plain_units(thetas[p], x, sizes, relu)[-1] for p, x in zip(rows, inputs, strict=True)])
    outputs = np.empty((len(rows), sizes[-1]))
    network_passes.forward(thetas, rows, inputs, sizes, relu, outputs)
    assert np.array_equal(outputs, expected)
    everyone = np.empty((len(thetas), len(rows), sizes[-1]))
    network_passes.forward_all(0, len(rows), thetas, inputs, sizes, relu, everyone)
    assert np.array_equal(everyone[rows, np.arange(len(rows))], expected)


@kernel
def run_in_given_order(thetas, rows, inputs, sizes, relu, outputs):
    """Take observations through their networks in one turn, in the order in which they come."""
    work = make_workspace(len(rows), sizes)
    for b in range(len(rows)):
        work.rows[b] = rows[b]
        gather_entries(work, b, inputs, b, sizes[0])
    run_layers(thetas, work, len(rows), sizes, relu)
    for b in range(len(rows)):
        for j in range(sizes[-1]):
            outputs[b, j] = work.units[b * sizes[-1] + j]


@pytest.mark.parametrize(
    "rows", [[0, 1, 1, 0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 2, 2, 0, 2, 2, 2, 2], [2, 1, 0], [1]], ids=str
)
def test_neighbors_need_not_share_a_network(sizes, rows):
    thetas, _, inputs = networks(sizes)
    chosen, outputs = np.array(rows), np.empty((len(rows), sizes[-1]))
    run_in_given_order(thetas, chosen, inputs, sizes, False, outputs)
    expected = [plain_units(thetas[p], x, sizes, False)[-1] for p, x in zip(rows, inputs, strict=False)]
    assert np.array_equal(outputs, expected)


def plain_pullback(theta, inputs, sizes, relu, cotangents):
    gradient = np.zeros(len(theta))
    slots = list(layers_of(gradient, sizes))
    weights = [weight for weight, _ in layers_of(theta, sizes)]
    for x, cotangent in zip(inputs, cotangents, strict=True):
        units, slope = plain_units(theta, x, sizes, relu), cotangent
        for layer in range(len(sizes) - 2, -1, -1):
            change, bias = slots[layer]
            bias += slope
            change += units[layer][:, None] * slope
            if layer > 0:
                below = np.zeros(sizes[layer])
                for column, value in zip(weights[layer].T, slope, strict=True):
                    below = below + column * value
                slope = np.where(units[layer] > 0.0, below, 0.0) if relu else below * (1.0 - units[layer] ** 2)
    return gradient


@pytest.mark.parametrize("relu", [False, True], ids=["tanh", "relu"])
def test_gradients_are_sums_in_the_order_of_the_units(sizes, relu):
    thetas, _, inputs = networks(sizes)
    cotangents = np.random.default_rng(1).normal(size=(len(inputs), sizes[-1]))
    gradient, kept = np.zeros(thetas.shape[1]), np.empty(len(inputs) * int(np.sum(sizes[1:])))
    batch_passes.forward_and_keep(thetas[0], inputs, sizes, relu, kept)
    outputs = kept[-len(inputs) * sizes[-1] :].reshape(len(inputs), -1)
    assert np.array_equal(outputs, [plain_units(thetas[0], x, sizes, relu)[-1] for x in inputs])
    batch_passes.pull_back_kept(thetas[0], inputs, sizes, relu, kept, cotangents, gradient)
    assert np.array_equal(gradient, plain_pullback(thetas[0], inputs, sizes, relu, cotangents))


def test_actions_are_the_inverse_cdf_of_each_part():
    sizes, parts = np.array([4, 6, 5]), np.array([0, 2, 5])
    thetas, rows, inputs = networks(sizes)
    uniforms = np.random.default_rng(2).uniform(size=(len(rows), 2))
    logits = np.array([plain_units(thetas[p], x, sizes, False)[-1] for p, x in zip(rows, inputs, strict=True)])
    for greedy in (True, False):
        actions = np.empty((len(rows), 2), dtype=np.int64)
        network_passes.draw_choices(thetas, rows, inputs, sizes, False, parts, uniforms, greedy, actions)
        for c in range(2):
            part = logits[:, parts[c] : parts[c + 1]]
            chances = np.cumsum(exp_of(part - np.max(part, axis=1, keepdims=True)), axis=1)
            drawn = np.sum(chances[:, :-1] <= uniforms[:, c : c + 1] * chances[:, -1:], axis=1)
            assert np.array_equal(actions[:, c], np.argmax(part, axis=1) if greedy else drawn)


def test_normal_actions_are_outputs_and_scaled_normals():
    sizes = np.array([4, 6, 2])
    thetas, rows, inputs = networks(sizes)
    thetas = np.hstack([thetas, np.random.default_rng(3).normal(size=(len(thetas), 2))])
    normals, actions = np.random.default_rng(4).normal(size=(len(rows), 2)), np.empty((len(rows), 2))
    network_passes.draw_normal_actions(thetas, rows, inputs, sizes, False, 0.5, normals, actions)
    means = np.array([plain_units(thetas[p], x, sizes, False)[-1] for p, x in zip(rows, inputs, strict=True)])
    assert np.array_equal(actions, means + 0.5 * exp_of(thetas[rows, -2:]) * normals)

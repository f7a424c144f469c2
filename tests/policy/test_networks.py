"""MLP, Gaussian and deterministic policies: layout, scores by finite differences, actions by inverse CDF."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from riskgrad.errors import InputError
from riskgrad.kernels.network_passes import forward, forward_all
from riskgrad.policy import MLP, Deterministic, Gaussian, Greedy, TabularGibbs
from riskgrad.policy.base import Policy, choose_actions

RNG = np.random.default_rng(3)
OBSERVATIONS = RNG.normal(size=(6, 3))

POLICIES = {
    "linear softmax": MLP(3, 4, ()),
    "tanh": MLP(3, 4, (5, 6)),
    "relu": MLP(3, 4, 7, "relu"),
    "components": MLP(3, (2, 3), (5,)),
    "linear gaussian": Gaussian(3, [-1.0, -np.inf], [2.0, np.inf]),
    "gaussian network": Gaussian(3, [-1.0, 0.0], [2.0, 1.0], (4,), squashed=True),
}


@pytest.fixture(params=POLICIES.values(), ids=POLICIES.keys())
def policy(request):
    return request.param


def acted(policy, theta, seed=0, observations=OBSERVATIONS):
    uniforms = np.random.default_rng(seed).random((len(observations), policy.noise_size))
    return policy.act(theta[None], np.zeros(len(observations), dtype=np.int64), observations, uniforms)


def differences(function, theta, step=1e-6):
    return np.array(
        [(function(theta + step * e) - function(theta - step * e)) / (2 * step) for e in np.eye(len(theta))]
    )


def test_the_layout_is_the_one_documented():
    """Two inputs, two hidden units, two outputs: weights [in, out] row by row, then biases, layer by layer."""
    theta = np.arange(1.0, 13.0) / 10.0
    x = np.array([0.5, -1.0])
    hidden = np.tanh(np.array([0.1 * x[0] + 0.3 * x[1] + 0.5, 0.2 * x[0] + 0.4 * x[1] + 0.6]))
    logits = np.array([0.7 * hidden[0] + 0.9 * hidden[1] + 1.1, 0.8 * hidden[0] + 1.0 * hidden[1] + 1.2])
    expected = np.exp(logits) / np.sum(np.exp(logits))
    np.testing.assert_allclose(MLP(2, 2, (2,)).probabilities(theta, x), expected, rtol=1e-14)
    mean = Gaussian(2, [-1, -1], [1, 1], (2,)).mean(np.concatenate([theta, [0.0, 0.0]]), x)
    np.testing.assert_allclose(mean, logits, rtol=1e-14)


def plainly(theta, x, sizes, relu):
    """The outputs of a network, layer by layer as the definition says."""
    for n_in, n_out in itertools.pairwise(sizes):
        weights, theta = theta[: n_in * n_out].reshape(n_in, n_out), theta[n_in * n_out :]
        x, theta = x @ weights + theta[:n_out], theta[n_out:]
        if len(theta):
            x = np.maximum(x, 0.0) if relu else np.tanh(x)
    return x


@given(st.lists(st.integers(1, 70), min_size=2, max_size=4), st.integers(1, 90), st.booleans(), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_networks_of_all_widths_are_what_they_are_defined_as(sizes, count, relu, seed):
    """Any number of observations, through any of three networks in any order; some inputs are zero."""
    rng = np.random.default_rng(seed)
    dim = sum((n_in + 1) * n_out for n_in, n_out in itertools.pairwise(sizes))
    thetas, rows = rng.normal(size=(3, dim)), rng.integers(3, size=count)
    inputs = rng.normal(size=(count, sizes[0])) * rng.integers(2, size=(count, sizes[0]))
    expected = np.stack([plainly(thetas[row], x, sizes, relu) for row, x in zip(rows, inputs, strict=True)])
    outputs, shape = np.empty((count, sizes[-1])), np.array(sizes, dtype=np.int64)
    forward(thetas, rows, inputs, shape, relu, outputs)
    np.testing.assert_allclose(outputs, expected, rtol=1e-11, atol=1e-11)
    every = np.empty((3, count, sizes[-1]))
    forward_all(0, count, thetas, inputs, shape, relu, every)
    assert np.array_equal(every[rows, np.arange(count)], outputs)


def test_known_gaussian():
    policy = Gaussian(1, -np.inf, np.inf, initial_std=2.0)
    theta = np.array([3.0, 1.0, np.log(2.0)])  # mean 3 o + 1, spread 4
    assert policy.std(theta) == pytest.approx(4.0)
    log = policy.log_prob(theta, [[2.0]], [[11.0]])
    np.testing.assert_allclose(log, [-0.5 - np.log(4.0) - 0.5 * np.log(2 * np.pi)], rtol=1e-14)
    # z = 1: d/dmean = z / std, d/dlog_std = z^2 - 1
    np.testing.assert_allclose(policy.score_sum(theta, [[2.0]], [[11.0]], [8.0]), [4.0, 2.0, 0.0], atol=1e-14)


def test_no_hidden_layer_on_states_is_a_table():
    theta = RNG.normal(size=(2, 12))
    biased = np.concatenate([theta, np.zeros((2, 3))], axis=1)
    states = np.array([0, 3, 2])
    expected = TabularGibbs(4, 3).probabilities(theta, states)
    np.testing.assert_allclose(MLP(4, 3, ()).probabilities(biased, states), expected, rtol=1e-13)
    np.testing.assert_allclose(MLP(4, 3, ()).probabilities(biased, np.eye(4)[states]), expected, rtol=1e-13)


def test_shapes_and_single_observations(policy):
    thetas = RNG.normal(size=(3, policy.dim))
    actions = acted(policy, thetas[0])
    logs = policy.log_prob(thetas, OBSERVATIONS, actions)
    assert logs.shape == (3, 6)
    for p in range(3):
        np.testing.assert_array_equal(policy.log_prob(thetas[p], OBSERVATIONS, actions), logs[p])
        for b in range(6):
            np.testing.assert_array_equal(policy.log_prob(thetas[p], OBSERVATIONS[b], actions[b]), logs[p, b])


def test_scores_are_the_slopes_of_log_prob(policy):
    theta, coefficients = RNG.normal(size=policy.dim), RNG.normal(size=6)
    actions = acted(policy, theta)
    slopes = differences(lambda t: np.sum(coefficients * policy.log_prob(t, OBSERVATIONS, actions)), theta)
    np.testing.assert_allclose(
        policy.score_sum(theta, OBSERVATIONS, actions, coefficients), slopes, rtol=1e-6, atol=1e-7
    )


def entropy(policy, theta):
    if isinstance(policy, Gaussian):
        return np.full(6, np.sum(np.log(policy.std(theta))))
    chances = policy.probabilities(theta, OBSERVATIONS)
    return -np.sum(chances * np.log(chances), axis=1)


def test_entropy_slopes(policy):
    theta, coefficients = RNG.normal(size=policy.dim), RNG.normal(size=6)
    slopes = differences(lambda t: np.sum(coefficients * entropy(policy, t)), theta)
    found = policy.entropy_sum(theta, OBSERVATIONS, coefficients)
    np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-8)
    if isinstance(policy, MLP) and isinstance(policy.n_actions, int):
        general = Policy.entropy_sum(policy, theta, OBSERVATIONS, coefficients)
        np.testing.assert_allclose(found, general, rtol=1e-10, atol=1e-12)


def test_a_row_has_the_same_bits_in_every_batch(policy):
    thetas = RNG.normal(size=(3, policy.dim))
    observations = RNG.normal(size=(40, 3))
    rows = RNG.integers(0, 3, size=40)
    uniforms = RNG.random((40, policy.noise_size))
    together = policy.act(thetas, rows, observations, uniforms)
    for b in range(40):
        alone = policy.act(
            thetas[rows[b]][None], np.zeros(1, dtype=np.int64), observations[b : b + 1], uniforms[b : b + 1]
        )
        np.testing.assert_array_equal(alone[0], together[b])


def test_actions_follow_the_probabilities():
    """10,000 actions on a grid of uniform numbers: frequencies are right within the grid."""
    grid = (np.arange(10_000) + 0.5)[:, None] / 10_000
    rows, same = np.zeros(10_000, dtype=np.int64), np.tile(OBSERVATIONS[0], (10_000, 1))
    policy = POLICIES["tanh"]
    theta = RNG.normal(size=policy.dim)
    actions = policy.act(theta[None], rows, same, grid)
    frequencies = np.bincount(actions, minlength=4) / 10_000
    np.testing.assert_allclose(frequencies, policy.probabilities(theta, OBSERVATIONS[0]), atol=1.1e-4)
    np.testing.assert_array_equal(Policy.act(policy, theta[None], rows, same, grid), actions)
    gaussian = Gaussian(3, [-1.0], [1.0])
    theta = RNG.normal(size=gaussian.dim)
    z = (gaussian.act(theta[None], rows, same, grid)[:, 0] - gaussian.mean(theta, OBSERVATIONS[0])) / gaussian.std(
        theta
    )
    np.testing.assert_allclose(ndtr(z), grid[:, 0], atol=1e-12)
    extremes = gaussian.act(theta[None], rows[:2], same[:2], np.array([[0.0], [1.0 - 2.0**-53]]))
    assert np.all(np.isfinite(extremes))


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6), st.floats(0.0, 1.0, exclude_max=True))
@settings(max_examples=100, deadline=None)
def test_an_action_without_a_chance_is_not_chosen(weights, u):
    chances = np.array([weights])
    if np.sum(chances) > 1e-3:
        assert chances[0, choose_actions(chances, np.array([u]))[0]] > 0.0


def test_the_mode():
    policy = POLICIES["components"]
    theta = RNG.normal(size=policy.dim)
    chances = policy.probabilities(theta, OBSERVATIONS)
    expected = np.stack([np.argmax(chances[:, :2], axis=1), np.argmax(chances[:, 2:], axis=1)], axis=1)
    rows = np.zeros(6, dtype=np.int64)
    np.testing.assert_array_equal(policy.act(theta[None], rows, OBSERVATIONS, None), expected)
    np.testing.assert_array_equal(Greedy(policy).act(theta[None], rows, OBSERVATIONS, np.empty((6, 0))), expected)
    table = TabularGibbs(2, 3)
    np.testing.assert_array_equal(
        Greedy(table).probabilities([0, 2, 1, 5, 5, 0], [0, 1]), [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    )
    gaussian = POLICIES["gaussian network"]
    theta = RNG.normal(size=gaussian.dim)
    np.testing.assert_array_equal(
        gaussian.act(theta[None], rows, OBSERVATIONS, None), gaussian.mean(theta, OBSERVATIONS)
    )


def test_executed_actions_are_within_the_bounds():
    raw = np.array([[0.0, 0.0], [9.0, -9.0], [0.5, 0.5]])
    clipped = Gaussian(1, [-1.0, 0.0], [3.0, np.inf]).execute(raw)
    np.testing.assert_array_equal(clipped, [[1.0, 0.0], [3.0, 0.0], [2.0, 0.5]])
    squashed = Gaussian(1, [-1.0, 0.0], [3.0, 1.0], squashed=True).execute(raw)
    np.testing.assert_allclose(squashed[2], [1.0 + 2.0 * np.tanh(0.5), 0.5 + 0.5 * np.tanh(0.5)])
    assert np.all((squashed > [-1.0, 0.0]) & (squashed < [3.0, 1.0]) | (np.abs(raw) > 8.0))


def test_deterministic_policies():
    linear = Deterministic(2, low=[-1.0], high=[1.0])
    theta = np.array([[0.5, -0.25, 0.125], [3.0, 0.0, 0.0]])
    actions = linear.act(theta, np.array([0, 1]), np.array([[1.0, 1.0], [1.0, 0.0]]), None)
    np.testing.assert_array_equal(actions, [[0.375], [3.0]])
    np.testing.assert_array_equal(linear.execute(actions), [[0.375], [1.0]])
    choice = Deterministic(2, 2)
    np.testing.assert_array_equal(
        choice.probabilities([1.0, 0.0, 0.0, 1.0, 0.0, 0.5], [[1.0, 0.0], [0.0, 1.0]]), np.eye(2)
    )
    for call in (
        lambda: linear.log_prob(theta[0], [[1.0, 1.0]], [[0.0]]),
        lambda: linear.score_sum(theta[0], [[1.0, 1.0]], [[0.0]], [1.0]),
        lambda: linear.entropy_sum(theta[0], [[1.0, 1.0]], [1.0]),
        lambda: linear.probabilities(theta[0], [[1.0, 1.0]]),
    ):
        with pytest.raises(InputError, match="policy must"):
            call()


def test_starts():
    generator = np.random.default_rng(0)
    assert np.all(TabularGibbs(2, 2).initial_theta(generator) == 0.0)
    policy = MLP(8, 4, (32, 32))
    theta = policy.initial_theta(generator)
    chances = policy.probabilities(theta, generator.normal(size=(50, 8)))
    assert np.max(np.abs(chances - 0.25)) < 0.02
    assert np.any(theta != 0.0)
    np.testing.assert_array_equal(theta, policy.initial_theta(_after(TabularGibbs(2, 2))))


def _after(policy):
    generator = np.random.default_rng(0)
    policy.initial_theta(generator)
    return generator


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MLP(0, 2), "inputs must be an integer of at least 1"),
        (lambda: MLP(2, 0), "n_actions must be an integer of at least 1"),
        (lambda: MLP(2, ()), "n_actions must"),
        (lambda: MLP(2, 2, (3, 0)), "hidden must"),
        (lambda: MLP(2, 2, activation="gelu"), "activation must be one of relu, tanh"),
        (lambda: Gaussian(2, [1.0], [0.0]), "low and high must"),
        (lambda: Gaussian(2, [-np.inf], [1.0], squashed=True), "squashed must be False"),
        (lambda: Gaussian(2, [0.0], [1.0], initial_std=0.0), "initial_std must"),
        (lambda: Deterministic(2), "n_actions must be given"),
        (
            lambda: MLP(2, 2, ()).probabilities(np.zeros(6), np.zeros((4, 3))),
            "observations must be vectors of 2 numbers",
        ),
        (lambda: MLP(2, 2, ()).log_prob(np.zeros(6), np.zeros((4, 2)), [0, 1, 2, 0]), "actions must be in"),
        (lambda: MLP(2, 2, ()).log_prob(np.zeros(6), np.zeros((4, 2)), [0.0] * 4), "actions must be integers"),
        (lambda: Gaussian(2, [0.0], [1.0]).log_prob(np.zeros(4), np.zeros((4, 2)), np.zeros(4)), "actions must"),
        (lambda: Gaussian(2, [0.0], [1.0]).probabilities(np.zeros(4), np.zeros(2)), "finitely many actions"),
    ],
)
def test_refuses_in_one_line(make, message):
    with pytest.raises(InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)

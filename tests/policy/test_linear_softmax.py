"""The linear softmax: against plain numpy, against the tabular policy, and the bits of its rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskgrad.errors import InputError
from riskgrad.kernels import compile as compiling
from riskgrad.kernels import linear_softmax
from riskgrad.kernels.formulas import log_softmax, softmax
from riskgrad.policy import LinearGibbs, LinearSoftmax, TabularGibbs


def made(seed, policies=3, batch=7, features=5, actions=4, sparse=0.5):
    rng = np.random.default_rng(seed)
    observations = rng.normal(size=(batch, features)) * (rng.uniform(size=(batch, features)) > sparse)
    return (
        LinearSoftmax(features, actions),
        rng.normal(size=(policies, features * actions)),
        observations,
        rng.integers(actions, size=batch),
    )


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    policies=st.integers(1, 4),
    batch=st.integers(1, 9),
    features=st.integers(1, 6),
    actions=st.integers(1, 5),
)
def test_is_the_formula(seed, policies, batch, features, actions):
    policy, thetas, observations, taken = made(seed, policies, batch, features, actions)
    weights = thetas.reshape(policies, 1, features, actions)
    logits = np.sum(observations[None, :, :, None] * weights, axis=2)
    np.testing.assert_allclose(policy.probabilities(thetas, observations), softmax(logits), rtol=1e-12)
    logs = log_softmax(logits)[:, np.arange(batch), taken]
    np.testing.assert_allclose(policy.log_prob(thetas, observations, taken), logs, rtol=1e-12, atol=1e-13)


def test_one_hot_observations_give_the_tabular_policy():
    policy, table, rng = LinearSoftmax(6, 3), TabularGibbs(6, 3), np.random.default_rng(0)
    theta, states, actions = rng.normal(size=18), rng.integers(6, size=40), rng.integers(3, size=40)
    hot, scale = np.eye(6)[states], rng.normal(size=40)
    np.testing.assert_allclose(policy.probabilities(theta, hot), table.probabilities(theta, states), rtol=1e-14)
    np.testing.assert_allclose(policy.log_prob(theta, hot, actions), table.log_prob(theta, states, actions), rtol=1e-13)
    np.testing.assert_allclose(
        policy.score_sum(theta, hot, actions, scale), table.score_sum(theta, states, actions, scale), atol=1e-13
    )


def test_sums_of_scores_are_derivatives():
    policy, thetas, observations, actions = made(1)
    scale, theta, step = np.random.default_rng(2).normal(size=7), thetas[0], 1e-6
    moved = theta + step * np.concatenate([np.eye(policy.dim), -np.eye(policy.dim)])
    totals = np.sum(scale * policy.log_prob(moved, observations, actions), axis=1)
    slopes = (totals[: policy.dim] - totals[policy.dim :]) / (2.0 * step)
    np.testing.assert_allclose(policy.score_sum(theta, observations, actions, scale), slopes, atol=1e-8)


def test_sums_of_entropy_slopes_are_derivatives():
    policy, thetas, observations, _ = made(3)
    scale, theta, step = np.random.default_rng(4).normal(size=7), thetas[0], 1e-6
    moved = theta + step * np.concatenate([np.eye(policy.dim), -np.eye(policy.dim)])
    chances = policy.probabilities(moved, observations)
    totals = np.sum(scale * -np.sum(chances * np.log(chances), axis=2), axis=1)
    slopes = (totals[: policy.dim] - totals[policy.dim :]) / (2.0 * step)
    np.testing.assert_allclose(policy.entropy_sum(theta, observations, scale), slopes, atol=1e-8)


def test_a_row_has_the_same_bits_alone_and_in_a_large_batch():
    policy, thetas, observations, actions = made(5, policies=6, batch=5000, features=64, sparse=0.9)
    logs, chances = policy.log_prob(thetas, observations, actions), policy.probabilities(thetas, observations)
    for b in (0, 17, 4999):
        assert np.array_equal(policy.log_prob(thetas[2], observations[b], actions[b]), logs[2, b])
        assert np.array_equal(policy.probabilities(thetas[2], observations[b]), chances[2, b])


def test_acts_by_the_inverse_cdf_of_its_own_row():
    policy, thetas, observations, _ = made(6, batch=50)
    rows, u = np.arange(50) % 3, np.random.default_rng(7).uniform(size=50)
    chances = policy.probabilities(thetas, observations)[rows, np.arange(50)]
    expected = np.sum(np.cumsum(chances, axis=1) <= u[:, None], axis=1)
    assert np.array_equal(policy.act(thetas, rows, observations, u[:, None]), expected)
    assert np.array_equal(policy.act(thetas, rows, observations, None), np.argmax(chances, axis=1))


def test_shapes():
    policy, thetas, observations, actions = made(8)
    assert policy.dim == 20
    assert policy.probabilities(thetas[0], observations[0]).shape == (4,)
    assert policy.probabilities(thetas, observations[0]).shape == (3, 4)
    assert policy.probabilities(thetas[0], observations).shape == (7, 4)
    assert policy.log_prob(thetas[0], observations, actions).shape == (7,)
    assert policy.log_prob(thetas, observations, actions).shape == (3, 7)


def test_large_logits_are_safe():
    policy = LinearSoftmax(1, 3)
    logs = policy.log_prob(np.array([2000.0, 0.0, -2000.0]), np.ones((3, 1)), np.arange(3))
    assert np.array_equal(logs, [0.0, -2000.0, -4000.0])


def test_bounds_hold_and_are_those_of_the_features():
    """Compare with a linear Gibbs policy on the features that a bound of 1 allows."""
    rng = np.random.default_rng(9)
    observations = rng.normal(size=(50, 5))
    observations /= np.linalg.norm(observations, axis=1, keepdims=True)
    features = np.zeros((50, 3, 15))
    for a in range(3):
        features[:, a, a::3] = observations
    assert LinearSoftmax(5, 3, feature_bound=1.0).score_bounds == pytest.approx(LinearGibbs(features).score_bounds)
    assert LinearSoftmax(5, 3).score_bounds is None
    assert LinearSoftmax(5, 1, feature_bound=1.0).score_bounds == (0.0, 0.0)
    policy = LinearSoftmax(5, 3, feature_bound=1.0)
    for _ in range(50):
        score = policy.score_sum(5.0 * rng.normal(size=15), observations[:1], [rng.integers(3)], [1.0])
        assert np.linalg.norm(score) <= policy.score_bounds[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LinearSoftmax(0, 2), "n_features must be an integer of at least 1, got 0"),
        (lambda: LinearSoftmax(2, True), "n_actions must be an integer"),
        (lambda: LinearSoftmax(2, 2, feature_bound=-1.0), "feature_bound must be positive"),
        (lambda: LinearSoftmax(2, 2).probabilities(np.zeros(4), np.zeros(3)), "observations must be vectors of 2"),
        (lambda: LinearSoftmax(2, 2).probabilities(np.zeros(5), np.zeros(2)), "theta must have shape"),
        (lambda: LinearSoftmax(2, 2).log_prob(np.zeros(4), np.zeros((1, 2)), [2]), "actions must be in 0..1, got 2"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_threads_do_not_change_sums_over_a_batch(monkeypatch):
    policy, thetas, observations, actions = made(10, batch=20_000, features=16, sparse=0.7)
    scale = np.random.default_rng(11).normal(size=len(actions))
    found = {}
    for cores in (1, 3):
        monkeypatch.setattr(compiling, "WORTH_THREADS", 0.0)
        monkeypatch.setattr(linear_softmax, "cores", lambda cores=cores: cores)
        sums = policy.score_sum(thetas[0], observations, actions, scale)
        found[cores] = sums, policy.entropy_sum(thetas[0], observations, scale)
    assert np.array_equal(found[1][0], found[3][0])
    assert np.array_equal(found[1][1], found[3][1])


def test_no_observations_give_nothing():
    policy = LinearSoftmax(3, 2)
    assert policy.probabilities(np.zeros(6), np.zeros((0, 3))).shape == (0, 2)
    assert np.array_equal(policy.score_sum(np.zeros(6), np.zeros((0, 3)), np.zeros(0, dtype=int), []), np.zeros(6))

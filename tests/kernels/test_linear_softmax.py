"""The linear softmax, bit for bit against plain NumPy that adds in the order that it promises."""

import numpy as np
import pytest

from riskgrad.kernels import linear_softmax
from riskgrad.kernels.formulas import exp_of, log_of

POLICIES, BATCH = 3, 150


@pytest.fixture(params=[(5, 2), (64, 4), (70, 3)], ids=str)
def case(request):
    n_features, n_actions = request.param
    rng = np.random.default_rng(n_features)
    thetas = rng.normal(size=(POLICIES, n_features * n_actions))
    observations = rng.normal(size=(BATCH, n_features)) * (rng.uniform(size=(BATCH, n_features)) < 0.3)
    return thetas, observations, rng.integers(0, n_actions, size=BATCH), rng.normal(size=BATCH), n_actions


def plain_softmax(theta, observations, n_actions):
    """Logits minus the largest, their exponentials and the sums of these; every sum runs from the first to the last."""
    logits = np.zeros((len(observations), n_actions))
    for column, weights in zip(observations.T, theta.reshape(-1, n_actions), strict=True):
        logits = logits + column[:, None] * weights
    logs = logits - np.max(logits, axis=1, keepdims=True)
    chances = exp_of(logs)
    return logs, chances, np.cumsum(chances, axis=1)[:, -1]


def test_probabilities(case):
    thetas, observations, actions, _, n_actions = case
    found = linear_softmax.all_probabilities(thetas, observations, n_actions)
    logs = linear_softmax.all_log_probabilities(thetas, observations, actions, n_actions)
    for p, theta in enumerate(thetas):
        shifted, chances, totals = plain_softmax(theta, observations, n_actions)
        assert np.array_equal(found[p], chances / totals[:, None])
        assert np.array_equal(logs[p], shifted[np.arange(BATCH), actions] - log_of(totals))
    rows = actions % POLICIES
    own = linear_softmax.own_probabilities(thetas, rows, observations, n_actions)
    assert np.array_equal(own, found[rows, np.arange(BATCH)])


def pulled(observations, slopes):
    """Sums over the batch of observation times slope, from the first to the last."""
    total = np.zeros((observations.shape[1], slopes.shape[1]))
    for observation, slope in zip(observations, slopes, strict=True):
        total = total + observation[:, None] * slope
    return total.ravel()


def test_scores_and_slopes_of_the_entropy(case):
    thetas, observations, actions, coefficients, n_actions = case
    logs, chances, totals = plain_softmax(thetas[0], observations, n_actions)
    slopes = chances / totals[:, None] * -coefficients[:, None]
    slopes[np.arange(BATCH), actions] += coefficients
    found = linear_softmax.score_total(thetas[0], observations, actions, coefficients, n_actions)
    assert np.array_equal(found, pulled(observations, slopes))
    logs, shares, entropies = logs - log_of(totals)[:, None], chances / totals[:, None], np.zeros(BATCH)
    for a in range(n_actions):
        entropies = entropies - shares[:, a] * logs[:, a]
    slopes = -coefficients[:, None] * shares * (logs + entropies[:, None])
    found = linear_softmax.entropy_total(thetas[0], observations, coefficients, n_actions)
    assert np.array_equal(found, pulled(observations, slopes))

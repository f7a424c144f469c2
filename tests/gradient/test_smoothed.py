import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskgrad.errors import InputError
from riskgrad.gradient import batch_error, smoothed, smoothed_difference, sphere, with_batch_error
from riskgrad.risk import Mean


def sigmoid(thetas):
    return 1.0 / (1.0 + np.exp(-np.sum(thetas, axis=1)))


def test_formula_written_out_for_given_directions():
    theta, mu = np.array([0.3, -0.7, 0.2]), 0.25
    directions = sphere(np.random.default_rng(3), 5, 3)
    expected = np.zeros(3)
    for v in directions:
        plus, minus = sigmoid((theta + mu * v)[None])[0], sigmoid((theta - mu * v)[None])[0]
        expected += 3 / 5 * (plus - minus) / (2 * mu) * v
    np.testing.assert_allclose(smoothed(sigmoid, theta, directions, mu).vector, expected, rtol=0, atol=1e-13)


def test_objective_is_called_once_with_pairs():
    calls = []

    def objective(thetas):
        calls.append(thetas)
        return np.zeros(len(thetas))

    directions = np.eye(3)[:2]
    smoothed(objective, np.array([1.0, 2.0, 3.0]), directions, 0.5)
    (thetas,) = calls
    np.testing.assert_array_equal(thetas[:2] + thetas[2:], np.tile([2.0, 4.0, 6.0], (2, 1)))
    np.testing.assert_array_equal(thetas[:2] - thetas[2:], directions)


def test_a_whole_orthogonal_block_is_exact_for_a_linear_function():
    slope = np.array([1.0, -2.0, 0.5, 3.0])
    directions = sphere(np.random.default_rng(1), 4, 4, orthogonal=True)
    np.testing.assert_allclose(smoothed(lambda t: t @ slope, np.zeros(4), directions, 0.1).vector, slope, atol=1e-12)


def test_mean_over_directions_is_the_gradient_of_the_smoothed_function():
    # rho(x) = x_1^3 in d = 3: grad of its average over the ball of radius mu is 3 (x_1^2 + mu^2 E u_1^2), E u_1^2 = 1/5
    theta, mu = np.array([0.5, -1.0, 2.0]), 0.8
    exact = np.array([3 * (0.25 + mu**2 / 5), 0.0, 0.0])
    for orthogonal, n in ((False, 20_000), (True, 20_000)):
        directions = sphere(np.random.default_rng(11), n, 3, orthogonal)
        estimate = smoothed(lambda t: t[:, 0] ** 3, theta, directions, mu)
        # 5 standard errors of the whole vector: a false alarm is below 1e-5
        assert np.linalg.norm(estimate.vector - exact) <= 5 * estimate.standard_error
        assert estimate.standard_error < 0.04


@pytest.mark.parametrize(
    ("n", "orthogonal"), [(2, False), (8, False), (3, True), (5, True), (7, True), (12, True), (14, True)]
)
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_reported_error_is_the_true_one_on_a_linear_function(n, orthogonal, noise):
    # 1500 repetitions; the mean square of the reported error against that of the true one, within 10%.
    # a lone orthogonal block below d is told without its noise, which the module says
    d, slope, mu = 5, np.array([1.0, -0.5, 0.2, 0.0, 0.7]), 0.5
    if n < d and orthogonal and noise:
        noise = 0.0
    true, reported = [], []
    for seed in range(1500):
        rng = np.random.default_rng(seed)
        directions = sphere(rng, n, d, orthogonal)
        estimate = smoothed(lambda t, rng=rng: t @ slope + noise * rng.normal(size=len(t)), np.zeros(d), directions, mu)
        true.append(np.sum((estimate.vector - slope) ** 2))
        reported.append(estimate.standard_error**2)
    if n == d and orthogonal:
        assert np.all(np.isnan(reported))
    elif orthogonal and not noise and n % d == 0:
        assert max(np.mean(true), np.mean(reported)) < 1e-20
    elif orthogonal and d < n < 2 * d and not noise:
        assert 1.0 <= np.mean(reported) / np.mean(true) <= 1.2
    else:
        assert np.mean(reported) == pytest.approx(np.mean(true), rel=0.1)


def test_error_falls_like_one_over_root_n():
    errors = []
    for n in (50, 200, 800, 3200):
        directions = sphere(np.random.default_rng(2), n, 4)
        errors.append(smoothed(sigmoid, np.zeros(4), directions, 0.3).standard_error)
    slope = np.polyfit(np.log([50, 200, 800, 3200]), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.05)


def test_one_direction_cannot_tell_its_error():
    assert math.isnan(smoothed(sigmoid, np.zeros(3), np.eye(3)[:1], 0.3).standard_error)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), st.integers(1, 5), st.floats(-100, 100), st.booleans())
def test_a_constant_has_no_gradient(n, d, level, orthogonal):
    directions = sphere(np.random.default_rng(n), n, d, orthogonal)
    estimate = smoothed(lambda t: np.full(len(t), level), np.zeros(d), directions, 0.1)
    np.testing.assert_array_equal(estimate.vector, 0.0)


@pytest.mark.parametrize("smoothing", [0.0, -0.1, 1.5, math.nan])
def test_smoothing_outside_its_range_gets_one_line(smoothing):
    with pytest.raises(InputError, match=r"smoothing must be in \(0, 1\]"):
        smoothed(sigmoid, np.zeros(2), np.eye(2), smoothing)


def test_other_bad_input_gets_one_line():
    with pytest.raises(InputError, match="theta must be a finite vector"):
        smoothed(sigmoid, [0.0, math.nan], np.eye(2), 0.1)
    with pytest.raises(InputError, match="directions must have shape"):
        smoothed(sigmoid, np.zeros(3), np.eye(2), 0.1)
    with pytest.raises(InputError, match="directions must be unit vectors"):
        smoothed(sigmoid, np.zeros(2), 2 * np.eye(2), 0.1)
    with pytest.raises(InputError, match="objective must give 4 finite values"):
        smoothed(lambda t: np.full(len(t), np.nan), np.zeros(2), np.eye(2), 0.1)
    with pytest.raises(InputError, match="objective must give 4 finite values"):
        smoothed(lambda t: t, np.zeros(2), np.eye(2), 0.1)


@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 3), (3, 3), (5, 3), (1, 1)])
def test_the_error_of_one_batch_combines_directions_and_episodes(n, d):
    # a full basis leaves only the error over episodes; of a single direction of three nothing is known
    rng = np.random.default_rng(7)
    directions, values, weights = sphere(rng, n, d, True), rng.normal(size=40), rng.uniform(0.5, 1.5, size=(2 * n, 40))
    gradient = smoothed_difference(Mean().estimate(values, weights), directions, 0.2)
    own = batch_error(Mean(), values, weights, directions, 0.2)
    found = with_batch_error(gradient, Mean(), values, weights, directions, 0.2).standard_error
    if n == d:
        assert found == own > 0.0
    elif n == 1:
        assert math.isnan(found)
    else:
        assert found == math.hypot(gradient.standard_error, own) > own

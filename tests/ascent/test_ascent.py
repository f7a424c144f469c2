import math

import numpy as np
import pytest

from riskgrad.ascent import Adam, ConstantStep
from riskgrad.ascent.base import shorten
from riskgrad.errors import InputError


def climb(ascent, gradients):
    theta, moments = np.zeros(gradients.shape[1]), ascent.start(gradients.shape[1])
    for gradient in gradients:
        theta, moments = ascent.step(theta, gradient, moments)
    return theta


def test_constant_step_is_the_papers_update():
    theta, moments = ConstantStep(0.5).step(np.array([1.0, 2.0]), np.array([4.0, -6.0]), {})
    np.testing.assert_array_equal(theta, [3.0, -1.0])
    assert moments == {}


def test_first_adam_step_is_the_sign_of_the_gradient():
    theta = climb(Adam(0.1), np.array([[3.0, -1e-9, 0.0]]))
    np.testing.assert_allclose(theta, [0.1, -0.1, 0.0], rtol=1e-12)


def test_adam_matches_its_recursion_written_out():
    first, second = 2.0, -1.0
    mean, square = 0.9 * 0.1 * first + 0.1 * second, 0.999 * 0.001 * first**2 + 0.001 * second**2
    expected = 0.1 + 0.1 * (mean / (1 - 0.9**2)) / math.sqrt(square / (1 - 0.999**2))
    np.testing.assert_allclose(climb(Adam(0.1), np.array([[first], [second]])), [expected], rtol=1e-12)


def test_adam_does_not_know_the_scale_of_rewards():
    gradients = np.random.default_rng(1).normal(size=(30, 4))
    small, large = climb(Adam(0.1), gradients * 2.0**-40), climb(Adam(0.1), gradients * 2.0**40)
    np.testing.assert_array_equal(small, large)
    assert np.any(climb(ConstantStep(0.1), gradients) != climb(ConstantStep(0.1), gradients * 2.0))


def test_adam_climbs_a_hill():
    theta, ascent = np.zeros(2), Adam(0.05)
    moments = ascent.start(2)
    for _ in range(600):
        theta, moments = ascent.step(theta, np.array([1.0, -2.0]) - theta, moments)
    np.testing.assert_allclose(theta, [1.0, -2.0], atol=0.02)


def test_clipping_keeps_the_direction():
    np.testing.assert_allclose(shorten(np.array([3.0, 4.0]), 1.0), [0.6, 0.8])
    np.testing.assert_array_equal(shorten(np.array([3.0, 4.0]), 5.0), [3.0, 4.0])
    theta, _ = ConstantStep(1.0, clip=1.0).step(np.zeros(2), np.array([3.0, 4.0]), {})
    np.testing.assert_allclose(theta, [0.6, 0.8])


def test_moments_is_plain_arrays_that_are_not_changed_in_place():
    ascent = Adam(0.1)
    moments = ascent.start(3)
    before = {name: array.copy() for name, array in moments.items()}
    ascent.step(np.zeros(3), np.ones(3), moments)
    for name, array in moments.items():
        assert array.dtype == np.float64
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize("step_size", [-0.1, 0.0, math.nan, math.inf])
@pytest.mark.parametrize("ascent", [ConstantStep, Adam])
def test_bad_step_size_gets_one_line(ascent, step_size):
    with pytest.raises(InputError, match="step_size must be positive and finite"):
        ascent(step_size)


def test_bad_clip_and_decay_get_one_line():
    with pytest.raises(InputError, match="clip must be positive"):
        Adam(0.1, clip=0.0)
    with pytest.raises(InputError, match="square_decay must be in"):
        Adam(0.1, square_decay=1.0)

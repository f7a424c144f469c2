"""A user's own distortion is checked before it is believed."""

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError

Custom = rg.distortion.Custom


def test_a_good_one_works_like_the_built_in():
    own, built_in = Custom(lambda s: s * s * s), rg.distortion.DualPower(3)
    s = np.linspace(0, 1, 101)
    assert np.array_equal(own(s), built_in(s))
    assert np.allclose(own.derivative(s), built_in.derivative(s), atol=1e-6)
    assert np.allclose(own.second_derivative(s), built_in.second_derivative(s), atol=1e-3)
    assert own.attitude == "averse"
    assert own.dual().attitude == "seeking"
    assert np.allclose(own.dual()(s), built_in.dual()(s), atol=1e-15)
    assert own.slope_bound == np.inf
    known = Custom(lambda s: s**3, lambda s: 3 * s**2, lambda s: 6 * s, slope_bound=3, curvature_bound=6)
    assert (known.slope_bound, known.curvature_bound) == (3.0, 6.0)
    assert np.array_equal(known.dual().derivative(s), 3 * (1 - s) ** 2)


def test_steep_but_continuous_is_accepted():
    assert Custom(np.sqrt, attitude="seeking")(0.25) == 0.5
    assert Custom(lambda s: s**0.1, attitude="seeking")(1.0) == 1.0


@pytest.mark.parametrize(
    ("g", "attitude", "words"),
    [
        (
            lambda s: np.where(s > 0, 0.5 + s / 2, 0.0),
            "mixed",
            "g must be continuous on [0, 1], got a jump of 0.5 at s = ",
        ),
        (lambda s: np.where(s < 1, s / 2, 1.0), "averse", "a jump of 0.5 at s = 1"),
        (lambda s: (s > 0.3) * 1.0, "mixed", "a jump of 1 at s = 0.3"),
        (lambda s: s + 0.01, "mixed", "g(0) must be 0, got 0.01"),
        (lambda s: 0.9 * s, "averse", "g(1) must be 1, got 0.9"),
        (lambda s: s + 0.3 * np.sin(2 * np.pi * s), "mixed", "g must be non-decreasing"),
        (lambda s: np.where(s == 0.5, np.nan, s), "averse", "g(0.5) not finite"),
        (lambda _: 0.5, "averse", "g(s) must have the shape of s"),
        (np.sqrt, "averse", "g declared averse must have g(s) <= s, got g(0.25) = 0.5 > 0.25"),
        (np.square, "seeking", "g declared seeking must have g(s) >= s, got g(0.5) = 0.25 < 0.5"),
        (np.square, "neutral", "attitude must be one of averse, mixed, seeking"),
    ],
)
def test_refusals(g, attitude, words):
    with pytest.raises(InputError) as caught:
        Custom(g, attitude=attitude)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_false_bounds_are_refused():
    with pytest.raises(InputError, match="slope_bound must be at least what the grid shows"):
        Custom(np.square, slope_bound=1.5)
    with pytest.raises(InputError, match="curvature_bound must be"):
        Custom(np.square, curvature_bound=1.0)

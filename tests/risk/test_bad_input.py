"""Bad samples get one clear line that says where; nothing is dropped silently."""

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError

MEASURES = [
    rg.risk.Mean(),
    rg.risk.CVaR(0.1),
    rg.risk.CVaR(0.1, estimator="paper"),
    rg.risk.MeanVariance(0.5),
    rg.risk.MeanVariance(0.5, estimator="paper"),
    rg.risk.CVaR(0.1).along(0.5),
    rg.risk.Blend(rg.risk.CVaR(0.1), 0.5),
]
LARGEST = 1e140
BEYOND = float(np.nextafter(LARGEST, np.inf))
CASES = [
    ([], None, "values must hold at least one return along the last axis, got shape (0,)"),
    (3.0, None, "values must hold at least one return along the last axis, got shape ()"),
    ([1.0, np.nan], None, "values must be finite, got nan at index 1"),
    ([[1.0, 2.0], [3.0, -np.inf]], None, "values must be finite, got -inf at index (1, 1)"),
    ([1.0, np.nan], [1.0, 1.0], "values must be finite, got nan at index 1"),
    ([0.0, BEYOND], None, "values must be at most 1e+140 in size, got 1.0000000000000003e+140 at index 1"),
    ([[-BEYOND, 0.0], [1.0, 2.0]], None, "values must be at most 1e+140 in size, got -1.0000000000000003e+140"),
    ([1.0, 2.0], [1.0, -0.5], "weights must be finite and not negative, got -0.5 at index 1"),
    ([1.0, 2.0], [[1.0, 1.0], [1.0, np.nan]], "weights must be finite and not negative, got nan at index (1, 1)"),
    ([1.0, 2.0], [1.0, np.inf], "weights must be finite and not negative, got inf at index 1"),
    ([1.0, 2.0], [0.0, 0.0], "weights must not be all zero"),
    ([1.0, 2.0], [[1.0, 1.0], [0.0, 0.0]], "no positive weight in row index 1"),
    ([1.0, 2.0], [1.7e308, 1.7e308], "weights must have a finite sum"),
    ([1.0, 2.0], [1.0], "weights must have one entry per return (2), got shape (1,)"),
    (np.ones((2, 3)), np.ones((4, 3)), "values and weights must have leading axes that broadcast"),
]


@pytest.mark.parametrize(("values", "weights", "words"), CASES)
@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: f"{type(m).__name__}-{getattr(m, 'estimator', '')}")
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_refused_in_one_line(measure, values, weights, words):
    with pytest.raises(InputError) as caught:
        measure.estimate(values, weights)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("measure", [rg.risk.Mean(), rg.risk.CVaR(0.1)])
def test_the_largest_returns_that_are_allowed(measure):
    many = np.full((3, 1_000), LARGEST)  # the sum of their squares is beyond the square of the limit
    np.testing.assert_allclose(measure.estimate(many), LARGEST, rtol=1e-12)
    np.testing.assert_allclose(measure.estimate(-many.T), -LARGEST, rtol=1e-12)


def test_a_variance_needs_two_returns():
    with pytest.raises(InputError, match="at least 2 returns for a variance, got m = 1"):
        rg.risk.MeanVariance(0.5).estimate([1.0])
    with pytest.raises(InputError, match="positive for at least 2 returns"):
        rg.risk.MeanVariance(0.5).estimate([1.0, 2.0], [0.0, 1.0])
    assert rg.risk.MeanVariance(0.0).estimate([1.0]) == 1.0

"""The exact law of a return."""

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError


def test_moments_cdf_and_quantiles():
    law = rg.DiscreteLaw([2.0, -1.0, 2.0, 0.5, 7.0], [0.25, 0.25, 0.25, 0.25, 0.0])
    assert law.values.tolist() == [-1.0, 0.5, 2.0]
    assert law.probabilities.tolist() == [0.25, 0.25, 0.5]
    assert law.mean == 0.875
    assert law.variance == pytest.approx(0.25 * 1.875**2 + 0.25 * 0.375**2 + 0.5 * 1.125**2, rel=1e-15)
    assert law.cdf([-2, -1, 0, 0.5, 2, 9]).tolist() == [0, 0.25, 0.25, 0.5, 1, 1]
    assert law.quantile([0, 0.25, 0.26, 0.5, 0.51, 1]).tolist() == [-1, -1, 0.5, 0.5, 2, 2]
    assert law.quantile(0.5) == 0.5
    assert len(law) == 3
    with pytest.raises(ValueError, match="read-only"):
        law.values[0] = 3.0


def test_variance_of_far_away_values_keeps_its_digits():
    assert rg.DiscreteLaw([1e8, 1e8 + 1], [0.5, 0.5]).variance == 0.25


@pytest.mark.parametrize(
    ("values", "probabilities", "words"),
    [
        ([], [], "be two vectors of one length, not empty"),
        ([1, 2], [1.0], "be two vectors of one length, not empty"),
        ([1, np.inf], [0.5, 0.5], "values must be finite, got inf"),
        ([1, 2], [1.5, -0.5], "probabilities must not be negative or NaN, got -0.5"),
        ([1, 2], [0.5, np.nan], "got nan"),
        ([1, 2], [0.5, 0.6], "probabilities must sum to 1, got 1.1"),
    ],
)
def test_bad_laws(values, probabilities, words):
    with pytest.raises(InputError) as caught:
        rg.DiscreteLaw(values, probabilities)
    assert words in str(caught.value)


def test_bad_level():
    with pytest.raises(InputError, match="level must be in"):
        rg.DiscreteLaw([1.0], [1.0]).quantile(1.5)

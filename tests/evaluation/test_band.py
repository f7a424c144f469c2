"""The band around a law: exact coverage, its two ends, and what it costs against the closed form."""

from fractions import Fraction
from math import factorial, fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.evaluation import band as bands
from riskgrad.evaluation.band import Band, law_band, rank_bounds


def exact_probability(least, most):
    """P(least[i] <= U_(i) <= most[i] for all i) by Steck's determinant, in rationals."""
    m = len(least)
    low, high = [Fraction(float(x)) for x in least], [Fraction(float(x)) for x in most]

    def entry(i, j):
        power = j - i + 1
        return Fraction(0) if power < 0 else max(Fraction(0), high[i] - low[j]) ** power / factorial(power)

    return float(factorial(m) * determinant([[entry(i, j) for j in range(m)] for i in range(m)]))


def determinant(rows):
    result = Fraction(1)
    for i in range(len(rows)):
        pivot = next((r for r in range(i, len(rows)) if rows[r][i]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != i:
            rows[i], rows[pivot] = rows[pivot], rows[i]
            result = -result
        result *= rows[i][i]
        for r in range(i + 1, len(rows)):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    return result


def test_steck_on_a_case_known_by_hand():
    # both of two uniforms in [0, 1/2]; the smaller below 1/2
    assert exact_probability([0, 0], [0.5, 0.5]) == 0.25
    assert exact_probability([0, 0], [0.5, 1]) == 0.75


@pytest.mark.parametrize("size", [1, 2, 5, 10, 25])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_the_band_holds_with_at_least_the_confidence_exactly(size, confidence):
    lower, upper = rank_bounds(size, confidence)
    # where i returns lie below x: lower[i] <= U_(i) and U_(i + 1) <= upper[i]
    assert exact_probability(lower[1:], upper[:-1]) >= confidence


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
def test_bounds_are_ordered_monotone_and_symmetric(size):
    lower, upper = rank_bounds(size, 0.95)
    share = np.arange(size + 1) / size
    assert lower[0] == 0.0
    assert upper[-1] == 1.0
    assert np.all(lower <= share)
    assert np.all(share <= upper)
    assert np.all(np.diff(lower) >= 0.0)
    assert np.all(np.diff(upper) >= 0.0)
    np.testing.assert_allclose(lower, 1.0 - upper[::-1], atol=1e-15)


def test_sharper_in_the_tails_and_hardly_wider_in_the_middle():
    size = 10_000
    lower, upper = rank_bounds(size, 0.95)
    eps = np.sqrt(np.log(2.0 / 0.05) / (2.0 * size))
    share = np.arange(size + 1) / size
    assert np.max(upper - share) <= 1.0144 * eps
    assert np.max(share - lower) <= 1.0144 * eps
    assert upper[0] < 0.1 * eps
    assert upper[size // 20] - 0.05 < 0.85 * eps
    # what no law can beat: one return below x in a sample of m happens with probability delta at -log(delta) / m
    assert upper[0] > -np.log(0.05) / size


def test_ends_of_a_band_by_hand():
    band = Band(np.array([-1.0, 0.0, 2.0, 5.0]), np.array([0.0, 0.25, 0.5]), np.array([0.125, 0.75, 1.0]))
    np.testing.assert_array_equal(band.worst.values, [-1.0, 0.0, 2.0])
    np.testing.assert_array_equal(band.worst.probabilities, [0.125, 0.625, 0.25])
    np.testing.assert_array_equal(band.best.values, [0.0, 2.0, 5.0])
    np.testing.assert_array_equal(band.best.probabilities, [0.25, 0.25, 0.5])
    np.testing.assert_array_equal(band.mirror.worst.values, -band.best.values[::-1])
    np.testing.assert_array_equal(band.mirror.worst.probabilities, band.best.probabilities[::-1])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30))
def test_the_empirical_law_lies_between_the_ends(values):
    returns = np.array(values, dtype=np.float64)
    band = law_band(returns, (-6.0, 7.0), 0.9)
    x = np.linspace(-6.5, 7.5, 57)
    share = np.mean(returns[:, None] <= x, axis=0)
    assert np.all(band.best.cdf(x) <= share + 1e-12)
    assert np.all(share <= band.worst.cdf(x) + 1e-12)


@pytest.mark.parametrize("risk", ["identity", "cvar:0.1", "cvar:0.3:seeking", "smooth-cvar:0.2", "dual-power:3"])
def test_ends_for_a_distortion_are_its_values_at_the_two_laws(risk, monkeypatch):
    monkeypatch.setattr(bands, "BLOCK", 64)  # so that some blocks are flat, some are not and one is cut off
    measure, rng = rg.risk.parse(risk), np.random.default_rng(7)
    for returns in (np.array([1.5]), np.array([0.0, 2.0]), rng.integers(-5, 6, 300) * 1.0, rng.normal(size=1000)):
        band = law_band(returns, (-6.0, 7.0), 0.9)
        expected = measure.value(band.worst), measure.value(band.best)
        np.testing.assert_allclose(band.distorted_ends(measure.function), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("risk", ["cvar:0.1", "cvar:0.1:seeking", "dual-power:3"])
def test_ends_for_a_distortion_keep_their_digits(risk):
    """Of 100,000 returns in a range that goes far beyond them, against sums without rounding."""
    g, returns = rg.risk.parse(risk).function, np.random.default_rng(8).normal(size=100_000)
    band = law_band(returns, (-1e9, 1e9), 0.95)
    for found, bound in zip(band.distorted_ends(g), (band.upper, band.lower), strict=True):
        weights = -np.diff(g.at(1.0 - np.concatenate([[0.0], bound, [1.0]])))
        exact = fsum((weights * band.points).tolist())
        assert found == pytest.approx(exact, rel=1e-11)


def test_a_return_outside_the_range_is_refused():
    with pytest.raises(InputError, match="return_range must hold every return"):
        law_band(np.array([0.0, 2.0]), (0.0, 1.0), 0.95)

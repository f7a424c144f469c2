"""Mean-variance over a band: hand cases, linear programs, and laws drawn from the band."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize_scalar

from riskgrad.evaluation.band import Band, law_band
from riskgrad.evaluation.certified import mean_variance_bounds
from riskgrad.types import DiscreteLaw

ANYTHING = Band(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.0]), np.array([1.0, 1.0]))


def mean_variance(law, lam):
    return law.mean - lam * law.variance


def random_band(rng, size):
    ends = np.sort(rng.uniform(size=(2, size)), axis=1)
    lower = np.concatenate([[0.0], np.minimum(*ends)])
    upper = np.append(np.maximum(*ends), 1.0)
    points = np.concatenate([[-3.0], np.sort(rng.normal(size=size).clip(-3, 3)), [3.0]])
    return Band(points, lower, np.maximum(lower, upper))


def test_all_laws_on_the_unit_interval():
    # largest: all mass at 1; smallest over p at 1: p - 2 p (1 - p) = -1/8 at p = 1/4
    low, high = mean_variance_bounds(ANYTHING, 2.0)
    assert low == pytest.approx(-0.125, abs=1e-15)
    assert high == pytest.approx(1.0, abs=1e-15)
    # seeking, by reflection: smallest at 0, largest p + 2 p (1 - p) = 9/8 at p = 3/4
    assert mean_variance_bounds(ANYTHING, -2.0) == pytest.approx((0.0, 1.125), abs=1e-15)


def test_a_band_of_one_law_gives_its_value():
    share = np.array([0.0, 0.25, 0.75, 1.0])
    band = Band(np.array([-9.0, 1.0, 2.0, 4.0, 9.0]), share, share)
    value = mean_variance(DiscreteLaw([1.0, 2.0, 4.0], [0.25, 0.5, 0.25]), 0.3)
    assert mean_variance_bounds(band, 0.3) == pytest.approx((value, value), abs=1e-13)


def test_shifting_all_returns_shifts_both_ends():
    rng = np.random.default_rng(3)
    band = random_band(rng, 12)
    moved = Band(band.points + 1e6, band.lower, band.upper)
    np.testing.assert_allclose(
        np.subtract(mean_variance_bounds(moved, 0.7), 1e6), mean_variance_bounds(band, 0.7), atol=1e-8
    )


@pytest.mark.parametrize("lam", [0.02, 0.4, 3.0, -0.4])
def test_no_law_in_the_band_is_outside_and_some_come_close(lam):
    rng = np.random.default_rng(7)
    for size in (1, 4, 15):
        band = random_band(rng, size)
        low, high = mean_variance_bounds(band, lam)
        support = np.unique(np.concatenate([band.points, np.linspace(-3.0, 3.0, 301)]))
        cell = np.clip(np.searchsorted(band.points, support, side="right") - 1, 0, size)
        floor, roof = band.lower[cell], band.upper[cell]
        floor[-1] = roof[-1] = 1.0
        flat = [np.clip(level, floor, roof) for level in np.linspace(0.0, 1.0, 201)]
        steep = [np.where(support < place, floor, roof) for place in support]
        mixed = [floor + rng.uniform() * (roof - floor) for _ in range(20)]
        found = [mean_variance(DiscreteLaw(support, np.diff(F, prepend=0.0)), lam) for F in flat + steep + mixed]
        assert low - 1e-12 <= min(found) <= low + 2e-3 * (1.0 + abs(lam))
        assert high - 2e-3 * (1.0 + abs(lam)) <= max(found) <= high + 1e-12


@pytest.mark.parametrize(("seed", "size", "lam"), [(0, 3, 0.5), (1, 6, 2.0), (2, 5, 0.05)])
def test_agrees_with_linear_programmes(seed, size, lam):
    rng = np.random.default_rng(seed)
    band = law_band(rng.normal(size=size).clip(-3, 3), (-3.0, 3.0), 0.5)
    support = np.unique(np.concatenate([band.points, np.linspace(-3.0, 3.0, 121)]))
    cell = np.clip(np.searchsorted(band.points, support, side="right") - 1, 0, size)
    floor, roof = band.lower[cell], band.upper[cell]
    floor[-1] = roof[-1] = 1.0
    sums = np.tril(np.ones((len(support), len(support))))

    def extreme(center, sign):
        hump = support - lam * (support - center) ** 2
        best = linprog(sign * hump, A_ub=np.vstack([sums, -sums]), b_ub=np.concatenate([roof, -floor]), method="highs")
        return sign * best.fun

    low, high = mean_variance_bounds(band, lam)
    lowest = -minimize_scalar(lambda c: -extreme(c, 1.0), bounds=(-3.0, 3.0), method="bounded").fun
    highest = max(extreme(center, -1.0) for center in np.linspace(-3.0, 3.0, 25))
    assert low == pytest.approx(lowest, abs=2e-3)
    assert high == pytest.approx(highest, abs=5e-3)

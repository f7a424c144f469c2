"""Statements of the paper that fail as they stand, each shown failing on numbers; see docs/corrections.md."""

import math

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.risk import Distortion, MeanVariance, SmoothCVaR
from riskgrad.theory import Constants

D = rg.distortion


def paper_error(m, p=1.0):
    """E of (rho_hat_b - rho)^2 for the paper's estimator: constant return 1, fair b, pi = (p, 1 - p), lambda = 1."""
    ups = np.arange(m + 1)
    logs = np.array([math.lgamma(m + 1) - math.lgamma(k + 1) - math.lgamma(m - k + 1) for k in ups]) - m * math.log(2)
    mean = (2 * p * ups + 2 * (1 - p) * (m - ups)) / m
    spread = ((2 * p) ** 2 * ups + (2 * (1 - p)) ** 2 * (m - ups) - m * mean**2) / (m - 1)
    return float(np.sum(np.exp(logs) * (mean - spread - 1.0) ** 2))


def test_off_policy_mean_variance_as_stated_fails():
    """`lm:est_error_mvrm_b`: the error stays at 1 while its bound 544 / m goes to zero; first failing m = 543."""
    literal = 8 * 2**2 + 32 * 2**4
    assert literal == 544
    for m in (10, 542, 543, 1000):
        expected = 1 + 1 / m + 2 / (m * (m - 1))
        assert math.isclose(paper_error(m), expected, rel_tol=1e-9)
        assert (paper_error(m) > literal / m) == (m >= 543)
    assert paper_error(1000, p=0.999) > literal / 1000


def test_the_estimator_behind_it_is_not_consistent_and_ours_are():
    """Constant return 1, fair b, pi = (3/4, 1/4): V = 0, and the paper's estimate of it has mean 0.25 for every m."""
    for m in (2, 5):
        rows = np.array(np.meshgrid(*[[0.5, 1.5]] * m)).reshape(m, -1).T
        values = np.ones(rows.shape)
        paper = [MeanVariance(lam, estimator="paper").estimate(values, rows) for lam in (0.0, 1.0)]
        assert math.isclose(np.mean(paper[0] - paper[1]), 0.25, rel_tol=1e-12)
        for estimator in ("unbiased", "self-normalized"):
            ours = [MeanVariance(lam, estimator=estimator).estimate(values, rows) for lam in (0.0, 1.0)]
            assert np.allclose(ours[0], ours[1], atol=1e-15)


def test_the_unbiased_variance_keeps_the_stated_bound():
    problem = Constants(M_r=1.0, M_e=1, M_d=1.0, M_h=1.0, dim=1, log_M_s=math.log(2.0))
    risk = MeanVariance(1.0, estimator="unbiased")
    assert math.isclose(risk.smoothness(problem, off_policy=True, literal=True).error, 544.0, rel_tol=1e-12)
    assert risk.smoothness(problem, off_policy=True).error <= 544.0


def integral_form(g, values, ratios, reach):
    """`eq:hat_rho_H`, by its definition."""
    order = np.argsort(values)
    r, psi = np.asarray(values, dtype=float)[order], np.asarray(ratios, dtype=float)[order]
    points = np.concatenate([[-reach], r, [reach]])
    law = np.concatenate([[0.0], np.minimum(1.0, np.cumsum(psi) / len(r))])
    return -reach + float(np.sum(np.diff(points) * g(1.0 - law)))


@pytest.mark.parametrize("reach", [1.0, 2.0, 10.0])
def test_the_two_off_policy_forms_differ(reach):
    """`lm:hat_rho_H`: they differ by (M_r - R_(m)) g(1 - W) whenever W < 1."""
    values, ratios = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    ordered = Distortion(D.Identity(), estimator="paper").estimate(values, ratios)
    assert math.isclose(float(ordered), 0.75, rel_tol=1e-12)
    whole = integral_form(D.Identity(), values, ratios, reach)
    assert math.isclose(whole, {1.0: 0.75, 2.0: 1.25, 10.0: 5.25}[reach], rel_tol=1e-12)
    assert math.isclose(float(Distortion(D.Identity()).estimate(values, ratios)), 0.5, rel_tol=1e-12)
    rng = np.random.default_rng(0)
    for g in (D.Identity(), D.DualPower(2.0), D.Exponential(2.0, "seeking")):
        for _ in range(50):
            values, ratios = rng.uniform(-1, 1, 6), rng.exponential(0.9, 6)
            gap = (reach - values.max()) * g(1 - min(1.0, ratios.mean()))
            ordered = float(Distortion(g, estimator="paper").estimate(values, ratios))
            assert math.isclose(integral_form(g, values, ratios, reach) - ordered, gap, abs_tol=1e-12)


def test_a_distortion_that_jumps_at_zero_breaks_the_error_bound():
    """`as:g'_bound` bounds g' on the open interval: g(s) = 1/2 + s/2 for s > 0, g(0) = 0 has slope 1/2 there."""

    def jumping(s):
        return np.where(np.asarray(s) > 0, 0.5 + np.asarray(s) / 2, 0.0)

    p = 0.001
    truth = float(jumping(p))  # return 1 with probability p, else 0
    for m, expected in ((17, 0.24629), (64, 0.23497)):
        ups = np.arange(m + 1)
        chances = np.array([math.comb(m, k) * p**k * (1 - p) ** (m - k) for k in ups])
        error = float(np.sum(chances * (jumping(ups / m) - truth) ** 2))
        literal = 16 * 1.0**2 * 0.5**2 / m
        assert math.isclose(error, expected, abs_tol=5e-6)
        assert error > literal
    with pytest.raises(ValueError, match="continuous"):
        D.Custom(jumping, attitude="seeking")


def test_smoothing_the_kink_restores_the_guarantee():
    problem = Constants(M_r=1.0, M_e=1, M_d=1.0, M_h=1.0, dim=1)
    curvatures = [SmoothCVaR(0.1, width).smoothness(problem).curvature for width in (0.1, 0.01, 0.001)]
    assert curvatures[0] < curvatures[1] < curvatures[2]


def test_negative_lambda_as_printed_gives_negative_constants():
    """`lm:lip_rho_lambda` at lambda = -1 and all constants 1: -2 and -6; with |lambda| they are 4 and 10."""
    problem = Constants(M_r=1.0, M_e=1, M_d=1.0, M_h=1.0, dim=1)
    assert (1 + 3 * -1, (1 + 1) + -1 * (3 + 5)) == (-2, -6)
    found = MeanVariance(1.0, "seeking").smoothness(problem, literal=True)
    assert (found.slope, found.curvature) == (4.0, 10.0)

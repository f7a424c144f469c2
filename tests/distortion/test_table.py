"""The five rows of the paper's table: values on a coin, bounds, derivatives, duals, tiny and huge parameters."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError

D = rg.distortion
COIN = rg.DiscreteLaw([0.0, 1.0], [0.5, 0.5])

# row, rho of the coin when seeking (the literal row) and when averse, sup |g'|, sup |g''|
ROWS = [
    (D.DualPower(2), 0.75, 0.25, 2.0, 2.0),
    (D.Quadratic(0.5), 0.625, 0.375, 1.5, 1.0),
    (D.Exponential(1), 0.6224593312018546, 0.3775406687981454, 1 / (1 - np.exp(-1)), 1 / (1 - np.exp(-1))),
    (D.SquareRoot(1), 0.5425821165873713, 0.4574178834126287, (np.sqrt(2) + 1) / 2, (np.sqrt(2) + 1) / 4),
    (D.Logarithmic(1), 0.5849625007211562, 0.4150374992788438, 1 / np.log(2), 1 / np.log(2)),
]
FAMILIES = [D.DualPower, D.Quadratic, D.Exponential, D.SquareRoot, D.Logarithmic]
IDS = [row[0].name for row in ROWS]


@pytest.mark.parametrize(("g", "seeking", "averse", "slope", "curvature"), ROWS, ids=IDS)
def test_coin_and_bounds(g, seeking, averse, slope, curvature):
    assert g.attitude == "averse"
    assert rg.risk.Distortion(g).value(COIN) == pytest.approx(averse, abs=1e-15)
    assert rg.risk.Distortion(g.dual()).value(COIN) == pytest.approx(seeking, abs=1e-15)
    for either in (g, g.dual()):
        assert either.slope_bound == pytest.approx(slope, rel=1e-15)
        assert either.curvature_bound == pytest.approx(curvature, rel=1e-15)


def test_a_sure_gain_against_the_coin():
    """The literal row prefers the coin to a sure 0.6; the default does not."""
    assert rg.risk.Distortion(D.DualPower(2, attitude="seeking")).value(COIN) > 0.6
    assert rg.risk.Distortion(D.DualPower(2)).value(COIN) < 0.6


@pytest.mark.parametrize("lam", [1e-12, 0.3, 2.0, 7.5, 300.0])
@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_bounds_are_the_suprema(family, lam):
    lam = {"dual-power": max(lam, 2.0), "quadratic": min(lam, 1.0)}.get(family.name, lam)
    s = np.linspace(0.0, 1.0, 20_001)
    for g in (family(lam), family(lam, attitude="seeking")):
        for derivative, bound in ((g.derivative, g.slope_bound), (g.second_derivative, g.curvature_bound)):
            assert np.abs(derivative(s)).max() == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("g", [row[0] for row in ROWS] + [D.DualPower(3.7), D.Exponential(20), D.Logarithmic(50)])
def test_derivatives_by_differences(g):
    s = np.linspace(0.01, 0.99, 99)
    for h in (g, g.dual()):
        step = 1e-5
        first = (h(s + step) - h(s - step)) / (2 * step)
        second = (h.derivative(s + step) - h.derivative(s - step)) / (2 * step)
        assert np.allclose(first, h.derivative(s), rtol=1e-6, atol=1e-7)
        assert np.allclose(second, h.second_derivative(s), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("attitude", ["averse", "seeking"])
@pytest.mark.parametrize("lam", [5e-324, 1e-300, 1e-18, 1e-9])
@pytest.mark.parametrize("family", [D.Exponential, D.SquareRoot, D.Logarithmic, D.Quadratic], ids=lambda f: f.name)
def test_tiny_parameters_give_the_identity(family, lam, attitude):
    s = np.linspace(0.0, 1.0, 101)
    g = family(lam, attitude=attitude)
    sign = -1.0 if attitude == "averse" else 1.0
    first_order = s + sign * {"square-root": 0.25, "quadratic": 1.0}.get(g.name, 0.5) * lam * s * (1 - s)
    assert np.allclose(g(s), first_order, rtol=2e-16 * 4, atol=0)
    assert np.allclose(g.derivative(s), 1.0, atol=1e-8)


@pytest.mark.parametrize("lam", [1e-8, 0.1, 40.0, 1e6])
def test_to_the_last_digit_against_decimals(lam):
    """40-digit decimal arithmetic of the printed formulas, both attitudes, s near 0, in the middle and near 1."""
    getcontext().prec = 60
    x, one = Decimal(lam), Decimal(1)
    literal = {
        D.Exponential: lambda s: (one - (-x * s).exp()) / (one - (-x).exp()),
        D.SquareRoot: lambda s: ((one + x * s).sqrt() - 1) / ((one + x).sqrt() - 1),
        D.Logarithmic: lambda s: (one + x * s).ln() / (one + x).ln(),
    }
    for family, formula in literal.items():
        for s in (1e-9, 0.25, 0.5, 0.75, 1 - 2**-30):
            exact = formula(Decimal(s)), one - formula(one - Decimal(s))
            for g, truth in ((family(lam, attitude="seeking"), exact[0]), (family(lam), exact[1])):
                assert float(g(s)) == pytest.approx(float(truth), rel=2e-15 * max(1.0, min(lam, 100.0))), (
                    family,
                    lam,
                    s,
                )


def test_dual_of_dual_power_is_a_power():
    s = np.linspace(0, 1, 11)
    assert np.array_equal(D.DualPower(3)(s), s * s * s)
    assert np.allclose(D.DualPower(3).dual()(s), 1 - (1 - s) ** 3, atol=1e-15)
    assert D.DualPower(3).dual() == D.DualPower(3, attitude="seeking")


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: D.DualPower(1.5), "lambda of dual-power must be in [2, inf), got 1.5"),
        (lambda: D.DualPower(1.0), "1 is the identity"),
        (lambda: D.Quadratic(1.01), "lambda of quadratic must be in [0, 1], got 1.01"),
        (lambda: D.Quadratic(-0.1), "lambda of quadratic must be in [0, 1]"),
        (lambda: D.Exponential(0.0), "lambda of exponential must be in (0, inf), got 0.0"),
        (lambda: D.SquareRoot(-1), "lambda of square-root must be in (0, inf)"),
        (lambda: D.Logarithmic(np.inf), "lambda of logarithmic must be in (0, inf), got inf"),
        (lambda: D.Logarithmic(np.nan), "got nan"),
        (lambda: D.DualPower("2"), "lambda must be a number, got '2'"),
        (lambda: D.DualPower(2, attitude="adverse"), "did you mean 'averse'?"),
        (lambda: D.DualPower(2)(1.5), "s must be in [0, 1], got 1.5"),
        (lambda: D.Identity().derivative([0.5, np.nan]), "s must be in [0, 1], got nan"),
        (lambda: D.Mixture(D.DualPower(2), 1.2), "weight must be in [0, 1], got 1.2"),
    ],
)
def test_bad_input_is_one_clear_line(build, words):
    with pytest.raises(InputError) as caught:
        build()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_mixture_is_the_mean_and_the_measure_mixed():
    g, law = D.DualPower(2), rg.DiscreteLaw([-1.0, 0.5, 4.0], [0.2, 0.5, 0.3])
    for weight in (0.0, 0.25, 1.0):
        mixed = rg.risk.Distortion(D.Mixture(g, weight)).value(law)
        assert mixed == pytest.approx((1 - weight) * law.mean + weight * rg.risk.Distortion(g).value(law), abs=1e-14)
    assert D.Mixture(g, 0.0).attitude == "neutral"
    assert D.Mixture(g, 0.5).dual()(0.3) == pytest.approx(1 - D.Mixture(g, 0.5)(0.7), abs=1e-15)
    assert D.Mixture(D.LowerTail(0.1), 0.0).curvature_bound == 0.0


@pytest.mark.parametrize("attitude", ["averse", "seeking"])
def test_a_mixture_of_two_is_a_distortion_with_its_derivatives_bounds_and_dual(attitude):
    g = D.Mixture(D.DualPower(7.0, attitude), 0.4, D.DualPower(2.0, attitude))
    assert (g(0.0), g(1.0)) == (0.0, pytest.approx(1.0, abs=1e-15))
    levels = np.linspace(0.0, 1.0, 201)
    middle = levels[1:-1]
    np.testing.assert_allclose((g(middle + 1e-6) - g(middle - 1e-6)) / 2e-6, g.derivative(middle), atol=1e-7)
    slopes = (g.derivative(middle + 1e-6) - g.derivative(middle - 1e-6)) / 2e-6
    np.testing.assert_allclose(slopes, g.second_derivative(middle), atol=1e-6)
    np.testing.assert_allclose(g.dual()(levels), 1.0 - g(1.0 - levels), atol=1e-14)
    assert np.max(g.derivative(levels)) == pytest.approx(g.slope_bound, abs=1e-12)
    assert np.max(np.abs(g.second_derivative(levels))) == pytest.approx(g.curvature_bound, abs=1e-12)
    assert D.Mixture(D.LowerTail(0.1), 0.0, D.DualPower(2.0)).curvature_bound == 2.0

"""The kinked and the rounded distortion of a tail."""

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError

D = rg.distortion
S = np.linspace(0, 1, 4001)


def test_kinked_tail_is_the_worst_alpha_and_its_dual_the_best():
    ten = rg.DiscreteLaw(np.arange(1.0, 11.0), np.full(10, 0.1))
    assert rg.risk.CVaR(0.2).value(ten) == pytest.approx(1.5, abs=1e-14)
    assert rg.risk.CVaR(0.2, attitude="seeking").value(ten) == pytest.approx(9.5, abs=1e-14)
    assert D.LowerTail(0.2).curvature_bound == np.inf
    assert D.LowerTail(0.2).slope_bound == 5.0


@pytest.mark.parametrize("width", [0.01, 0.05, 0.1])
def test_rounded_tail_is_twice_differentiable_and_close(width):
    sharp, smooth = D.LowerTail(0.1), D.SmoothLowerTail(0.1, width)
    distance = smooth(S) - sharp(S)
    assert distance.min() >= -1e-15
    assert distance.max() == pytest.approx(smooth.gap, rel=1e-3)
    assert smooth.gap == pytest.approx(3 * width / 1.6)
    assert np.abs(smooth.second_derivative(S)).max() == pytest.approx(smooth.curvature_bound, rel=1e-6)
    assert smooth.derivative(1.0) == pytest.approx(10.0, rel=1e-12)
    step = 1e-6
    inner = S[10:-10]
    assert np.allclose((smooth(inner + step) - smooth(inner - step)) / (2 * step), smooth.derivative(inner), atol=2e-4)
    jumps = np.abs(np.diff(smooth.second_derivative(np.linspace(0, 1, 400_001))))
    assert jumps.max() < 1e-2 * smooth.curvature_bound, "g'' is continuous"


def test_error_bound_of_smooth_cvar_holds_and_is_nearly_attained():
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(300):
        values, masses = rng.normal(size=8), rng.dirichlet(np.ones(8))
        law = rg.DiscreteLaw(values, masses)
        alpha = rng.uniform(0.02, 0.5)
        smooth = rg.risk.SmoothCVaR(alpha, rng.uniform(0.1, 1.0) * alpha)
        spread = law.quantile(min(1.0, alpha + smooth.width)) - law.quantile(alpha - smooth.width)
        excess = smooth.value(law) - rg.risk.CVaR(alpha).value(law)
        assert -1e-12 <= excess <= smooth.gap * spread + 1e-12
        ratios.append(excess / (smooth.gap * spread) if spread > 0 else 0.0)
    assert max(ratios) > 0.9


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: D.LowerTail(0.95), "did you mean 0.05?"),
        (lambda: D.LowerTail(0.0), "alpha must be in (0, 0.5]"),
        (lambda: D.LowerTail(-1), "alpha must be in (0, 0.5]"),
        (lambda: D.SmoothLowerTail(0.1, 0.2), "width must be in (0, alpha] = (0, 0.1], got 0.2"),
        (lambda: D.SmoothLowerTail(0.1, 0.0), "width must be in (0, alpha]"),
        (lambda: rg.risk.CVaR(0.9), "it is the mass of the bad tail"),
    ],
)
def test_bad_input(build, words):
    with pytest.raises(InputError) as caught:
        build()
    assert words in str(caught.value)

"""Mean square errors against exact truth fall as 1/m, as a fitted slope; the literal off-policy variance does not.

Seeds are fixed. With 6 sizes and 4,000 repetitions each the fitted slope has a standard error of about 0.01 under
normal errors, so that a consistent estimator leaves -1 +- 0.15 with probability below 1e-6.
"""

import numpy as np
import pytest

import riskgrad as rg

R, D = rg.risk, rg.distortion
SIZES = np.array([32, 64, 128, 256, 512, 1024])
REPETITIONS = 4_000
VALUES = np.array([-2.0, 0.0, 1.0, 3.0])
BEHAVIOR, TARGET = np.array([0.3, 0.3, 0.2, 0.2]), np.array([0.2, 0.3, 0.25, 0.25])
RATIOS = TARGET / BEHAVIOR
LAW = rg.DiscreteLaw(VALUES, TARGET)


def errors(measure, off_policy, seed=0):
    rng = np.random.default_rng(seed)
    found = []
    for m in SIZES:
        drawn = rng.choice(4, size=(REPETITIONS, m), p=BEHAVIOR if off_policy else TARGET)
        estimates = measure.estimate(VALUES[drawn], RATIOS[drawn] if off_policy else None)
        found.append(np.mean((estimates - measure.value(LAW)) ** 2))
    return np.array(found)


def slope(mse):
    return np.polyfit(np.log(SIZES), np.log(mse), 1)[0]


CONSISTENT = [
    "mean",
    "dual-power:2",
    "dual-power:3:seeking",
    "quadratic:0.5",
    "exponential:3",
    "square-root:5",
    "logarithmic:5",
    "cvar:0.3",
    "smooth-cvar:0.3",
    "mean-variance:0.5",
]


@pytest.mark.parametrize("text", CONSISTENT)
@pytest.mark.parametrize("off_policy", [False, True], ids=["on-policy", "self-normalized"])
def test_consistent_estimators(text, off_policy):
    assert slope(errors(R.parse(text), off_policy)) == pytest.approx(-1.0, abs=0.15)


@pytest.mark.parametrize(
    "measure",
    [
        R.Mean(estimator="unbiased"),
        R.MeanVariance(0.5, estimator="unbiased"),
        R.Distortion(D.DualPower(2), estimator="paper"),
        R.Distortion(D.Exponential(3, attitude="seeking"), estimator="paper"),
    ],
    ids=str,
)
def test_other_consistent_forms(measure):
    assert slope(errors(measure, off_policy=True)) == pytest.approx(-1.0, abs=0.15)


def test_literal_off_policy_variance_levels_off_at_its_squared_bias():
    """The bias is E_b[R^2 psi (psi - 1)], the same for every m."""
    measure = R.MeanVariance(0.5, estimator="paper")
    bias = 0.5 * float(np.sum(BEHAVIOR * VALUES**2 * RATIOS * (RATIOS - 1)))
    mse = errors(measure, off_policy=True)
    assert mse[-1] == pytest.approx(bias**2, rel=0.35)
    assert np.all(mse > 0.9 * bias**2)
    consistent = errors(R.MeanVariance(0.5), off_policy=True)
    assert mse[-1] > 5 * consistent[-1]

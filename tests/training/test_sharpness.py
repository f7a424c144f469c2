"""How sharp the kept policy is, and what is better by more than chance."""

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.training.sharpness import best_factor, excels


@pytest.mark.parametrize("rho", [rg.risk.Mean(), rg.risk.CVaR(0.1), rg.risk.MeanVariance(0.1)], ids=str)
def test_equal_policies_excel_about_as_seldom_as_two_standard_errors_say(rho):
    """A normal difference is above 2 standard errors in 2.3% of cases; of 1000, 45 are 4.6 of their errors more."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(1000):
        shared = rng.normal(size=400)
        alarms += excels(rho, shared + rng.normal(size=400), shared + rng.normal(size=400))
    assert 5 <= alarms <= 45


def test_what_is_clearly_better_excels():
    values = np.random.default_rng(0).normal(size=400)
    assert excels(rg.risk.CVaR(0.1), values + 0.5, values)
    assert not excels(rg.risk.CVaR(0.1), values, values + 0.5)
    assert not excels(rg.risk.CVaR(0.1), values, values)


def test_the_smallest_of_the_best_factors_is_taken():
    assert best_factor({1.0: 0.0, 2.0: 1.0, 4.0: 1.0}) == 2.0
    assert best_factor({1.0: float("-inf"), 2.0: float("-inf")}) == 1.0

"""The utility that a measure is at a law."""

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.critic.utility import find_utility

KNOTS = np.array([-3.0, -1.0, 0.0, 0.5, 2.0, 4.0, 7.0])
LAW = np.array([0.0, 0.2, 0.0, 0.3, 0.4, 0.1, 0.0])
MEASURES = ["mean", "cvar:0.25", "dual-power:3", "exponential:1", "mean-variance:0.3"]


@pytest.mark.parametrize("risk", MEASURES)
def test_it_is_the_influence_where_there_is_mass_and_a_line_between(risk):
    rho, some = rg.risk.parse(risk), LAW > 0.0
    found = find_utility(rho, KNOTS, LAW)
    influence = rho.influence(KNOTS[some], LAW[some])
    np.testing.assert_allclose(found.values[some], influence, rtol=0.0, atol=1e-12)
    assert found.values[2] == pytest.approx(np.interp(0.0, KNOTS[some], influence))
    mean = np.sum(LAW[some] * influence)
    assert found.spread == pytest.approx(np.sqrt(np.sum(LAW[some] * (influence - mean) ** 2)))


@pytest.mark.parametrize("risk", MEASURES)
def test_beyond_what_has_mass_it_goes_on_with_the_slope_that_it_has(risk):
    rho = rg.risk.parse(risk)
    found = find_utility(rho, KNOTS, LAW)
    if rho.function is None:
        slopes = np.diff(found.values[LAW > 0.0]) / np.diff(KNOTS[LAW > 0.0])
        assert found.tails == pytest.approx((slopes[0], slopes[-1]))
    else:
        assert found.tails == pytest.approx(tuple(rho.function.slope_at(np.array([1.0, 0.0]))))
    assert found.values[1] - found.values[0] == pytest.approx(2.0 * found.tails[0])
    assert found.values[6] - found.values[5] == pytest.approx(3.0 * found.tails[1])


def test_a_step_along_it_is_the_derivative_of_the_measure():
    """Moving a little chance from one return to another changes the measure by the difference of their utilities."""
    for risk in MEASURES:
        rho, some = rg.risk.parse(risk), LAW > 0.0
        utility = find_utility(rho, KNOTS, LAW).values[some]
        moved, little = LAW[some].copy(), 1e-6
        moved[0], moved[2] = moved[0] - little, moved[2] + little
        change = rho.value(rg.DiscreteLaw(KNOTS[some], moved)) - rho.value(rg.DiscreteLaw(KNOTS[some], LAW[some]))
        assert change / little == pytest.approx(utility[2] - utility[0], rel=1e-4), risk


def test_a_sure_return_of_a_measure_that_is_no_distortion_counts_as_in_the_mean():
    found = find_utility(rg.risk.MeanVariance(0.3), KNOTS, np.eye(len(KNOTS))[3])
    assert found.tails == (1.0, 1.0)
    assert np.diff(found.values) == pytest.approx(np.diff(KNOTS))

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.algorithms import BentPath
from riskgrad.algorithms.path import Bend, measure_at, settled
from riskgrad.distortion import DualPower, Identity
from riskgrad.errors import InputError

S = np.linspace(0.0, 1.0, 101)
LAW = rg.DiscreteLaw([-6.0, -1.0, 0.0, 2.0], [0.15, 0.25, 0.2, 0.4])


def on_the_way(risk, weight):
    _, by = settled(BentPath(0.5), risk)
    return measure_at(risk, by, weight)


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("attitude", ["averse", "seeking"])
def test_the_bent_path_is_a_mixture_of_the_mean_a_power_and_the_measure(weight, attitude):
    risk = rg.risk.CVaR(0.1, attitude=attitude)
    power = rg.risk.Distortion(DualPower(5.5, attitude=attitude))
    w = weight
    mixed = (1 - w) ** 2 * LAW.mean + 2 * w * (1 - w) * power.value(LAW) + w**2 * risk.value(LAW)
    found = on_the_way(risk, weight)
    assert found.value(LAW) == pytest.approx(mixed, abs=1e-12)
    assert found.attitude == (attitude if weight else "neutral")


def test_it_ends_at_the_measure_itself():
    risk = rg.risk.CVaR(0.1)
    assert on_the_way(risk, 1.0) is risk
    assert on_the_way(risk, 0.0).value(LAW) == pytest.approx(LAW.mean, abs=1e-12)


def test_it_sees_what_is_above_the_tail():
    # ruin fills the worst tenth of both laws: CVaR(0.1) and the straight path see the means only
    better = rg.DiscreteLaw([-6.0, -2.0, 2.0], [0.12, 0.18, 0.7])
    worse = rg.DiscreteLaw([-6.0, 2.0, 2.2], [0.2, 0.7, 0.1])
    risk = rg.risk.CVaR(0.1)
    assert better.mean < worse.mean + 0.05
    assert risk.value(better) == risk.value(worse)
    half = on_the_way(risk, 0.5)
    straight = risk.along(0.5)
    assert half.value(better) - half.value(worse) > 5.0 * (straight.value(better) - straight.value(worse))


@pytest.mark.parametrize("risk", ["cvar:0.4", "exponential:1", "mean-variance:0.5", "mean"])
def test_mild_measures_and_those_that_are_no_distortion_go_straight(risk):
    measure = rg.risk.parse(risk)
    assert settled(BentPath(0.5), measure) == (0.5, None)
    assert on_the_way(measure, 0.5).value(LAW) == measure.along(0.5).value(LAW)


def test_a_number_is_a_straight_path_and_none_is_none():
    assert settled(0.5, rg.risk.CVaR(0.1)) == (0.5, None)
    assert settled(None, rg.risk.CVaR(0.1)) == (None, None)


@pytest.mark.parametrize("path", [0.0, 1.5, BentPath(0.0), BentPath(-1.0), True, "half"])
def test_a_bad_path_gets_one_line(path):
    with pytest.raises(InputError, match="risk_path must be a part of the run"):
        settled(path, rg.risk.CVaR(0.1))


@pytest.mark.parametrize("attitude", ["averse", "seeking"])
def test_the_bend_is_a_distortion_with_its_derivatives_bounds_and_dual(attitude):
    g = Bend(DualPower(7.0, attitude=attitude), DualPower(4.0, attitude=attitude), 0.4)
    assert (g(0.0), g(1.0)) == (0.0, pytest.approx(1.0, abs=1e-15))
    middle = S[1:-1]
    np.testing.assert_allclose((g(middle + 1e-6) - g(middle - 1e-6)) / 2e-6, g.derivative(middle), atol=1e-7)
    slopes = (g.derivative(middle + 1e-6) - g.derivative(middle - 1e-6)) / 2e-6
    np.testing.assert_allclose(slopes, g.second_derivative(middle), atol=1e-6)
    np.testing.assert_allclose(g.dual()(S), 1.0 - g(1.0 - S), atol=1e-14)
    assert np.max(g.derivative(S)) == pytest.approx(g.slope_bound, abs=1e-12)
    assert np.max(np.abs(g.second_derivative(S))) == pytest.approx(g.curvature_bound, abs=1e-12)
    assert Bend(DualPower(7.0), DualPower(4.0), 0.0).curvature_bound == 0.0
    np.testing.assert_array_equal(Bend(DualPower(7.0), DualPower(4.0), 0.0)(S), Identity()(S))


def test_a_run_says_which_way_it_went():
    mdp = rg.mdp.two_roads()
    policy = rg.policy.TabularGibbs(mdp.n_states, mdp.n_actions)
    options = {"iterations": 4, "episodes": 50, "held_out": 0, "algorithm": "score"}
    bent = rg.train(mdp, risk="cvar:0.1", risk_path=BentPath(0.5), policy=policy, **options)
    straight = rg.train(mdp, risk="cvar:0.1", risk_path=0.5, policy=policy, **options)
    assert [line["path"] for line in bent.history] == [0.0, 0.5, 1.0, 1.0]
    assert (bent.settings["risk_path_by"], straight.settings["risk_path_by"]) == ("dual-power:5.5", None)
    assert any("(1 - w)^2 mean" in note for note in bent.notes)
    assert any("(1 - w) mean + w cvar:0.1" in note for note in straight.notes)
    assert not np.array_equal(bent.last_theta, straight.last_theta)

import numpy as np
import pytest
from riskgrad.algorithms.path import measure_at, settled

import riskgrad as rg
from riskgrad.algorithms import SquarePath
from riskgrad.distortion import DualPower
from riskgrad.errors import InputError

LEVELS = np.linspace(0.0, 1.0, 101)
LAW = rg.DiscreteLaw([-6.0, -1.0, 0.0, 2.0], [0.15, 0.25, 0.2, 0.4])


def on_the_way(risk, weight):
    _, start = settled(SquarePath(0.5), risk)
    return measure_at(risk, start, weight)


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("attitude", ["averse", "seeking"])
def test_the_path_from_the_square_mixes_the_worse_of_two_with_the_measure(weight, attitude):
    risk = rg.risk.CVaR(0.1, attitude=attitude)
    two = np.minimum if attitude == "averse" else np.maximum
    pair = np.sum(np.outer(LAW.probabilities, LAW.probabilities) * two.outer(LAW.values, LAW.values))
    found = on_the_way(risk, weight)
    assert found.value(LAW) == pytest.approx((1 - weight) * pair + weight * risk.value(LAW), abs=1e-12)
    assert found.attitude == attitude


def test_it_ends_at_the_measure_itself():
    risk = rg.risk.CVaR(0.1)
    assert on_the_way(risk, 1.0) is risk


def test_it_sees_ruin_above_the_tail_where_the_mean_prefers_it():
    # ruin fills the worst tenth of both: all that CVaR(0.1) and the path from the mean see is the mean
    careful = rg.DiscreteLaw([-6.0, 1.0], [0.12, 0.88])
    bold = rg.DiscreteLaw([-6.0, 2.0], [0.2, 0.8])
    risk = rg.risk.CVaR(0.1)
    assert risk.value(careful) == risk.value(bold) == -6.0
    assert careful.mean < bold.mean
    assert risk.along(0.5).value(careful) < risk.along(0.5).value(bold)
    assert on_the_way(risk, 0.5).value(careful) > on_the_way(risk, 0.5).value(bold)


@pytest.mark.parametrize("risk", ["cvar:0.5", "exponential:1", "mean-variance:0.5", "mean"])
def test_where_a_path_starts(risk):
    measure = rg.risk.parse(risk)
    start = DualPower(2.0) if risk == "cvar:0.5" else None
    assert settled(SquarePath(0.5), measure) == (0.5, start)
    assert settled(0.5, measure) == (0.5, None)
    assert settled(None, measure) == (None, None)
    assert measure_at(measure, None, 0.25).value(LAW) == measure.along(0.25).value(LAW)


@pytest.mark.parametrize("path", [0.0, 1.5, SquarePath(0.0), SquarePath(-1.0), True, "half"])
def test_a_bad_path_gets_one_line(path):
    with pytest.raises(InputError, match="risk_path must be a part of the run"):
        settled(path, rg.risk.CVaR(0.1))


def test_a_run_says_where_its_path_started():
    mdp = rg.mdp.two_roads()
    options = {"risk": "cvar:0.1", "iterations": 4, "episodes": 50, "held_out": 0}
    square, mean = (rg.train(mdp, risk_path=path, **options) for path in (SquarePath(0.5), 0.5))
    assert [line["path"] for line in square.history] == [0.0, 0.5, 1.0, 1.0]
    assert (square.settings["risk_path_start"], mean.settings["risk_path_start"]) == ("dual-power:2", "mean")
    assert any("(1 - w) dual-power:2 + w cvar:0.1" in note for note in square.notes)
    assert any("(1 - w) mean + w cvar:0.1" in note for note in mean.notes)
    assert not np.array_equal(square.last_theta, mean.last_theta)

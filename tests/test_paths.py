import numpy as np
import pytest
from support.training import train_briefly, train_plainly

import riskgrad as rg
from riskgrad.distortion import DualPower
from riskgrad.errors import InputError
from riskgrad.paths import LevelPath, SquarePath, choose_path, choose_paths

LAW = rg.DiscreteLaw([-6.0, -1.0, 0.0, 2.0], [0.15, 0.25, 0.2, 0.4])


def along_the_path(risk, weight):
    return choose_path(SquarePath(0.5), risk, "practical").measure(weight)


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("attitude", ["averse", "seeking"])
def test_the_path_from_the_square_mixes_the_worse_of_two_with_the_measure(weight, attitude):
    risk = rg.risk.CVaR(0.1, attitude=attitude)
    two = np.minimum if attitude == "averse" else np.maximum
    pair = np.sum(np.outer(LAW.probabilities, LAW.probabilities) * two.outer(LAW.values, LAW.values))
    found = along_the_path(risk, weight)
    assert found.value(LAW) == pytest.approx((1 - weight) * pair + weight * risk.value(LAW), abs=1e-12)
    assert found.attitude == attitude


def test_it_ends_at_the_measure_itself():
    risk = rg.risk.CVaR(0.1)
    assert along_the_path(risk, 1.0) is risk


def test_it_sees_ruin_above_the_tail_where_the_mean_prefers_it():
    # ruin fills the worst tenth of both: all that CVaR(0.1) and the path from the mean see is the mean
    careful = rg.DiscreteLaw([-6.0, 1.0], [0.12, 0.88])
    bold = rg.DiscreteLaw([-6.0, 2.0], [0.2, 0.8])
    risk = rg.risk.CVaR(0.1)
    assert risk.value(careful) == risk.value(bold) == -6.0
    assert careful.mean < bold.mean
    assert risk.along(0.5).value(careful) < risk.along(0.5).value(bold)
    assert along_the_path(risk, 0.5).value(careful) > along_the_path(risk, 0.5).value(bold)


@pytest.mark.parametrize("risk", ["cvar:0.5", "exponential:1", "mean-variance:0.5", "mean"])
def test_where_a_path_starts(risk):
    measure = rg.risk.parse(risk)
    start = DualPower(2.0) if risk == "cvar:0.5" else None
    chosen = {option: choose_path(option, measure, "practical") for option in (SquarePath(0.5), 0.5, None)}
    assert [(path.part, path.start) for path in chosen.values()] == [(0.5, start), (0.5, None), (None, None)]
    assert chosen[0.5].measure(0.25).value(LAW) == measure.along(0.25).value(LAW)


@pytest.mark.parametrize("risk", ["cvar:0.5", "exponential:1", "mean"])
@pytest.mark.parametrize("option", [SquarePath(0.4), 0.25, None])
def test_a_path_is_read_from_what_it_prints(risk, option):
    path = choose_path(option, rg.risk.parse(risk), "practical")
    assert choose_path(str(path), path.risk, "practical") == path


def test_auto_is_the_square_over_half_of_the_run_where_there_is_somewhere_to_go():
    averse, neutral = rg.risk.CVaR(0.1), rg.risk.Mean()
    assert choose_path("auto", averse, "practical") == choose_path(SquarePath(0.5), averse, "practical")
    for risk, schedule in ((neutral, "practical"), (averse, "paper")):
        assert choose_path("auto", risk, schedule).part is None


@pytest.mark.parametrize("path", [0.0, 1.5, True, "half", "cube:0.5", "square:0", "levels:-1"])
def test_a_bad_path_gets_one_line(path):
    with pytest.raises(InputError, match=r"risk_path must be .*a part of the run in"):
        choose_path(path, rg.risk.CVaR(0.1), "practical")


@pytest.mark.parametrize("kind", [SquarePath, LevelPath])
@pytest.mark.parametrize("part", [0.0, -1.0, 1.5, float("nan"), True, "half"])
def test_a_path_over_a_bad_part_cannot_be_made(kind, part):
    with pytest.raises(InputError, match=r"risk_path must be .*a part of the run in"):
        kind(part)


def test_a_run_says_where_its_path_started():
    mdp = rg.mdp.two_roads()
    options = {"risk": "cvar:0.1", "iterations": 4, "algorithm": rg.Score(episodes=50), "held_out": 0}
    square, mean = (train_briefly(mdp, risk_path=path, **options) for path in (SquarePath(0.5), 0.5))
    assert [line["path"] for line in square.history] == [0.0, 0.5, 1.0, 1.0]
    assert (square.settings.risk_path, mean.settings.risk_path) == ("square:0.5", "0.5")
    assert any("(1 - w) dual-power:2 + w cvar:0.1" in note for note in square.notes)
    assert any("(1 - w) mean + w cvar:0.1" in note for note in mean.notes)
    assert not np.array_equal(square.last_theta, mean.last_theta)


def plain(risk, **options):
    mdp = rg.mdp.two_roads()
    policy = rg.policy.TabularGibbs(mdp.n_states, mdp.n_actions)
    return train_plainly(rg.OnPSF, mdp, policy, risk, held_out=0, **options)


def test_a_path_is_followed_and_said():
    run = plain("cvar:0.1", iterations=8, risk_path=0.5)
    assert [line["path"] for line in run.history] == [0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0]
    assert "over the first 50% of the run (1 - w) mean + w cvar:0.1 was optimized" in run.notes[0]
    neutral = plain("mean", iterations=1, seed=2)
    first = plain("cvar:0.1", iterations=1, risk_path=1.0, seed=2)
    np.testing.assert_allclose(first.last_theta, neutral.last_theta, atol=1e-12)


@pytest.mark.parametrize("weight", [0.0, 0.1, 0.3, 0.7, 1.0])
def test_a_path_by_levels_goes_through_ever_smaller_tails(weight):
    risk = rg.risk.CVaR(0.1)
    path, level = choose_path(LevelPath(0.5), risk, "practical"), 0.1**weight
    # a level above one half is a mixture of the mean and the worse half
    worse = 2.0 * (1.0 - level)
    expected = (
        rg.risk.CVaR(level).value(LAW)
        if level <= 0.5
        else (1 - worse) * LAW.mean + worse * rg.risk.CVaR(0.5).value(LAW)
    )
    assert path.measure(weight).value(LAW) == pytest.approx(expected, abs=1e-12)
    assert choose_path(str(path), risk, "practical") == path
    assert path.meaning.endswith("CVaR was optimized at a level that fell from 1 to 0.1")


def test_a_path_by_levels_needs_a_bad_tail():
    with pytest.raises(InputError, match="risk_path must not go by levels for a measure of no bad tail"):
        choose_path(LevelPath(0.5), rg.risk.parse("dual-power:3"), "practical")


@pytest.mark.parametrize(
    ("risk", "paths"),
    [
        ("cvar:0.1", ["square:0.5", "0.5", "none", "levels:0.5"]),
        ("dual-power:3", ["square:0.5", "0.5", "none"]),
        ("exponential:1", ["0.5", "none"]),  # milder than the square
        ("mean-variance:0.1", ["none"]),  # the mean's optimum may be far from its own
        ("mean", ["none"]),
    ],
)
def test_the_paths_that_are_tried_side_by_side(risk, paths):
    measure = rg.risk.parse(risk)
    assert [str(path) for path in choose_paths("auto", measure, "practical")] == paths
    assert [str(path) for path in choose_paths("auto", measure, "paper")] == ["none"]
    for path in (None, 0.25):
        assert choose_paths(path, measure, "practical") == (choose_path(path, measure, "practical"),)

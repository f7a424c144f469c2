"""The frontier: from neutral to averse, best of three starts, and which policies are efficient."""

import json
import os
import signal

import numpy as np
import pytest
from support.signals import usual_handlers
from support.watching import telling

import riskgrad as rg
from riskgrad.errors import InputError, Stopped
from riskgrad.evaluation import Row
from riskgrad.pages.family import FrontierPoint, find_efficient, frontier, train_frontier
from riskgrad.pages.plots import _labels, plot_frontier
from riskgrad.pages.style import AVERSE, NEUTRAL


@pytest.fixture(scope="module")
def family():
    news = []
    watch = telling(lambda *told: news.append(told))
    found = train_frontier(watch, "two-roads", "cvar", [0.5, 0.2, 0.1], iterations=40, episodes=3000)
    return found, news


def test_the_ends_are_the_known_best_policies(family):
    """Pass for the mean (-22.8), valley for the tail (-28, CVaR -30); at 0.2 the valley too, -30 against about -41."""
    found, _ = family
    points = {point.risk: point for point in found.points}
    assert list(points) == ["mean", "cvar:0.5", "cvar:0.2", "cvar:0.1"]
    assert points["mean"].mean.value == pytest.approx(-22.8, abs=0.6)
    assert points["cvar:0.1"].against.value == pytest.approx(-30.0, abs=1.0)
    assert points["cvar:0.2"].own.value == pytest.approx(-30.0, abs=3.0)
    assert points["cvar:0.1"].efficient
    assert found.against == "cvar:0.1"


def test_every_level_has_three_starts_and_counts_them_all(family):
    found, news = family
    ended = [label for label, line in news if line is None]
    assert ended[:5] == ["mean path", "cvar:0.5 path", "cvar:0.2 path", "cvar:0.1 path", "cvar:0.5 direct"]
    assert ended[7:] == ["cvar:0.5 warm", "cvar:0.2 warm", "cvar:0.1 warm"]
    assert len(ended) == 10
    assert [line["iteration"] for label, line in news if label == "mean path" and line] == list(range(40))
    used = {point.risk: point.episodes_used for point in found.points}
    assert used["mean"] == found.runs["mean"].episodes_used
    # the starts without a path have no race to decide, as the mean has none
    assert used["cvar:0.1"] == found.runs["cvar:0.1"].episodes_used + 2 * found.runs["mean"].episodes_used
    assert {point.start for point in found.points} <= {"path", "direct", "warm"}


def test_it_is_drawn_saved_and_written_as_json(family, tmp_path):
    found, _ = family
    plot_frontier(found, tmp_path / "frontier.svg")
    text = (tmp_path / "frontier.svg").read_text()
    assert "cvar:0.1 (right is safer)" in text
    assert "cvar:0.5" in text
    assert all(color in text for color in (NEUTRAL, AVERSE))
    found.save_runs(tmp_path / "family")
    assert rg.load(tmp_path / "family" / "cvar-0.1").settings.risk == "cvar:0.1"
    assert json.loads(json.dumps(found.as_dict()))["points"][0]["risk"] == "mean"


def row(value):
    return Row("x", value, None, None, (value, value), None)


def test_efficient_means_not_surely_beaten():
    """Shifted by a constant a run is surely worse; in another order it is as good; the last has a milder tail."""
    values = np.random.default_rng(0).normal(size=500)
    table = np.stack([values, values - 0.5, values[::-1], values * 0.1 - 0.3])
    measures = [rg.risk.Mean(), rg.risk.CVaR(0.1)]
    assert list(find_efficient(table, measures, 0.95, seed=0)) == [True, False, True, True]


def test_policies_on_one_spot_share_a_label():
    spots = {"a": (0.0, 10.0), "b": (5.0, 5.0), "c": (5.1, 4.9), "d": (5.1, 0.0)}
    points = [
        FrontierPoint(name, "path", 1, row(mean), row(0), row(risk), efficient=True)
        for name, (risk, mean) in spots.items()
    ]
    assert [names for _, names in _labels(points)] == [["a"], ["b", "c"], ["d"]]


def test_any_backend_gives_the_same_family():
    options = {"iterations": 4, "episodes": 200, "seed": 3}
    one = frontier("two-roads", "cvar", [0.2], **options)
    news = []
    watch = telling(lambda *told: news.append(told))
    two = train_frontier(watch, "two-roads", "cvar", [0.2], **options, backend="processes:2")
    assert one.as_dict() == two.as_dict()
    for risk, run in one.runs.items():
        np.testing.assert_array_equal(run.theta, two.runs[risk].theta)
        assert run.history == two.runs[risk].history
    assert {label for label, line in news if line is None} == {
        "mean path",
        "cvar:0.2 path",
        "cvar:0.2 direct",
        "cvar:0.2 warm",
    }
    assert any(line is not None for _, line in news), "something is told while they run"


def test_a_warm_start_is_the_best_of_the_level_before():
    found = frontier("two-roads", "cvar", [0.2], iterations=3, episodes=50, seed=1)
    again = rg.train("two-roads", "cvar:0.2", iterations=3, seed=1, risk_path=None, theta=found.runs["mean"].theta)
    starts = {point.risk: point.start for point in found.points}
    if starts["cvar:0.2"] == "warm":
        np.testing.assert_array_equal(found.runs["cvar:0.2"].theta, again.theta)
    assert found.runs["cvar:0.2"].held_out_risk >= again.held_out_risk


def test_a_stopped_training_stops_the_family():

    def progress(label, line):
        if line is not None and line["iteration"] == 1:
            os.kill(os.getpid(), signal.SIGINT)

    with (
        usual_handlers(),
        pytest.raises(Stopped, match="with 0 of 3 trainings finished; nothing is kept without folder="),
    ):
        train_frontier(telling(progress), "two-roads", "cvar", [0.1], iterations=5)


def test_bad_levels_are_refused():
    with pytest.raises(InputError, match="levels must be at least one number"):
        frontier("two-roads", "cvar", [])
    with pytest.raises(InputError, match="alpha must be in"):
        frontier("two-roads", "cvar", [0.9])
    with pytest.raises(InputError, match="levels must be different"):
        frontier("two-roads", "cvar", [0.5, 0.5], iterations=1, episodes=10)
    with pytest.raises(InputError, match="env must be found by its name in each process"):
        frontier(lambda: rg.mdp.FiniteMDP(*[[[[1.0]]]] * 2), "cvar", [0.5], iterations=1, backend="processes:2")
    with pytest.raises(InputError, match="workers must be an integer of at least 1"):
        frontier("two-roads", "cvar", [0.5], iterations=1, backend="processes:0")


@pytest.mark.parametrize(
    ("risk", "got"),
    [
        ("cvar:0.1", "'cvar:0.1'"),
        ("mean", "'mean'"),
        (rg.risk.CVaR(0.1), "'cvar:0.1'"),
        (rg.risk.CVaR, "<class 'riskgrad.risk.cvar.CVaR'>"),
        ("", "''"),
    ],
)
def test_what_is_not_the_name_of_a_measure_is_told_what_it_has_to_be(risk, got):
    with pytest.raises(InputError) as told:
        frontier("two-roads", risk, levels=[0.1])
    rule = "be the name of a measure with one number, such as 'cvar'"
    assert str(told.value) == f"risk must {rule}, got {got}; its numbers are levels="
    with pytest.raises(InputError, match="did you mean 'cvar'"):
        frontier("two-roads", "cvr")


FEW = {"algorithm": "score:episodes=10", "iterations": 2, "held_out": 10, "episodes": 50}


def test_a_kept_frontier_goes_on_where_it_was_stopped(tmp_path):
    """Stopped in its second round, it trains again only what was not finished; levels may be added."""
    folder = tmp_path / "x"

    def stop(label, line):
        if line is not None and label.endswith("warm"):
            os.kill(os.getpid(), signal.SIGINT)

    with usual_handlers(), pytest.raises(Stopped, match=r"pass resume= to go on$"):
        train_frontier(telling(stop), "two-roads", "cvar", [0.5, 0.1], folder=folder, **FEW)
    done = {place: place.stat().st_mtime_ns for place in folder.rglob("path/checkpoint-*")}
    assert len(done) >= 3
    found = frontier("two-roads", "cvar", [0.5, 0.1], resume=folder, **FEW)
    assert found.as_dict() == frontier("two-roads", "cvar", [0.5, 0.1], **FEW).as_dict()
    assert {place: place.stat().st_mtime_ns for place in folder.rglob("path/checkpoint-*")} == done
    np.testing.assert_array_equal(rg.load(folder / "cvar-0.1").theta, found.runs["cvar:0.1"].theta)
    more = frontier("two-roads", "cvar", [0.5, 0.2, 0.1], resume=folder, **FEW)
    assert more.as_dict() == frontier("two-roads", "cvar", [0.5, 0.2, 0.1], **FEW).as_dict()
    with pytest.raises(InputError, match="folder must not hold a frontier already"):
        frontier("two-roads", "cvar", [0.5, 0.1], folder=folder, **FEW)
    with pytest.raises(InputError, match="iterations must be what the run began with, got 3; it was 2"):
        frontier("two-roads", "cvar", [0.5, 0.1], resume=folder, **{**FEW, "iterations": 3})


def test_bad_input_is_refused_before_anything_is_written(tmp_path):
    for given, words in (
        ({"levels": [0.9]}, "alpha must be in"),
        ({"iterations": 0}, "iterations must be"),
        ({"episodes": 1}, "episodes must be an integer of at least 2"),
        ({"callback": print}, "callback must not be given to rg.frontier"),
        ({"progress": print}, "progress must be True, False or 'auto'"),
        ({"resume": tmp_path / "y"}, "folder and resume must not both be given"),
    ):
        with pytest.raises(InputError, match=words):
            frontier("two-roads", folder=tmp_path / "x", **given)
    assert list(tmp_path.iterdir()) == []

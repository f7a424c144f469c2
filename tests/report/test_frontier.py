"""The frontier: from neutral to averse, best of three starts, and which policies are efficient."""

import json

import pytest

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.evaluation import Row
from riskgrad.report.frontier import Point, _efficient, _labels, frontier, plot_frontier


@pytest.fixture(scope="module")
def family():
    labels = []

    def progress(label):
        labels.append(label)
        return lambda line, theta: None

    found = frontier("two-roads", "cvar", [0.5, 0.2, 0.1], iterations=40, episodes=3000, progress=progress)
    return found, labels


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
    found, labels = family
    assert labels[:4] == ["mean path", "cvar:0.5 path", "cvar:0.5 direct", "cvar:0.5 warm"]
    assert len(labels) == 10
    used = {point.risk: point.episodes_used for point in found.points}
    assert used["mean"] == found.runs["mean"].episodes_used
    assert used["cvar:0.1"] == 3 * found.runs["cvar:0.1"].episodes_used
    assert {point.start for point in found.points} <= {"path", "direct", "warm"}


def test_it_is_drawn_saved_and_written_as_json(family, tmp_path):
    found, _ = family
    plot_frontier(found, tmp_path / "frontier.svg")
    text = (tmp_path / "frontier.svg").read_text()
    assert "cvar:0.1 (right is safer)" in text
    assert "cvar:0.5" in text
    found.save_runs(tmp_path / "family")
    assert rg.load(tmp_path / "family" / "cvar-0.1").settings["risk"] == "cvar:0.1"
    assert json.loads(json.dumps(found.as_dict()))["points"][0]["risk"] == "mean"


def row(value):
    return Row("x", value, None, None, (value, value), None)


def test_efficient_means_not_beaten_on_both_counts():
    found = [(name, row(mean), row(0.0), row(risk)) for name, mean, risk in (("a", 3, 1), ("b", 2, 2), ("c", 2, 1))]
    assert [_efficient(found, mean.value, risk.value) for _, mean, _, risk in found] == [True, True, False]


def test_policies_on_one_spot_share_a_label():
    spots = {"a": (0.0, 10.0), "b": (5.0, 5.0), "c": (5.1, 4.9), "d": (5.1, 0.0)}
    points = [
        Point(name, "path", 1, row(mean), row(0), row(risk), efficient=True) for name, (risk, mean) in spots.items()
    ]
    assert [names for _, names in _labels(points)] == [["a"], ["b", "c"], ["d"]]


def test_a_stopped_training_stops_the_family():
    with pytest.raises(KeyboardInterrupt):
        frontier("two-roads", "cvar", [0.1], iterations=5, progress=lambda label: lambda line, theta: True)


def test_bad_levels_are_refused():
    with pytest.raises(InputError, match="levels must be at least one number"):
        frontier("two-roads", "cvar", [])
    with pytest.raises(InputError, match="alpha must be in"):
        frontier("two-roads", "cvar", [0.9])
    with pytest.raises(InputError, match="levels must be different"):
        frontier("two-roads", "cvar", [0.5, 0.5], iterations=1, episodes=10)

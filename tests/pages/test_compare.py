"""Paired comparisons: the same episodes for all runs, known differences, honest certainty."""

import dataclasses
import json

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.pages.comparison import compare, compare_played
from riskgrad.pages.played import PlayedRun, name_paths, name_runs, play_runs


def made(name, values, law=None):
    return PlayedRun(name, None, rg.risk.Mean(), None, np.asarray(values, dtype=float), law)


def test_a_shift_of_every_episode_is_a_difference_without_doubt():
    """Paired: the noise of the episodes cancels, whatever it is."""
    values = np.random.default_rng(0).normal(size=500)
    measures = [rg.risk.parse(name) for name in ("mean", "cvar:0.1", "mean-variance:0.5")]
    found = compare_played([made("a", values), made("b", values + 0.25)], measures)
    for row in found.rows:
        assert row.difference == pytest.approx(0.25, abs=1e-12)
        assert row.interval == pytest.approx((0.25, 0.25), abs=1e-9)
        assert row.better == 1.0
        assert row.exact is None


def test_an_interval_that_rests_on_few_episodes_is_marked():
    values = np.random.default_rng(1).normal(size=1_000)
    measures = [rg.risk.Mean(), rg.risk.CVaR(0.01)]
    found = compare_played([made("a", values), made("b", values + 0.25)], measures)
    assert [row.flag for row in found.rows] == [None, "it depends on about 10 of 1,000 episodes; want 20"]
    assert str(found).endswith("* not to be relied on: it depends on about 10 of 1,000 episodes; want 20")
    assert str(found).count(" *  ") == found._repr_html_().count(" *</td>") == 1


def test_equal_runs_are_even():
    values = np.random.default_rng(1).normal(size=200)
    (row,) = compare_played([made("a", values), made("b", values)], [rg.risk.CVaR(0.2)]).rows
    assert (row.difference, row.interval, row.better) == (0.0, (0.0, 0.0), 0.5)


def test_unrelated_runs_get_the_interval_of_two_independent_means():
    """Against the normal interval of a difference of means; its width is within 10% (fixed seeds)."""
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=4000), rng.normal(-0.06, size=4000)
    (row,) = compare_played([made("a", a), made("b", b)], [rg.risk.Mean()]).rows
    half = 1.96 * np.sqrt((np.var(a) + np.var(b)) / 4000)
    assert row.interval[1] - row.interval[0] == pytest.approx(2 * half, rel=0.1)
    assert 0.0 < row.better < 1.0


def test_the_interval_and_chance_turn_over_with_the_order():
    rng = np.random.default_rng(3)
    a, b = made("a", rng.normal(size=300)), made("b", rng.normal(size=300))
    (there,) = compare_played([a, b], [rg.risk.CVaR(0.3)]).rows
    (back,) = compare_played([b, a], [rg.risk.CVaR(0.3)]).rows
    assert back.difference == pytest.approx(-there.difference)
    assert there.first == back.second == "a"


def test_runs_are_played_on_the_same_episodes(runs):
    one, other = play_runs({"x": runs["neutral"], "y": runs["neutral"]}, episodes=300, seed=5)
    np.testing.assert_array_equal(one.values, other.values)
    assert not np.array_equal(one.values, play_runs({"x": runs["neutral"]}, episodes=300, seed=6)[0].values)


def test_the_averse_run_is_better_in_the_tail_and_worse_on_average(runs):
    found = compare(runs, episodes=2000)
    mean, tail = found.of("averse", "mean"), found.of("averse", "cvar:0.1")
    assert mean.interval[1] < 0.0 < tail.interval[0]
    assert (mean.better, tail.better) == (0.0, 1.0)
    for row in (mean, tail):
        width = row.interval[1] - row.interval[0]
        assert row.interval[0] - width < row.exact < row.interval[1] + width
    assert json.loads(json.dumps(found.as_dict()))["rows"][0]["second"] == "averse"
    assert found == compare(runs, episodes=2000), "the seed decides"


def test_bad_input_is_refused(runs, tmp_path):
    with pytest.raises(InputError, match="runs must be at least two, got 1"):
        compare({"one": runs["neutral"]})
    with pytest.raises(InputError, match="confidence must be in"):
        compare(runs, episodes=50, confidence=1.0)
    with pytest.raises(InputError, match="run and risk must be in the comparison"):
        compare(runs, episodes=50).of("averse", "cvar:0.3")
    other = dataclasses.replace(runs["averse"], settings=dataclasses.replace(runs["averse"].settings, env="ruin"))
    with pytest.raises(InputError, match=r"runs must be of one environment.*env=$"):
        compare({"a": runs["neutral"], "b": other})
    settings = dataclasses.replace(runs["averse"].settings, env=None)
    nameless = dataclasses.replace(runs["averse"], settings=settings, given_env=None)
    with pytest.raises(InputError, match="env must be given, since the run b"):
        play_runs({"b": nameless})
    assert len(play_runs({"b": nameless}, "two-roads", episodes=10)[0].values) == 10
    runs["averse"].save(tmp_path / "run")
    with pytest.raises(InputError, match="be different runs"):
        name_paths([tmp_path / "run", tmp_path / "run"])


def test_runs_are_named_by_as_much_of_their_path_as_needed(runs, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        runs["averse"].save(tmp_path / folder / "run")
    assert list(name_paths([tmp_path / "a" / "run"])) == ["run"]
    assert list(name_paths([tmp_path / "a" / "run", tmp_path / "b" / "run"])) == ["a/run", "b/run"]


def test_runs_come_by_name_in_a_list_or_as_paths(runs, tmp_path):
    neutral, averse = runs["neutral"], runs["averse"]
    by_name = rg.compare(runs, risk="mean", episodes=100)
    in_list = rg.compare([neutral, averse], risk="mean", episodes=100)
    assert [row.difference for row in in_list.rows] == [row.difference for row in by_name.rows]
    assert (in_list.rows[0].first, in_list.rows[0].second) == (str(neutral.risk), str(averse.risk))
    assert list(name_runs([neutral, neutral])) == ["mean", "mean (2)"]
    neutral.save(tmp_path / "kept")
    assert list(name_runs(tmp_path / "kept")) == ["kept"]
    assert list(name_runs([averse, tmp_path / "kept"])) == [str(averse.risk), "kept"]
    assert rg.report(neutral, tmp_path / "page.html", episodes=50).read_text().startswith("<!DOCTYPE html>")


def test_a_misspelled_keyword_is_refused_with_the_nearest_one(runs):
    with pytest.raises(TypeError, match=r"rg\.compare has no keyword 'episods'; did you mean 'episodes'\?"):
        rg.compare(runs, episods=10)  # pyright: ignore[reportCallIssue]

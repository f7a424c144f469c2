"""Experiments: what seeds reach together, kept, killed and resumed to the bit; the page and the commands."""

import json
import multiprocessing
import os
import time
from dataclasses import replace

import numpy as np
import pytest
from support.peers import import_rliable
from support.watching import telling

import riskgrad as rg
from riskgrad.cli import main
from riskgrad.errors import DamagedFileError, InputError, KeywordError, StorageError
from riskgrad.evaluation import aggregate_seeds, compare_seeds
from riskgrad.experiments.bands import align_histories
from riskgrad.experiments.record import RECORD, Record, read_record, write_record
from riskgrad.experiments.study import train_experiment
from riskgrad.pages.prose import write, write_interval
from riskgrad.run.lock import lock_folder
from riskgrad.run.store import HISTORY

RISKS = ["mean", "cvar:0.5", "cvar:0.1"]
OPTIONS = {"algorithm": "score:episodes=40", "iterations": 30, "held_out": 40, "checkpoint_seconds": 0.01}


def study(**more):
    return rg.experiment("two-roads", RISKS, seeds=5, episodes=400, **{**OPTIONS, **more})


def run_study(tell, **more):
    return train_experiment(telling(tell), "two-roads", RISKS, 5, episodes=400, **{**OPTIONS, **more})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    news = []
    folder = tmp_path_factory.mktemp("whole") / "experiment"
    return run_study(lambda *told: news.append(told), folder=folder), news


def test_every_measure_with_every_seed_on_the_same_episodes(whole):
    found, news = whole
    assert (found.risks, found.seeds, found.measures) == (tuple(RISKS), (0, 1, 2, 3, 4), tuple(RISKS))
    assert found.scores.shape == (3, 5, 3)
    assert [label for label, line in news if line is None][:2] == ["mean seed 0", "mean seed 1"]
    alone = rg.train("two-roads", "cvar:0.1", seed=3, **OPTIONS)
    np.testing.assert_array_equal(alone.theta, found.runs["cvar:0.1", 3].theta)
    table = rg.evaluate(alone, "two-roads", ["cvar:0.5"], episodes=400)
    assert found.scores_of("cvar:0.1", "cvar:0.5")[3] == table["cvar:0.5"].value


def test_the_seed_is_the_unit(whole):
    found, _ = whole
    rows = {(row.trained_on, row.risk): row for row in found.table()}
    assert len(rows) == 9
    scores = found.scores_of("cvar:0.5", "mean")
    row = rows["cvar:0.5", "mean"]
    assert row.aggregate == aggregate_seeds(scores)
    assert (row.lowest, row.highest, row.seeds) == (scores.min(), scores.max(), 5)
    assert row.untrained == rows["mean", "mean"].untrained < -25.0
    better = {(row.trained_on, row.risk): row.aggregate for row in found.improvements()}
    assert list(better) == [(one, risk) for one in RISKS[1:] for risk in RISKS]
    assert better["cvar:0.1", "mean"] == compare_seeds(
        found.scores_of("cvar:0.1", "mean"), found.scores_of("mean", "mean")
    )
    assert json.loads(json.dumps(found.as_dict()))["seeds"] == [0, 1, 2, 3, 4]


def test_print_and_notebooks_show_every_row(whole):
    found, _ = whole
    reached, better = found.texts()
    assert reached.title == "Interquartile means over 5 seeds (400 fresh episodes each)"
    assert [row[:2] for row in reached.rows] == [(trained_on, risk) for trained_on in RISKS for risk in RISKS]
    row = found.table()[4]
    ends = row.aggregate.interval
    assert reached.rows[4][2:4] == (write(row.aggregate.value, ends[1] - ends[0]), write_interval(ends))
    assert [row[:2] for row in better.rows] == [(trained_on, risk) for trained_on in RISKS[1:] for risk in RISKS]
    lines = str(found).splitlines()
    assert (lines[0], lines[12], lines[13]) == (reached.title, "", better.title)
    assert [line.split()[:2] for line in lines[3:12]] == [list(row[:2]) for row in reached.rows]
    page = found._repr_html_()
    for table in (reached, better):
        assert f"<caption>{table.title}</caption>" in page
        assert all(f"<td>{cell}</td>" in page for row in table.rows for cell in row[1:])
    assert repr(found) == f"<Experiment: {', '.join(RISKS)}; seeds 0, 1, 2, 3, 4>"
    alone = replace(found, runs={key: run for key, run in found.runs.items() if key[0] == "mean"})
    assert [table.title for table in alone.texts()] == [reached.title]


def files(folder):
    return {path.parent.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob(HISTORY))}


@pytest.mark.parametrize("backend", ["serial", "processes:2"])
def test_killed_at_random_moments_and_resumed_it_ends_as_if_never_killed(whole, tmp_path, backend):
    """Three measures x five seeds, killed twice by SIGKILL, each time after a random number of lines."""
    if backend != "serial" and not os.environ.get("RISKGRAD_NEED_LEARNING"):
        pytest.skip("slow; the gate runs it")
    folder, moments = tmp_path / "killed", np.random.default_rng(4)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["riskgrad.algorithms", "riskgrad.experiments.study"])
    for low, high in ((20, 160), (200, 380)):
        process = context.Process(target=study, kwargs={"resume": folder, "backend": backend})
        process.start()
        wanted = moments.integers(low, high)
        while process.is_alive() and sum(text.count(b"\n") for text in files(folder).values()) < wanted:
            time.sleep(0.002)
        assert process.is_alive(), "it ended before it could be killed"
        process.kill()
        process.join()
    time.sleep(0.0 if backend == "serial" else 1.0)  # processes end with the one that started them, and let go
    done = {path: path.stat().st_mtime_ns for path in folder.glob("mean/seed-0/checkpoint-*")}
    killed, (never, _) = study(resume=folder), whole
    assert files(folder) == files(never.folder)
    assert len(files(folder)) == 15
    assert {path: path.stat().st_mtime_ns for path in folder.glob("mean/seed-0/checkpoint-*")} == done, "not again"
    np.testing.assert_array_equal(killed.scores, never.scores)
    for key, run in never.runs.items():
        for name in ("theta", "random_theta", "last_theta"):
            np.testing.assert_array_equal(getattr(killed.runs[key], name), getattr(run, name))
        assert rg.load(folder / read_record(folder).folder_of(*key)).finished
    assert killed.as_dict() == never.as_dict()


@pytest.mark.no_cover
def test_rliable_says_the_same_of_an_experiment(whole):
    """Every row: values to 1e-9; both ends of every interval to 2% of the width, with fixed seeds of rliable.

    The rows are the last axis of one matrix, whose columns rliable resamples each by itself. Its two functions take a
    column at a time, which is minutes for so many resamples: they give the values, and formulas of NumPy that
    agree with them on these values go through its bootstrap. The intervals of riskgrad are exact for five seeds. Those
    of rliable are drawn: two ends of improvements lie where the chance of a value is 0.00014 and 0.00025 from the
    level, which 50,000 resamples find with three of eight seeds, such as this one, and 10,000,000 with nearly any.
    """
    library, metrics = import_rliable()
    found, _ = whole
    np.random.seed(1)  # noqa: NPY002 - rliable draws from the global generator
    rows = list(found.table())
    scores = [found.scores_of(row.trained_on, row.risk) for row in rows]
    matrix = np.stack(scores, axis=-1)[:, np.newaxis]
    middle = lambda x: np.mean(np.sort(x[:, 0], axis=0)[1:4], axis=0)  # noqa: E731 - of five, a quarter is one
    said = library.get_interval_estimates({"x": matrix}, middle, reps=50_000)
    for row, one, value, ends in zip(rows, scores, said[0]["x"], said[1]["x"].T, strict=True):
        assert value == pytest.approx(metrics.aggregate_iqm(one[:, np.newaxis]), abs=1e-12)
        agree(row.aggregate, value, ends)
    rows = list(found.improvements())
    pairs = [(found.scores_of(row.trained_on, row.risk), found.scores_of(row.over, row.risk)) for row in rows]
    matrices = [np.stack(side, axis=-1)[:, np.newaxis] for side in zip(*pairs, strict=True)]
    np.random.seed(0)  # noqa: NPY002
    said = library.get_interval_estimates(
        {"x": matrices}, lambda x, y: np.mean(wins(x[:, np.newaxis, 0], y[:, 0]), axis=(0, 1)), reps=50_000
    )
    for row, pair, value, ends in zip(rows, pairs, said[0]["x"], said[1]["x"].T, strict=True):
        first, second = (one[:, np.newaxis] for one in pair)
        assert value == pytest.approx(metrics.probability_of_improvement(first, second), abs=1e-12)
        agree(row.aggregate, value, ends)


def wins(x, y):
    return (x > y) + 0.5 * (x == y)


def agree(ours, value, ends):
    assert ours.value == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(ours.interval, ends, rtol=0.0, atol=0.02 * (ends[1] - ends[0]) + 1e-9)


def test_one_seed_has_no_interval(tmp_path):
    found = rg.experiment(
        "two-roads", ["mean", "cvar:0.1"], 1, episodes=50, algorithm="score:episodes=20", iterations=2
    )
    reached, better = found.texts()
    assert reached.title == "What one seed reached (50 fresh episodes each); several show how seeds differ"
    assert {row[3] for row in (*reached.rows, *better.rows)} == {"none"}
    page = found.report(tmp_path / "one.html").read_text()
    assert "Trained on mean, one seed reaches mean " in page
    assert "One seed shows what may happen" in page
    assert "1 seeds" not in page


def test_measures_and_seeds_may_be_added_and_nothing_else_changed(tmp_path):
    few = {"algorithm": "score:episodes=20", "iterations": 2, "held_out": 10, "episodes": 50}
    first = rg.experiment("two-roads", ["mean"], [3], folder=tmp_path / "x", **few)
    more = rg.experiment("two-roads", ["cvar:0.1", "mean"], [3, 1], resume=tmp_path / "x", **few)
    np.testing.assert_array_equal(more.runs["mean", 3].theta, first.runs["mean", 3].theta)
    assert read_record(tmp_path / "x").risks == ("mean", "cvar:0.1")
    for changed, words in (
        ({"iterations": 3}, "iterations must be what the experiment began with, got 3; it was 2"),
        ({"env": "ruin"}, "env must be what the experiment began with, got 'ruin'; it was 'two-roads'"),
        ({"risks": ["mean"]}, "risks must hold all that the experiment began with"),
        ({"seeds": [3]}, "seeds must hold all that the experiment began with"),
    ):
        with pytest.raises(InputError, match=words):
            rg.experiment(
                **{"env": "two-roads", "risks": ["mean", "cvar:0.1"], "seeds": [3, 1], **few, **changed},
                resume=tmp_path / "x",
            )
    with pytest.raises(InputError, match="folder must not hold an experiment already"):
        rg.experiment("two-roads", ["mean"], [3], folder=tmp_path / "x", **few)
    with lock_folder(tmp_path / "x"), pytest.raises(StorageError, match="is training in it"):
        rg.experiment("two-roads", ["mean", "cvar:0.1"], [3, 1], resume=tmp_path / "x", **few)


def test_bad_input_is_refused_before_anything_is_written(tmp_path):
    for given, kind, words in (
        ({"risks": []}, InputError, "risks must be at least one measure"),
        ({"risks": ["mean", "mean"]}, InputError, "risks must be at least one measure, and different ones"),
        ({"seeds": 0}, InputError, "seeds must be an integer of at least 1"),
        ({"seeds": [1, 1]}, InputError, "seeds must be at least one number, and different ones"),
        ({"iteration": 3}, KeywordError, "rg.experiment has no keyword 'iteration'; did you mean 'iterations'"),
        ({"episods": 3}, KeywordError, "rg.experiment has no keyword 'episods'; did you mean 'episodes'"),
        ({"callback": print}, InputError, "callback must not be given to rg.experiment"),
        ({"iterations": 0}, InputError, "iterations must be"),
        ({"episodes": 1}, InputError, "episodes must be an integer of at least 2"),
        ({"progress": print}, InputError, "progress must be True, False or 'auto'"),
        ({"resume": tmp_path / "y"}, InputError, "folder and resume must not both be given"),
    ):
        with pytest.raises(kind, match=words):
            rg.experiment("two-roads", folder=tmp_path / "x", **given)
    assert list(tmp_path.iterdir()) == []


def test_the_record_is_whole_or_refused(tmp_path):
    record = Record("two-roads", ("a:1", "a-1", "mean"), (0, 7), {"iterations": 4})
    write_record(tmp_path, record)
    assert read_record(tmp_path) == record
    folders = {record.folder_of(risk, seed).as_posix() for risk in record.risks for seed in record.seeds}
    assert folders == {f"{name}/seed-{seed}" for name in ("a-1", "a-1-2", "mean") for seed in (0, 7)}
    assert next(run["folder"] for run in json.loads((tmp_path / RECORD).read_text())["runs"]) == "a-1/seed-0"
    text = (tmp_path / RECORD).read_text()
    for damaged in (text.replace("7", "8", 1), text[:-20], "[]", ""):
        (tmp_path / RECORD).write_text(damaged)
        with pytest.raises(DamagedFileError, match="the runs are whole"):
            read_record(tmp_path)
    assert read_record(tmp_path / "nowhere") is None


def test_a_run_that_ended_early_stays_where_it_ended(whole):
    found, _ = whole
    short = found.runs["mean", 0].__class__(
        **{**vars(found.runs["mean", 0]), "history": found.runs["mean", 0].history[:10]}
    )
    where, curves = align_histories([short, found.runs["mean", 1]], "mean")
    assert where[-1] == 29
    assert curves.shape == (2, 30)
    assert (curves[0, 9:] == curves[0, 9]).all()


def test_the_page_tells_of_seeds(whole, tmp_path):
    found, _ = whole
    text = found.report(tmp_path / "page.html").read_text()
    named = '<th scope="row" data-name="trained on">'  # on a phone, where no column has a heading
    assert text.count(named) == text.count('<th scope="row"') == 15
    assert text.count("<figure") == 6
    assert "3 measures, 5 seeds each, on two-roads" in text
    assert "5 seeds are few" in text
    assert "<span>--seed</span> <span>0</span>" in text
    assert "The other seeds: 1, 2, 3, 4." in text
    assert found.report(tmp_path / "again.html").read_text() == text


def run_command(*words):
    with pytest.raises(SystemExit) as ended:
        main([*words])
    return ended.value.code


def test_commands(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = ("--iterations", "2", "--backend", "serial", "--algorithm", "score:episodes=20")
    words = (
        "experiment",
        "two-roads",
        "--risk",
        "mean",
        "--risk",
        "cvar:0.1",
        "--seeds",
        "2",
        "--fresh-episodes",
        "60",
        *few,
    )
    assert run_command(*words, "--out", "x", "--page", "x.html") == 0
    said = capsys.readouterr().out
    assert "Interquartile means over 2 seeds" in said
    assert "How probably a seed reaches more than one trained on mean" in said
    assert "The page is in x.html." in said
    assert rg.load("x/cvar-0.1/seed-1").finished
    assert run_command(*words, "--out", "x", "--resume", "--json") == 0
    assert json.loads(capsys.readouterr().out)["risks"] == ["mean", "cvar:0.1"]
    assert run_command("train", "two-roads", "--seeds", "2", "--seed", "5", "--out", "y", *few) == 0
    assert "cvar:0.1" in capsys.readouterr().out
    assert rg.load("y/cvar-0.1/seed-6").settings.seed == 6
    assert run_command(*words, "--out", "x") == 2
    assert "not hold an experiment already" in capsys.readouterr().err
    assert run_command("train", "two-roads", "--seeds", "0", *few) == 2
    assert "--seeds must be an integer of at least 1, got 0" in capsys.readouterr().err

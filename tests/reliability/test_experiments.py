"""The folder of an experiment from elsewhere, damaged, or wanted by two: one line, nothing imported, nothing lost."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support.cluster import are_gone, descendants, wait_until
from support.cluster_envs import Paced
from support.signals import reset_signals, usual_handlers
from support.watching import telling

import riskgrad as rg
from riskgrad.cli import main
from riskgrad.errors import DamagedFileError, InputError, RiskgradError, Stopped, StorageError
from riskgrad.experiments.record import CHECK, RECORD, checksum_of
from riskgrad.experiments.study import train_experiment
from riskgrad.pages.family import train_frontier
from riskgrad.run.checkpoint import latest_checkpoint
from riskgrad.run.store import HISTORY

FEW = {"algorithm": "score:episodes=10", "iterations": 2, "held_out": 10, "episodes": 40, "checkpoint_seconds": 0.0}
HOLD = """
import sys, time
from contextlib import nullcontext
from riskgrad.experiments.study import train_experiment
def told(label, line):
    print("began", flush=True)
    time.sleep(60)
few = dict(algorithm="score:episodes=10", iterations=2)
train_experiment(lambda count: nullcontext(told), "two-roads", ["mean"], 1, resume=sys.argv[1], **few)
"""
SLOW = pytest.mark.skipif(not os.environ.get("RISKGRAD_NEED_RELIABILITY"), reason="slow; the gate runs it")
STUDY = {"algorithm": "score:episodes=10", "iterations": 30, "held_out": 10, "episodes": 40}
LONG = f"""
import sys
sys.path.append(sys.argv[1])
import riskgrad as rg
from support.cluster_envs import Paced
if __name__ == "__main__":
    where = dict(env_options=dict(until=sys.argv[2]), resume=sys.argv[3], backend="processes:2")
    rg.experiment(Paced, ["mean", "cvar:0.5"], 2, **where, **{STUDY})
"""


def study(folder, risks=("mean", "cvar:0.5"), **more):
    return rg.experiment("two-roads", risks, 2, resume=folder, **{**FEW, **more})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("experiments") / "whole"
    return study(folder), folder


@pytest.fixture
def copy(whole, tmp_path):
    return shutil.copytree(whole[1], tmp_path / "copy")


def forge(folder, **changes):
    """Change facts of a record, with the right checksum."""
    facts = json.loads((folder / RECORD).read_bytes())
    del facts[CHECK]
    facts.update(changes)
    (folder / RECORD).write_text(json.dumps({**facts, CHECK: checksum_of(facts)}))


@pytest.mark.parametrize(
    "changes",
    [
        {"env": 5},
        {"env": None, "risks": None},
        {"risks": "mean"},
        {"risks": [5]},
        {"seeds": [0.5]},
        {"seeds": [True]},
        {"seeds": ["../../elsewhere"]},
        {"options": []},
        {"format": 2},
        {"format": "\x1b[31m"},
    ],
)
def test_changed_facts_with_the_right_checksum_are_refused(copy, changes):
    forge(copy, **changes)
    with pytest.raises(DamagedFileError, match=r"experiment\.json (does not hold an experiment|has format)") as told:
        study(copy)
    assert str(told.value).isprintable()


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"null", b"{", b"[" * 100_000, b"\xff\xfe", b'{"check": 1}', b"9" * 9999]
)
def test_what_is_no_record_is_refused_with_what_to_do(copy, content):
    (copy / RECORD).write_bytes(content)
    with pytest.raises(DamagedFileError, match="remove this file and resume with the same arguments"):
        study(copy)
    assert (copy / RECORD).read_bytes() == content


def test_without_its_record_an_experiment_goes_on_with_its_runs(whole, copy):
    before = {path: path.stat().st_mtime_ns for path in copy.rglob("checkpoint-*")}
    (copy / RECORD).unlink()
    np.testing.assert_array_equal(study(copy).scores, whole[0].scores)
    assert {path: path.stat().st_mtime_ns for path in copy.rglob("checkpoint-*")} == before, "nothing is trained again"


def test_an_environment_in_a_record_is_never_imported(copy, tmp_path, monkeypatch, capsys):
    marker = tmp_path / "marker"
    (tmp_path / "evil_experiment.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(tmp_path)
    name = "evil_experiment:Foo-v0"
    forge(copy, env=name, options={"policy": name, "algorithm": name})
    with pytest.raises(InputError, match="env must be what the experiment began with"):
        study(copy)
    with pytest.raises(SystemExit) as ended:
        main(["experiment", "two-roads", "--seeds", "1", "--out", str(copy), "--resume"])
    said = capsys.readouterr().err
    assert (ended.value.code, said.count("\n") >= 1, "Traceback" in said) == (2, True, False)
    assert not marker.exists()
    assert "evil_experiment" not in sys.modules


@pytest.mark.parametrize("at", ["mean", "mean/seed-0"])
def test_a_run_is_not_written_through_a_link(copy, tmp_path, at):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.rmtree(copy / at)
    (copy / at).symlink_to(elsewhere)
    with pytest.raises(StorageError, match=r"cannot write .*: it is a symbolic link; choose a place"):
        study(copy)
    assert list(elsewhere.iterdir()) == []


def test_a_link_in_place_of_the_record_is_replaced_not_followed(copy, tmp_path):
    elsewhere = tmp_path / "elsewhere.json"
    shutil.copy(copy / RECORD, elsewhere)
    content = elsewhere.read_bytes()
    (copy / RECORD).unlink()
    (copy / RECORD).symlink_to(elsewhere)
    study(copy, ("mean", "cvar:0.5", "cvar:0.2"))
    assert elsewhere.read_bytes() == content
    assert not (copy / RECORD).is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", [RECORD, "lock"])
def test_a_pipe_does_not_hang(copy, name):
    (copy / name).unlink(missing_ok=True)
    os.mkfifo(copy / name)
    if name == RECORD:
        with pytest.raises(StorageError, match="not a file"):
            study(copy)
    else:
        study(copy)


def test_the_run_of_another_experiment_is_refused_by_name(copy):
    shutil.rmtree(copy / "mean" / "seed-0")
    shutil.copytree(copy / "mean" / "seed-1", copy / "mean" / "seed-0")
    with pytest.raises(InputError, match="seed must be what the run began with, got 0; it was 1"):
        study(copy)


def test_damaged_runs_fall_back_or_say_which(whole, copy):
    for path in copy.rglob("checkpoint-a.rg"):
        path.write_bytes(path.read_bytes()[:-7])
    with pytest.warns(RuntimeWarning, match="is used instead"):
        np.testing.assert_array_equal(study(copy).scores, whole[0].scores)
    (copy / "mean" / "seed-0" / "history.jsonl").write_bytes(b"")
    with pytest.raises(DamagedFileError, match=r"mean/seed-0/history\.jsonl is damaged"):
        study(copy)


def test_a_second_writer_is_refused_with_the_id_of_the_first(tmp_path, capsys):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "began\n"
            for call in (lambda: study(tmp_path), lambda: study(tmp_path, ("cvar:0.1",))):
                with pytest.raises(StorageError, match=f"process {process.pid} is training in it"):
                    call()
            with pytest.raises(SystemExit):
                main(["experiment", "two-roads", "--seeds", "1", "--out", str(tmp_path), "--resume"])
            assert f"process {process.pid} is training in it" in " ".join(capsys.readouterr().err.split())
        finally:
            process.kill()


@contextlib.contextmanager
def under_way(place):
    """Start an experiment of four runs on two processes; give it and its folder once two runs have some iterations."""
    script, folder = place / "script.py", place / "experiment"
    script.write_text(LONG)
    process = subprocess.Popen(
        [sys.executable, str(script), str(Path(__file__).parents[1]), str(place / "fast"), str(folder)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=reset_signals,  # noqa: PLW1509 - there are no threads
    )
    try:
        assert wait_until(lambda: sorted(count_lines(folder))[-2:-1] > [2], 120.0), "two runs have begun"
        yield process, folder
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def count_lines(folder):
    return [path.read_bytes().count(b"\n") for path in folder.rglob(HISTORY)]


@pytest.mark.parametrize(
    ("name", "everyone"),
    [("SIGINT", True), *(pytest.param("SIGTERM", everyone, marks=SLOW) for everyone in (True, False))],
)
def test_a_signal_lets_every_run_finish_its_iteration(tmp_path, name, everyone):
    """No run loses an iteration, though no checkpoint was due; the resumed experiment ends as if never stopped."""
    number = signal.Signals[name]
    with under_way(tmp_path) as (process, folder):
        began, others = time.monotonic(), descendants(process.pid)
        (os.killpg if everyone else os.kill)(process.pid, number)
        _, errors = process.communicate(timeout=60.0)
        assert time.monotonic() - began < 20.0
    first, last = errors.splitlines()
    assert first.startswith("riskgrad: stopping after this iteration; ")
    assert last == f"riskgrad: stopped by {name} with 0 of 4 trainings finished; pass resume= to go on"
    assert process.returncode == 128 + number
    assert len(others) >= 3, "two that train and one that passes on their news"
    assert wait_until(lambda: are_gone(others)), "a process was left behind"
    begun = [path.parent for path in folder.rglob(HISTORY)]
    assert len(begun) == 2, "the others have not begun"
    for place in begun:
        run = rg.load(place)
        assert latest_checkpoint(place).iteration == len(run.history) == count_lines(place)[0]
        assert 2 < len(run.history) < STUDY["iterations"]
        assert any(note.startswith(f"stopped by {name} after {len(run.history)} of 30") for note in run.notes)
    if everyone and name == "SIGINT":
        (tmp_path / "fast").touch()
        options = {"risks": ["mean", "cvar:0.5"], "seeds": 2, "env_options": {"until": str(tmp_path / "fast")}, **STUDY}
        resumed, never = (rg.experiment(Paced, resume=at, **options) for at in (folder, tmp_path / "never"))
        assert resumed.as_dict() == never.as_dict()
        for key, run in never.runs.items():
            for theta in ("theta", "random_theta", "last_theta"):
                np.testing.assert_array_equal(getattr(resumed.runs[key], theta), getattr(run, theta))


@SLOW
def test_a_second_signal_ends_an_experiment_at_once(tmp_path):
    with under_way(tmp_path) as (process, folder):
        others = descendants(process.pid)
        for holder in folder.glob("*/*/lock"):
            os.kill(int(holder.read_text()), signal.SIGSTOP)  # no iteration ends
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.readline() == "riskgrad: stopping after this iteration; Ctrl-C again to stop now\n"
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60.0)
    assert (process.returncode, errors) == (130, "riskgrad: stopped at once by a second signal, SIGINT\n")
    assert wait_until(lambda: are_gone(others)), "a process was left behind"


def test_processes_that_were_stopped_train_again():
    long = {"algorithm": "score:episodes=200", "iterations": 20_000, "held_out": 40, "episodes": 40}
    told = []

    def stop(label, line):
        told.append((label, line))
        if len(told) == 1:
            os.kill(os.getpid(), signal.SIGTERM)

    calls = [
        (lambda watch, **more: train_experiment(watch, "two-roads", ["mean"], 3, **more), "0 of 3"),
        (lambda watch, **more: train_frontier(watch, "two-roads", "cvar", [0.5], **more), "0 of 3"),
    ]
    with rg.backend.Processes(2) as backend, usual_handlers():
        for call, count in calls:
            told.clear()
            with pytest.raises(
                Stopped, match=f"^stopped by SIGTERM with {count} trainings finished; nothing"
            ) as caught:
                call(telling(stop), backend=backend, **long)
            assert (caught.value.signal, caught.value.run) == ("SIGTERM", None)
            assert all(line is not None for _, line in told), "none was trained to its end"
            found = call(telling(None), backend=backend, **{**long, "iterations": 2})
            assert all(run.finished for run in found.runs.values())


@SLOW
def test_an_experiment_that_is_killed_leaves_no_process(tmp_path):
    with under_way(tmp_path) as (process, _):
        others = descendants(process.pid)
        process.kill()
        assert wait_until(lambda: are_gone(others)), "a process was left behind"


@pytest.mark.parametrize("page", ["/proc/nothing/page.html", "folder.html"])
def test_a_page_that_cannot_be_written_is_one_line(whole, page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(StorageError, match="choose a place that can be written"):
        whole[0].report(page)


@pytest.mark.parametrize("ending", ["npz", "onnx"])
def test_a_policy_is_not_exported_through_a_link_or_to_where_nothing_can_be_written(whole, tmp_path, ending):
    run, elsewhere = whole[0].runs["mean", 0], tmp_path / "mine"
    elsewhere.write_text("mine")
    for name in (f"policy.{ending}", f"policy.{ending}.writing"):
        (tmp_path / name).symlink_to(elsewhere)
    run.export(tmp_path / f"policy.{ending}")
    assert elsewhere.read_text() == "mine"
    assert not (tmp_path / f"policy.{ending}").is_symlink()
    for bad in (f"/proc/nothing/policy.{ending}", tmp_path, 5, "\ud800.npz", "a\0.npz"):
        with pytest.raises(RiskgradError) as told:
            run.export(bad)
        assert str(told.value).isprintable()

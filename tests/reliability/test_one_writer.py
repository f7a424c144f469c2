"""One process writes to the folder of a run at a time; the system ends a lock with its process."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys

import pytest

import riskgrad as rg
from riskgrad.errors import StorageError
from riskgrad.run.lock import LOCK, lock_folder

TRAIN = """
import sys, time
import riskgrad as rg
def wait(line, theta):
    print("began", flush=True)
    time.sleep(float(sys.argv[2]))
rg.train("two-roads", "cvar:0.1", algorithm="offp-sf:episodes=20", iterations=3, held_out=20, seed=1, callback=wait,
         resume=sys.argv[1], checkpoint_seconds=0.0)
"""
FORK = """
import os, sys, time
from pathlib import Path
from riskgrad.run.lock import lock_folder
with lock_folder(Path(sys.argv[1])):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, b"begun")
        time.sleep(60)
        os._exit(0)
    os.read(reader, 5)
    print(child, flush=True)
    time.sleep(60)
"""


def train_here(folder):
    options = {"iterations": 3, "held_out": 20, "seed": 1, "checkpoint_seconds": 0.0}
    return rg.train("two-roads", "cvar:0.1", algorithm="offp-sf:episodes=20", resume=folder, **options)


@contextlib.contextmanager
def started(code, *words):
    """Start a process; give it and the first line that it prints, and kill it in the end."""
    with subprocess.Popen([sys.executable, "-c", code, *map(str, words)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def hold(folder, all_tried, answers):
    try:
        with lock_folder(folder):
            answers.put(True)
            all_tried.wait(60)
    except StorageError:
        answers.put(False)


def test_a_second_writer_is_refused_with_the_id_of_the_first(tmp_path):
    folder = tmp_path / "run"
    with started(TRAIN, folder, 60) as (process, _):
        refused = f"process {process.pid} is training in it"
        with pytest.raises(StorageError, match=f"cannot write .*run: {refused}"):
            train_here(folder)
        with pytest.raises(StorageError, match=refused):
            rg.train("two-roads", "mean", iterations=1, folder=folder)
        words = ("train", "two-roads", "--out", str(folder), "--resume")
        command = [sys.executable, "-m", "riskgrad.cli", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert refused in done.stderr
        assert "Traceback" not in done.stderr
        assert (folder / "history.jsonl").read_bytes().count(b"\n") == 1
    assert (folder / LOCK).exists()
    resumed, whole = train_here(folder), train_here(tmp_path / "whole")
    assert resumed.theta.tobytes() == whole.theta.tobytes()
    assert (folder / "history.jsonl").read_bytes() == (tmp_path / "whole" / "history.jsonl").read_bytes()
    assert not (folder / LOCK).exists()


def test_a_child_of_a_killed_process_holds_nothing(tmp_path):
    with started(FORK, tmp_path) as (process, child):
        try:
            with pytest.raises(StorageError, match=f"process {process.pid} is"), lock_folder(tmp_path):
                pass
            process.kill()
            process.wait()
            os.kill(int(child), 0)  # still lives
            with lock_folder(tmp_path):
                assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"
        finally:
            os.kill(int(child), signal.SIGKILL)


def test_of_many_at_once_one_gets_the_folder(tmp_path):
    context = multiprocessing.get_context("forkserver")
    all_tried, answers = context.Event(), context.Queue()
    several = [context.Process(target=hold, args=(tmp_path, all_tried, answers)) for _ in range(4)]
    for process in several:
        process.start()
    found = [answers.get(timeout=60) for _ in several]
    all_tried.set()
    for process in several:
        process.join()
    assert sorted(found) == [False, False, False, True]
    assert not (tmp_path / LOCK).exists()


def test_one_process_does_not_write_twice_either(tmp_path):
    with (
        lock_folder(tmp_path),
        pytest.raises(StorageError, match=f"process {os.getpid()} is training"),
        lock_folder(tmp_path),
    ):
        pass
    with lock_folder(tmp_path):
        pass


def test_a_file_of_a_stranger_is_not_followed_or_believed(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / LOCK).symlink_to(elsewhere)
    with pytest.raises(StorageError, match="cannot write"), lock_folder(folder):
        pass
    assert elsewhere.read_text() == "mine"

"""Programs that are stopped by signals: exit codes, one line, nothing lost. The gate runs them all, a quick run one."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.signals import reset_signals

import riskgrad as rg
from riskgrad.run.checkpoint import latest_checkpoint

SLOW = pytest.mark.skipif(not os.environ.get("RISKGRAD_NEED_RELIABILITY"), reason="slow; the gate runs it")

TRAIN = """
import sys, time
import gymnasium, numpy as np
import riskgrad as rg
class Wait(gymnasium.Env):
    observation_space, action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,)), gymnasium.spaces.Discrete(2)
    def __init__(self, seconds=0.0):
        self.seconds = seconds
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.shown, self.age = self.np_random.random(1), 0
        return self.shown, {}
    def step(self, action):
        if self.seconds > 60.0:
            print("began", flush=True)
        time.sleep(self.seconds)
        self.age += 1
        return self.shown, float(action), self.age == 3, False, {}
OPTIONS = dict(policy="linear", algorithm="score:episodes=8", horizon=3, held_out=8, seed=1, entropy=0.0)
def told(line, theta):
    print(time.monotonic(), flush=True)
"""
SWEEP = f"""{TRAIN}
SHORT = dict(env_options=dict(seconds=0.001), backend="serial")
for seed in range(1000):
    try:
        rg.train(Wait, "mean", iterations=20, callback=told, **SHORT, **OPTIONS)
    except Exception as error:
        print("caught", error)
"""
HUNG = f"""{TRAIN}
if __name__ == "__main__":
    rg.train(Wait, "mean", iterations=2, env_options=dict(seconds=3600.0), backend=sys.argv[1], **OPTIONS)
"""
SHARED = f"""{TRAIN}
if __name__ == "__main__":
    run = rg.train(Wait, "mean", iterations=int(sys.argv[1]), env_options=dict(seconds=0.002), callback=told,
                   backend="processes:2", resume=sys.argv[2], **OPTIONS)
"""


@contextlib.contextmanager
def started(place, code, *words):
    """Start a script in a group of its own, away from any terminal; give it after it has said that it began."""
    script = place / "script.py"
    script.write_text(code)
    with begun([sys.executable, str(script), *map(str, words)]) as process:
        yield process


@contextlib.contextmanager
def begun(command):
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=reset_signals,  # noqa: PLW1509 - there are no threads
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline()
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def ended(process, seconds=60.0):
    """Wait for a process; give its exit code, and what it said on stderr."""
    _, errors = process.communicate(timeout=seconds)
    assert "Traceback" not in errors, errors
    return process.returncode, errors


def time_in_queue(process):
    """Give the seconds in which a process had work and no processor, which other work on the machine decides."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


@pytest.mark.parametrize(
    ("name", "code"),
    [("SIGTERM", 143), pytest.param("SIGINT", 130, marks=SLOW), pytest.param("SIGHUP", 129, marks=SLOW)],
)
def test_a_signal_ends_a_loop_of_trainings_that_catches_every_exception(tmp_path, name, code):
    with started(tmp_path, SWEEP) as process:
        times = [float(process.stdout.readline()) for _ in range(30)]
        idle, since = time_in_queue(process.pid), time.monotonic()
        process.send_signal(signal.Signals[name])
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        took = time.monotonic() - since - (time_in_queue(process.pid) - idle)
        status, errors = ended(process)
    first, last = errors.splitlines()
    assert first.startswith("riskgrad: stopping after this iteration; ")
    assert last.startswith(f"riskgrad: stopped by {name} after ")
    assert status == code
    assert took < 1.0 + max(after - before for before, after in itertools.pairwise(times)), "a second, and an iteration"


@SLOW
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_the_command_line_says_what_was_reached_and_exits_with_the_code_of_the_signal(tmp_path, name, code):
    out = tmp_path / "run"
    words = ["train", "two-roads", "--iterations", "100000", "--algorithm", "offp-sf", "--out", str(out)]
    command = [sys.executable, "-m", "riskgrad.cli", *words]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=reset_signals,  # noqa: PLW1509 - there are no threads
    )
    try:
        until = time.monotonic() + 120.0
        while not (out / "history.jsonl").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.Signals[name])
        printed, errors = process.communicate(timeout=60.0)
    finally:
        process.kill()
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    assert f"stopped by {name} after " in errors
    assert "offp-sf on cvar:0.1, stopped after" in printed
    assert "--resume" in printed
    assert not rg.load(out).finished


@SLOW
@pytest.mark.parametrize("backend", ["serial", "processes:2"])
def test_a_hung_environment_needs_two_signals_and_no_more(tmp_path, backend):
    with started(tmp_path, HUNG, backend) as process:
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.readline() == "riskgrad: stopping after this iteration; Ctrl-C again to stop now\n"
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert ended(process) == (130, "riskgrad: stopped at once by a second signal, SIGINT\n")


@SLOW
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_to_all_processes_is_as_polite_as_one_to_the_first(tmp_path, name):
    folder = tmp_path / "run"
    with started(tmp_path, SHARED, 500, folder) as process:
        os.killpg(process.pid, signal.Signals[name])
        status, errors = ended(process)
    assert status == 128 + signal.Signals[name], errors
    assert len(errors.splitlines()) == 2
    assert latest_checkpoint(folder).iteration == len(rg.load(folder).history) > 0


@SLOW
def test_a_signal_that_was_ignored_from_the_start_stays_ignored(tmp_path):
    begin = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{TRAIN}"
    end = 'rg.train(Wait, "mean", iterations=5, callback=told, backend="serial", **OPTIONS)\n'
    with started(tmp_path, begin + end) as process:
        process.send_signal(signal.SIGINT)
        assert ended(process) == (0, "")


def test_who_stops_a_large_budget_early_does_not_wait_for_its_large_judgment(tmp_path):
    """Held-out judgments grow with the budget; the one of a stop is no larger than the training so far, or 100."""
    options = {"algorithm": "score:episodes=50", "seed": 1, "iterations": 20_000, "folder": tmp_path / "run"}
    run = rg.train("two-roads", "mean", callback=lambda line, _: line["iteration"] == 5, **options)
    assert len(run.history) == 6
    planned = rg.train("two-roads", "mean", callback=lambda *_: True, **{**options, "folder": None})
    judgment = run.held_out_episodes - 300  # the first is as large as was planned
    assert judgment > 10_000
    assert planned.held_out_episodes == judgment + 100
    assert "300 more held-out episodes judged the last iterate" in " ".join(run.notes)
    assert len(rg.load(tmp_path / "run").judgment.values) in (300, judgment)

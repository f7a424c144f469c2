"""Backends do the work in order, wherever it is done, and say what happened to it."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest

import riskgrad as rg
from riskgrad.backend import Processes, Serial
from riskgrad.backend.ray import _end_all
from riskgrad.errors import InputError, UnknownNameError, WorkerError


def twice(number):
    return 2 * number, os.getpid()


def refuse(number):
    if number == 2:
        raise UnknownNameError("number", number, ["one"])
    return number


def die(number):
    os._exit(3)


def test_serial_is_this_process():
    assert Serial().workers == 1
    assert Serial().map(twice, [1, 2]) == [(2, os.getpid()), (4, os.getpid())]


def test_processes_answer_in_order_and_come_back_after_a_death():
    with Processes(1) as backend:
        answers = backend.map(twice, range(5))
        assert [answer for answer, _ in answers] == [0, 2, 4, 6, 8]
        assert os.getpid() not in {process for _, process in answers}
        with pytest.raises(InputError, match="number must be one of one, got 2"):
            backend.map(refuse, range(4))
        with pytest.raises(WorkerError, match="one of 1 worker processes died"):
            backend.map(die, [1])
        assert [answer for answer, _ in backend.map(twice, [7])] == [14]


@pytest.mark.parametrize("tasks", [[1, lambda: 2], [threading.Lock()]])
def test_what_cannot_be_pickled_is_refused_before_a_process_starts(tasks):
    with Processes(1) as backend:
        with pytest.raises((pickle.PicklingError, AttributeError, TypeError), match="pickle"):
            backend.map(twice, tasks)
        with pytest.raises((pickle.PicklingError, AttributeError), match="pickle"):
            backend.map(lambda number: number, [1])
        assert backend._crew == []


def run_script(path, text):
    path.write_text(text)
    return subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False, timeout=120)


LAMBDA = """
import gymnasium, numpy as np, riskgrad as rg
class Still(gymnasium.Env):
    observation_space, action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,)), gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        return np.zeros(2), {}
    def step(self, action):
        return np.zeros(2), 1.0, False, False, {}
if __name__ == "__main__":
    policy = rg.policy.Gibbs(lambda theta, seen: theta * np.sum(seen), dim=2, example=np.zeros(2))
    for _ in range(3):
        try:
            rg.train(Still, "mean", policy=policy, backend="processes:2", horizon=5, iterations=1)
        except rg.errors.InputError as error:
            print(error)
"""


def test_a_script_whose_policy_cannot_be_pickled_ends(tmp_path):
    done = run_script(tmp_path / "unpicklable.py", LAMBDA)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("policy must be found by its name in each process, got Gibbs") == 3


HIDDEN = """
from riskgrad.backend import Processes
if __name__ == "__main__":
    def work(number):
        return number
    with Processes(1) as backend:
        backend.map(work, [1])
"""


def test_a_worker_says_what_it_cannot_find(tmp_path):
    done = run_script(tmp_path / "hidden.py", HIDDEN)
    last = done.stderr.strip().splitlines()[-1]
    assert "WorkerError: a worker process cannot find what its task is made of (Can't get attribute 'work'" in last


UNKEPT = """
import gymnasium, numpy as np, riskgrad as rg
class Still(gymnasium.Env):
    observation_space, action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,)), gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(2), {}
    def step(self, action):
        return np.zeros(2), 1.0, False, False, {}

options = dict(algorithm="score:episodes=10", backend="processes:2", horizon=5, iterations=1)
calls = [lambda: rg.train(Still, "mean", **options), lambda: rg.experiment(Still, ["mean"], 2, **options)]
for call in calls:
    try:
        call()
    except rg.errors.WorkerError as error:
        print(error)

print(rg.train("Pendulum-v1", "mean", **options).finished)
"""


@pytest.mark.parametrize("how", [["-"], ["-i"], ["-c", UNKEPT]], ids=["a pipe", "interactive", "a string"])
def test_code_without_a_file_is_told_to_go_into_a_module(how):
    """It is as in a notebook: there is nothing that another process could read."""
    line = [sys.executable, *how]
    done = subprocess.run(line, input=UNKEPT, capture_output=True, text=True, check=False)
    first, second, last = done.stdout.splitlines()
    told = "a worker process cannot find what its task is made of (Can't get attribute 'Still'"
    assert first.startswith(told)
    assert second.startswith(told)
    assert "define it in a module that each worker can import" in first
    assert last == "True", "what is found by its name is trained there"
    assert "Traceback" not in done.stderr


SCRIPT = """
import os, signal
from riskgrad.backend import Processes
if __name__ == "__main__":
    backend = Processes(1)
    print(*backend.map(abs, [1]), backend._crew[0].process.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="processes are looked up in /proc")
def test_processes_end_with_the_one_that_started_them(tmp_path):
    script = tmp_path / "killed.py"
    script.write_text(SCRIPT)
    with (tmp_path / "out").open("w+") as out:
        ended = subprocess.run([sys.executable, str(script)], stdout=out, check=False)
        assert ended.returncode == -signal.SIGKILL
        out.seek(0)
        answer, worker = (int(word) for word in out.read().split())
    assert answer == 1
    until = time.monotonic() + 20.0
    while alive(worker) and time.monotonic() < until:
        time.sleep(0.01)
    assert not alive(worker)


@pytest.mark.parametrize("workers", [0, 1.5, True, "two"])
def test_refuses_in_one_line(workers):
    with pytest.raises(InputError, match="workers must be an integer of at least 1"):
        Processes(workers)


@pytest.mark.parametrize("missing", ["ray", "cloudpickle"])
def test_without_ray_one_line_names_the_extra(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, "ray", types.ModuleType("ray"))
    monkeypatch.setitem(sys.modules, "ray.exceptions", types.ModuleType("ray.exceptions"))
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(InputError) as told:
        rg.train("two-roads", "mean", backend="ray", iterations=1)
    assert str(told.value) == "backend must be installed, got 'ray'; pip install 'riskgrad[ray]'"


def test_a_cluster_that_was_never_used_ends_while_ray_is_being_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", types.ModuleType("ray"))  # as far as an import has got
    ours = [False]
    _end_all([], ours)
    assert ours == [False]

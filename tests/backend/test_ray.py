"""On a cluster of two nodes training ends with the bits of one process, while workers and machines die under it."""

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from support.cluster import Chaos, are_gone, descendants, find_workers, two_nodes, wait_until
from support.cluster_envs import Failing, Slow, Walk

import riskgrad as rg
from riskgrad.algorithms import ALGORITHMS
from riskgrad.backend import Processes, Ray
from riskgrad.errors import EpisodeError, InputError

MISSING = importlib.util.find_spec("ray") is None  # not imported here: it reads its settings once, then
if MISSING and os.environ.get("RISKGRAD_NEED_RAY") != "1":
    pytest.skip("needs the extra ray", allow_module_level=True)

# Ray leaves sockets and processes to the collector of garbage, and gives up old names of its own
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore:its worker or machine died:RuntimeWarning"),
]
QUICK = {"iterations": 3, "held_out": 20, "progress": False, "seed": 5}


@pytest.fixture(scope="module")
def cluster(processes):
    assert processes.map(abs, [-1, -2]) == [1, 2]  # they and what Python starts for them stay longer
    before = descendants()
    with two_nodes() as made:
        yield made
    assert wait_until(lambda: descendants() <= before), "a process of the cluster was left behind"


@pytest.fixture(scope="module")
def backend(cluster):
    with Ray(2) as made:
        yield made


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as made:
        yield made


def same(run, other):
    for name in ("theta", "last_theta", "random_theta"):
        np.testing.assert_array_equal(getattr(run, name), getattr(other, name), strict=True)
    assert run.episodes_used == other.episodes_used
    assert run.notes == other.notes
    assert len(run.history) == len(other.history)
    for line, its in zip(run.history, other.history, strict=True):
        assert {name: value for name, value in line.items() if "second" not in name} == {
            name: value for name, value in its.items() if "second" not in name
        }


def make_log():
    rng = np.random.default_rng(0)
    count, steps = 60, 4
    columns = {
        "episode_id": np.repeat(np.arange(count), steps),
        "t": np.tile(np.arange(steps), count),
        "state": rng.integers(3, size=count * steps),
        "action": rng.integers(2, size=count * steps),
        "reward": rng.normal(size=count * steps),
        "behavior_prob": np.full(count * steps, 0.5),
    }
    return rg.LoggedEpisodes.from_arrays(**columns)


SOURCES = {
    "a finite model": (lambda: "two-roads", sorted(ALGORITHMS.by_name()), {}),
    "a finite model, with memory": (lambda: "two-roads", ["offp-sf", "critic"], {"memory": "both"}),
    "compiled": (lambda: "CartPole-v1", sorted(ALGORITHMS.by_name()), {"horizon": 30}),
    "compiled, normalized": (lambda: "CartPole-v1", ["onp-sf"], {"horizon": 30, "normalize": True}),
    "Gymnasium": (lambda: Walk, sorted(ALGORITHMS.by_name()), {}),
    "Gymnasium, normalized": (lambda: Walk, ["onp-sf"], {"normalize": True}),
    "a log": (make_log, ["offp-sf", "score"], {}),
}


@pytest.mark.parametrize(("build", "algorithms", "more"), SOURCES.values(), ids=SOURCES.keys())
def test_bits_are_those_of_one_process(backend, processes, build, algorithms, more):
    for algorithm in algorithms:
        options = {**QUICK, **more, "algorithm": algorithm}
        alone = rg.train(build(), "cvar:0.2", backend="serial", **options)
        same(rg.train(build(), "cvar:0.2", backend=processes, **options), alone)
        same(rg.train(build(), "cvar:0.2", backend=backend, **options), alone)


def test_many_runs_share_a_cluster(backend, tmp_path):
    options = {"iterations": 3, "held_out": 20}
    studies = [
        rg.experiment("two-roads", ["mean", "cvar:0.2"], 1, episodes=50, backend=who, folder=tmp_path / name, **options)
        for name, who in [("cluster", backend), ("alone", None)]
    ]
    np.testing.assert_array_equal(studies[0].scores, studies[1].scores)
    for name, run in studies[0].runs.items():
        same(run, studies[1].runs[name])
    kept = [rg.load(place) for place in (tmp_path / "cluster").glob("*/seed-*")]
    assert [run.finished for run in kept] == [True, True]
    families = [rg.frontier(Walk, "cvar", [0.5], episodes=50, backend=who, **options) for who in (backend, None)]
    for name, run in families[0].runs.items():
        same(run, families[1].runs[name])


def test_workers_and_machines_may_die(cluster, backend):
    """Three workers and the second node are killed in one training."""
    options = {"iterations": 10, "algorithm": rg.Score(episodes=200), "held_out": 20, "progress": False}
    alone = rg.train(Walk, "cvar:0.2", backend="serial", seed=1, **options)  # the same episodes, in less time
    before = backend.lost
    with Chaos(cluster, backend, kills=4, pause=0.4, cpus=2) as chaos:
        disturbed = rg.train(Slow, "cvar:0.2", backend=backend, seed=1, callback=chaos.mend, **options)
    same(disturbed, alone)
    assert chaos.kills.count("worker") >= 3
    assert "node" in chaos.kills
    assert backend.lost > before


@pytest.mark.parametrize("how", ["raise", "hang", "die"])
def test_what_fails_is_done_again_and_then_stops_with_its_seed(backend, tmp_path, how):
    more = {"step_timeout": 1.0} if how == "hang" else {}
    options = {**QUICK, "algorithm": "offp-sf", "iterations": 5}
    alone = rg.train(Walk, "cvar:0.2", backend="serial", **options)
    given = {"how": how, "once": str(tmp_path / "once")}
    same_but_notes = rg.train(Failing, "cvar:0.2", env_options=given, backend=backend, **more, **options)
    np.testing.assert_array_equal(same_but_notes.last_theta, alone.last_theta)
    assert (tmp_path / "once").exists()

    def spoil(line, theta):
        if line["iteration"] == 1:
            (tmp_path / "after").touch()

    given = {"how": how, "after": str(tmp_path / "after")}
    keeping = {"folder": tmp_path / "run", "checkpoint_seconds": 0.0}
    reason = {"raise": "RuntimeError: the simulator is gone", "hang": "no answer within 1 s", "die": "its process died"}
    says = rf"Failing failed at step 2 of the episode with seed \d+, played by policy row 0: {reason[how]}"
    with Ray(1, retries=1) as few, pytest.raises(EpisodeError, match=says) as caught:
        rg.train(Failing, "cvar:0.2", env_options=given, backend=few, callback=spoil, **keeping, **more, **options)
    assert caught.value.args[2] % 7 == 0
    assert "\n" not in str(caught.value)
    (tmp_path / "after").unlink()
    # the checkpoint is whole, and the run goes on as if nothing had been
    resumed = rg.train(Failing, "cvar:0.2", env_options=given, backend="serial", resume=tmp_path / "run", **options)
    np.testing.assert_array_equal(resumed.last_theta, alone.last_theta)


DRIVER = """
import sys
sys.path.append(sys.argv[1])
import riskgrad as rg
from support.cluster_envs import Slow
options = {"algorithm": rg.Score(episodes=40), "iterations": 12, "held_out": 20, "progress": False, "seed": 1}
where = {"folder": sys.argv[2], "checkpoint_seconds": 0.0, "backend": rg.backend.Ray(2, address=sys.argv[3])}
rg.train(Slow, "cvar:0.2", callback=lambda line, _: print(line["iteration"], flush=True), **where, **options)
"""


def test_a_lost_driver_leaves_a_checkpoint_and_no_worker(cluster, backend, tmp_path):
    """It is killed in the middle of an iteration."""
    tests, folder, before = str(Path(__file__).parents[1]), tmp_path / "run", find_workers()
    command = [sys.executable, "-c", DRIVER, tests, str(folder), cluster.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        assert [driver.stdout.readline() for _ in range(3)] == ["0\n", "1\n", "2\n"]
        time.sleep(0.02)
        workers = find_workers() - before
        driver.kill()
    assert len(workers) >= 4, "two that play and two that look after them"
    assert wait_until(lambda: are_gone(workers)), "a worker was left behind"
    assert 2 <= len(rg.load(folder).history) < 12
    options = {"algorithm": rg.Score(episodes=40), "iterations": 12, "held_out": 20, "progress": False, "seed": 1}
    resumed = rg.train(Slow, "cvar:0.2", backend=backend, resume=folder, **options)
    same(resumed, rg.train(Walk, "cvar:0.2", backend="serial", **options))


SCRIPT = """
import gymnasium, numpy as np, riskgrad as rg
class Still(gymnasium.Env):
    observation_space, action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,)), gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(2), {}
    def step(self, action):
        return self.np_random.random(2), float(self.np_random.random() * action), False, False, {}
# without `if __name__ == "__main__":`, as in a notebook
policy = rg.policy.Gibbs(lambda theta, seen: theta * np.sum(seen), dim=2, example=np.zeros(2))
options = {"policy": policy, "horizon": 5, "iterations": 2, "seed": 0, "progress": False}
runs = [rg.train(Still, "mean", backend=who, **options) for who in ("ray:1", "serial")]
studies = [
    rg.experiment(Still, ["mean"], 1, episodes=20, backend=who, horizon=5, iterations=2) for who in ("ray:1", "serial")
]
print(np.array_equal(runs[0].theta, runs[1].theta), np.array_equal(studies[0].scores, studies[1].scores))
"""


@pytest.mark.parametrize("kept", [True, False], ids=["a file", "no file"])
def test_what_a_script_or_a_notebook_defines_works_on_a_cluster(cluster, tmp_path, kept):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    named = {**os.environ, "RAY_ADDRESS": cluster.address}
    line, given = [sys.executable, str(script) if kept else "-"], None if kept else SCRIPT
    done = subprocess.run(line, input=given, capture_output=True, text=True, check=False, env=named)
    assert done.stdout == "True True\n", done.stderr


def test_commands_train_on_a_cluster(cluster, tmp_path):
    def call(*command):
        line = [sys.executable, "-m", "riskgrad.cli", *command, "--iterations", "2"]
        named = {**os.environ, "RAY_ADDRESS": cluster.address}
        done = subprocess.run(line, capture_output=True, text=True, check=False, env=named, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    call("train", "two-roads", "--risk", "cvar:0.2", "--backend", "ray", "--out", "run")
    assert rg.load(tmp_path / "run").finished
    shared = ("--backend", "ray:2", "--fresh-episodes", "50", "--json")
    found = json.loads(call("experiment", "two-roads", "--risk", "mean", "--seeds", "2", "--out", "seeds", *shared))
    options = {"iterations": 2, "episodes": 50}
    assert found["scores"] == rg.experiment("two-roads", ["mean"], 2, **options).scores.tolist()
    assert [rg.load(place).finished for place in (tmp_path / "seeds").glob("*/seed-*")] == [True, True]
    found = json.loads(call("frontier", "two-roads", "--risk", "cvar", "--levels", "0.5", *shared))
    family = rg.frontier("two-roads", "cvar", [0.5], **options)
    assert [point["mean"]["value"] for point in found["points"]] == [point.mean.value for point in family.points]


@pytest.mark.parametrize("port", ["closed", "none"])
def test_an_address_without_a_cluster_is_refused_in_a_line_and_at_once(tmp_path, port):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        address = f"127.0.0.1:{taken.getsockname()[1] if port == 'closed' else port}"
        line = [sys.executable, "-m", "riskgrad.cli", "train", "two-roads", "--iterations", "2", "--backend", "ray"]
        named = {**os.environ, "RAY_ADDRESS": address}
        done = subprocess.run(line, capture_output=True, text=True, check=False, env=named, timeout=60.0)
    words = f"riskgrad: address must be that of a Ray cluster, got '{address}'; nobody listens there"
    assert (done.returncode, done.stderr.count("\n"), done.stderr[: len(words)]) == (2, 1, words)


def make_locked():
    lock = threading.Lock()

    def make():
        with lock:
            return Walk()

    return make


def test_what_cannot_travel_is_refused_in_a_line(cluster):
    with Ray(1) as fresh:
        with pytest.raises(InputError, match="env must be found by its name in each process, got 'make'; pass an id"):
            rg.train(make_locked(), "mean", backend=fresh, **QUICK)
        with pytest.raises(InputError, match="env must be made anew in each process, got 'Walk'; pass an id"):
            rg.train(Walk(), "mean", backend=fresh, **QUICK)
        lock = threading.Lock()
        policy = rg.policy.Gibbs(lambda theta, seen: theta * bool(lock), dim=2, example=np.zeros(2))
        with pytest.raises(InputError, match="policy must be found by its name in each process"):
            rg.train(Walk, "mean", policy=policy, backend=fresh, **QUICK)
        assert fresh._actors == []


def test_a_class_is_made_remote_only_for_new_workers(backend, monkeypatch):
    """Ray keeps each of them, and the process that trains would grow with each iteration."""
    made, ray = [], importlib.import_module("ray")
    assert backend.map(abs, [-1, 2]) == [1, 2]
    assert wait_until(lambda: backend.map(abs, [-1]) == [1] and len(backend._actors) == 2)
    with monkeypatch.context() as patched:
        patched.setattr(ray, "remote", made.append)
        assert backend.map(abs, [-1, 2, -3, 4]) == [1, 2, 3, 4]
    assert made == []


def test_no_worker_is_left_behind(cluster):
    before = descendants()
    backend = Ray(1)
    assert backend.map(abs, [-1, 2]) == [1, 2]
    assert wait_until(lambda: len(descendants() - before) >= 2)
    worker = backend._actors[0].process
    playing = descendants(worker)
    assert playing
    backend.close()
    assert wait_until(lambda: not playing & descendants())
    assert wait_until(lambda: worker not in descendants())
    assert backend.map(abs, [-3]) == [3]
    os.kill(worker := backend._actors[0].process, signal.SIGSTOP)  # a worker that hangs does not hold up the end
    begin = time.monotonic()
    backend.close()
    assert time.monotonic() - begin < 15.0
    assert wait_until(lambda: worker not in descendants())

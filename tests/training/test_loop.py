import os
import shutil
import signal
from dataclasses import dataclass

import numpy as np
import pytest
from support.signals import usual_handlers

import riskgrad as rg
from riskgrad.ascent import Adam
from riskgrad.errors import InputError, Stopped, StorageError
from riskgrad.policy import TabularGibbs
from riskgrad.random import Purpose, Stream
from riskgrad.run import checkpoint
from riskgrad.run.result import Judgment
from riskgrad.run.store import HISTORY
from riskgrad.settings import option
from riskgrad.training.algorithm import Algorithm, Info, State
from riskgrad.training.loop import Judge, judge_iterate
from riskgrad.training.progress import Iterate, Progress
from riskgrad.types import Returns

TARGET = np.array([1.0, -2.0])


@dataclass(frozen=True)
class Hill(Algorithm):
    """Climb a noisy hill."""

    name = "hill"
    episodes: int = option(10, int, "What an iteration is said to cost.")

    def step(self, problem, state):
        noise = Stream(problem.seed, Purpose.TRAINING, state.iteration).generator().normal(size=2)
        line = {"risk": float(state.theta[0]), "ess": float("nan"), "events": []}
        return problem.ascend(state, TARGET - state.theta + 0.5 * noise, state.policy), Info(line, self.episodes)


class Heights(rg.sources.Source):
    """Judge iterates: each episode returns the height of the hill, without noise."""

    def returns(self, policy, thetas, episodes, stream, pairs=None):
        del policy, stream, pairs
        heights = [height(theta) for theta in np.asarray(thetas)]
        return Returns(np.repeat(np.array([heights]).T, episodes, axis=1), np.ones((len(heights), episodes), dtype=int))

    def record(self, policy, theta, episodes, stream):
        raise NotImplementedError


def height(theta):
    return -float(np.sum((theta - TARGET) ** 2))


def climb(iterations=12, seed=3, held_out=8, **keeping):
    options = {"policy": TabularGibbs(1, 2), "step_size": Adam(0.2), "risk_path": None, "entropy": 0.0, **keeping}
    return rg.train(Heights(), "mean", algorithm=Hill(), iterations=iterations, seed=seed, held_out=held_out, **options)


def same(run, other):
    for name in ("theta", "random_theta", "last_theta"):
        np.testing.assert_array_equal(getattr(run, name), getattr(other, name))
    for name in ("history", "episodes_used", "held_out_episodes", "held_out_risk", "held_out_interval", "finished"):
        assert getattr(run, name) == getattr(other, name)


def stopper(k):
    return lambda line, _: line["iteration"] == k


def test_what_a_run_keeps():
    thetas = [np.zeros(2)]
    run = climb(callback=lambda _, theta: thetas.append(theta))
    assert run.finished
    assert [line["iteration"] for line in run.history] == list(range(12))
    np.testing.assert_array_equal(run.last_theta, thetas[-1])
    judged = [thetas[k] for k in (0, 3, 6, 9, 12)]
    values = [height(theta) for theta in judged]
    np.testing.assert_array_equal(run.theta, judged[int(np.argmax(values))])
    assert run.held_out_risk == max(values)
    assert [line["held_out"] for line in run.history] == [
        dict(zip((0, 3, 6, 9), values, strict=False)).get(k) for k in range(12)
    ]
    assert any(np.array_equal(run.random_theta, theta) for theta in thetas[:-1])


def test_every_episode_is_counted():
    run = climb()
    assert run.held_out_episodes == 5 * 8
    assert run.episodes_used == 12 * 10 + 40
    assert [line["episodes"] for line in run.history][:6] == [18, 28, 38, 56, 66, 76]


def test_the_random_iterate_is_uniform():
    # 1000 runs of 5 iterations: each iterate 200 times in the mean, standard deviation 12.6; 5 of them are allowed
    counts = np.zeros(5)
    for seed in range(1000):
        thetas = [np.zeros(2)]
        run = climb(5, seed, held_out=0, callback=lambda _, theta, t=thetas: t.append(theta))
        counts[[np.array_equal(run.random_theta, theta) for theta in thetas[:5]].index(True)] += 1
    np.testing.assert_allclose(counts, 200, atol=63)


def test_without_held_out_episodes_theta_is_the_last_iterate():
    run = climb(held_out=0)
    np.testing.assert_array_equal(run.theta, run.last_theta)
    assert (run.held_out_episodes, run.held_out_risk) == (0, None)


def test_a_callback_can_stop_the_run():
    run = climb(callback=stopper(4))
    assert not run.finished
    assert len(run.history) == 5


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_stopped_anywhere_and_resumed_ends_as_if_never_stopped(tmp_path, seconds):
    whole = climb()
    for k in range(12):
        folder = tmp_path / str(k)
        climb(resume=folder, callback=stopper(k), checkpoint_seconds=seconds)
        same(climb(resume=folder, checkpoint_seconds=seconds), whole)
        same(rg.load(folder), whole)


def test_a_finished_run_is_not_run_again(tmp_path):
    whole = climb(folder=tmp_path / "run")
    calls = []
    same(climb(resume=tmp_path / "run", callback=lambda *_: calls.append(1)), whole)
    assert calls == []


def signaler(k, *numbers):
    """Send signals to this process in iteration k."""

    def callback(line, theta):
        if line["iteration"] == k:
            for number in numbers:
                os.kill(os.getpid(), number)

    return callback


@pytest.fixture
def python_handlers():
    with usual_handlers():
        yield


@pytest.mark.usefixtures("python_handlers")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_stops_after_the_iteration_in_progress_saves_and_raises_the_run(tmp_path, name, capsys):
    with pytest.raises(Stopped, match=f"stopped by {name} after 4 of 12 iterations") as caught:
        climb(resume=tmp_path, callback=signaler(3, signal.Signals[name]))
    run = caught.value.run
    assert isinstance(caught.value, KeyboardInterrupt)
    assert not isinstance(caught.value, Exception)
    assert (caught.value.signal, run.finished, len(run.history)) == (name, False, 4)
    judged = "8 more held-out episodes judged the last iterate"
    assert run.notes[-1] == f"stopped by {name} after 4 of 12 iterations; {judged}"
    again = "Ctrl-C" if name == "SIGINT" else name
    assert capsys.readouterr().err == f"riskgrad: stopping after this iteration; {again} again to stop now\n"
    assert checkpoint.latest_checkpoint(tmp_path).iteration == 4
    same(climb(resume=tmp_path), climb())


@pytest.mark.usefixtures("python_handlers")
def test_a_signal_in_the_last_iteration_ends_a_loop_of_trainings_too():
    with pytest.raises(Stopped) as caught:
        climb(callback=signaler(11, signal.SIGTERM))
    same(caught.value.run, climb())


@pytest.mark.usefixtures("python_handlers")
def test_a_second_signal_stops_at_once_and_hands_back_what_is_whole(tmp_path):
    with pytest.raises(Stopped, match="stopped at once by a second signal, SIGTERM") as caught:
        climb(resume=tmp_path, callback=signaler(3, signal.SIGINT, signal.SIGTERM))
    run = caught.value.run
    assert (len(run.history), run.held_out_episodes) == (4, 16)
    assert "was not judged" in run.notes[-1]
    same(climb(resume=tmp_path), climb())


@pytest.mark.usefixtures("python_handlers")
def test_an_iteration_that_is_broken_off_leaves_the_one_before(tmp_path, monkeypatch):
    """The second signal comes in the middle of a step, after the iterate was judged."""
    step, count = Hill.step, []

    def broken(self, problem, state):
        count.append(1)
        if len(count) == 4:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
        return step(self, problem, state)

    monkeypatch.setattr(Hill, "step", broken)
    with pytest.raises(Stopped) as caught:
        climb(resume=tmp_path)
    run = caught.value.run
    assert (len(run.history), run.held_out_episodes, run.episodes_used) == (3, 8, 38)
    same(climb(resume=tmp_path), climb())


def test_a_callback_ends_the_run_with_a_note_and_the_best_includes_the_last(tmp_path):
    thetas = [np.zeros(2)]
    before = climb(callback=lambda line, theta: thetas.append(theta) or line["iteration"] == 1)
    assert before.notes[-1].startswith("stopped by a callback after 2 of 12 iterations")
    # climbing: what was judged first is theta_0, and the last one is better
    assert height(thetas[2]) > height(thetas[0])
    np.testing.assert_array_equal(before.theta, before.last_theta)
    assert (before.held_out_risk, before.held_out_episodes) == (height(thetas[2]), 16)


def test_a_stopped_run_is_loaded_as_it_was_handed_back(tmp_path):
    stopped = climb(folder=tmp_path / "run", callback=stopper(4))
    loaded = rg.load(tmp_path / "run")
    same(loaded, stopped)
    assert loaded.notes == stopped.notes
    resumed = climb(resume=tmp_path / "run")
    same(resumed, climb())
    assert resumed.notes == climb().notes == rg.load(tmp_path / "run").notes


def test_what_was_written_after_the_last_checkpoint_is_repeated(tmp_path):
    climb(resume=tmp_path, callback=stopper(5))
    with (tmp_path / HISTORY).open("a") as file:
        file.write('{"iteration": 6, "half a li')
    same(climb(resume=tmp_path), climb())
    same(rg.load(tmp_path), climb())


def test_a_damaged_checkpoint_is_said_and_the_one_before_used(tmp_path):
    climb(resume=tmp_path, callback=stopper(7), checkpoint_seconds=0.0)
    newest = max((tmp_path / name for name in checkpoint.SLOTS), key=checkpoint._turn_of)
    newest.write_bytes(newest.read_bytes()[:-1])
    assert "is damaged" in rg.load(tmp_path).notes[0]
    with pytest.warns(RuntimeWarning, match="the checkpoint of iteration 8 is used instead"):
        run = climb(resume=tmp_path)
    assert "the checkpoint of iteration 8 is used instead" in run.notes[0]
    same(run, climb())


def test_another_setting_is_refused_by_name(tmp_path):
    climb(resume=tmp_path, callback=stopper(2))
    with pytest.raises(InputError, match="seed must be what the run began with, got 4; it was 3"):
        climb(seed=4, resume=tmp_path)


def test_the_setting_that_was_given_is_named_before_what_follows_from_it(tmp_path):
    short = {"algorithm": "score:episodes=4", "iterations": 1, "held_out": 0, "resume": tmp_path}
    rg.train("two-roads", "cvar:0.1", **short)
    with pytest.raises(InputError, match=r"^risk must be what the run began with, got 'mean'; it was 'cvar:0\.1'"):
        rg.train("two-roads", "mean", **short)  # which has no path


def test_a_folder_that_holds_a_run_is_not_overwritten(tmp_path):
    climb(folder=tmp_path / "run")
    with pytest.raises(InputError, match="folder must not hold a run already"):
        climb(folder=tmp_path / "run")
    with pytest.raises(InputError, match="folder and resume must not both be given"):
        climb(folder=tmp_path / "run", resume=tmp_path / "run")


def test_a_read_only_folder_gets_one_line_before_any_work():
    began = []
    with pytest.raises(StorageError, match=r"cannot write /proc/riskgrad/run: .*; choose a folder that can be written"):
        climb(folder="/proc/riskgrad/run", callback=lambda *_: began.append(1))
    assert began == []


def test_a_disk_that_fills_up_leaves_the_last_checkpoint_whole(tmp_path, monkeypatch):
    full = []
    fsync = os.fsync

    def fsync_until_full(handle):
        if full:
            raise OSError(28, "No space left on device")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", fsync_until_full)
    with pytest.raises(StorageError, match="no space left on device; the last checkpoint is whole") as caught:
        climb(
            folder=tmp_path / "run",
            callback=lambda line, _: full.append(1) if line["iteration"] == 5 else None,
            checkpoint_seconds=0.0,
        )
    assert "\n" not in str(caught.value)
    assert rg.load(tmp_path / "run").history[-1]["iteration"] == 5
    full.clear()
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    same(climb(resume=tmp_path / "copy"), climb())


def test_at_equal_risk_the_better_mean_wins_and_not_the_later_iterate():
    policy, values = TabularGibbs(1, 2), np.zeros(5)
    first = Iterate(policy, np.zeros(2))
    for risk, mean, wins in [(-1.0, 2.0, False), (-1.0, 3.0, True), (-1.0, 4.0, True), (-0.9, 0.0, True)]:
        later = State(1, policy, np.ones(2), {})
        progress = Progress(later, first, first, best_judgment=Judgment(-1.0, 3.0, values))
        found = Judgment(risk, mean, values)
        judge_iterate(Judge(lambda *_, judgment=found: judgment, 5, 5), progress)
        assert (progress.best is not first) == wins

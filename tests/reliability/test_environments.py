"""Environments that hang, that do not keep to their seed, and whose episodes would not fit in memory."""

import os
import random

import numpy as np
import pytest
from support.environments import Countdown, Hanging, Unseeded

import riskgrad as rg
from riskgrad.backend import Processes
from riskgrad.errors import EpisodeError, InputError, TooLargeError, WorkerError
from riskgrad.sources import compiled
from riskgrad.sources.gymnasium import source as gymnasium_source

SLOW = pytest.mark.skipif(not os.environ.get("RISKGRAD_NEED_RELIABILITY"), reason="slow; the gate runs it")
BRIEF = {"policy": "linear", "algorithm": "score:episodes=6", "held_out": 4, "entropy": 0.0, "seed": 2, "horizon": 1000}


def train(env, **options):
    return rg.train(env, "mean", **{**BRIEF, "backend": "serial", "iterations": 3, **options})


@SLOW
def test_an_environment_that_hangs_is_ended_named_and_can_be_resumed(tmp_path):
    hung, folder = tmp_path / "hung", tmp_path / "run"
    options = {"env_options": {"hung": str(hung)}, "backend": "processes:1", "checkpoint_seconds": 0.0}
    with pytest.raises(EpisodeError, match=r"^Hanging failed at step 1 of the episode with seed \d+, .*") as caught:
        train(Hanging, **options, step_timeout=1.0, folder=folder, callback=lambda *_: hung.touch())
    assert str(caught.value).endswith("no answer within 1 s; its process was ended")
    assert len(rg.load(folder).history) == 1
    hung.unlink()
    resumed = train(Hanging, env_options=options["env_options"], resume=folder)
    np.testing.assert_array_equal(resumed.theta, train(Hanging, env_options=options["env_options"]).theta)


@pytest.mark.parametrize(
    ("env", "backend", "words"),
    [
        (Countdown, "serial", "step_timeout must come with processes, which can be ended when an environment hangs"),
        (Countdown, None, "step_timeout must come with processes"),
        ("two-roads", None, "step_timeout must be left out for a source of your own, a finite model"),
    ],
)
def test_a_timeout_where_nothing_can_be_ended_is_refused(env, backend, words):
    with pytest.raises(InputError, match=words):
        rg.train(env, "mean", iterations=1, horizon=9 if env is Countdown else None, backend=backend, step_timeout=5.0)
    with pytest.raises(InputError, match="step_timeout must be"):
        rg.train(env, "mean", iterations=1, step_timeout=0.0)


@pytest.mark.parametrize("draws", ["own", "numpy", "python"])
def test_an_environment_that_does_not_keep_to_its_seed_is_noted(draws):
    np.random.seed(4)  # noqa: NPY002
    random.seed(4)
    run = train(Unseeded, env_options={"draws": draws})
    note = "Unseeded gives other observations when an episode is played again with its seed: a run repeats to the bit"
    assert any(text.startswith(note) for text in run.notes)


def test_the_check_leaves_the_generators_of_the_program_alone_and_says_nothing_where_all_is_well():
    np.random.seed(4)  # noqa: NPY002
    random.seed(4)
    expected = np.random.randint(10**6), random.randint(0, 10**6)  # noqa: NPY002, S311
    np.random.seed(4)  # noqa: NPY002
    random.seed(4)
    run = train(Unseeded, env_options={"draws": "seed"})
    assert not any("seed" in note for note in run.notes)
    assert (np.random.randint(10**6), random.randint(0, 10**6)) == expected  # noqa: NPY002, S311


def test_recorded_episodes_that_do_not_fit_are_refused_with_their_size(monkeypatch):
    words = (
        r"episodes must leave what is recorded of them within .* GB, a quarter of the memory, got .* GB after \d+ st"
    )
    monkeypatch.setattr(gymnasium_source, "find_room", lambda: 2000)
    with pytest.raises(TooLargeError, match=words):
        train(Unseeded, env_options={"draws": "seed"})
    monkeypatch.setattr(compiled, "find_room", lambda: 2000)
    with pytest.raises(TooLargeError, match=words):
        rg.train("CartPole-v1", "mean", algorithm="score:episodes=6", iterations=1, held_out=4)


def answer(number):
    return number


def die_in(number):
    if number == 1:
        os.kill(os.getpid(), 9)
    return number


class UnreadableError(Exception):
    """An error that cannot be made again from its arguments."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def raise_unreadable(number):
    raise UnreadableError(1, number)


def leave(number):
    raise SystemExit(number)


def give_lambda(number):
    return lambda: number


@SLOW
def test_whatever_happens_to_a_worker_is_told_and_the_next_work_is_done():
    with Processes(2) as backend:
        assert backend.map(answer, range(9)) == list(range(9))
        with pytest.raises(WorkerError, match="one of 2 worker processes died"):
            backend.map(die_in, range(4))
        with pytest.raises(WorkerError, match="a worker process failed: UnreadableError: 1 and 0"):
            backend.map(raise_unreadable, range(4))
        with pytest.raises(WorkerError, match="a worker process failed: SystemExit: 0"):
            backend.map(leave, [0])
        with pytest.raises((WorkerError, AttributeError), match="lambda"):
            backend.map(give_lambda, [0])
        os.kill(backend._crew[0].process.pid, 9)
        backend._crew[0].process.join()
        assert backend.map(answer, range(9)) == list(range(9)), "one that died meanwhile is replaced"

"""Environments that hang, that do not keep to their seed, and whose episodes would not fit in memory."""

import os
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.environments import Countdown, Hanging, Unseeded

import riskgrad as rg
from riskgrad.backend import Processes
from riskgrad.errors import EpisodeError, InputError, TooLargeError, WorkerError
from riskgrad.sources import compiled, room, tabular
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


RECORDED = r"episodes must leave what is recorded of them within .* GB, a quarter of the memory, got .* GB after \d+ st"
ASKS = ("record", "record_steps", "returns_so_far")


def walk(horizon):
    """Give a model of one state in which an episode ends with a chance of a tenth at each step."""
    outcomes = [[[(0.1, 1, 1.0, True), (0.9, 0, 1.0, False)]] * 2, [[(1.0, 1, 0.0, True)]] * 2]
    return rg.mdp.FiniteMDP.from_outcomes(outcomes, 0, horizon=horizon)


def sources():
    return {
        "finite model": rg.sources.TabularSource(walk(10**6), threads=2),
        "compiled": rg.sources.resolve_source("CartPole-v1"),
        "Gymnasium": rg.sources.GymnasiumSource(Unseeded, 20, env_options={"draws": "seed"}),
    }


def asked(source, name, episodes=200):
    policy = rg.sources.make_policy(source)
    stream = rg.random.Stream(3, rg.random.Purpose.TRAINING)
    return getattr(source, name)(policy, np.zeros(policy.dim), episodes, stream)


@pytest.fixture
def small(monkeypatch):
    """Let there be as much room for episodes as is asked for."""

    def set_room(size):
        for module in (room, tabular, compiled, gymnasium_source):
            monkeypatch.setattr(module, "find_room", lambda: size)
        monkeypatch.setattr(tabular, "MODEST", 0)

    return set_room


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("kind", ["finite model", "compiled", "Gymnasium"])
def test_recorded_episodes_that_do_not_fit_are_refused_with_their_size(kind, ask, small):
    source = sources()[kind]
    asked(source, ask)
    small(3200)  # as much as their returns alone take
    with pytest.raises(TooLargeError, match=RECORDED):
        asked(source, ask)
    small(3199)
    with pytest.raises(TooLargeError, match=r"episodes must leave their returns within .* GB for 200 episodes of 1 p"):
        asked(source, ask)


@pytest.mark.parametrize("ask", ASKS)
def test_where_the_longest_episodes_would_not_fit_those_that_do_are_as_before(ask, small):
    """A model whose horizon would take 40 GB, in episodes of ten steps, and pieces of some kilobytes."""
    source = sources()["finite model"]
    whole = asked(source, ask)
    small(200_000)
    again = asked(source, ask)
    for name in ("values", "offsets", "observations", "actions", "counts", "rewards"):
        if hasattr(whole, name):
            np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
    if ask == "returns_so_far":
        np.testing.assert_array_equal(again, whole)


@pytest.mark.parametrize("algorithm", ["score:episodes=60", "critic:episodes=60"])
def test_policies_with_memory_are_bounded_too(algorithm, small):
    options = {"memory": "both", "algorithm": algorithm, "iterations": 2, "held_out": 40, "seed": 1}
    whole = rg.train(walk(200), "cvar:0.5", **options)
    small(200_000)  # enough for the ten steps that an episode has, not for 200
    np.testing.assert_array_equal(rg.train(walk(200), "cvar:0.5", **options).theta, whole.theta)
    small(100_000)
    with pytest.raises(TooLargeError, match=RECORDED):
        rg.train(walk(200), "cvar:0.5", **options)


def test_visits_count_once_and_fit_where_steps_do_not(small):
    """Ten steps meet two pairs of a state and an action: what `record` keeps of them is smaller than the steps."""
    source, size = sources()["finite model"], 5 * 8
    visits = len(asked(source, "record").counts)
    steps = len(asked(source, "record_steps").rewards)
    assert 200 < visits < 401 < steps
    small(visits * size)
    assert len(asked(source, "record").counts) == visits
    with pytest.raises(TooLargeError, match=RECORDED):
        asked(source, "record_steps")
    small(visits * size - 1)
    with pytest.raises(TooLargeError, match=RECORDED):
        asked(source, "record")


@pytest.mark.parametrize("episodes", [10**12, 10**15, 2**62])
def test_more_episodes_than_memory_holds_are_one_line(episodes):
    run = rg.train("two-roads", "mean", algorithm="score:episodes=4", iterations=1, held_out=4)
    for call in (
        lambda: rg.train("two-roads", "mean", algorithm=f"score:episodes={episodes}", iterations=1),
        lambda: rg.train("CartPole-v1", "mean", algorithm=f"onp-sf:episodes={episodes}", iterations=1),
        lambda: rg.train("two-roads", "mean", algorithm="score:episodes=4", held_out=episodes, iterations=1),
        lambda: rg.evaluate(run, "two-roads", episodes=episodes),
    ):
        with pytest.raises(TooLargeError, match="episodes must leave their returns within"):
            call()


def test_a_log_that_would_not_fit_is_refused_while_it_is_read(small, tmp_path):
    """A file of few bytes may hold many rows: it is counted as it is read, before the rest of it is."""
    rows = 3_000_000
    columns = {"episode_id": np.zeros(rows, int), "t": np.arange(rows), "action": np.zeros(rows, int)}
    more = {"reward": np.zeros(rows), "behavior_prob": np.ones(rows), "state": np.zeros(rows, int)}
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({**columns, **more}), path, compression="zstd")
    assert path.stat().st_size < 48 * rows / 10
    small(10_000_000)
    with pytest.raises(
        TooLargeError, match=r"a log must be within 0.01 GB, a quarter of the memory, got 0\.0126 GB af"
    ):
        rg.LoggedEpisodes.from_parquet(path)


def test_a_container_says_how_much_memory_there_is(tmp_path, monkeypatch):
    room.find_room.cache_clear()
    whole = room.find_room()
    for text, wanted in (("max\n", whole), ("4000000\n", 1_000_000), ("", whole)):
        (tmp_path / "memory.max").write_text(text)
        monkeypatch.setattr(room, "LIMITS", (tmp_path / "memory.max", tmp_path / "none"))
        room.find_room.cache_clear()
        assert room.find_room() == wanted
    room.find_room.cache_clear()


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

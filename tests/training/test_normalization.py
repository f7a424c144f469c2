"""Normalized observations along a run: which statistics are in force, when they move, and that nothing is lost."""

import multiprocessing
import time

import numpy as np
import pytest
from support.environments import Fragile, Scaled
from support.training import log_of, train_briefly, train_plainly

import riskgrad as rg
from riskgrad.backend import Processes
from riskgrad.errors import EpisodeError, InputError
from riskgrad.policy import MLP, Deterministic, Normalized, ObservationStatistics
from riskgrad.random import Purpose, Stream
from riskgrad.run.store import HISTORY
from riskgrad.sources import GymnasiumSource
from riskgrad.training.normalization import FIRST_EPISODES, batch_statistics
from riskgrad.weights import log_ratios

ALGORITHMS = {"onp-sf": rg.OnPSF, "offp-sf": rg.OffPSF, "score": rg.Score}
QUICK = {"iterations": 6, "episodes": 8, "held_out": 5, "seed": 4, "normalize": True, "horizon": 6}
FIRST = FIRST_EPISODES


def trained(algorithm, env=Scaled, **options):
    return train_briefly(env, risk="cvar:0.5", algorithm=algorithm, **{**QUICK, **options})


def stopper(k):
    return lambda line, _: line["iteration"] == k


def same(run, other):
    for name in ("theta", "random_theta", "last_theta"):
        np.testing.assert_array_equal(getattr(run, name), getattr(other, name))
        assert set(run.normalization[name]) == {"count", "mean", "squares", "limit"}
        for part, array in run.normalization[name].items():
            np.testing.assert_array_equal(array, other.normalization[name][part])
    assert run.history == other.history
    assert run.episodes_used == other.episodes_used


@pytest.fixture(scope="module")
def two():
    with Processes(2) as backend:
        yield backend


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_statistics_are_of_the_first_half_of_the_run(algorithm):
    counts = {}
    for iterations in (1, 2, 6):
        run = trained(algorithm, iterations=iterations, directions=2 if algorithm != "score" else None)
        counts[iterations] = run.last_policy.statistics.count
    # every episode takes 6 steps; 2 n m of them in an iteration of OnP-SF, m in one of the others
    batch = 6 * (4 * 8 if algorithm == "onp-sf" else 8)
    assert counts == {1: 6 * FIRST + batch, 2: 6 * FIRST + batch, 6: 6 * FIRST + 3 * batch}
    # 3 standard errors of the mean and of the standard deviation; 0.3% for each of 4, at a fixed seed
    seen, error = run.last_policy.statistics, 3.0 / np.sqrt(run.last_policy.statistics.count)
    np.testing.assert_array_less(np.abs(seen.mean - Scaled.middle) / Scaled.spread, error)
    np.testing.assert_allclose(seen.std, Scaled.spread, rtol=error)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_first_episodes_are_counted_and_kept_within_the_budget(algorithm):
    with_first, without = (trained(algorithm, normalize=normalize) for normalize in (True, False))
    assert with_first.episodes_used == without.episodes_used + FIRST
    assert without.normalization == {}
    assert any("observations were normalized" in note for note in with_first.notes)
    run = trained(algorithm, iterations=None, max_episodes=233, directions=1 if algorithm != "score" else None)
    assert 200 < run.episodes_used <= 233


def test_the_first_statistics_are_those_of_the_start():
    source, policy = GymnasiumSource(Scaled, horizon=6), MLP(2, 2, ())
    run = train_plainly(rg.OffPSF, source, policy, "mean", iterations=1, episodes=4, held_out=0, seed=4, normalize=True)
    batch = source.record(policy, np.zeros(policy.dim), FIRST, Stream(4, Purpose.OBSERVING))
    np.testing.assert_allclose(run.normalization["random_theta"]["mean"], batch_statistics(batch).mean, rtol=1e-12)
    np.testing.assert_allclose(run.random_policy.statistics.std, batch_statistics(batch).std, rtol=1e-12)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_it_learns_what_raw_observations_hide(algorithm):
    m = 10 if algorithm == "onp-sf" else 40
    options = {"iterations": 20, "episodes": m, "risk_path": None, "entropy": 0.0, "held_out": 0}
    raw, normalized = (trained(algorithm, normalize=normalize, **options) for normalize in (False, True))
    # a blind policy gets 3 of 6
    assert rg.evaluate(raw, Scaled, "mean", 200, horizon=6).rows[0].value < 3.6
    assert rg.evaluate(normalized, Scaled, "mean", 200, horizon=6).rows[0].value > 4.6


def test_a_policy_without_a_density_sees_them_too():
    run = trained("auto", policy="deterministic", iterations=20, episodes=20)
    assert isinstance(run.policy.inner, Deterministic)
    assert rg.evaluate(run, Scaled, "mean", 200).rows[0].value > 5.0


def test_each_kept_theta_has_the_statistics_in_force_at_it(tmp_path):
    seen = []
    source, policy = GymnasiumSource(Scaled, horizon=6), MLP(2, 2, (3,))
    counts = [6.0 * FIRST]
    for k in range(6):
        counts.append(counts[-1] + (6.0 * 8 if k < 3 else 0.0))
    options = {**QUICK, "seed": 5}
    del options["horizon"]
    run = train_plainly(rg.Score, source, policy, "mean", callback=lambda _, theta: seen.append(theta), **options)
    thetas = [Stream(5, Purpose.INITIAL).generator(), *seen]
    thetas[0] = policy.initial_theta(thetas[0])
    for name, acting in (("theta", run.policy), ("random_theta", run.random_policy), ("last_theta", run.last_policy)):
        k = next(k for k, theta in enumerate(thetas) if np.array_equal(theta, getattr(run, name)))
        assert acting.statistics.count == counts[k]
    # the held-out risk is that of the returned pair
    again = source.returns(run.policy, run.theta[None], 5, Stream(5, Purpose.HELD_OUT)).values
    assert run.held_out_risk == float(np.mean(again))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_processes_change_no_digit(two, algorithm):
    policy = MLP(2, 2, (3,))
    options = {name: value for name, value in QUICK.items() if name != "horizon"}
    kind = ALGORITHMS[algorithm]
    runs = [
        train_plainly(kind, GymnasiumSource(Scaled, horizon=6, backend=backend), policy, "cvar:0.5", **options)
        for backend in (None, two)
    ]
    same(*runs)


def new(before):
    return set(multiprocessing.active_children()) - before


def test_training_in_processes_ends_them_and_goes_on_with_any_number_of_them(tmp_path):
    whole, before, during = trained("score"), set(multiprocessing.active_children()), set()

    def callback(line, _):
        during.update(new(before))
        return line["iteration"] == 2

    trained("score", backend="processes:2", resume=tmp_path, callback=callback)
    assert len(during) == 2
    assert new(before) == set()
    assert len(rg.load(tmp_path).history) == 3
    same(trained("score", resume=tmp_path), whole)


@pytest.mark.parametrize("seconds", [0.0, 1e9])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_stopped_and_resumed_ends_as_if_never_stopped(tmp_path, algorithm, seconds):
    options = {"entropy": 0.1} | ({"directions": 2} if algorithm != "score" else {})
    whole = trained(algorithm, **options)
    for k in (0, 2, 4):
        options["checkpoint_seconds"] = seconds
        trained(algorithm, resume=tmp_path / f"{k}", callback=stopper(k), **options)
        same(trained(algorithm, resume=tmp_path / f"{k}", **options), whole)
        same(rg.load(tmp_path / f"{k}"), whole)


def lines(folder):
    return (folder / HISTORY).read_bytes().count(b"\n") if (folder / HISTORY).exists() else 0


def test_killed_with_its_processes_and_resumed_ends_as_if_never_killed(tmp_path):
    # a server that has imported riskgrad forks the process, so that it begins at once
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["riskgrad.algorithms"])
    options = {"risk": "cvar:0.5", "algorithm": "offp-sf", **QUICK, "iterations": 30}
    keeping = {"resume": tmp_path, "backend": "processes:2", "checkpoint_seconds": 0.0}
    process = context.Process(target=train_briefly, args=[Scaled], kwargs={**options, **keeping})
    process.start()
    while process.is_alive() and lines(tmp_path) < 6:
        time.sleep(0.001)
    assert process.is_alive(), "the run ended before it could be killed"
    process.kill()
    process.join()
    assert 5 <= len(rg.load(tmp_path).history) < 30
    same(train_briefly(Scaled, resume=tmp_path, **options), train_briefly(Scaled, **options))


@pytest.mark.parametrize("backend", [None, "processes:2"])
def test_an_environment_that_fails_leaves_a_run_that_goes_on(tmp_path, backend):
    broken, before = tmp_path / "broken", set(multiprocessing.active_children())
    options = {"backend": backend, "checkpoint_seconds": 0.0, "resume": tmp_path / "run"}
    options["env_options"] = {"broken": str(broken)}

    def callback(line, _):
        if line["iteration"] == 3:
            broken.touch()

    says = r"Fragile failed at step 1 of the episode with seed \d+, played by policy row 0: RuntimeError: the simulator"
    with pytest.raises(EpisodeError, match=says) as caught:
        trained("score", Fragile, callback=callback, **options)
    assert "\n" not in str(caught.value)
    assert new(before) == set()
    assert len(rg.load(tmp_path / "run").history) == 4
    broken.unlink()
    del options["backend"]
    same(trained("score", Fragile, **options), trained("score", Fragile, env_options=options["env_options"]))


@pytest.mark.parametrize("policy", ["linear", "mlp"])
def test_a_run_comes_back_without_help(tmp_path, policy):
    run = trained("onp-sf", "CartPole-v1", policy=policy, folder=tmp_path / "run", horizon=30, directions=3)
    run.save(tmp_path / "run.rg")
    table = rg.evaluate(run, "CartPole-v1", episodes=50).as_dict()
    path = tmp_path / "run.rg"
    for again in (rg.load(tmp_path / "run"), rg.load(path), rg.load(path, run.policy.inner)):
        same(again, run)
        assert rg.evaluate(again, "CartPole-v1", episodes=50).as_dict() == table
    raw = rg.evaluate((run.policy.inner, run.theta), "CartPole-v1", episodes=50, horizon=30).as_dict()
    assert raw["rows"] != table["rows"]


def test_a_run_is_built_on_with_its_statistics(tmp_path):
    first = trained("score")
    more = train_briefly(Scaled, "mean", policy=first.last_policy, theta=first.last_theta, **{**QUICK, "iterations": 2})
    # no first episodes, and the count goes on
    assert more.last_policy.statistics.count == first.last_policy.statistics.count + 6 * 8
    fixed = {**QUICK, "normalize": False, "folder": tmp_path / "run"}
    train_briefly(Scaled, "mean", policy=first.policy, theta=first.theta, **fixed)
    again = rg.load(tmp_path / "run")
    np.testing.assert_array_equal(again.policy.statistics.mean, first.policy.statistics.mean)
    assert isinstance(again.policy.inner, MLP)
    assert (again.settings.normalize, again.settings.policy_facts["kind"]) == (False, "Normalized")


@pytest.mark.parametrize("kind", [rg.OffPSF, rg.Score])
def test_a_log_has_one_set_of_statistics(kind):
    source, policy = GymnasiumSource(Scaled, horizon=6), MLP(2, 2, ())
    log = source.record(policy, np.zeros(policy.dim), 100, Stream(1, Purpose.TRAINING))
    options = {"iterations": 30, "seed": 2, "normalize": True}
    run = train_plainly(kind, log_of(log), policy, "mean", held_out=0, step_size=0.5, **options)
    for acting in (run.policy, run.random_policy):
        np.testing.assert_array_equal(acting.statistics.mean, batch_statistics(log).mean)
    assert run.history[-1]["mean"] > run.history[0]["mean"] + 0.3
    options = {**options, "episodes": 50, "step_size": 0.5}
    once = train_plainly(kind, source, policy, "mean", reuse_batch=True, held_out=0, **options)
    assert once.last_policy.statistics.count == 6 * FIRST
    pair = (MLP(2, 2, ()), np.zeros(policy.dim))
    other = train_plainly(kind, source, policy, "mean", behavior=pair, **options)
    assert other.last_policy.statistics.count == 6 * (FIRST + 15 * 50)


def test_ratios_are_one_by_the_statistics_in_force():
    source, policy = GymnasiumSource(Scaled, horizon=6), MLP(2, 2, (3,))
    theta = np.random.default_rng(0).normal(size=policy.dim)
    acting = Normalized(policy, ObservationStatistics(10.0, Scaled.middle, 10.0 * Scaled.spread**2))
    batch = source.record(acting, theta, 20, Stream(0, Purpose.TRAINING))
    np.testing.assert_array_equal(log_ratios(acting, theta[None], batch), 0.0)
    assert np.max(np.abs(log_ratios(policy, theta[None], batch))) > 0.1


@pytest.mark.parametrize(
    ("env", "options", "message"),
    [
        (rg.mdp.two_roads(), {"horizon": None}, "normalize must be False where observations are states, got True"),
        (
            GymnasiumSource(Scaled, horizon=6),
            {"horizon": None, "backend": "serial"},
            "left out for a source, which has",
        ),
        (Scaled, {"backend": "processes:0"}, "workers must be an integer of at least 1, got 0"),
    ],
)
def test_refuses_in_one_line(tmp_path, env, options, message):
    with pytest.raises(InputError, match=message) as caught:
        trained("score", env, folder=tmp_path / "run", **options)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_on_policy_needs_a_source_that_tells_what_it_saw():
    class Silent(rg.sources.Source):
        returns = record = None  # pyright: ignore[reportAssignmentType]

    with pytest.raises(
        InputError, match=r"normalize must be False for an algorithm .* on a source without `returns_and_stat"
    ):
        train_plainly(rg.OnPSF, Silent(), MLP(2, 2, ()), "mean", iterations=1, normalize=True)

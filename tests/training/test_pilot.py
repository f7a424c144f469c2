"""Training with memory: every algorithm, budgets, files, resuming, logs, normalization, and what is refused."""

import gymnasium
import numpy as np
import pytest
from support.memory import WithReturns
from support.training import train_briefly

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.exact.risk import action_values
from riskgrad.paths import choose_path
from riskgrad.policy.memory import Memory
from riskgrad.random import Purpose, Stream
from riskgrad.run.store import HISTORY
from riskgrad.settings import TrainOptions
from riskgrad.sources import TabularSource
from riskgrad.training.plan import afford_pilot
from riskgrad.types import States

INVENTORY = rg.mdp.inventory()


@pytest.mark.parametrize("kind", ["time", "return", "both"])
@pytest.mark.parametrize("algorithm", ["score", "offp-sf", "onp-sf"])
def test_every_algorithm_trains_a_policy_with_memory(algorithm, kind):
    run = train_briefly(INVENTORY, "cvar:0.1", algorithm, episodes=40, iterations=3, memory=kind)
    memory = run.policy.memory
    assert memory is not None
    assert run.settings.memory == memory.kind == kind
    assert (memory.observations, memory.horizon, memory.discount) == (States(5), 4, 1.0)
    assert run.policy.dim == 25 * memory.cells == run.theta.size
    assert any("memory of" in note for note in run.notes)
    assert run.episodes_used >= (0 if kind == "time" else 400)


def test_memory_pays_where_it_must():
    """A coin gives 5 or -5, then 2 are there for the taking: who has won leaves them, for the sake of the variance.

    Mean less 0.3 times variance: -5.5 for who always takes them, 1 - 0.3 * 16 = -3.8 for who remembers.
    """
    coin = [(0.5, 1, 5.0, False), (0.5, 1, -5.0, False)]
    outcomes = [[coin, coin], [[(1.0, 1, 2.0, True)], [(1.0, 1, 0.0, True)]]]
    mdp = rg.mdp.FiniteMDP.from_outcomes(outcomes, start=0, horizon=2)
    values = {}
    for kind in (None, "return"):
        run = rg.train(mdp, "mean-variance:0.3", memory=kind, iterations=100, seed=1, risk_path=None)
        values[kind] = rg.evaluate(run, mdp, "mean-variance:0.3", episodes=50_000).rows[0].value
    assert values[None] < -5.3
    assert values["return"] > -4.0


@pytest.mark.parametrize("seed", [0, 1])
def test_the_cells_of_a_pilot_lose_nothing_on_the_inventory(seed):
    """By exact gradients a table whose cells share ends at the best policy of all that remember, 4.363."""
    run = rg.train(INVENTORY, "cvar:0.1", policy="shared-table", memory="both", iterations=1, seed=seed)
    policy, wide = run.policy, WithReturns(INVENTORY)
    seen, ascent = wide.seen(policy.memory), rg.ascent.Adam(0.1)
    path = choose_path("square:0.5", rg.risk.CVaR(0.1), "practical")
    theta, moments = np.zeros(policy.dim), ascent.start(policy.dim)
    for k in range(300):
        chances, measure = policy.probabilities(theta, seen), path.measure(min(1.0, k / 150))
        slopes = chances * action_values(wide.model, chances, measure)
        where = np.repeat(seen, 5), np.tile(np.arange(5), len(seen))
        theta, moments = ascent.step(theta, policy.score_sum(theta, *where, slopes.ravel()), moments)
    likeliest = np.eye(5)[np.argmax(policy.probabilities(theta, seen), axis=1)]
    reached = rg.risk.CVaR(0.1).value(rg.exact.return_law(wide.model, likeliest))
    assert reached == pytest.approx(4.3634375, abs=1e-6)


def test_the_pilot_is_within_the_budget():
    run = rg.train(INVENTORY, "cvar:0.1", memory="both", max_episodes=3000)
    assert 2500 < run.episodes_used <= 3000
    assert tuple(afford_pilot(TrainOptions(max_episodes=most)) for most in (None, 100_000, 3000, 30)) == (
        400,
        400,
        300,
        20,
    )


def test_threads_and_a_second_run_give_the_same_bits():
    runs = [rg.train(INVENTORY, "cvar:0.1", memory="both", iterations=10, threads=threads) for threads in (1, 2, 2)]
    for other in runs[1:]:
        np.testing.assert_array_equal(runs[0].theta, other.theta)
        assert runs[0].history == other.history


def test_processes_give_the_same_bits():
    options = {"memory": "both", "iterations": 3, "horizon": 30, "discount": 0.9, "algorithm": "score:episodes=20"}
    here, there = (
        rg.train(gymnasium_pole, "cvar:0.2", backend=backend, **options) for backend in ("serial", "processes:2")
    )
    np.testing.assert_array_equal(here.theta, there.theta)
    assert here.policy.memory == there.policy.memory


def gymnasium_pole():
    return gymnasium.make("CartPole-v1")


def test_saved_and_loaded_it_is_the_same_policy(tmp_path):
    run = rg.train(INVENTORY, "cvar:0.1", memory="both", iterations=5)
    run.save(tmp_path / "run.rg")
    again = rg.load(tmp_path / "run.rg")
    assert again.policy.memory == run.policy.memory
    assert again.settings == run.settings
    for one in (again, run):
        table = rg.evaluate(one, INVENTORY, episodes=2000)
        assert table.rows[0].value == rg.evaluate(run, INVENTORY, episodes=2000).rows[0].value


@pytest.mark.parametrize("normalize", [False, True])
def test_stopped_and_resumed_it_ends_at_the_same_bits(tmp_path, normalize):
    env, options = "CartPole-v1", {"memory": "both", "iterations": 8, "horizon": 30, "normalize": normalize}
    if not normalize:
        env, options = INVENTORY, {"memory": "both", "iterations": 8}
    options["algorithm"] = "score:episodes=30"
    whole = rg.train(env, "cvar:0.1", folder=tmp_path / "whole", **options)
    stopped = rg.train(
        env, "cvar:0.1", folder=tmp_path / "cut", callback=lambda line, _: line["iteration"] == 3, **options
    )
    assert not stopped.finished
    assert rg.load(tmp_path / "cut").policy.memory == whole.policy.memory
    resumed = rg.train(env, "cvar:0.1", resume=tmp_path / "cut", **options)
    for name in ("theta", "random_theta", "last_theta"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))
    assert resumed.episodes_used == whole.episodes_used
    assert (tmp_path / "cut" / HISTORY).read_bytes() == (tmp_path / "whole" / HISTORY).read_bytes()
    with pytest.raises(InputError, match="memory must be what the run began with, got 'time'"):
        rg.train(env, "cvar:0.1", resume=tmp_path / "cut", **{**options, "memory": "time", "policy": None})


@pytest.mark.parametrize("policy", ["linear", "mlp", "deterministic"])
@pytest.mark.parametrize("env", ["CartPole-v1", "Pendulum-v1"])
def test_vectors_and_numbers_train_too(env, policy):
    algorithm = "onp-sf:episodes=2,directions=2" if policy == "deterministic" else "score:episodes=10"
    run = rg.train(env, "cvar:0.3", memory="both", policy=policy, algorithm=algorithm, iterations=2, horizon=20)
    memory = run.policy.memory
    assert memory is not None
    assert memory.bumps == (policy != "mlp")
    assert memory.spread > 0.0
    assert rg.evaluate(run, env, episodes=50).rows[0].value == rg.evaluate(run, env, episodes=50).rows[0].value


def test_normalization_sees_what_the_policy_sees():
    run = rg.train(
        gymnasium_pole, "mean", memory="time", normalize=True, algorithm="score:episodes=10", iterations=2, horizon=20
    )
    assert run.policy.statistics is not None
    assert len(run.policy.statistics.mean) == 4 + 6
    assert run.policy.memory is not None


def logged(mdp, episodes=400):
    """Give a log of the uniform policy, with the reward of each step, from Gymnasium's form of the model."""
    rng, rows = np.random.default_rng(0), []
    for episode in range(episodes):
        state = int(rng.choice(mdp.n_states, p=mdp.start))
        for t in range(mdp.horizon):
            action = int(rng.integers(mdp.n_actions))
            first = state * mdp.n_actions + action
            k = int(rng.integers(mdp.offsets[first], mdp.offsets[first + 1]))
            rows.append((episode, t, action, mdp.rewards[k], state))
            state = int(mdp.next_states[k])
            if mdp.ends[k]:
                break
    ids, times, actions, rewards, states = (np.array(column) for column in zip(*rows, strict=True))
    return rg.LoggedEpisodes.from_arrays(
        ids, times, actions, rewards, behavior_prob=np.full(len(ids), 1 / mdp.n_actions), state=states, discount=0.9
    )


def test_a_log_trains_a_policy_with_memory_and_costs_no_episode():
    log = logged(INVENTORY)
    run = rg.train(log, "cvar:0.2", memory="both", policy="table", iterations=3)
    assert run.episodes_used == 0
    memory = run.policy.memory
    assert memory is not None
    assert (memory.horizon, memory.discount) == (4, 0.9)
    assert memory.return_cells > 20
    assert np.any(run.theta != 0.0)
    seen = log.log_for(run.policy).observations
    np.testing.assert_array_equal(memory.plain(seen), log.batch.observations)
    # what the log never showed is not changed
    assert set(np.flatnonzero(run.last_theta) // 5) <= set(seen.tolist())


def test_a_policy_given_as_a_value_gets_memory_or_brings_its_own():
    table = rg.policy.TabularGibbs(5, 5)
    run = rg.train(INVENTORY, "mean", policy=table, memory="time", iterations=2)
    assert run.settings.policy == "table"
    assert run.policy.dim == 100
    later = rg.train(INVENTORY, "mean", policy=run.policy, theta=run.theta, iterations=2)
    assert later.policy.memory == run.policy.memory
    assert later.settings.memory == "time"
    with pytest.raises(InputError, match=r"^memory must be that of the policy, 'time', got 'both'"):
        rg.train(INVENTORY, "mean", policy=run.policy, memory="both", iterations=2)


def test_who_acts_must_remember_the_same():
    policy, theta = rg.policy.TabularGibbs(5, 5), np.zeros(25)
    algorithm = rg.Score(episodes=20, behavior=(policy, theta))
    with pytest.raises(InputError, match=r"^behavior must have the memory of the policy that is trained"):
        rg.train(INVENTORY, "mean", memory="time", algorithm=algorithm, iterations=2)


def test_reports_and_comparisons_take_runs_with_memory(tmp_path):
    runs = [rg.train("two-roads", "cvar:0.1", memory=kind, iterations=4) for kind in (None, "both")]
    rg.report(runs, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000
    grid = rg.train("slippery-grid", "cvar:0.1", memory="time", iterations=2, algorithm="score:episodes=20")
    rg.report([grid], tmp_path / "grid.html")


def test_memory_is_fitted_to_episodes_of_the_seed():
    first, again, other = (
        rg.train(INVENTORY, "mean", memory="return", iterations=1, seed=seed).policy.memory for seed in (0, 0, 1)
    )
    assert first == again != other
    source, policy = TabularSource(INVENTORY), rg.policy.TabularGibbs(5, 5)
    so_far = source.returns_so_far(policy, np.zeros(25), 400, Stream(0, Purpose.OBSERVING, 1))
    assert isinstance(first, Memory)
    assert min(so_far) < first.edges[0] < first.edges[-1] < max(so_far)

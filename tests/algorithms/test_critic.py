"""The critic algorithm from end to end: to the bit whatever stops it or shares its work, and within its budget."""

import os

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.best import best_laws
from support.training import log_of

import riskgrad as rg
from riskgrad.errors import DamagedFileError, InputError
from riskgrad.mdp.models import inventory, risky_safe, ruin, slippery_grid, two_roads
from riskgrad.policy import TabularGibbs
from riskgrad.random import Purpose, Stream
from riskgrad.run.store import HISTORY, LOG

FAST = {"algorithm": rg.Critic(episodes=24), "iterations": 10, "held_out": 30, "seed": 4, "risk": "cvar:0.1"}


def same_runs(one, other):
    for name in ("theta", "random_theta", "last_theta"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("history", "notes", "episodes_used", "held_out_episodes", "held_out_risk", "held_out_error"):
        assert getattr(one, name) == getattr(other, name), name


def stopping_after(iteration):
    return lambda line, _theta: line["iteration"] == iteration


# the finalists are chosen after iteration 5, the winner after iteration 9
@pytest.mark.parametrize("stops", [(0,), (4,), (5,), (8,), (9,), (2, 3, 6)])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_stopped_and_resumed_it_ends_as_if_never_stopped(tmp_path, stops, bootstrap):
    options = {**FAST, "algorithm": rg.Critic(episodes=24, bootstrap=bootstrap)}
    whole = rg.train(two_roads(), **options, folder=tmp_path / "whole")
    begun = b""
    for stop in stops:
        part = rg.train(two_roads(), **options, resume=tmp_path / "x", callback=stopping_after(stop))
        assert part.finished == (stop == FAST["iterations"] - 1)
        now = (tmp_path / "x" / LOG).read_bytes()
        assert now.startswith(begun)
        assert len(now) > len(begun)
        begun = now
    same_runs(rg.train(two_roads(), **options, resume=tmp_path / "x"), whole)
    for name in (LOG, HISTORY):
        assert (tmp_path / "x" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert (tmp_path / "x" / LOG).read_bytes().startswith(begun)


def test_steps_beyond_the_checkpoint_are_let_go(tmp_path):
    whole = rg.train(two_roads(), **FAST, folder=tmp_path / "whole")
    rg.train(two_roads(), **FAST, folder=tmp_path / "x", callback=stopping_after(3))
    path = tmp_path / "x" / LOG
    path.write_bytes(path.read_bytes() + (tmp_path / "whole" / LOG).read_bytes()[:777])
    same_runs(rg.train(two_roads(), **FAST, resume=tmp_path / "x"), whole)
    assert path.read_bytes() == (tmp_path / "whole" / LOG).read_bytes()


def test_a_damaged_log_is_told_in_one_line(tmp_path):
    rg.train(two_roads(), **FAST, folder=tmp_path, callback=stopping_after(3))
    path = tmp_path / LOG
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 8
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match=r"steps\.log is damaged: the checksum of block \d+ does not match$"):
        rg.train(two_roads(), **FAST, resume=tmp_path)
    path.write_bytes(content[:-1])
    with pytest.raises(DamagedFileError, match=r"steps\.log is shorter than its checkpoint says"):
        rg.train(two_roads(), **FAST, resume=tmp_path)


def test_threads_do_not_matter():
    mdp = inventory(capacity=2, weeks=4, start=1)
    same_runs(*(rg.train(mdp, **FAST, threads=threads) for threads in (1, 2)))


def test_processes_do_not_matter():
    options = {**FAST, "iterations": 3, "risk": "mean", "held_out": 10}
    runs = [
        rg.train(rg.sources.GymnasiumSource("FrozenLake-v1", horizon=20, backend=backend), **options)
        for backend in ("serial", "processes:2")
    ]
    same_runs(*runs)


@settings(max_examples=12, deadline=None)
@given(st.integers(60, 900), st.sampled_from(["mean", "cvar:0.1", "mean-variance:0.1"]), st.booleans())
def test_a_budget_is_never_exceeded_and_the_count_is_exact(budget, risk, memory):
    played = []
    source = rg.sources.TabularSource(two_roads(), threads=1)
    returns, record, pilot = source.returns, source.record_steps, source.returns_so_far

    def count(play, rows=None):
        def counting(policy, theta, episodes, *rest, **more):
            played.append(episodes * (len(theta) if rows else 1))
            return play(policy, theta, episodes, *rest, **more)

        return counting

    source.returns, source.record_steps, source.returns_so_far = count(returns, rows=True), count(record), count(pilot)
    try:
        run = rg.train(source, risk, algorithm="critic", max_episodes=budget, memory="both" if memory else None)
    except InputError as error:
        if "allow one iteration" in str(error):
            return
        raise
    assert run.episodes_used <= budget
    # what was judged late plays the same held-out episodes again, which is no new episode
    assert run.episodes_used <= sum(played) <= run.episodes_used + 3 * run.settings.held_out


def test_the_notes_name_the_paths_and_a_path_that_is_given_is_the_only_one():
    run = rg.train(two_roads(), **FAST)
    note = next(note for note in run.notes if "side by side" in note)
    assert note.startswith("4 paths to cvar:0.1 were tried side by side (risk_path: square:0.5, 0.5, none, levels:0.5)")
    assert {line["way"] for line in run.history} <= {"square:0.5", "0.5", "none", "levels:0.5"}
    for path, way in ((None, "none"), (0.5, "0.5"), ("levels:0.25", "levels:0.25")):
        alone = rg.train(two_roads(), **FAST, risk_path=path)
        assert {line["way"] for line in alone.history} == {way}
        assert not any("side by side" in note for note in alone.notes)


def test_the_schedule_of_the_paper_has_no_sharper_policy(monkeypatch):
    monkeypatch.setattr("riskgrad.training.loop.sharpen", lambda *_: pytest.fail("sharpened"))
    run = rg.train(two_roads(), "mean", algorithm="critic", schedule="paper", iterations=9)
    assert not any("sharper by a factor" in note for note in run.notes)
    assert rg.train(two_roads(), "mean", schedule="paper", iterations=4).settings.algorithm != "critic"


class Unsmooth(rg.risk.RiskMeasure):
    """The median, without an influence."""

    has_influence = False
    attitude = "averse"

    def estimate(self, values, weights=None):  # noqa: ARG002
        return np.median(np.asarray(values), axis=-1)

    def value(self, law):
        return float(law.values[np.searchsorted(np.cumsum(law.probabilities), 0.5)])


class Steered(gymnasium.Env):
    """States with actions that are numbers."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        return 0, {}

    def step(self, action):
        return 1, float(action[0]), False, False, {}


def test_bad_input_gets_one_line_with_what_to_do():
    mdp = two_roads()
    policy, source = TabularGibbs(mdp.n_states, mdp.n_actions), rg.sources.TabularSource(mdp)
    log = log_of(source.record(policy, np.zeros(policy.dim), 20, Stream(0, Purpose.TRAINING, 0)))
    cases = [
        (
            (rg.sources.GymnasiumSource(Steered, horizon=3), "mean"),
            {},
            "have a choice among actions.*algorithm='score'",
        ),
        ((log, "mean"), {"policy": policy}, "score"),
        ((mdp, Unsmooth()), {}, "have an influence function for critic.*use onp-sf or offp-sf"),
        ((mdp, "mean"), {"policy": rg.policy.LinearSoftmax(2, 3)}, "policy"),
    ]
    for arguments, options, words in cases:
        with pytest.raises(InputError, match=words) as caught:
            rg.train(*arguments, algorithm="critic", max_episodes=500, **options)
        assert "\n" not in str(caught.value)


def share_of_gap(build, risk, **options):
    """Give the part of the way from uniform to the best policy without memory, in exact values."""
    mdp, rho = build(), rg.risk.parse(risk)
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    run = rg.train(mdp, risk, **options)
    low, high = rg.exact.value(mdp, policy, np.zeros(policy.dim), rho), rho.value(best_laws(build)[risk])
    return (rg.exact.value(mdp, run.policy, run.theta, rho) - low) / (high - low)


@pytest.mark.parametrize("risk", ["mean", "cvar:0.1"])
@pytest.mark.parametrize("build", [two_roads, risky_safe])
def test_short_problems_are_solved_in_few_episodes(build, risk):
    for seed in (0, 1):
        assert share_of_gap(build, risk, algorithm="critic", max_episodes=10_000, seed=seed) >= 0.99


MODELS = [two_roads, inventory, ruin, risky_safe, slippery_grid]
SEEDS = range(5)
TOO_CLOSE = pytest.mark.xfail(
    strict=True,
    reason="50,000 episodes cannot tell the two best policies, 1.318 and 1.313: 2 of 5 seeds reach 0.99, the others "
    "0.976 to 0.984; no way to spend them picks the better one in more than 67% of runs, `learning.py limit`",
)
PROBLEMS = [
    pytest.param(build, risk, marks=[TOO_CLOSE] if (build, risk) == (ruin, "mean") else [])
    for build in MODELS
    for risk in ("mean", "cvar:0.1")
]


@pytest.mark.skipif(not os.environ.get("RISKGRAD_NEED_LEARNING"), reason="slow; the gate runs it")
@pytest.mark.parametrize(("build", "risk"), PROBLEMS)
def test_the_shipped_models_are_solved(build, risk):
    shares = [share_of_gap(build, risk, max_episodes=50_000, seed=seed) for seed in SEEDS]
    assert min(shares) >= 0.99, shares


class Hidden(gymnasium.Env):
    """Two steps; what the first action does shows only in the reward of the second, and in no observation.

    Action 0 earns 0.5 at once and loses 2 later, action 1 earns 1 later. Since the second observation is the same after
    both, a model of what follows it has their average, by which action 0 is better.
    """

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.first = None
        return 0, {}

    def step(self, action):
        if self.first is None:
            self.first = action
            return 1, 0.5 if action == 0 else 0.0, False, False, {}
        return 1, -2.0 if self.first == 0 else 1.0, True, False, {}


def test_where_observations_do_not_determine_what_follows_returns_lead_and_the_model_misleads():
    good = {}
    for bootstrap in (True, False):
        run = rg.train(Hidden, "mean", algorithm=rg.Critic(bootstrap=bootstrap), horizon=3, max_episodes=4000)
        good[bootstrap] = run.policy.probabilities(run.theta, np.array([0]))[0, 1]
        assert any("observations may not determine what follows" in note for note in run.notes) == bootstrap
    assert good[True] < 0.1
    assert good[False] > 0.9

import copy
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import riskgrad as rg
from riskgrad.errors import InputError, StorageError
from riskgrad.policy import (
    MLP,
    Deterministic,
    Gaussian,
    Gibbs,
    LinearSoftmax,
    Normalized,
    ObservationStatistics,
    TabularGibbs,
)
from riskgrad.policy.base import describe_policy, rebuild_policy
from riskgrad.run import Run
from riskgrad.run.result import Judgment
from riskgrad.settings import Settings

SEEN = ObservationStatistics.of(np.random.default_rng(2).normal(size=(50, 2)) * [1e-3, 7.0])


def example(policy):
    rng = np.random.default_rng(1)
    return Run(
        theta=rng.normal(size=6),
        random_theta=rng.normal(size=6),
        last_theta=rng.normal(size=6),
        history=({"iteration": 0, "risk": 0.1, "ess": None},),
        episodes_used=1200,
        held_out_episodes=200,
        judgment=Judgment(1.5, 2.5, rng.normal(size=100), rng.uniform(size=100)),
        settings=Settings(algorithm="offp-sf", risk="cvar:0.1", policy_facts=describe_policy(policy)),
        remarks=("a note",),
        finished=True,
        given_policy=policy,
    )


def test_a_saved_run_comes_back_to_the_bit(tmp_path):
    run = example(TabularGibbs(2, 3))
    run.save(tmp_path / "run.rg")
    again = rg.load(tmp_path / "run.rg")
    for name in ("theta", "random_theta", "last_theta"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))
        assert not getattr(again, name).flags.writeable
    for name in (
        "history",
        "episodes_used",
        "held_out_episodes",
        "held_out_risk",
        "held_out_error",
        "held_out_interval",
        "held_out_flag",
        "held_out_reliable",
        "settings",
        "notes",
        "finished",
    ):
        assert getattr(again, name) == getattr(run, name)
    np.testing.assert_array_equal(
        again.policy.probabilities(again.theta, np.arange(2)), run.policy.probabilities(run.theta, np.arange(2))
    )


def test_a_policy_made_of_code_is_given_again(tmp_path):
    policy = Gibbs(lambda theta, _: theta[:2], 6)
    example(policy).save(tmp_path / "run.rg")
    again = rg.load(str(tmp_path / "run.rg"))
    with pytest.raises(InputError, match=r"rg.load\(path, policy=...\)"):
        _ = again.policy
    assert rg.load(tmp_path / "run.rg", policy=policy).policy is policy
    with pytest.raises(InputError, match="policy must have 6 parameters"):
        rg.load(tmp_path / "run.rg", policy=TabularGibbs(2, 2))


def test_nothing_to_load_gets_one_line(tmp_path):
    with pytest.raises(StorageError, match="no checkpoint of a run is in this folder"):
        rg.load(tmp_path)
    with pytest.raises(StorageError, match="cannot read"):
        rg.load(tmp_path / "nothing")


def test_it_prints_what_it_is():
    assert (
        repr(example(TabularGibbs(2, 3)))
        == "<Run: offp-sf on cvar:0.1, finished after 1 iterations and 1,200 episodes>"
    )


@pytest.mark.parametrize(
    "policy",
    [
        TabularGibbs(3, 2),
        LinearSoftmax(4, 3, feature_bound=1.0),
        MLP(2, 3, hidden=(4,), activation="relu"),
        MLP(2, (2, 3), hidden=()),
        Gaussian(2, [-1.0, -np.inf], [1.0, np.inf], hidden=(3,)),
        Gaussian(2, -2.0, 2.0, squashed=True, initial_std=0.25),
        Normalized(MLP(2, 3, hidden=(4,)), SEEN),
        Normalized(Gaussian(2, -1.0, 1.0), SEEN, np.inf),
        Deterministic(2, 3),
        Deterministic(2, low=[-1.0], high=[np.inf], hidden=(3,), activation="relu"),
    ],
    ids=repr,
)
def test_policies_made_of_numbers_come_back(tmp_path, policy):
    facts = json.loads(json.dumps(describe_policy(policy), allow_nan=False))
    again = rebuild_policy(facts)
    assert type(again) is type(policy)
    assert again.dim == policy.dim
    assert describe_policy(again) == describe_policy(policy)
    rng = np.random.default_rng(0)
    theta = rng.normal(size=policy.dim)
    finite = isinstance(policy, TabularGibbs)
    observations = np.array([0, 2]) if finite else rng.normal(size=(2, 4 if isinstance(policy, LinearSoftmax) else 2))
    uniforms = rng.random((2, policy.noise_size))
    rows = np.zeros(2, dtype=np.int64)
    actions = policy.act(theta[None], rows, observations, uniforms)
    np.testing.assert_array_equal(again.act(theta[None], rows, observations, uniforms), actions)
    if not isinstance(policy, Deterministic):
        np.testing.assert_array_equal(
            again.log_prob(theta, observations, actions), policy.log_prob(theta, observations, actions)
        )


def test_a_policy_that_only_looks_alike_has_no_recipe():
    class TabularGibbs(rg.policy.Policy):  # the name of a kind that can be rebuilt
        dim = 2  # pyright: ignore[reportAssignmentType]
        probabilities = log_prob = score_sum = None  # pyright: ignore[reportAssignmentType]

    assert describe_policy(TabularGibbs())["recipe"] is None
    assert describe_policy(Normalized(TabularGibbs(), SEEN))["recipe"] is None
    assert rebuild_policy({"kind": "os.system", "recipe": {"command": "true"}}) is None


def test_a_run_knows_what_it_was_trained_on_until_it_leaves_the_process(tmp_path):
    mdp = rg.mdp.two_roads()
    run = rg.train(mdp, "mean", iterations=2, algorithm="score")
    assert run.given_env is mdp
    assert rg.evaluate(run, episodes=50).rows[0].value == rg.evaluate(run, mdp, episodes=50).rows[0].value
    assert run.report(tmp_path / "page.html", episodes=50).exists()
    copied = copy.copy(run)  # as a worker sends it
    run.save(tmp_path / "run.npz")
    for other in (copied, rg.load(tmp_path / "run.npz")):
        assert other.given_env is None
        with pytest.raises(InputError, match="env must be given, since the run does not say what it was trained on"):
            rg.evaluate(other, episodes=50)


def test_a_log_plays_nothing_and_is_not_remembered(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "log.parquet"
    columns = {"episode_id": range(40), "t": [0] * 40, "action": rng.integers(0, 2, 40), "reward": rng.normal(size=40)}
    pq.write_table(pa.table({**columns, "state": [0] * 40, "behavior_prob": [0.5] * 40}), path)
    log = rg.LoggedEpisodes.from_parquet(path, n_actions=2)
    assert rg.train(log, "mean", policy=TabularGibbs(1, 2), iterations=2).given_env is None

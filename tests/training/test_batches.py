"""Where batches come from: the current policy, another one, one batch for the whole run, a log."""

import numpy as np
import pytest
from support.training import log_of, train_plainly

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.random import Purpose, Stream
from riskgrad.sources import TabularSource
from riskgrad.training.problem import select_episodes

MDP = rg.mdp.two_roads()
SOURCE = TabularSource(MDP, threads=1)
POLICY = rg.policy.TabularGibbs(MDP.n_states, MDP.n_actions)
UNIFORM = np.zeros(8)


def train(risk="dual-power:2", **options):
    return train_plainly(rg.OffPSF, SOURCE, POLICY, risk, **{"iterations": 3, "held_out": 0, **options})


def train_on(log, risk="mean", **options):
    return train_plainly(rg.OffPSF, log_of(log), POLICY, risk, **options)


def test_every_episode_is_counted():
    assert train(episodes=50).episodes_used == 150
    assert train(episodes=50, held_out=20).episodes_used == 150 + 80
    once = train(episodes=50, reuse_batch=True, held_out=20)
    assert (once.episodes_used, once.held_out_episodes) == (70, 20)
    assert "one batch served the whole run: the guarantee does not cover this" in once.notes


def test_a_given_behavior_policy_acts():
    run = train_plainly(rg.OffPSF, SOURCE, POLICY, "cvar:0.1", iterations=60, behavior=(POLICY, UNIFORM), seed=2)
    assert rg.exact.value(MDP, POLICY, run.theta, rg.risk.CVaR(0.1)) > -40.0
    assert run.settings.own["behavior"] == "TabularGibbs(4, 2)"
    assert all(line["ess"] >= 0.05 * 400 for line in run.history)


def test_logged_episodes_train_without_a_source():
    log = SOURCE.record(POLICY, UNIFORM, 2000, Stream(7, Purpose.EXAMPLE))
    run = train_on(log, "cvar:0.1", iterations=60)
    start = rg.exact.value(MDP, POLICY, UNIFORM, rg.risk.CVaR(0.1))
    assert rg.exact.value(MDP, POLICY, run.theta, rg.risk.CVaR(0.1)) > start + 10.0
    assert run.episodes_used == 0
    assert run.settings.source.startswith("log of 2000 episodes")


def test_resuming_a_reused_batch_draws_it_again(tmp_path):
    options = {"reuse_batch": True, "iterations": 6, "held_out": 50, "episodes": 100, "checkpoint_seconds": 0.0}
    whole = train(**options)
    train(**options, resume=tmp_path, callback=lambda line, _: line["iteration"] == 3)
    again = train(**options, resume=tmp_path)
    np.testing.assert_array_equal(again.theta, whole.theta)
    assert again.history == whole.history
    assert again.episodes_used == whole.episodes_used == 150


def test_another_model_is_not_resumed(tmp_path):
    train(resume=tmp_path, callback=lambda *_: True)
    other = TabularSource(rg.mdp.two_roads(rockfall=0.05), 1)
    with pytest.raises(InputError, match="source must be what the run began with"):
        train_plainly(rg.OffPSF, other, POLICY, "dual-power:2", iterations=3, held_out=0, resume=tmp_path)


def test_some_episodes_of_a_batch_are_a_batch():
    batch = SOURCE.record(POLICY, UNIFORM, 6, Stream(0, Purpose.EXAMPLE))
    part = select_episodes(batch, np.array([4, 1]))
    np.testing.assert_array_equal(part.values, batch.values[[4, 1]])
    for new, old in ((0, 4), (1, 1)):
        a, b = slice(*part.offsets[new : new + 2]), slice(*batch.offsets[old : old + 2])
        for name in ("observations", "actions", "counts", "log_behavior"):
            np.testing.assert_array_equal(getattr(part, name)[a], getattr(batch, name)[b])


def test_a_source_is_needed_to_act():
    with pytest.raises(InputError, match="env must be"):
        train_plainly(rg.OffPSF, None, POLICY, "mean", iterations=1)


def test_on_policy_cannot_learn_from_a_log_and_a_log_is_not_a_behavior():
    log = SOURCE.record(POLICY, UNIFORM, 20, Stream(7, Purpose.EXAMPLE))
    with pytest.raises(InputError, match="algorithm must learn from logged episodes, got 'onp-sf'; try"):
        train_plainly(rg.OnPSF, log_of(log), POLICY, "mean", iterations=1)
    with pytest.raises(InputError, match="a log is given as the environment"):
        train(behavior=log)
    with pytest.raises(InputError, match="hold at least 10 logged episodes, got 9"):
        train_on(select_episodes(log, np.arange(9)), iterations=1)

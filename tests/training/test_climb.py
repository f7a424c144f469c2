"""Ascent steps on one batch, and what is done where it is worth too little."""

import numpy as np
from support.training import log_of, train_plainly

import riskgrad as rg
from riskgrad.ascent import Adam
from riskgrad.random import Purpose, Stream
from riskgrad.sources import TabularSource
from riskgrad.training.problem import select_episodes
from riskgrad.weights import worth_at

MDP = rg.mdp.two_roads()
SOURCE = TabularSource(MDP, threads=1)
POLICY = rg.policy.TabularGibbs(MDP.n_states, MDP.n_actions)
UNIFORM = np.zeros(8)


def train(risk="dual-power:2", **options):
    return train_plainly(rg.OffPSF, SOURCE, POLICY, risk, **{"iterations": 3, "held_out": 0, **options})


def train_on(log, risk="mean", **options):
    return train_plainly(rg.OffPSF, log_of(log), POLICY, risk, **options)


def test_several_steps_on_a_batch_end_at_the_floor():
    one = train(step_size=Adam(0.1), iterations=1, theta=UNIFORM)
    many = train(step_size=Adam(0.1), iterations=1, theta=UNIFORM, steps_per_batch=50)
    assert one.history[0]["steps"] == 1
    assert 1 < many.history[0]["steps"] < 50
    batch = SOURCE.record(POLICY, UNIFORM, 400, Stream(0, Purpose.TRAINING, 0))
    assert worth_at(POLICY, many.last_theta, batch) < 0.9 * 400
    assert worth_at(POLICY, one.last_theta, batch) > 0.9 * 400
    free = train(step_size=Adam(0.1), iterations=1, theta=UNIFORM, steps_per_batch=50, ess_floor=0.0)
    assert free.history[0]["steps"] == 50


def test_a_smoothing_that_leaves_the_batch_is_shortened_and_said():
    long = rg.mdp.slippery_grid()
    source, policy = TabularSource(long, 1), rg.policy.TabularGibbs(long.n_states, long.n_actions)
    options = {"iterations": 1, "smoothing": 1.0, "held_out": 0, "directions": policy.dim, "step_size": 0.1}
    run = train_plainly(rg.OffPSF, source, policy, "mean", ess_floor=0.999, **options)
    assert "smoothing shortened from 1 to" in run.history[0]["events"][0]
    assert train_plainly(rg.OffPSF, source, policy, "mean", ess_floor=0.0, **options).history[0]["events"] == []


def test_a_batch_that_says_too_little_is_refused():
    far = np.tile([-6.0, 6.0], 4)
    log = SOURCE.record(POLICY, far, 500, Stream(7, Purpose.EXAMPLE))
    start = np.tile([6.0, -6.0], 4)
    run = train_on(log, iterations=3, theta=start)
    np.testing.assert_array_equal(run.last_theta, start)
    for line in run.history:
        assert line["events"][0].startswith("no step taken: the batch is worth")
        assert line["gradient_norm"] is None
        assert line["held_out"] is None
    assert run.held_out_risk is None


def test_a_step_out_of_the_batch_is_shortened():
    log = SOURCE.record(POLICY, UNIFORM, 500, Stream(7, Purpose.EXAMPLE))
    run = train_on(log, iterations=30, step_size=Adam(2.0), ess_floor=0.5)
    events = [event for line in run.history for event in line["events"]]
    assert any(event.startswith("step shortened to") for event in events)
    train_part = select_episodes(log, np.flatnonzero(np.arange(500) % 5 != 4))
    assert worth_at(POLICY, run.last_theta, train_part) >= 0.5 * len(train_part.values)


def test_avoiding_the_log_is_not_rewarded():
    # all logged returns are bad and one action was logged: nothing is known of the other, and theta must not run to it
    log = SOURCE.record(POLICY, np.tile([9.0, -9.0], 4), 400, Stream(1, Purpose.EXAMPLE))
    run = train_on(log, iterations=50, theta=np.tile([3.0, -3.0], 4))
    assert run.policy.probabilities(run.theta, 0)[0] > 0.5

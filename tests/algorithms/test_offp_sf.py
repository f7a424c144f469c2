from itertools import pairwise

import numpy as np
import pytest
from riskgrad.algorithms.behavior import taken
from riskgrad.algorithms.guards import ratios, worth, worth_at
from support.training import train_plainly

import riskgrad as rg
from riskgrad.algorithms import PRACTICAL
from riskgrad.ascent import Adam
from riskgrad.errors import InputError
from riskgrad.gradient import sphere
from riskgrad.random import Purpose, Stream
from riskgrad.sources import TabularSource

MDP = rg.mdp.two_roads()
SOURCE = TabularSource(MDP, threads=1)
POLICY = rg.policy.TabularGibbs(MDP.n_states, MDP.n_actions)
UNIFORM = np.zeros(8)


def train(risk="dual-power:2", **options):
    return train_plainly(rg.OffPSF, SOURCE, POLICY, risk, **{"iterations": 3, "held_out": 0, **options})


def by_hand(theta, batch, directions, smoothing, risk):
    """The estimate written out, ratios as products over visits."""
    rho, d = rg.risk.parse(risk), len(theta)

    def estimate(at):
        logs = batch.counts * (POLICY.log_prob(at, batch.observations, batch.actions) - batch.log_behavior)
        return rho.estimate(batch.values, np.exp([logs[a:b].sum() for a, b in pairwise(batch.offsets)]))

    return sum(
        d / len(directions) * (estimate(theta + smoothing * v) - estimate(theta - smoothing * v)) / (2 * smoothing) * v
        for v in directions
    )


def test_one_iteration_is_the_pseudocode():
    theta = np.linspace(-1.0, 1.0, 8)
    run = train(
        iterations=1, theta=theta, step_size=0.02, smoothing=0.2, directions=5, episodes=60, orthogonal=False, seed=9
    )
    batch = SOURCE.record(POLICY, theta, 60, Stream(9, Purpose.TRAINING, 0))
    directions = sphere(Stream(9, Purpose.DIRECTIONS, 0).generator(), 5, 8)
    gradient = by_hand(theta, batch, directions, 0.2, "dual-power:2")
    np.testing.assert_allclose(run.last_theta, theta + 0.02 * gradient, rtol=0, atol=1e-12)


def test_a_small_smoothing_costs_no_noise():
    # the spread of the gradient over 60 batches, at mu = 0.3 and at mu = 0.003
    spreads = []
    for smoothing in (0.3, 0.003):
        moves = [train(iterations=1, step_size=1.0, smoothing=smoothing, seed=s).last_theta for s in range(60)]
        spreads.append(np.sqrt(np.mean(np.var(moves, axis=0))))
    assert spreads[1] < 1.3 * spreads[0]


def test_reported_error_is_the_true_one():
    # with d orthogonal directions only the batch is random: the spread over 150 batches against what each reports
    runs = [train(iterations=1, step_size=1.0, seed=s, episodes=400) for s in range(150)]
    moves = np.array([run.last_theta for run in runs])
    true = np.mean(np.sum((moves - moves.mean(axis=0)) ** 2, axis=1))
    reported = np.mean([run.history[0]["gradient_error"] ** 2 for run in runs])
    assert reported == pytest.approx(true, rel=0.25)


def test_it_meets_the_score_gradient_as_the_smoothing_vanishes():
    options = {"iterations": 1, "step_size": 1.0, "held_out": 0, "episodes": 200, "seed": 3}
    smooth = train_plainly(rg.OffPSF, SOURCE, POLICY, "dual-power:2", smoothing=1e-4, **options).last_theta
    scored = train_plainly(rg.Score, SOURCE, POLICY, "dual-power:2", **options).last_theta
    np.testing.assert_allclose(smooth, scored * (199 / 200), atol=1e-5)


def test_every_episode_is_counted():
    assert train(episodes=50).episodes_used == 150
    assert train(episodes=50, held_out=20).episodes_used == 150 + 80
    once = train(episodes=50, reuse_batch=True, held_out=20)
    assert (once.episodes_used, once.held_out_episodes) == (70, 20)
    assert "one batch served the whole run: the guarantee does not cover this" in once.notes


def test_several_steps_on_a_batch_end_at_the_floor():
    one = train(step_size=Adam(0.1), iterations=1, theta=UNIFORM)
    many = train(step_size=Adam(0.1), iterations=1, theta=UNIFORM, steps_per_batch=50)
    assert one.history[0]["steps"] == 1
    assert 1 < many.history[0]["steps"] < 50
    batch = SOURCE.record(POLICY, UNIFORM, 400, Stream(0, Purpose.TRAINING, 0))
    assert worth_at(POLICY, many.last_theta, batch) < PRACTICAL.ess_floor * 400
    assert worth_at(POLICY, one.last_theta, batch) > PRACTICAL.ess_floor * 400
    free = train(step_size=Adam(0.1), iterations=1, theta=UNIFORM, steps_per_batch=50, ess_floor=0.0)
    assert free.history[0]["steps"] == 50


def test_a_smoothing_that_leaves_the_batch_is_shortened_and_said():
    long = rg.mdp.slippery_grid()
    source, policy = TabularSource(long, 1), rg.policy.TabularGibbs(long.n_states, long.n_actions)
    options = {"iterations": 1, "smoothing": 1.0, "held_out": 0, "directions": policy.dim, "step_size": 0.1}
    run = train_plainly(rg.OffPSF, source, policy, "mean", ess_floor=0.999, **options)
    assert "smoothing shortened from 1 to" in run.history[0]["events"][0]
    assert train_plainly(rg.OffPSF, source, policy, "mean", ess_floor=0.0, **options).history[0]["events"] == []


def test_a_given_behavior_policy_acts():
    run = train_plainly(rg.OffPSF, SOURCE, POLICY, "cvar:0.1", iterations=60, behavior=(POLICY, UNIFORM), seed=2)
    assert rg.exact.value(MDP, POLICY, run.theta, rg.risk.CVaR(0.1)) > -40.0
    assert run.settings["behavior"] == "TabularGibbs(4, 2)"
    assert all(line["ess"] >= 0.05 * 400 for line in run.history)


def test_logged_episodes_train_without_a_source():
    log = SOURCE.record(POLICY, UNIFORM, 2000, Stream(7, Purpose.EXAMPLE))
    run = train_plainly(rg.OffPSF, None, POLICY, "cvar:0.1", iterations=60, behavior=log)
    start = rg.exact.value(MDP, POLICY, UNIFORM, rg.risk.CVaR(0.1))
    assert rg.exact.value(MDP, POLICY, run.theta, rg.risk.CVaR(0.1)) > start + 10.0
    assert run.episodes_used == 0
    assert run.settings["behavior"] == "2000 logged episodes"


def test_a_batch_that_cannot_tell_is_refused():
    far = np.tile([-6.0, 6.0], 4)
    log = SOURCE.record(POLICY, far, 500, Stream(7, Purpose.EXAMPLE))
    start = np.tile([6.0, -6.0], 4)
    run = train_plainly(rg.OffPSF, None, POLICY, "mean", iterations=3, behavior=log, theta=start)
    np.testing.assert_array_equal(run.last_theta, start)
    for line in run.history:
        assert line["events"][0].startswith("no step taken: the batch is worth")
        assert line["gradient_norm"] is None
        assert line["held_out"] is None
    assert run.held_out_risk is None


def test_a_step_out_of_the_batch_is_shortened():
    log = SOURCE.record(POLICY, UNIFORM, 500, Stream(7, Purpose.EXAMPLE))
    run = train_plainly(
        rg.OffPSF, None, POLICY, "mean", iterations=30, behavior=log, step_size=Adam(2.0), ess_floor=0.5
    )
    events = [event for line in run.history for event in line["events"]]
    assert any(event.startswith("step shortened to") for event in events)
    train_part = taken(log, np.flatnonzero(np.arange(500) % 5 != 4))
    assert worth_at(POLICY, run.last_theta, train_part) >= 0.5 * len(train_part.values)


def test_avoiding_the_log_is_not_rewarded():
    # all logged returns are bad and one action was logged: nothing is known of the other, and theta must not run to it
    log = SOURCE.record(POLICY, np.tile([9.0, -9.0], 4), 400, Stream(1, Purpose.EXAMPLE))
    run = train_plainly(rg.OffPSF, None, POLICY, "mean", iterations=50, behavior=log, theta=np.tile([3.0, -3.0], 4))
    assert run.policy.probabilities(run.theta, 0)[0] > 0.5


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


def test_weights_that_overflow_keep_their_shares():
    logs = np.array([[1000.0, 1000.0 + np.log(3.0)], [0.0, np.log(2.0)]])
    psi = ratios(logs)
    assert np.all(np.isfinite(psi))
    np.testing.assert_allclose(psi[0, 1] / psi[0, 0], 3.0)
    np.testing.assert_allclose(psi[1], [1.0, 2.0])
    np.testing.assert_allclose(worth(logs), [16 / 10, 9 / 5])


def test_equal_tiny_weights_are_worth_little():
    np.testing.assert_allclose(worth(np.full((1, 50), np.log(0.01))), [0.5])
    np.testing.assert_allclose(worth(np.zeros((1, 50))), [50.0])


def test_taking_some_episodes_of_a_batch():
    batch = SOURCE.record(POLICY, UNIFORM, 6, Stream(0, Purpose.EXAMPLE))
    part = taken(batch, np.array([4, 1]))
    np.testing.assert_array_equal(part.values, batch.values[[4, 1]])
    for new, old in ((0, 4), (1, 1)):
        a, b = slice(*part.offsets[new : new + 2]), slice(*batch.offsets[old : old + 2])
        for name in ("observations", "actions", "counts", "log_behavior"):
            np.testing.assert_array_equal(getattr(part, name)[a], getattr(batch, name)[b])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"behavior": "uniform"}, 'behavior must be "current", a pair'),
        ({"behavior": POLICY}, 'behavior must be "current", a pair'),
        ({"steps_per_batch": 0}, "steps_per_batch must be an integer of at least 1"),
        ({"ess_floor": 1.5}, r"ess_floor must be in \[0, 1\]"),
    ],
)
def test_bad_input_gets_one_line(options, message):
    with pytest.raises(InputError, match=message):
        train(**options)


def test_a_source_is_needed_to_act():
    with pytest.raises(InputError, match="source must be given unless the behavior is logged episodes"):
        train_plainly(rg.OffPSF, None, POLICY, "mean", iterations=1)

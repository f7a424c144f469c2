from itertools import pairwise

import numpy as np
import pytest
from support.training import train_plainly

import riskgrad as rg
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"behavior": "uniform"}, 'behavior must be "current" or a pair'),
        ({"behavior": POLICY}, 'behavior must be "current" or a pair'),
        ({"steps_per_batch": 0}, "steps_per_batch must be an integer of at least 1"),
        ({"ess_floor": 1.5}, r"ess_floor must be in \[0, 1\]"),
    ],
)
def test_bad_input_gets_one_line(options, message):
    with pytest.raises(InputError, match=message):
        train(**options)

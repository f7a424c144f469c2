import numpy as np
import pytest
from support.training import train_plainly

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.gradient import score
from riskgrad.random import Purpose, Stream
from riskgrad.sources import TabularSource

MDP = rg.mdp.two_roads()
SOURCE = TabularSource(MDP, threads=1)
POLICY = rg.policy.TabularGibbs(MDP.n_states, MDP.n_actions)


def train(risk="dual-power:2", **options):
    return train_plainly(rg.Score, SOURCE, POLICY, risk, **{"iterations": 3, "held_out": 0, **options})


def test_one_iteration_is_one_step_along_the_score_gradient():
    theta = np.linspace(-1.0, 1.0, 8)
    run = train(iterations=1, theta=theta, step_size=0.02, episodes=80, seed=9)
    batch = SOURCE.record(POLICY, theta, 80, Stream(9, Purpose.TRAINING, 0))
    gradient = score(rg.risk.parse("dual-power:2"), POLICY, theta, batch)
    np.testing.assert_array_equal(run.last_theta, theta + 0.02 * gradient.vector)
    assert run.history[0]["gradient_error"] == gradient.standard_error
    assert run.episodes_used == 80


def test_the_mean_of_one_step_is_the_exact_gradient():
    # 300 batches of 300; the mean within 5 standard errors, plus a bias of order 1 / m
    theta = np.linspace(-0.5, 0.5, 8)
    moves = np.array(
        [train(iterations=1, theta=theta, step_size=1.0, episodes=300, seed=s).last_theta for s in range(300)]
    )
    exact = rg.exact.gradient(MDP, POLICY, theta, rg.risk.parse("dual-power:2")).vector
    error = np.linalg.norm(np.mean(moves - theta, axis=0) - exact)
    assert error <= 5 * np.sqrt(np.mean(np.sum((moves - moves.mean(axis=0)) ** 2, axis=1)) / 300) + 10 / 300


def test_second_step_on_a_batch_is_reweighted():
    theta = np.zeros(8)
    one, two = (train(iterations=1, theta=theta, step_size=0.01, steps_per_batch=s, seed=2).last_theta for s in (1, 2))
    batch = SOURCE.record(POLICY, theta, 400, Stream(2, Purpose.TRAINING, 0))
    psi = np.exp(rg.weights.log_ratios(POLICY, one[None], batch)[0])
    gradient = score(rg.risk.parse("dual-power:2"), POLICY, one, batch, psi)
    np.testing.assert_allclose(two, one + 0.01 * gradient.vector, rtol=0, atol=1e-14)


def test_entropy_is_pulled_in_and_fades():
    # a policy far from uniform, a measure that does not care: the bonus alone moves theta, less from step to step
    mdp = rg.mdp.FiniteMDP.from_outcomes(
        [[[(0.5, 1, 1.0, True), (0.5, 1, -1.0, True)]] * 2, [[], []]], start=0, horizon=1, terminal=[1]
    )
    source, policy = TabularSource(mdp, 1), rg.policy.TabularGibbs(2, 2)
    thetas = [np.array([2.0, -2.0, 0.0, 0.0])]
    options = {"iterations": 40, "episodes": 4000, "step_size": 1.0, "held_out": 0, "theta": thetas[0]}
    told = {"entropy": 5.0, "callback": lambda _, theta: thetas.append(theta)}
    run = train_plainly(rg.Score, source, policy, "mean", **options, **told)
    assert run.last_theta[0] - run.last_theta[1] < 1.0
    assert "entropy bonus of 5 standard deviations" in run.notes[0]
    assert train_plainly(rg.Score, source, policy, "mean", **options).last_theta[0] > 1.5


def test_it_learns_to_avoid_the_tail():
    rho = rg.risk.CVaR(0.1)
    run = train_plainly(rg.Score, SOURCE, POLICY, rho, iterations=100, seed=1)
    # exact: -66 for the best mean, -30 for the best tail, -52 at the start
    assert rg.exact.value(MDP, POLICY, run.theta, rho) > -33.0


def test_a_measure_without_influence_gets_one_line():
    class Worst(rg.risk.RiskMeasure):
        attitude = "averse"

        def estimate(self, values, weights=None):
            return np.min(np.where(np.asarray(1.0 if weights is None else weights) > 0.0, values, np.inf), axis=-1)

        def value(self, law):
            return float(law.values[0])

    with pytest.raises(InputError, match="use onp-sf or offp-sf, which need only estimates"):
        train(Worst())


def test_one_episode_is_too_few():
    with pytest.raises(InputError, match="episodes must be an integer of at least 2"):
        train(episodes=1)

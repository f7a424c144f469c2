"""The critic of quantiles: what it says of a law, that units change nothing, and what its fit tends to."""

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.critic.quantiles import QUANTILES, QuantileCritic, view_steps
from riskgrad.critic.utility import Utility
from riskgrad.kernels.quantile_fit import FitState, fit_quantiles
from riskgrad.policy.network import Network
from riskgrad.types import Steps


def steps_of(rewards, size=3, seed=0):
    """Episodes of these rewards, one row each, with observations at random."""
    rewards = [np.asarray(row, dtype=float) for row in rewards]
    lengths = np.array([len(row) for row in rewards])
    return Steps(
        values=np.array([np.sum(row) for row in rewards]),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        ended=np.ones(len(rewards), dtype=bool),
        observations=np.random.default_rng(seed).normal(size=(int(np.sum(lengths)), size)),
        actions=np.zeros(int(np.sum(lengths)), dtype=np.int64),
        rewards=np.concatenate(rewards),
    )


def a_critic(size=3, seed=0):
    critic = QuantileCritic.start(size, seed)
    rng = np.random.default_rng(seed)
    theta = critic.theta + 0.3 * rng.normal(size=len(critic.theta))
    return QuantileCritic(critic.network, theta, critic.mean, critic.square, critic.powers, np.array([2.0, 5.0, 3.0]))


def test_a_value_is_the_mean_utility_of_what_may_come():
    batch = steps_of([[1.0, -2.0, 0.5], [3.0, 1.0], [0.0]])
    visits = view_steps(batch, batch.observations, horizon=4, discount=0.9)
    knots = np.array([-3.0, 0.0, 0.7, 4.0])
    utility = Utility(knots, np.array([-9.0, 0.0, 1.0, 1.5]), (4.0, 0.25), 1.0)
    critic = a_critic()
    quantiles = critic.quantiles(visits.inputs)
    found = critic.values(visits, utility, quantiles)
    for row in range(len(found)):
        total = 0.0
        for z in quantiles[row]:
            r = visits.so_far[row] + visits.scale[row] * z
            if r < knots[0]:
                total += -9.0 + 4.0 * (r - knots[0])
            elif r > knots[-1]:
                total += 1.5 + 0.25 * (r - knots[-1])
            else:
                k = max(0, int(np.searchsorted(knots, r)) - 1)
                slope = (utility.values[k + 1] - utility.values[k]) / (knots[k + 1] - knots[k])
                total += utility.values[k] + slope * (r - knots[k])
        assert found[row] == pytest.approx(total / QUANTILES, abs=1e-12)


def test_what_is_seen_has_the_return_so_far_the_discount_and_the_time_left():
    batch = steps_of([[1.0, -2.0, 0.5], [3.0, 1.0]])
    visits = view_steps(batch, batch.observations, horizon=4, discount=0.5)
    np.testing.assert_allclose(visits.so_far, [0.0, 1.0, 0.0, 0.0, 3.0])
    np.testing.assert_allclose(visits.scale, [1.0, 0.5, 0.25, 1.0, 0.5])
    np.testing.assert_allclose(visits.inputs[:, -1], [1.0, 0.75, 0.5, 1.0, 0.75])
    np.testing.assert_array_equal(visits.inputs[:, :-1], batch.observations)


def test_new_units_change_nothing_that_it_says():
    critic, batch = a_critic(), steps_of(np.random.default_rng(1).normal(3.0, 40.0, size=(20, 5)))
    visits = view_steps(batch, batch.observations, horizon=5, discount=1.0)
    moved = critic.rescale(visits)
    assert moved.units[1] != critic.units[1]
    before, after = critic.quantiles(visits.inputs), moved.quantiles(visits.inputs)
    np.testing.assert_allclose(after, before, rtol=0.0, atol=1e-11 * np.max(np.abs(before)))


def test_it_learns_the_quantiles_of_a_law():
    """One step of three rewards, whatever is observed: a third of the quantiles on each."""
    rng, critic = np.random.default_rng(3), QuantileCritic.start(1, 0)
    for _ in range(60):
        batch = steps_of(rng.choice([-10.0, 0.0, 10.0], size=(400, 1)), size=1)
        visits = view_steps(batch, np.zeros((400, 1)), horizon=1, discount=1.0)
        critic, _ = critic.rescale(visits).fit(visits, 5, 2e-3, rng)
    found = np.sort(critic.quantiles(visits.inputs[:1])[0])
    np.testing.assert_allclose(found[[3, 8, 15, 24, 28]], [-10.0, -10.0, 0.0, 10.0, 10.0], atol=1.5)


def test_what_comes_late_is_foreseen():
    """A coin at the first step pays at the last: from the second step on it is known, by the observation."""
    rng, critic = np.random.default_rng(4), QuantileCritic.start(1, 1)
    for _ in range(80):
        coins = rng.choice([-1.0, 1.0], size=100)
        batch = steps_of([[0.0, 0.0, 0.0, coin] for coin in coins], size=1)
        seen = np.array([[0.0, coin, coin, coin] for coin in coins]).reshape(-1, 1)
        visits = view_steps(batch, seen, horizon=4, discount=1.0)
        critic, _ = critic.rescale(visits).fit(visits, 5, 2e-3, rng)
    means = np.mean(critic.quantiles(visits.inputs), axis=1).reshape(100, 4)
    np.testing.assert_allclose(means[:, 1:], np.repeat(coins[:, None], 3, axis=1), atol=0.2)
    assert np.max(np.abs(means[:, 0])) < 0.25


def test_a_step_of_the_fit_is_that_of_plain_numpy():
    rng, sizes = np.random.default_rng(5), (4, 6, 5)
    net = Network(sizes[0], sizes[1:-1], sizes[-1])
    theta, inputs, targets = rng.normal(size=net.dim), rng.normal(size=(7, 4)), rng.normal(size=(7, 2))
    none = np.zeros(net.dim)
    state = FitState(theta.copy(), none.copy(), none.copy(), np.ones(2))
    order = np.arange(7)
    loss = fit_quantiles(state, inputs, targets, order, 7, net.sizes, net.relu, 0.01, np.inf, 0.3)

    def plain_loss(at):
        outputs = net.apply_all(at[None], inputs)[0]
        gaps = targets[:, :, None] - outputs[:, None, :]
        levels = (np.arange(5) + 0.5) / 5
        huber = np.where(np.abs(gaps) <= 0.3, gaps**2 / 0.6, np.abs(gaps) - 0.15)
        return np.mean(np.where(gaps > 0.0, levels, 1.0 - levels) * huber)

    assert loss == pytest.approx(plain_loss(theta), rel=1e-12)
    step = 1e-6
    slopes = np.array(
        [(plain_loss(theta + step * e) - plain_loss(theta - step * e)) / (2.0 * step) for e in np.eye(net.dim)]
    )
    np.testing.assert_allclose(state.mean / 0.1, slopes * 5, rtol=1e-4, atol=1e-8)
    np.testing.assert_allclose(state.theta, theta - 0.01 * np.sign(slopes), atol=1e-9)


def test_the_utility_of_the_mean_is_the_return():
    critic, returns = a_critic(), np.array([3.0, -1.0, 8.0])
    utility = critic.utility(rg.risk.Mean(), returns, np.zeros((3, QUANTILES)))
    at = np.array([-50.0, -1.0, 0.3, 99.0])
    np.testing.assert_allclose(np.diff(utility.at(at)), np.diff(at), rtol=1e-12)

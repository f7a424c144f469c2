"""Log importance ratios against products over steps, and what happens at the edge of the support."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from riskgrad.errors import InputError
from riskgrad.mdp import FiniteMDP
from riskgrad.policy import Gibbs, LinearGibbs, Policy, TabularGibbs
from riskgrad.random import Purpose, Stream
from riskgrad.sources import TabularSource
from riskgrad.types import Episodes
from riskgrad.weights import log_ratios

STREAM = Stream(3, Purpose.EXAMPLE)


def walk(n_states: int = 5, n_actions: int = 3, horizon: int = 12) -> FiniteMDP:
    """A random model without an end, so that episodes visit the same pairs again."""
    rng = np.random.default_rng(0)
    shape = (n_states, n_actions, n_states)
    return FiniteMDP(rng.dirichlet(np.ones(n_states), size=shape[:2]), rng.normal(size=shape), 0, [], horizon)


def policies() -> list:
    features = np.random.default_rng(1).normal(size=(5, 3, 4))
    return [TabularGibbs(5, 3), LinearGibbs(features), Gibbs(lambda theta, s: theta * (s + 1.0), 3)]


def batch_of(log_behavior: list[float], offsets: tuple[int, ...] = (0, 2, 3)) -> Episodes:
    m, visits = len(offsets) - 1, len(log_behavior)
    actions = np.arange(visits) % 2
    return Episodes(
        values=np.zeros(m),
        lengths=np.diff(offsets),
        offsets=np.array(offsets),
        observations=np.zeros(visits, dtype=np.int64),
        actions=actions,
        counts=np.ones(visits, dtype=np.int64),
        log_behavior=np.array(log_behavior),
    )


@pytest.mark.parametrize("policy", policies())
@pytest.mark.parametrize("count", [1, 67])
def test_ratios_are_products_over_the_visits(policy, count: int):
    rng = np.random.default_rng(2)
    theta = rng.normal(size=policy.dim)
    batch = TabularSource(walk()).record(policy, theta, 61, STREAM)
    thetas = theta + 0.5 * rng.normal(size=(count, policy.dim))
    found = log_ratios(policy, thetas, batch)
    assert found.shape == (count, 61)
    for p, i in [(0, 0), (count - 1, 60), (count // 2, 33)]:
        product = 1.0
        for v in range(batch.offsets[i], batch.offsets[i + 1]):
            target = policy.probabilities(thetas[p], int(batch.observations[v]))[batch.actions[v]]
            actor = policy.probabilities(theta, int(batch.observations[v]))[batch.actions[v]]
            product *= (target / actor) ** batch.counts[v]
        assert np.exp(found[p, i]) == pytest.approx(product, rel=1e-12)


@pytest.mark.parametrize("policy", policies())
def test_the_behavior_policy_itself_weighs_exactly_one(policy):
    theta = np.random.default_rng(3).normal(size=policy.dim)
    batch = TabularSource(walk()).record(policy, theta, 40, STREAM)
    assert np.all(log_ratios(policy, theta[None], batch) == 0.0)


def test_weighted_mean_is_the_target_policys_mean():
    mdp, policy = walk(horizon=4), TabularGibbs(5, 3)
    rng = np.random.default_rng(4)
    theta, target = rng.normal(size=15), rng.normal(size=15)
    batch = TabularSource(mdp).record(policy, theta, 200_000, STREAM)
    weights = np.exp(log_ratios(policy, target[None], batch)[0])
    direct = TabularSource(mdp).returns(policy, target[None], 200_000, STREAM).values[0]
    product = weights * batch.values
    error = np.sqrt((np.var(product) + np.var(direct)) / len(direct))
    # two-sided at 4 standard errors: a false alarm for 6e-5 of the seeds
    assert abs(np.mean(product) - np.mean(direct)) < 4.0 * error
    assert abs(np.mean(weights) - 1.0) < 4.0 * np.std(weights) / np.sqrt(len(weights))


@pytest.mark.parametrize("policy", policies())
def test_bits_do_not_depend_on_company_or_threads(policy, monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(5)
    theta = rng.normal(size=policy.dim)
    batch = TabularSource(walk()).record(policy, theta, 150, STREAM)
    thetas = theta + rng.normal(size=(70, policy.dim))
    whole = log_ratios(policy, thetas, batch)
    monkeypatch.setattr("riskgrad.kernels.compile.WORTH_THREADS", 0.0)
    monkeypatch.setattr("riskgrad.weights.POLICIES_TOGETHER", 3)
    assert np.array_equal(log_ratios(policy, thetas, batch), whole)
    assert np.array_equal(log_ratios(policy, thetas[41:42], batch), whole[41:42])


def test_frozen_narrow_and_spread_arrays_are_taken():
    policy = TabularGibbs(5, 3)
    batch = TabularSource(walk()).record(policy, np.zeros(15), 30, STREAM)
    thetas = np.random.default_rng(6).normal(size=(4, 15))
    expected = log_ratios(policy, thetas, batch)
    narrow = replace(batch, observations=batch.observations.astype(np.int16), counts=batch.counts.astype(np.int32))
    batch.offsets.flags.writeable = False
    assert np.array_equal(log_ratios(policy, np.asfortranarray(thetas), narrow), expected)
    assert np.array_equal(log_ratios(policy, thetas, batch), expected)


def test_observations_that_are_vectors_are_asked_for_one_by_one():
    policy = LinearGibbs(lambda o: np.stack([o, -o]), example=np.zeros(2))
    rng = np.random.default_rng(7)
    batch = replace(batch_of([-0.5, -0.7, -0.6]), observations=rng.normal(size=(3, 2)))
    thetas = rng.normal(size=(5, 2))
    logs = policy.log_prob(thetas, batch.observations, batch.actions) - batch.log_behavior
    expected = np.stack([logs[:, 0] + logs[:, 1], logs[:, 2]], axis=1)
    assert log_ratios(policy, thetas, batch) == pytest.approx(expected, rel=1e-14)


class Certain(Policy):
    """Always takes action 0."""

    dim = 1  # pyright: ignore[reportAssignmentType]

    def probabilities(self, theta, observations):
        raise NotImplementedError

    def log_prob(self, theta, observations, actions):
        return np.broadcast_to(np.where(np.asarray(actions) == 0, 0.0, -np.inf), (len(theta), len(observations)))

    def score_sum(self, theta, observations, actions, coefficients):
        raise NotImplementedError


def test_an_impossible_log_is_infinite_and_an_impossible_target_is_nothing():
    half = np.log(0.5)
    fine, broken = batch_of([half, half, half]), batch_of([-np.inf, half, -np.inf])
    fair = TabularGibbs(1, 2)
    assert log_ratios(fair, np.zeros((1, 2)), fine)[0].tolist() == [0.0, 0.0]
    assert log_ratios(fair, np.zeros((1, 2)), broken)[0].tolist() == [np.inf, np.inf]
    # the actions are (0, 1) and (0): the target cannot play the first episode, whatever the log says of it
    assert log_ratios(Certain(), np.zeros((1, 1)), fine)[0].tolist() == [-np.inf, -half]
    assert log_ratios(Certain(), np.zeros((1, 1)), broken)[0].tolist() == [-np.inf, np.inf]


def test_bad_input_is_refused_in_one_line():
    policy = TabularGibbs(1, 2)
    for call, line in [
        (lambda: log_ratios(policy, np.zeros(2), batch_of([0.0] * 3)), "thetas must have shape (P, 2)"),
        (lambda: log_ratios(policy, np.zeros((1, 3)), batch_of([0.0] * 3)), "theta must have shape"),
        (lambda: log_ratios(policy, np.full((1, 2), np.nan), batch_of([0.0] * 3)), "theta must be finite"),
        (
            lambda: log_ratios(policy, np.zeros((1, 2)), batch_of([0.0, np.nan, 0.0])),
            "log_behavior must be the log of",
        ),
        (
            lambda: log_ratios(
                policy, np.zeros((1, 2)), replace(batch_of([0.0] * 3), observations=np.array([0, 1, 0]))
            ),
            "observations must be states in 0..0, got 1",
        ),
    ]:
        with pytest.raises(InputError) as caught:
            call()
        assert line in str(caught.value)


def test_memory_stays_under_three_results():
    policy = TabularGibbs(5, 3)
    batch = TabularSource(walk()).record(policy, np.zeros(15), 20_000, STREAM)
    thetas = 0.1 * np.random.default_rng(8).normal(size=(100, 15))
    log_ratios(policy, thetas, batch)
    tracemalloc.start()
    found = log_ratios(policy, thetas, batch)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * found.nbytes

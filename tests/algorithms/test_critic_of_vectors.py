"""The critic on environments that are no tables, by default: a tenth of the table in benchmarks/learning.md."""

import os

import numpy as np
import pytest

import riskgrad as rg

SLOW = pytest.mark.skipif(not os.environ.get("RISKGRAD_NEED_LEARNING"), reason="slow; the gate runs it")


def train_and_test(env, risk, budget, seed, episodes=300):
    run = rg.train(env, risk, max_episodes=budget, seed=seed)
    assert run.settings.algorithm == "critic"
    assert run.episodes_used <= budget
    return run, rg.evaluate(run, env, risk, episodes, seed=1_000 + seed).rows[0].value


@SLOW
def test_the_pole_is_kept_up():
    run, found = train_and_test("CartPole-v1", "mean", 600, seed=0)
    assert next(line["episodes"] for line in run.history if line["mean"] >= 475.0) <= 300
    assert found >= 499.0


@SLOW
@pytest.mark.parametrize(("risk", "least"), [("mean", -180.0), ("cvar:0.1", -350.0)])
def test_the_pendulum_swings_up(risk, least):
    assert train_and_test("Pendulum-v1", risk, 1_000, seed=0, episodes=1_000)[1] >= least


def test_a_short_run_learns_and_stays_within_its_budget():
    run, found = train_and_test("CartPole-v1", "mean", 150, seed=1, episodes=50)
    assert found > 60.0  # at random it is 22
    assert run.held_out_risk is not None
    assert np.isfinite(run.held_out_risk)

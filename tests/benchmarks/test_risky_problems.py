"""The problems of the benchmarks: what is stored of them is what they are."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import riskgrad as rg

FOLDER = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(FOLDER))
try:
    STORED = runpy.run_path(str(FOLDER / "risky_problems.py"))
finally:
    sys.path.remove(str(FOLDER))
HALVES = {"chosen": STORED["CHOSEN"], "set aside": STORED["SET_ASIDE"]}
PROBLEMS = {problem.name: problem for half in HALVES.values() for problem in half}
SLOW = {"queue", "lender", "battery"}  # their laws have so many atoms that one takes a second


def uniform_table(mdp):
    return np.full((mdp.n_states, mdp.n_actions), 1.0 / mdp.n_actions)


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name not in SLOW])
def test_the_uniform_policy_has_the_value_that_is_stored(name):
    problem = PROBLEMS[name]
    found = STORED["value_of"](problem, uniform_table(problem.make()))
    assert found == pytest.approx(problem.uniform, abs=1e-4 * (problem.best - problem.uniform))
    assert STORED["share"](problem, found) == pytest.approx(0.0, abs=1e-4)
    assert STORED["share"](problem, problem.best) == 1.0


@pytest.mark.parametrize("name", PROBLEMS)
def test_rewards_are_integers_and_the_best_is_within_reach(name):
    problem = PROBLEMS[name]
    mdp = problem.make()
    assert mdp.discount == 1.0
    np.testing.assert_array_equal(mdp.rewards, np.round(mdp.rewards))
    low, high = mdp.return_range
    assert problem.uniform < problem.best <= high
    if rg.risk.parse(problem.risk).variance_price is None:
        assert low <= problem.uniform


@pytest.mark.parametrize("half", HALVES)
def test_each_half_is_spread(half):
    models = {problem: problem.make() for problem in HALVES[half]}
    sizes = [mdp.n_states * mdp.n_actions for mdp in models.values()]
    assert len(models) >= 6
    assert min(sizes) < 50
    assert max(sizes) >= 40_000
    assert max(mdp.horizon for mdp in models.values()) == 200
    assert min(mdp.horizon for mdp in models.values()) <= 8
    risks = {problem.risk for problem in models}
    assert {"cvar:0.01", "cvar:0.05", "cvar:0.1", "cvar:0.2", "cvar:0.25", "dual-power:4"} <= risks
    assert any(risk.startswith("mean-variance:") for risk in risks)


def test_no_name_is_given_twice():
    assert len(PROBLEMS) == sum(len(half) for half in HALVES.values())

"""The best policies with memory against all that there are, and their laws against every history."""

from itertools import product

import numpy as np
import pytest
from support.critics import make_random_model
from support.memory import enumerate_histories
from support.studies import load_study

import riskgrad as rg
from riskgrad.policy import TabularGibbs
from riskgrad.policy.memory import Memory, with_memory
from riskgrad.types import States

study = load_study("memory_best")


def laws_of_all(histories):
    """The law of every policy that chooses one action at each node."""
    sizes = [len(step.states) for step in histories.steps]
    for actions in product(range(histories.n_actions), repeat=sum(sizes)):
        tables = np.split(np.eye(histories.n_actions)[list(actions)], np.cumsum(sizes)[:-1])
        yield histories.law(tables)


@pytest.mark.parametrize("risk", ["cvar:0.1", "cvar:0.3", "mean-variance:0.1", "mean-variance:2"])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_best_of_all_policies(seed, risk):
    mdp = make_random_model(seed, 0.9, horizon=2, n_states=2, n_actions=2)
    rho, histories = rg.risk.parse(risk), study.list_histories(mdp)
    assert 2 ** sum(len(step.states) for step in histories.steps) < 10_000
    best = max(rho.value(law) for law in laws_of_all(histories))
    assert study.best_with_memory(mdp, rho) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("discount", [1.0, 0.5])
def test_a_law_is_that_of_every_history(discount):
    mdp = make_random_model(6, discount, horizon=3, n_states=2, n_actions=2)
    policy = with_memory(TabularGibbs(2, 2), Memory("both", States(2), mdp.horizon, discount, edges=(-0.6, 0.1)))
    theta = np.random.default_rng(0).normal(size=policy.dim)
    law, expected = study.law_with_memory(mdp, policy, theta), enumerate_histories(mdp, policy, theta)[0]
    for power in (1, 2, 3):
        moment = np.sum(expected.probabilities * expected.values**power)
        assert np.sum(law.probabilities * law.values**power) == pytest.approx(moment, abs=1e-7)

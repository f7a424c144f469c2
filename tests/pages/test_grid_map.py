"""Policies on maps: exact visits, frequent routes in words, and only where there is a map."""

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.mdp.models import slippery_grid
from riskgrad.pages.grid_map import common_routes, grid_of, policy_map, visits
from riskgrad.pages.played import play_runs

AROUND = np.array([1, 1, 1, 2, 0, 1, 1, 1, 1, 1, 1, 1])  # up from the start, right above the ledge, down at the goal


def table(actions):
    return np.eye(3)[actions]


def test_visits_agree_with_the_law_of_the_return():
    """A fall costs 20: the chance to end in the gorge is the mass of returns of -21 and less."""
    mdp = slippery_grid(slip=0.3)
    along = table(np.ones(12, dtype=int))
    seen, law = visits(mdp, along), rg.exact.return_law(mdp, along)
    assert seen[8:].sum() == pytest.approx(float(law.cdf(-21.0)), abs=1e-12)
    assert seen[4] >= 1.0


def test_without_slips_there_is_one_way():
    mdp = slippery_grid(slip=0.0)
    ((route, share),) = common_routes(mdp, table(AROUND), np.random.default_rng(0))
    assert (route, share) == ((4, 0, 1, 2, 3, 7), 1.0)
    np.testing.assert_allclose(visits(mdp, table(AROUND)), [1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0])


def test_a_run_on_a_map_is_told_in_words():
    theta = (20.0 * table(AROUND)).ravel()
    run = rg.train("slippery-grid", "cvar:0.1", iterations=1, theta=theta, step_size=1e-9, entropy=0.0)
    drawn = policy_map(play_runs({"a": run}, episodes=50)[0], 0)
    assert "5 steps: up, right 3 times, down" in drawn.alternative
    assert len(drawn.figure.axes[0].patches) > 12


def test_which_models_are_maps(runs):
    lake = rg.mdp.from_gymnasium("FrozenLake-v1", horizon=20)
    cliff = rg.mdp.from_gymnasium("CliffWalking-v1", horizon=20)
    assert grid_of("FrozenLake-v1", lake).columns == 4
    assert 40 in grid_of("CliffWalking-v1", cliff).pits
    assert grid_of("ruin", lake) is None
    assert policy_map(play_runs({"a": runs["neutral"]}, episodes=10)[0], 0) is None

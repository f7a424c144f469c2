import numpy as np
import pytest

import riskgrad as rg
from riskgrad.pages.page import report

HOSTILE = '<script>alert("x")</script> & $\\frac{1}{2}$'


@pytest.fixture(scope="session")
def runs():
    """A neutral run and an averse off-policy one, short but told apart."""
    return {
        "neutral": rg.train("two-roads", "mean", iterations=25, seed=0),
        "averse": rg.train("two-roads", "cvar:0.1", algorithm="offp-sf", iterations=25, seed=0),
    }


@pytest.fixture(scope="session")
def four(runs):
    """Four runs, one of them with a hostile name."""
    plain = rg.train("two-roads", "dual-power:3", algorithm="onp-sf", iterations=10, seed=1)
    bare = rg.train("two-roads", "mean-variance:0.1", iterations=300, seed=2, risk_path=None, entropy=0.0)
    return {**runs, HOSTILE: plain, "variance": bare}


@pytest.fixture(scope="session")
def page(four, tmp_path_factory):
    return report(four, tmp_path_factory.mktemp("page") / "report.html", episodes=2000)


@pytest.fixture(scope="session")
def maze_runs():
    """Four policies of the guarded maze that have hardly learned: they wander, which makes the largest pictures."""
    risks = ("mean", "cvar:0.05", "dual-power:3", "mean-variance:0.1")
    return {risk: rg.train("riskgrad/GuardedMaze-v0", risk, iterations=4, seed=0) for risk in risks}


@pytest.fixture(scope="session")
def maze_page(maze_runs, tmp_path_factory):
    return report(maze_runs, tmp_path_factory.mktemp("maze") / "report.html", episodes=1000)


@pytest.fixture(scope="session")
def alone_page(runs, tmp_path_factory):
    """One run by itself, beside its policy before training."""
    return report({"alone": runs["averse"]}, tmp_path_factory.mktemp("alone") / "report.html", episodes=500)


@pytest.fixture(scope="session")
def experiment_page(tmp_path_factory):
    """Two measures x two seeds, hardly trained."""
    options = {"algorithm": "score:episodes=20", "iterations": 4, "held_out": 20, "episodes": 100}
    found = rg.experiment("two-roads", ["mean", "cvar:0.1"], seeds=2, **options)
    return found.report(tmp_path_factory.mktemp("experiment") / "page.html")


@pytest.fixture(scope="session")
def cliff_run():
    """A policy that surely walks along the cliff: up at the start, right, down at the goal."""
    actions = np.full(48, 1)
    actions[[36, 35]] = 0, 2
    theta = 20.0 * np.eye(4)[actions].ravel()
    options = {"algorithm": "score:episodes=20", "iterations": 1, "step_size": 1e-9, "entropy": 0.0, "held_out": 0}
    return rg.train("CliffWalking-v1", "cvar:0.1", theta=theta, horizon=30, **options)


@pytest.fixture(scope="session")
def grid_page(cliff_run, tmp_path_factory):
    """A finite grid world, wide and low."""
    return report(cliff_run, tmp_path_factory.mktemp("grid") / "report.html", episodes=100)


@pytest.fixture(scope="session")
def cart_page(tmp_path_factory):
    """A compiled environment of vectors, whose returns are drawn in bins."""
    run = rg.train("CartPole-v1", "cvar:0.1", algorithm="score:episodes=50", iterations=4, seed=0)
    return report(run, tmp_path_factory.mktemp("cart") / "report.html", episodes=300)


@pytest.fixture(scope="session")
def gym_page(tmp_path_factory):
    """An environment of Gymnasium's that is played as it is, and whose returns have no known range."""
    run = rg.train("Blackjack-v1", "cvar:0.2", algorithm="score:episodes=50", iterations=2, seed=0)
    return report(run, tmp_path_factory.mktemp("gym") / "report.html", episodes=100)

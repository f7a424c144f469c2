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

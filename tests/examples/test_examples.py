"""Every example runs as a user runs it, with a small budget, and shows what it says it shows.

Examples of others' environments are skipped where these are not installed, unless RISKGRAD_NEED_EXAMPLES=1.
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NEEDS = {
    "inventory.py": "or_gymnasium",
    "lunar_lander_wind.py": "Box2D",
    "portfolio.py": "or_gymnasium",
    "tuning.py": "optuna",
}
TESTED = {
    "guarded_maze.py": "test_guarded_maze",
    "inventory.py": "test_inventory",
    "lunar_lander_wind.py": "test_lunar_lander_wind",
    "portfolio.py": "test_portfolio",
    "tuning.py": "test_tuning",
    "two_roads.py": "test_two_roads",
}


def output(name, *arguments):
    """What an example prints; its warnings are its reader's, so there may be none from riskgrad."""
    needed = NEEDS.get(name)
    if needed and importlib.util.find_spec(needed) is None:
        if os.environ.get("RISKGRAD_NEED_EXAMPLES") == "1":
            pytest.fail(f"{name} needs {needed}: pip install -e '.[examples]'")
        pytest.skip(f"{needed} is not installed")
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "riskgrad" not in done.stderr
    return done.stdout


def numbers(text, label):
    """The numbers of the line that begins with a label."""
    line = next(line for line in text.splitlines() if line.startswith(label))
    return [float(found.replace(",", "")) for found in re.findall(r"-?[\d,]*\d(?:\.\d+)?", line[len(label) :])]


def test_two_roads():
    text = output("two_roads.py", "--iterations", 60)
    assert numbers(text, "best      mean ") == [-22.8, -50.448, -66.0, 0.0]
    assert numbers(text, "best      cvar:0.1 ") == [-28.0, -28.2, -30.0, 100.0]
    gaps = [float(gap) for gap in re.findall(r"([\d.]+) short of the best", text)]
    assert len(gaps) == 3
    assert all(0.0 <= gap < 0.5 for gap in gaps), "the measures of the best policies differ by 2 and more"


def test_guarded_maze(tmp_path):
    page = tmp_path / "maze.html"
    text = output("guarded_maze.py", "--max-episodes", 50_000, "--episodes", 4_000, "--out", page)
    neutral, averse = numbers(text, "mean "), numbers(text, "cvar:0.05 ")
    assert neutral[0] > averse[0], "the mean is paid for the tail"
    assert averse[1] > neutral[1] + 30.0, "the worst twentieth meets the guard, who costs 32 on average"
    assert neutral[2] > 90.0
    assert averse[2] < 10.0
    assert "<html" in page.read_text(encoding="utf-8")[:200].lower()


def test_inventory():
    text = output("inventory.py", "--iterations", 8, "--episodes", 200)
    neutral, averse = numbers(text, "mean "), numbers(text, "cvar:0.1 ")
    assert neutral[0] > averse[0] + 5.0
    assert averse[1] > neutral[1] + 50.0
    assert averse[-1] < neutral[-1], "the averse firm keeps less at the plant"


def test_portfolio():
    text = output("portfolio.py", "--iterations", 20, "--episodes", 1_000)
    neutral, averse = numbers(text, "mean "), numbers(text, "cvar:0.1 ")
    assert neutral[0] > averse[0] + 5.0
    assert averse[1] > 0.0 > neutral[1], "the averse investor gains even over the worst tenth"
    assert averse[2] < neutral[2], "less of the bold asset"
    assert sum(averse[2:]) == pytest.approx(100.0, abs=2.0)


def test_lunar_lander_wind(tmp_path):
    """It works and its numbers are of the right kind; whether averse is better takes a study, not a test."""
    film = tmp_path / "landing.gif"
    budget = ("--first", 80, "--then", 200, "--episodes", 20)
    text = output("lunar_lander_wind.py", *budget, "--film", film)
    for label, most in (("the mean, at first", 80), ("the mean, further", 200), ("cvar:0.1, further", 200)):
        used, mean, tail, failed = numbers(text, label)
        assert 0 < used <= most
        assert tail <= mean
        assert 0.0 <= failed <= 100.0
    assert film.read_bytes().startswith(b"GIF8")


def test_tuning():
    text = output("tuning.py", "--trials", 5, "--iterations", 12)
    trials = [line for line in text.splitlines() if line.startswith("trial ")]
    assert len(trials) == 5
    best = max(float(line.split()[-1]) for line in trials if "gave up" not in line)
    assert numbers(text, "best: cvar:0.1 ")[0] == best


def test_every_example_is_tested_and_listed():
    files = {path.name for path in EXAMPLES.glob("*.py")}
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert files == set(TESTED)
    assert all(callable(globals()[test]) for test in TESTED.values())
    assert [name for name in files if f"({name})" not in index] == []


@pytest.mark.parametrize("name", sorted(TESTED))
def test_every_example_is_short_and_says_how_to_run_it(name):
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 100
    assert f"    python examples/{name}\n" in text
    assert re.search(r"(seconds|minutes?) on 2 cores\.", text.split('"""')[1].replace("\n", " "))


def test_others_environments_are_played_alike_everywhere():
    """Bare InvManagement-v1 (whole numbers as actions) and PortfolioOpt-v0, by id: same seeds, same returns."""
    script = """
import numpy as np, riskgrad as rg
from riskgrad.sources import GymnasiumSource, make_policy
from riskgrad.random import Purpose, Stream
if __name__ == "__main__":
    for name, steps in (("or_gymnasium:InvManagement-v1", 30), ("or_gymnasium:PortfolioOpt-v0", 10)):
        with rg.backend.Processes(2) as processes:
            answers = []
            for backend in (None, None, processes):
                source = GymnasiumSource(name, horizon=100, backend=backend)
                policy = make_policy(source, "linear")
                answers.append(source.returns(policy, np.zeros((2, policy.dim)), 6, Stream(3, Purpose.EVALUATION)))
            assert np.all(answers[0].lengths == steps)
            assert len(np.unique(answers[0].values)) == 12
            assert all(np.array_equal(answers[0].values, other.values) for other in answers)
            print(source.name, "is the same")
"""
    path = EXAMPLES.parent / "examples"
    needed = importlib.util.find_spec("or_gymnasium")
    if needed is None and os.environ.get("RISKGRAD_NEED_EXAMPLES") != "1":
        pytest.skip("or_gymnasium is not installed")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("is the same") == 2

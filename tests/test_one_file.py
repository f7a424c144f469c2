"""One file adds a thing: put into its folder, or registered from outside, a part is found everywhere.

The files are put into a copy of the package, one for each kind of part, and another process looks for them there: by
name, by the folder, on the command line and in what the docs list.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from riskgrad.registry import part_lists

ROOT = Path(__file__).parents[1]


class Added(NamedTuple):
    """A part that is added.

    Attributes:
        path: the one new file, in the package.
        kind: what listings call its kind.
        name: how a string calls it.
        part: the class or function.
        text: the file.
        check: Python that finds and uses it; raises where it is not there.
        listed: a command, and what it must print.
    """

    path: str
    kind: str
    name: str
    part: str
    text: str
    check: str
    listed: tuple[str, str]


PARTS = [
    Added(
        "risk/median.py",
        "risk",
        "median",
        "Median",
        '''
"""The median of the return."""
from dataclasses import dataclass
import numpy as np
from riskgrad.risk.base import RiskMeasure

@dataclass(frozen=True)
class Median(RiskMeasure):
    """The middle of the returns."""

    name = example = "median"
    attitude = "mixed"

    def estimate(self, values, weights=None):
        return np.median(np.broadcast_to(values, np.shape(values if weights is None else weights)), axis=-1)

    def value(self, law):
        return float(law.quantile(0.5))
''',
        """
assert float(rg.risk.parse("median").estimate([1.0, 2.0, 9.0])) == 2.0
run = rg.train("two-roads", "median", iterations=1, held_out=10)
assert (run.settings.risk, run.settings.algorithm) == ("median", "offp-sf")
""",
        ("risks", "median"),
    ),
    Added(
        "distortion/cubic.py",
        "distortion",
        "cubic",
        "Cubic",
        '''
"""The worst of three episodes."""
from dataclasses import dataclass
from riskgrad.distortion.base import DistortionFunction

@dataclass(frozen=True)
class Cubic(DistortionFunction):
    """The mean of the worst of three."""

    name = example = "cubic"
    attitude = "averse"
    slope_bound, curvature_bound = 3.0, 6.0

    def at(self, s):
        return s**3

    def slope_at(self, s):
        return 3.0 * s**2

    def bend_at(self, s):
        return 6.0 * s

    def dual(self):
        raise NotImplementedError
''',
        """
assert rg.risk.parse("cubic").value(rg.DiscreteLaw([0.0, 1.0], [0.5, 0.5])) == 0.125
""",
        ("risks", "cubic"),
    ),
    Added(
        "policy/coin.py",
        "policy",
        "coin",
        "Coin",
        '''
"""A table by another name."""
from riskgrad.policy.base import Policy
from riskgrad.policy.gibbs import TabularGibbs

class Coin(Policy):
    """A table that is called a coin."""

    name = "coin"
    dim = probabilities = log_prob = score_sum = act = None

    @classmethod
    def fit(cls, gives, takes):
        return TabularGibbs.fit(gives, takes)
''',
        """
run = rg.train("two-roads", "mean", algorithm="score", policy="coin", iterations=1, held_out=10)
assert repr(run.policy) == "TabularGibbs(4, 2)" and run.settings.policy == "coin"
""",
        ("policies", "Coin"),
    ),
    Added(
        "sources/toss.py",
        "source",
        "toss",
        "TossSource",
        '''
"""A source of its own kind of environment."""
from riskgrad.mdp.models import two_roads
from riskgrad.sources.base import Source
from riskgrad.sources.tabular import TabularSource

class Toss:
    """What nobody else plays."""

class TossSource(Source):
    """Plays a toss."""

    name = "toss"
    returns = record = None

    @classmethod
    def from_env(cls, env, options):
        return TabularSource(two_roads(), threads=1) if isinstance(env, Toss) else None
''',
        """
home = sys.modules[rg.sources.TossSource.__module__] if FOLDER else sys.modules["__main__"]
assert "TabularSource" in repr(rg.sources.resolve_source(home.Toss()))
assert len(rg.train(home.Toss(), "mean", algorithm="score", iterations=1, held_out=10).history) == 1
""",
        ("parts", "TossSource"),
    ),
    Added(
        "algorithms/still.py",
        "algorithm",
        "still",
        "Still",
        '''
"""An algorithm that stays where it is."""
from dataclasses import dataclass, replace
from riskgrad.settings import option
from riskgrad.training.algorithm import Algorithm, Info

@dataclass(frozen=True)
class Still(Algorithm):
    """Stay at theta_0."""

    name = "still"
    episodes: int = option(7, int, "What an iteration is said to cost.")
    patience_of_stones: float = option(0.5, float, "An option of its own.")

    def step(self, problem, state):
        line = {"risk": 0.0, "mean": 0.0, "events": []}
        return replace(state, iteration=state.iteration + 1), Info(line, self.episodes)
''',
        """
for algorithm in ("still:patience_of_stones=0.25", rg.algorithms.ALGORITHMS.find("still")(patience_of_stones=0.25)):
    run = rg.train("two-roads", "mean", algorithm=algorithm, iterations=2, held_out=0)
    assert run.settings.own == {"episodes": 7, "patience_of_stones": 0.25} and run.episodes_used == 14
from riskgrad.cli.train import config_keys
assert config_keys()["patience-of-stones"] is float
from riskgrad.run.config import write_config
assert "patience-of-stones = 0.25" in write_config(run.settings)
if FOLDER:
    assert "patience_of_stones" in prepare.describe_options()
""",
        ("train --help", "--patience-of-stones"),
    ),
    Added(
        "ascent/sign.py",
        "step_size",
        "sign",
        "SignStep",
        '''
"""A step by the sign of the gradient."""
from dataclasses import dataclass
import numpy as np
from riskgrad.ascent.base import Ascent

@dataclass(frozen=True)
class SignStep(Ascent):
    """Move each parameter by the same length."""

    name = "sign"
    step_size: float

    def start(self, dim):
        return {}

    def step(self, theta, gradient, moments):
        return theta + self.step_size * np.sign(gradient), dict(moments)
''',
        """
options = {"iterations": 1, "held_out": 0, "algorithm": "score:steps_per_batch=1"}
run = rg.train("two-roads", "mean", step_size="sign:0.25", **options)
assert set(abs(run.last_theta)) <= {0.0, 0.25} and run.settings.step_size == "sign:0.25"
from riskgrad.run.config import find_obstacles
assert find_obstacles(run.settings) == []
""",
        ("parts", "SignStep"),
    ),
    Added(
        "backend/backwards.py",
        "backend",
        "backwards",
        "Backwards",
        '''
"""A backend that does the last task first."""
from riskgrad.backend.base import Backend

class Backwards(Backend):
    """Do the work from the end."""

    name = "backwards"
    workers = 1

    def map(self, work, tasks):
        return [work(task) for task in reversed(tasks)][::-1]
''',
        """
backend = rg.backend.parse_backend("backwards")
assert backend.map(abs, [-1, -2]) == [1, 2]
options = {"iterations": 1, "horizon": 3, "held_out": 5, "algorithm": "score:episodes=5"}
run = rg.train("Pendulum-v1", "mean", backend="backwards", **options)
assert len(run.history) == 1
""",
        ("parts", "Backwards"),
    ),
    Added(
        "cli/greet.py",
        "command",
        "greet",
        "greet",
        '''
"""The command `greet`."""
from riskgrad.cli.shared import app

@app.command()
def greet() -> None:
    """Greet whoever asks.

    Example: riskgrad greet
    """
    print("good morning")
''',
        """
from riskgrad.cli import COMMANDS
assert COMMANDS.by_name()["greet"].__name__ == "greet"
if FOLDER:
    assert "## greet" in prepare.describe_commands()
""",
        ("--help", "greet"),
    ),
]

PREAMBLE = f"""
import importlib.util, json, sys
import riskgrad as rg
from riskgrad.registry import part_lists
spec = importlib.util.spec_from_file_location("prepare", {str(ROOT / "docs" / "prepare.py")!r})
prepare = importlib.util.module_from_spec(spec)
spec.loader.exec_module(prepare)
"""
LISTED = """
(listed,) = [parts for parts in part_lists() if parts.kind == KIND]
assert listed.by_name()[NAME].__name__ == PART
"""
EXPORTED = """
folder = importlib.import_module(FOLDER)
if KIND != "command":
    assert getattr(folder, PART) is listed.by_name()[NAME]
    assert PART in getattr(folder, "__all__", dir(folder))
    assert any(name.public.endswith("." + PART) for name in prepare.names_of(FOLDER)), "the reference lists it"
"""


EACH = """
import contextlib, io, traceback
from riskgrad.cli import main
found = {}
for kind, code, command in json.loads(sys.stdin.read()):
    printed, failed = io.StringIO(), None
    try:
        exec(compile(code, kind, "exec"), dict(globals()))
        with contextlib.redirect_stdout(printed):
            main(command)
    except SystemExit as ended:
        failed = f"{command} ended with {ended.code}" if ended.code else None
    except Exception:
        failed = traceback.format_exc()
    found[kind] = failed, printed.getvalue()
print(json.dumps(found))
"""


def python(package, *words, told=None):
    """What a process prints that has the package in reach; it must end well."""
    settings = {**os.environ, "PYTHONPATH": str(package), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, env=settings, timeout=280, input=told
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_all(package, script, checks):
    """What came of the check and of the command of each part: why it failed, or None, and what was printed."""
    found = json.loads(python(package, str(script), told=json.dumps(checks)))
    assert found.keys() == {one.kind for one in PARTS}
    return found


def facts_of(one, folder):
    facts = {"FOLDER": folder, "KIND": one.kind, "NAME": one.name, "PART": one.part}
    return "".join(f"{name} = {value!r}\n" for name, value in facts.items())


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    """What is found of all parts in a copy of the package with a new file in each folder, and nothing else changed."""
    place = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src" / "riskgrad", place / "riskgrad")
    checks = []
    for one in PARTS:
        assert not (place / "riskgrad" / one.path).exists()
        (place / "riskgrad" / one.path).write_text(one.text.lstrip())
        code = facts_of(one, "riskgrad." + one.path.partition("/")[0]) + LISTED + EXPORTED + one.check
        checks.append((one.kind, code, one.listed[0].split()))
    (place / "look.py").write_text(PREAMBLE + EACH)
    return check_all(place, place / "look.py", checks)


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """What is found of all parts where a script of the user's own registers them."""
    script = tmp_path_factory.mktemp("outside") / "own.py"
    texts = [one.text.replace("@app.command()\n", "").lstrip() for one in PARTS]
    twice = [f"rg.register({one.part})\nrg.register({one.part})\n" for one in PARTS]
    script.write_text("".join([*texts, PREAMBLE, *twice, EACH]))
    checks = [(one.kind, facts_of(one, None) + LISTED + one.check, one.listed[0].split()) for one in PARTS]
    return check_all(ROOT / "src", script, checks)


@pytest.mark.parametrize("one", PARTS, ids=lambda one: one.kind)
def test_one_new_file_is_found_everywhere(inside, one):
    failed, printed = inside[one.kind]
    assert failed is None, failed
    assert one.listed[1] in printed


@pytest.mark.parametrize("one", PARTS, ids=lambda one: one.kind)
def test_a_part_from_outside_is_registered_and_found_everywhere(outside, one):
    failed, printed = outside[one.kind]
    assert failed is None, failed
    assert one.listed[1] in printed


def test_every_kind_of_part_is_in_this_test():
    assert sorted(parts.kind for parts in part_lists()) == sorted(one.kind for one in PARTS)


def test_what_is_no_part_and_a_name_that_is_taken_get_one_line():
    code = """
import riskgrad as rg
class Stranger: pass
class Mean(rg.risk.RiskMeasure):
    name = example = "mean"
    attitude = "neutral"
    estimate = value = None
def risks(): pass
for part in (Stranger, Mean, risks):
    try:
        rg.register(part)
    except rg.errors.InputError as error:
        print(error)
"""
    stranger, mean, command = python(ROOT / "src", "-c", code).splitlines()
    assert stranger.startswith("part must be a function, or a subclass of one of Algorithm, Ascent, Backend, Dist")
    assert "name must be new among the names of risk, got 'mean'" in mean
    assert "name must be new among the names of command, got 'risks'" in command

"""The reference is complete and reachable: what it lists is in `rg`, and what is public is listed."""

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.order import ORDER
from support.reference import PAGES, list_names, prepare

import riskgrad as rg
from riskgrad.registry import part_lists
from riskgrad.settings import TrainOptions, facts_of

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "riskgrad"
MODULE = re.compile(r"^::: riskgrad\.(\w+)$", flags=re.M)
LOOK = """
import functools, json, sys
import riskgrad as rg
for name in json.load(sys.stdin):
    functools.reduce(getattr, name.split(".")[1:], rg)
"""


def listed():
    """Give every name of the reference; `rg.train` has a page in words."""
    return [prepare.Name("riskgrad._train.train", "rg.train", rg.train), *list_names()]


def test_what_the_reference_lists_is_reachable_after_a_plain_import():
    folders = {f"rg.{name}" for page in PAGES.glob("*.md") for name in MODULE.findall(page.read_text())}
    names = sorted(folders | {name.public for name in listed()})
    assert len(names) > 120
    words = [sys.executable, "-c", LOOK]
    done = subprocess.run(words, input=json.dumps(names), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_name_of_the_reference_is_the_thing_that_is_described():
    for name in listed():
        home, _, last = name.home.rpartition(".")
        assert getattr(importlib.import_module(home), last) is name.thing, name.public


def test_no_name_is_described_twice():
    homes = [name.home for name in listed()]
    assert sorted(homes) == sorted(set(homes))


def test_every_public_class_and_function_is_listed():
    things = [name.thing for name in listed()]
    public = [getattr(rg, name) for name in dir(rg)]
    folders = [thing.__name__ for thing in public if hasattr(thing, "__path__")]
    assert "riskgrad.algorithms" in folders
    inside = [name.thing for folder in folders for name in prepare.names_of(folder)]
    missing = [thing for thing in [*filter(callable, public), *inside] if thing not in things]
    assert missing == []


def test_every_part_of_every_list_is_in_the_reference():
    things = [name.thing for name in listed()]
    for parts in part_lists():
        # commands are functions, and have a page of their own; another test may have registered a part
        own = [part for part in parts.parts() if inspect.isclass(part) and part.__module__.startswith("riskgrad.")]
        assert [part for part in own if part not in things] == [], parts.kind


def test_the_tables_of_options_have_every_option():
    text = prepare.describe_options()
    for kind in (TrainOptions, rg.OnPSF, rg.OffPSF, rg.Score, rg.Critic):
        for name, facts in facts_of(kind).items():
            assert re.search(rf"^\| `{name}` \|.*\|$", text, flags=re.M), name
            assert prepare._cell(facts.help) in text
    assert "constant:N^-1/2" in text, "the paper's value stands beside the default"


def test_the_page_of_commands_has_the_flags_of_algorithms():
    text = prepare.describe_commands()
    assert "## train" in text
    assert "`--steps-per-batch`" in text


def rows():
    """Give the folders and files of the table of the architecture, from top to bottom."""
    return re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "architecture.md").read_text(), flags=re.M)


def test_the_architecture_lists_the_tree():
    tree = {place.stem for place in SOURCE.iterdir() if place.suffix == ".py" or (place / "__init__.py").exists()}
    assert sorted(rows()) == sorted(tree - {"__init__"})
    assert rows() == ORDER, "the order of the flow"


def imported(path):
    """Give the parts of riskgrad that a file imports when it runs."""
    tree = ast.parse(path.read_text())
    for block in ast.walk(tree):
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            block.body = []
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {node.module.split(".")[1] for node in nodes if (node.module or "").startswith("riskgrad.")}


@pytest.mark.parametrize("part", rows())
def test_imports_follow_the_table_of_the_architecture(part):
    before = rows()[: rows().index(part) + 1]
    files = [SOURCE / f"{part}.py"] if (SOURCE / f"{part}.py").exists() else (SOURCE / part).rglob("*.py")
    for path in files:
        assert imported(path) <= set(before), path.name


# pass keywords on: to an environment, to a tracker
PASS_ON = {"rg.mdp.from_gymnasium", "rg.run.Tracker"}
# the values of an enumeration, and a pair of words and a function
PLAIN = {"rg.random.Purpose", "rg.settings.Rule"}


def calls():
    """Give all that a user may call, as it is written: functions, constructors and methods, inherited ones too."""
    for name in listed():
        if not inspect.isclass(name.thing):
            yield name.public, name.thing
            continue
        if issubclass(name.thing, BaseException) or name.public in PLAIN:
            continue
        if not inspect.isabstract(name.thing) and inspect.signature(name.thing).parameters:
            yield name.public, name.thing
        for method in [one for one in dir(name.thing) if not one.startswith("_")]:
            found = getattr(name.thing, method)
            # others are Gymnasium's, or functions that are given as they are
            if inspect.isroutine(found) and found.__module__.startswith("riskgrad.") and "." in found.__qualname__:
                # the class stands in the place of an object
                yield f"{name.public}.{method}", found if inspect.ismethod(found) else found.__get__(name.thing)


def refusal(call):
    needed = [one for one in inspect.signature(call).parameters.values() if one.default is one.empty]
    positional = [None for one in needed if one.kind is one.POSITIONAL_OR_KEYWORD]
    try:
        call(*positional, misspeled=0)
    except Exception as error:
        return error
    return None


def test_a_misspelled_keyword_names_what_was_called():
    found = {name: refusal(call) for name, call in calls() if name not in PASS_ON}
    assert len(found) > 600
    faults = {
        name: error
        for name, error in found.items()
        if not isinstance(error, rg.errors.KeywordError)
        or not str(error).startswith(
            ("rg.report" if name == "rg.Run.report" else name) + " has no keyword 'misspeled'; "
        )
    }
    assert faults == {}


def test_a_misspelled_keyword_gets_the_nearest_right_one():
    run = rg.train("two-roads", "mean", algorithm="score", iterations=1, held_out=0)
    wrong = [
        (run.act, {"obs": 0, "gredy": True}, "rg.Run.act has no keyword 'gredy'; did you mean 'greedy'?"),
        (
            rg.risk.CVaR(0.1).estimate,
            {"values": [1.0], "weight": [1.0]},
            "rg.risk.CVaR.estimate has no keyword 'weight'; did you mean 'weights'?",
        ),
        (rg.OnPSF, {"direction": 8}, "rg.OnPSF has no keyword 'direction'; did you mean 'directions'?"),
    ]
    for call, given, words in wrong:
        with pytest.raises(rg.errors.KeywordError, match=re.escape(words)):
            call(**given)

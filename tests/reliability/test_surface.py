"""Every public function, each argument in turn replaced by what nobody should give: one printable line, or it works."""

import dataclasses
import inspect
import os
import types

import pytest
from support.surface import INNER, Prepared, list_calls, try_strange

import riskgrad as rg
from riskgrad.registry import part_lists

# whose methods refuse a misspelled keyword as public functions do
EVERY = 4 if os.environ.get("RISKGRAD_NEED_RELIABILITY") else 12  # of the values; benchmarks/hardening.py takes all


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    listed = list_calls(Prepared(tmp_path_factory.mktemp("surface")))
    before = [(parts, parts.parts()) for parts in part_lists()]
    yield listed
    for parts, known in before:  # what `rg.register` was given
        for part in parts.parts():
            if part not in known:
                parts.forget(part)


@pytest.mark.no_cover
@pytest.mark.timeout(300)
def test_a_wrong_argument_is_refused_in_one_line(calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = {name: try_strange(name, *call, every=EVERY) for name, call in calls.items()}
    assert {name: faults for name, (_, faults) in found.items() if faults} == {}
    assert sum(ended["refused"] for ended, _ in found.values()) > 5 * sum(ended["taken"] for ended, _ in found.values())


@pytest.mark.no_cover
def test_the_calls_of_the_table_work(calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call, given in calls.values():
        call(**given)


def public_names():
    """Give what a user may call: what riskgrad and its modules export, by name."""
    found = {}
    for name in rg.__all__:
        value = getattr(rg, name)
        if not isinstance(value, types.ModuleType):
            found[name] = value
            continue
        for inner in getattr(value, "__all__", [one for one in dir(value) if not one.startswith("_")]):
            part = getattr(value, inner)
            home = getattr(part, "__module__", "")
            if callable(part) and (home == value.__name__ or home.startswith(f"{value.__name__}.")):
                found[f"{name}.{inner}"] = part
    return found


def test_every_public_function_is_in_the_table(calls):
    """What is not is abstract, an error, a value that riskgrad makes and hands out, or what its parts are made of.

    A new part is held to the contract of its kind, and may be added here.
    """
    parts = {part for parts in part_lists() for part in parts.parts()}
    covered = {call for call, _ in calls.values() if inspect.isfunction(call) or inspect.isclass(call)}
    missing = []
    for name, part in public_names().items():
        known = part in covered or any(one == name or one.startswith(f"{name}.") for one in calls)
        is_value = dataclasses.is_dataclass(part) or (inspect.isclass(part) and issubclass(part, BaseException))
        if not (known or is_value or part in parts or inspect.isabstract(part) or name in INNER):
            missing.append(name)
    assert missing == []
    assert set(INNER) <= set(public_names()), "nothing is listed that is not there"

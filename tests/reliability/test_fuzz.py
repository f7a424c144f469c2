"""Whatever is put in, only the project's own errors come out, each in one printable line, and nothing is imported."""

import os

import pytest
from support.flips import flip_bits, train_runs
from support.fuzz import EVIL, PARSERS, Trials, fuzz, imports_named

from riskgrad import _evaluate, making

MANY = bool(os.environ.get("RISKGRAD_NEED_RELIABILITY"))  # a tenth of what benchmarks/hardening.py does
INPUTS = {"Parquet files": 300} if MANY else {}


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    return Trials(tmp_path_factory.mktemp("fuzz"))


@pytest.mark.no_cover
@pytest.mark.parametrize("parser", PARSERS)
def test_only_the_projects_own_errors_come_out(trials, parser):
    ended, faults = fuzz(trials, parser, INPUTS.get(parser, 1000 if MANY else 40), seed=1)
    assert faults == []
    assert ended["refused"] > 0
    assert ended["taken"] > 0 or not MANY


@pytest.mark.no_cover
def test_no_flipped_bit_is_silently_wrong(tmp_path):
    files = train_runs(tmp_path)
    names = {path.name for path in files}
    assert names >= {
        "checkpoint-a.rg",
        "history.jsonl",
        "timings.jsonl",
        "config.toml",
        "steps.log",
        "one.rg",
        "experiment.json",
    }
    for path in files:
        ended, faults = flip_bits(path, 50 if MANY else 8)
        assert faults == [], path.name
        if path.name != "timings.jsonl":  # of which nothing is read
            assert ended["no effect"] <= sum(ended.values()) // 3, path.name


def test_what_a_command_line_names_itself_may_be_imported_and_nothing_else():
    assert imports_named(["train", "a.b:Foo-v0", "--risk", "c:1"]) == {"a", "a.b"}
    assert imports_named(["report", "run", "--env", "d:Foo-v0"]) == imports_named(["report", "--env=d:Foo-v0"]) == {"d"}
    assert imports_named(["bounds", "--json", "e:Foo-v0", "--config", "f:g"]) == {"e"}


@pytest.mark.no_cover
@pytest.mark.parametrize("module", [_evaluate, making])
def test_an_import_that_only_a_file_asks_for_would_be_found(trials, module, monkeypatch):
    """A run and a configuration name the evil module; were they believed, the trials would tell."""
    monkeypatch.setattr(module, "refuse_import", lambda name, advice: name)
    _, faults = fuzz(trials, "command lines", 600, seed=1)
    assert faults
    assert {text for _, text in faults} == {f"{EVIL} was imported"}

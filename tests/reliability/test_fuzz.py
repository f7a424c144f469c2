"""Whatever is put in, only the project's own errors come out, each in one printable line, and nothing is imported."""

import os

import pytest
from support.flips import flip_bits, train_runs
from support.fuzz import PARSERS, Trials, fuzz

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
    assert names >= {"checkpoint-a.rg", "history.jsonl", "timings.jsonl", "config.toml", "steps.log", "one.rg"}
    for path in files:
        ended, faults = flip_bits(path, 50 if MANY else 8)
        assert faults == [], path.name
        if path.name != "timings.jsonl":  # of which nothing is read
            assert ended["no effect"] <= sum(ended.values()) // 3, path.name

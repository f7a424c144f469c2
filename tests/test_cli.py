"""The command line as a user meets it."""

import json
import resource
import subprocess
import sys

import pytest


def riskgrad(*words):
    return subprocess.run([sys.executable, "-m", "riskgrad.cli", *words], capture_output=True, text=True, check=False)


def test_demo(tmp_path):
    done = riskgrad("demo", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "worst 10%" in done.stdout
    assert (tmp_path / "out" / "risk.svg").stat().st_size > 10_000


def test_risks_as_json():
    rows = json.loads(riskgrad("risks", "--json").stdout)
    assert {"name": "cvar", "example": "cvar:0.1", "attitude": "averse"} in rows
    assert all(row["attitude"] != "seeking" for row in rows)


@pytest.mark.parametrize("words", [("demoo",), ("demo", "--seed", "-1", "--out", "x"), ("demo", "--out", "/proc/none")])
def test_mistakes_are_one_line_and_exit_2(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = riskgrad(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_help_takes_under_half_a_second():
    """Processor time, the best of five: what other work on the machine cannot change much."""

    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    times = []
    for _ in range(5):
        before = spent()
        assert riskgrad("--help").returncode == 0
        times.append(spent() - before)
    assert min(times) < 0.5

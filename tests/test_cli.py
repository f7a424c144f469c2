"""The command line as a user meets it."""

import inspect
import json
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from riskgrad import cli


def riskgrad(*words):
    return subprocess.run([sys.executable, "-m", "riskgrad.cli", *words], capture_output=True, text=True, check=False)


def test_demo(tmp_path):
    """The real command: what a newcomer runs first, and what it says last."""
    done = riskgrad("demo", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "neutral 200/200" in done.stdout, "piped, progress is plain lines"
    *_, neutral, averse, traded, where = done.stdout.splitlines()
    past, mean, worst = numbers(neutral, r"past the guard in (\S+)% of its walks: it returns (\S+) .* and (\S+) on its")
    assert past > 95
    assert 2.5 < mean < 5.5
    assert worst < -55
    round_, mean, worst = numbers(averse, r"goes round the guard in (\S+)% of its walks: (\S+) on .* and (\S+) on its")
    assert round_ > 97
    assert 1.5 < mean < 2.6
    assert worst > -9
    gives, better = numbers(traded, r"So it gives up (\S+) on average, and its worst days are (\S+) better")
    assert gives < 3
    assert better > 50
    compare_with_readme(neutral, averse)
    assert where == f"The report is in {tmp_path / 'out' / 'report.html'}: open it in any browser."
    assert 100_000 < (tmp_path / "out" / "report.html").stat().st_size < 1_000_000
    assert 30_000 < (tmp_path / "out" / "maze.svg").stat().st_size < 200_000


def compare_with_readme(neutral, averse):
    """The README, its picture and its alternative text say what the demonstration prints."""
    root = Path(__file__).parents[1]
    text = " ".join((root / "README.md").read_text().split())
    picture = (root / "docs" / "maze.svg").read_text().replace("\N{MINUS SIGN}", "-")
    for line in (neutral, averse):
        mean, worst = numbers(line, r"(\S+) on average, and (\S+) on its")
        assert f"mean {mean:g}, worst 5% {worst:g}" in text
        assert re.search(rf"{mean:g} on average, (?:and )?{worst:g}\b", text)
        assert f"mean {mean:g} · worst 5%: {worst:g} ·" in picture


def numbers(line, pattern):
    return [float(text.replace("\N{MINUS SIGN}", "-")) for text in re.search(pattern, line).groups()]


def test_train_resume_and_evaluate(tmp_path):
    folder = str(tmp_path / "run")
    words = ("train", "two-roads", "--risk", "cvar:0.1", "--iterations", "30", "--out", folder)
    done = riskgrad(*words)
    assert done.returncode == 0, done.stderr
    assert "cvar:0.1 by held-out episodes" in done.stdout
    assert "note: 4 paths to cvar:0.1 were tried side by side" in done.stdout, (
        "what else was optimized along the path is said"
    )
    again = riskgrad(*words, "--resume", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["finished"] is True
    table = riskgrad("evaluate", folder, "two-roads", "--episodes", "500", "--json")
    assert table.returncode == 0, table.stderr
    assert [row["risk"] for row in json.loads(table.stdout)["rows"]] == ["cvar:0.1", "mean"]


def test_bounds_prints_and_draws(tmp_path):
    picture = tmp_path / "bounds.svg"
    words = ("bounds", "two-roads", "--risk", "dual-power:2", "--iterations", "100", "--plot", str(picture), "--json")
    done = riskgrad(*words)
    assert done.returncode == 0, done.stderr
    rows = {row["symbol"]: row for row in json.loads(done.stdout)}
    slope = rows["L_rho (as:lip)"]
    assert slope["measured"] <= slope["sharp"] <= slope["literal"]
    assert picture.stat().st_size > 10_000
    refused = riskgrad("bounds", "two-roads", "--risk", "cvar:0.1")
    assert refused.returncode == 2
    assert "SmoothCVaR" in refused.stderr


def test_envs_lists_every_model():
    names = {row["name"] for row in json.loads(riskgrad("envs", "--json").stdout)}
    assert names >= {"two-roads", "inventory", "CartPole-v1", "riskgrad/GuardedMaze-v0"}


def test_risks_as_json():
    rows = json.loads(riskgrad("risks", "--json").stdout)
    assert {"name": "cvar", "example": "cvar:0.1", "attitude": "averse"} in rows
    assert all(row["attitude"] != "seeking" for row in rows)


@pytest.mark.parametrize(
    "words",
    [
        ("demoo",),
        ("--verbose",),
        ("train",),
        ("train", "two-roads", "--patience", "1.5"),
        ("train", "two-roads", "--discount", "x"),
        ("train", "two-roads", "--iteration", "5"),
        ("train", "two-roads", "--seed", "-1"),
        ("train", "two-roads", "--risk", "cvr:0.1"),
        ("train", "two-roads", "--resume"),
        ("train", "no-such-environment"),
        ("train", "two-roads", "--env-option", "x"),
        ("evaluate", "no-such-run", "two-roads"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = riskgrad(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("riskgrad: ")
    assert done.stderr.count("\n") == 1


def test_a_word_that_cannot_be_read_is_named_with_its_rule():
    assert riskgrad("train", "two-roads", "--patience", "x").stderr == (
        "riskgrad: --patience must be a valid integer, got 'x'\n"
    )
    assert riskgrad("trian").stderr == "riskgrad: no such command 'trian'. Did you mean 'train'? see riskgrad --help\n"
    assert riskgrad("train").stderr == "riskgrad: missing argument 'env'; see riskgrad train --help\n"


@pytest.mark.parametrize("name", sorted(cli.COMMANDS.by_name()))
def test_help_writes_large_numbers_with_commas(name):
    said = riskgrad(name, "--help").stdout
    assert "Usage" in said
    assert re.findall(r"\d{5,}", said) == []
    default = inspect.signature(cli.COMMANDS.by_name()[name]).parameters.get("episodes")
    if default is not None and default.default == 10_000:
        assert "10,000 by default" in " ".join(re.sub(r"[^\w,. ]", " ", said).split())


def test_too_little_memory_is_one_line_too(monkeypatch, capsys):
    def ask(*_args, **_options):
        raise MemoryError("8 TiB")

    monkeypatch.setattr(cli, "app", ask)
    with pytest.raises(SystemExit, match="2"):
        cli.main(["risks"])
    assert capsys.readouterr().err == "riskgrad: out of memory: 8 TiB\n"
    with pytest.raises(MemoryError):
        cli.main(["risks", "--debug"])


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

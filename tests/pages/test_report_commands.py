"""The commands that show what training bought, and the example in every command's help."""

import json
import re
import shlex

import pytest

from riskgrad.cli import COMMANDS, main
from riskgrad.cli.shared import ORDER

EXAMPLE = re.compile(r"Example: (riskgrad .*)")


def called(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


def examples():
    """The example of each command, in the order in which a newcomer would run them."""
    found = {}
    for name, command in COMMANDS.by_name().items():
        (found[name],) = EXAMPLE.findall(command.__doc__ or "")
    return found


def test_every_command_has_an_example_and_every_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = examples()
    assert set(found) == set(ORDER)
    twin = found["train"].replace("cvar:0.1", "mean").replace("runs/valley", "runs/pass")
    quick = {"demo"}  # run by the tests of the command line
    for line in [twin, *(found[name] for name in ORDER if name not in quick)]:
        code, _, errors = called(capsys, *shlex.split(line)[1:])
        assert code == 0, (line, errors)
    assert (tmp_path / "report.html").stat().st_size > 50_000
    assert (tmp_path / "frontier.svg").stat().st_size > 5_000
    code, out, _ = called(capsys, "compare", "runs/pass", "runs/valley", "--episodes", "500", "--json")
    assert code == 0
    assert [row["risk"] for row in json.loads(out)["rows"]] == ["mean", "cvar:0.1"]
    code, out, _ = called(capsys, "report", "runs/pass", "--out", "one.html", "--episodes", "100", "--json")
    assert json.loads(out)["runs"] == ["pass"]
    code, out, _ = called(capsys, "policies", "--json")
    assert "TabularGibbs" in [row["class"] for row in json.loads(out)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("report", "no-such-run"), "no-such-run"),
        (("compare", "no-such-run", "other"), "no-such-run"),
        (("frontier", "two-roads", "--levels", "0.5;0.1"), "--levels must be numbers separated by commas"),
        (("frontier", "two-roads", "--risk", "cvr"), "did you mean 'cvar'"),
        (("frontier", "no-such-environment"), "env must be"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, _, errors = called(capsys, *words)
    assert code == 2
    assert said in errors
    assert len(errors.strip().splitlines()) == 1

"""Every riskgrad command in a shell block of the docs runs, page by page, in order, in an empty folder."""

import re
import shlex
from pathlib import Path

import pytest

from riskgrad.cli import main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", flags=re.M | re.S)


def commands():
    for page in sorted((ROOT / "docs").glob("**/*.md")):
        lines = [line for block in BLOCK.findall(page.read_text()) for line in block.splitlines()]
        found = [line for line in lines if line.startswith("riskgrad ")]
        if found:
            yield pytest.param(found, id=str(page.relative_to(ROOT)))


@pytest.mark.parametrize("lines", list(commands()))
def test_the_commands_of_a_page_run(lines, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for line in lines:
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(line, comments=True)[1:])
        assert ended.value.code in (0, None), f"{line}: {capsys.readouterr().err}"


def test_there_are_pages_with_commands():
    assert {"docs/tutorial.md", "docs/how-to/resume.md"} <= {param.id for param in commands()}

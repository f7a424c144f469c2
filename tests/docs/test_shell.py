"""Every riskgrad command in a shell block of the docs runs, page by page, in order, in an empty folder."""

import re
import shlex
from pathlib import Path

import pytest

from riskgrad.cli import main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", flags=re.M | re.S)


# what a page says of its commands, and how they print it
FIGURES = {
    "docs/tutorial.md": [
        (
            "the first has 3.1 on average, and -66 over the worst twentieth",
            r"mean\W+3\.1 [^\n]*\n[^\n]*cvar:0\.05\W+66 ",
        ),
        (
            "the second has 2.2 on average, and -5 over its worst twentieth",
            r"3\.1 │\s+2\.2 [^\n]*\n[^\n]*66 │\s+-5 ",
        ),
    ],
}


def whole(block):
    """The lines of a block, those that a backslash continues as one."""
    return block.replace("\\\n", " ").splitlines()


def commands():
    for page in sorted((ROOT / "docs").glob("**/*.md")):
        lines = [line for block in BLOCK.findall(page.read_text()) for line in whole(block)]
        found = [line for line in lines if line.startswith("riskgrad ")]
        if found:
            yield pytest.param(str(page.relative_to(ROOT)), found, id=str(page.relative_to(ROOT)))


@pytest.mark.parametrize(("page", "lines"), list(commands()))
def test_the_commands_of_a_page_run(page, lines, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for line in lines:
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(line, comments=True)[1:])
        assert ended.value.code in (0, None), f"{line}: {capsys.readouterr().err}"
    printed, text = capsys.readouterr().out, " ".join((ROOT / page).read_text().split())
    for words, pattern in FIGURES.get(page, ()):
        assert words in text
        assert re.search(pattern, printed), printed


def test_there_are_pages_with_commands():
    assert {"docs/tutorial.md", "docs/how-to/resume.md"} <= {param.id for param in commands()}

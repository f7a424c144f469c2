"""Every Python block of the docs and the README runs as it stands; blocks of one page share nothing."""

import re
from pathlib import Path

import pytest

from riskgrad.registry import part_lists

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", flags=re.M | re.S)


def blocks():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]:
        text = page.read_text()
        for found in BLOCK.finditer(text):
            line = text.count("\n", 0, found.start()) + 2
            yield pytest.param(page, line, found.group(1), id=f"{page.relative_to(ROOT)}:{line}")


@pytest.fixture
def forgetting():
    """Take off the lists what a block registers, which other tests would find there."""
    before = [parts.parts() for parts in part_lists()]
    yield
    for parts, known in zip(part_lists(), before, strict=True):
        for part in parts.parts():
            if part not in known:
                parts.forget(part)


@pytest.mark.usefixtures("forgetting")
@pytest.mark.parametrize(("page", "line", "code"), list(blocks()))
def test_the_block_runs(page, line, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    padded = "\n" * (line - 1) + code  # so that a failure names the line of the page
    exec(compile(padded, str(page), "exec"), {"__name__": "__main__"})  # noqa: S102 - the docs are ours


def test_there_are_blocks_on_every_page_that_promises_them():
    pages = {Path(param.values[0]).name for param in blocks()}
    assert {"README.md", "corrections.md", "theory.md"} <= pages

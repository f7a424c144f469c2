"""Relative links of the Markdown files hold in the repository as well; the site's strict build checks them there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(page for name in ("docs", "benchmarks", "examples") for page in ROOT.glob(f"{name}/**/*.md")),
]
FENCED = re.compile(r"^```.*?^```$|`[^`\n]*`", flags=re.M | re.S)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(#[^)\s]*)?\)")


def anchors(page):
    heads = re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text()), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_hold_in_the_repository(page):
    for target, anchor in LINK.findall(FENCED.sub("", page.read_text())):
        place = (page.parent / target) if target else page
        assert place.exists(), f"{target} is not there"
        if anchor and place.suffix == ".md":
            assert anchor[1:] in anchors(place), f"{target}{anchor} is no heading"


def test_there_are_links():
    assert len(PAGES) > 25
    assert sum(len(LINK.findall(page.read_text())) for page in PAGES) > 60

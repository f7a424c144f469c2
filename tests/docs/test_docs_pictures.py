"""The pictures of the docs are in step with the library: quick ones are computed anew, and every one is used."""

import importlib.util
import os
import re
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"
WORDS = re.compile(r"<desc>(.*?)</desc>", flags=re.S)
LABEL = re.compile(r"<text[^>]*>(.*?)</text>", flags=re.S)


def loaded():
    made = importlib.util.spec_from_file_location("docs_pictures", DOCS / "pictures.py")
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


pictures = loaded()


@pytest.mark.parametrize("name", sorted(pictures.QUICK))
def test_a_picture_says_what_the_library_computes(name):
    kept = (DOCS / "pictures" / f"{name}.svg").read_text()
    page, words = pictures.QUICK[name]()
    assert WORDS.findall(kept) == [words], "run python docs/pictures.py"
    assert sorted(LABEL.findall(kept)) == sorted(LABEL.findall(pictures.as_text(name, (page, words))))


@pytest.mark.skipif(
    not os.environ.get("RISKGRAD_NEED_LEARNING"), reason="two trainings; RISKGRAD_NEED_LEARNING=1 runs it"
)
@pytest.mark.parametrize("name", sorted(pictures.SLOW))
def test_a_walk_is_what_training_gives(name):
    kept = (DOCS / "pictures" / f"{name}.svg").read_text()
    assert WORDS.findall(kept) == [pictures.SLOW[name]()[1]], "run python docs/pictures.py"


@pytest.mark.parametrize("name", sorted(pictures.QUICK))
def test_no_line_crosses_the_words_of_a_legend(name):
    page, _ = pictures.QUICK[name]()
    page.draw_without_rendering()
    for axis in page.axes:
        words = [] if axis.get_legend() is None else axis.get_legend().get_texts()
        for line in axis.lines:
            corners = line.get_transform().transform(line.get_xydata())
            along = np.linspace(0, len(corners) - 1, 40 * len(corners))
            x, y = (np.interp(along, range(len(corners)), corners[:, side]) for side in (0, 1))
            if line.get_linestyle() == "None":
                x, y = corners.T
            crossed = [text.get_text() for text in words if _inside(text.get_window_extent(), x, y)]
            assert crossed == [], line.get_label()


def _inside(box, x, y):
    return bool(np.any((x > box.x0) & (x < box.x1) & (y > box.y0) & (y < box.y1)))


def test_every_picture_is_made_here_and_used():
    kept = {place.stem for place in (DOCS / "pictures").glob("*.svg")}
    assert kept == set(pictures.QUICK) | set(pictures.SLOW)
    text = "".join(page.read_text() for page in DOCS.glob("**/*.md"))
    assert kept == set(re.findall(r"\]\((?:\.\./)?pictures/([\w-]+)\.svg\)", text))


def test_a_picture_alone_follows_the_scheme_and_asks_for_nothing():
    for place in (DOCS / "pictures").glob("*.svg"):
        text = place.read_text()
        assert "prefers-color-scheme:dark" in text
        assert re.findall(r"(?:href|src)=\"(?!#)|url\((?!#)", text) == [], place.name
        assert len(text) < 60_000, place.name


def test_the_text_beside_a_picture_has_its_numbers():
    """What the pages say of the maze, which takes too long to train here."""
    said = "".join(WORDS.findall("".join((DOCS / "pictures" / f"{n}.svg").read_text() for n in pictures.SLOW)))
    for number in ("35 of 40", "0 of 40"):
        assert number in said
    page = (DOCS / "tutorial.md").read_text()
    for words in ("35 of them pass", "none passes"):
        assert words in " ".join(page.split())

"""Figures are written, carry their labels, and are the same bytes each time."""

import os
import re
import signal
from contextlib import nullcontext
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from support.signals import usual_handlers

import riskgrad as rg
from riskgrad.envs import GuardedMaze
from riskgrad.errors import InputError, Stopped
from riskgrad.pages.demo import Walker, draw_both, tell_lesson, train_both, walk_both
from riskgrad.pages.floor_map import Walks
from riskgrad.pages.played import PlayedRun
from riskgrad.pages.style import VARIABLES


def test_plot_distortions(tmp_path):
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    page = rg.plot_distortions(path=first)
    rg.plot_distortions(path=second)
    text = first.read_text()
    assert text == second.read_text(), "no clock and no random identifiers"
    for word in (
        "averse",
        "seeking",
        "dual-power:3",
        "quadratic:1",
        "exponential:3",
        "square-root:20",
        "logarithmic:20",
    ):
        assert word in text
    assert len(page.axes) == 4
    rg.plot_distortions([rg.distortion.LowerTail(0.1)], path=tmp_path / "tail.png")
    assert (tmp_path / "tail.png").read_bytes().startswith(b"\x89PNG")


def test_unknown_format(tmp_path):
    with pytest.raises(InputError, match=r"path must end in \.svg, \.png or \.pdf"):
        rg.plot_distortions(path=tmp_path / "figure.bmp")


@pytest.fixture(scope="module")
def runs():
    return train_both(seed=3, iterations=4)


def test_the_demonstration_stops_when_asked_to():
    def press(line, theta):
        os.kill(os.getpid(), signal.SIGINT)

    with usual_handlers(), pytest.raises(Stopped):
        train_both(3, lambda name: nullcontext(press), iterations=4)


def test_the_picture_of_the_demonstration(runs, tmp_path):
    walkers = walk_both(runs, seed=0, episodes=100)
    path = draw_both(walkers, tmp_path / "maze.svg")
    text = path.read_text()
    root = ET.fromstring(text)  # noqa: S314 - our own file
    words = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert "trained on the mean return" in words
    assert "trained on the mean of the worst 5% of episodes" in words
    assert words.count("guarded") == 2
    assert "prefers-color-scheme: dark" in text
    assert [color for color in VARIABLES if color in text.split("</style>")[1]] == []
    assert set(re.findall(r"var(--[\w-]+)", text)) <= set(re.findall(r"(--[\w-]+):", text)), "every color is defined"
    assert draw_both(walkers, tmp_path / "again.svg").read_text() == text, "no clock and no random identifiers"


def walker(name, values, paths):
    paths = tuple(np.array(path, dtype=float) for path in paths)
    walks = Walks(GuardedMaze.floor_plan, paths, ((0,),) * len(paths))
    return Walker(PlayedRun(name, None, rg.risk.Mean(), None, np.array(values), None), walks)


def test_the_demonstration_says_what_was_learned_and_no_more():
    """One walk of four passes the guard, or three; of twenty returns the worst is the worst twentieth."""
    past, around = [(4, 1), (5, 1)], [(1, 1), (1, 2)]
    bold = walker("neutral", [-81.0, *[9.0] * 19], [past, past, past, around])
    careful = walker("averse", [-5.0, *[2.0] * 19], [around, around, around, past])
    first, second, third = tell_lesson({"neutral": bold, "averse": careful})
    assert "takes the short way past the guard in 75% of its walks: it returns 4.5 on average" in first
    assert "and \N{MINUS SIGN}81 on its worst days (1 in 20)." in first
    assert "goes round the guard in 75% of its walks: 1.6 on average, and \N{MINUS SIGN}5 on its worst days." in second
    assert third == "So it gives up 2.9 on average, and its worst days are 76 better."
    *_, third = tell_lesson({"neutral": careful, "averse": bold})
    assert third == "So it gains 2.9 on average, and its worst days are 76 worse."

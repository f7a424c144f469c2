"""What notebooks show of runs, tables, laws and measures: the numbers that text has, with everything escaped."""

from html.parser import HTMLParser

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.markup import html_table
from riskgrad.pages import Comparison, Difference, Frontier, FrontierPoint
from riskgrad.pages.prose import write


class Cells(HTMLParser):
    """Collects the texts of a page, and refuses tags that are left open."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.stack = [], []
        self.feed(page)
        assert self.stack == []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.texts.append(data.strip())


def test_everything_is_escaped():
    page = html_table([("<a>", "b & c")], title="<t>", header=("h<",), notes=["<script>"])
    assert Cells(page).texts == ["<t>", "h<", "<a>", "b & c", "<script>"]
    assert "<script>" not in page


def test_a_law_shows_its_likeliest_returns_in_order():
    law = rg.DiscreteLaw([3.0, -1.0], [0.25, 0.75])
    assert Cells(law._repr_html_()).texts == [
        "mean 0, standard deviation 1.73205", "return", "probability", "-1", "0.75", "3", "0.25",
    ]  # fmt: skip
    wide = Cells(rg.DiscreteLaw(np.arange(20.0), np.arange(1.0, 21.0) / 210.0)._repr_html_()).texts
    assert wide[3::2][:12] == [str(place) for place in range(8, 20)]
    assert wide[-1] == "and 8 less likely values"


@pytest.mark.parametrize("name", ["cvar:0.1", "mean", "dual-power:2:seeking"])
def test_a_measure_shows_its_name_and_attitude(name):
    measure = rg.risk.parse(name)
    assert Cells(measure._repr_html_()).texts[:3] == [name, "attitude", measure.attitude]


def test_a_table_shows_what_its_text_shows():
    table = rg.evaluation.table_of_returns(np.arange(50.0), [rg.risk.CVaR(0.1), rg.risk.Mean()])
    texts = Cells(table._repr_html_()).texts
    assert texts[:2] == ["50 episodes, intervals at 95% confidence", "risk"]
    words = str(table).split()
    assert all(word in words for text in texts for word in text.split())


def test_a_run_shows_what_was_trained_and_its_notes():
    run = rg.train("two-roads", "cvar:0.1", algorithm="score:episodes=20", iterations=3)
    texts = Cells(run._repr_html_()).texts
    told = dict(zip(texts[1::2], texts[2::2], strict=False))
    assert told["environment"] == "two-roads"
    assert told["iterations"] == "3, finished"
    assert told["episodes"].startswith(f"{run.episodes_used:,}, of which {run.held_out_episodes:,}")
    assert f"{run.held_out_risk:.4g}, 95% from" in told["cvar:0.1 by held-out episodes"]
    assert texts[-len(run.notes) :] == [f"note: {note}" for note in run.notes]


def test_a_comparison_and_a_frontier_show_their_rows():
    rows = (Difference("cvar:0.1", "a", "<b>", -66.0, -30.0, 36.0, (35.5, 36.5), 1.0, None),)
    found = Comparison(rows, 2000, 0.95, 0)
    texts = Cells(found._repr_html_()).texts
    assert texts[0] == "Against a, on the same 2,000 episodes"
    assert texts[6:9] == ["<b>", "cvar:0.1", f"{write(-30.0, 1.0)} instead of {write(-66.0, 1.0)}"]
    assert str(found).splitlines() == [
        "Against a, on the same 2,000 episodes",
        "",
        "run  risk      value                   difference          better",
        "<b>  cvar:0.1  -30.0 instead of -66.0  36.0, 35.5 to 36.5  over 99.9%",
    ]
    row = rg.evaluation.table_of_returns(np.arange(50.0), [rg.risk.Mean()])[0]
    point = FrontierPoint("mean", "path", 100, row, row, row, efficient=True)
    family = Frontier("cvar:0.1", (point,), {}, 50, 0.95, 0)
    assert Cells(family._repr_html_()).texts[5:] == ["mean", "24", "24", "yes"]
    assert str(family).splitlines()[2:] == ["trained on  mean  cvar:0.1  efficient", "mean        24    24        yes"]


def test_a_run_is_plotted_and_a_notebook_shows_the_figure(tmp_path):
    run = rg.train("two-roads", "cvar:0.1", algorithm="score:episodes=20", iterations=3)
    figure = run.plot(tmp_path / "learning.svg")
    (axis,) = figure.axes
    names = ["cvar:0.1", "mean", "the path to the measure ends", "cvar:0.1, held out"]
    assert [text.get_text() for text in axis.get_legend().get_texts()] == names
    judged = [line["held_out"] for line in run.history if line["held_out"] is not None]
    assert axis.lines[-1].get_ydata().tolist() == judged
    assert (tmp_path / "learning.svg").read_text().startswith("<?xml")
    assert figure._repr_png_().startswith(b"\x89PNG")

# pyright: reportUnknownMemberType=false
# matplotlib is only partly typed
"""Figures inside a page: SVG whose colors follow the page, light or dark, and whose text is the page's.

A figure is drawn once, with the colors below. In the SVG each is replaced by a variable of the page's style sheet, so
that one drawing serves both schemes. Nothing in it points outside, and its identifiers are its own.
"""

import io
import re
from collections.abc import Callable
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from riskgrad.pages.style import figure

RUNS: Final = ("#0072b2", "#c04f00", "#00795a", "#a8487f", "#7a6200", "#5b5f97")
DASHES: Final = ("-", (0, (6, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), (0, (10, 3)), (0, (3, 1.5)))
INK: Final = "#000000"
MUTED: Final = "#666666"
GRID: Final = "#dddddd"
PAPER: Final = "#fdfdfd"

VARIABLES: Final = {
    **{color: f"var(--run-{index})" for index, color in enumerate(RUNS)},
    INK: "currentColor",
    MUTED: "var(--muted)",
    GRID: "var(--grid)",
    PAPER: "var(--card)",
}
WIDTH: Final = 4.8  # inches: on a phone one unit is one pixel, so that text of size 10 stays readable


def canvas(height: float = 2.9) -> tuple[Figure, Axes]:
    """Make a figure of the page's width."""
    page, (axis,) = figure(WIDTH, height)
    axis.tick_params(labelsize=9, color=MUTED)
    axis.spines[["left", "bottom"]].set_color(MUTED)
    return page, axis


def ticks(write: Callable[[float], str]) -> FuncFormatter:
    """Label the ticks of an axis by a function of their place."""

    def written(place: float, _: int | None) -> str:
        return write(place)

    return FuncFormatter(written)


def color(index: int) -> str:
    """The color of a run by its place."""
    return RUNS[index % len(RUNS)]


def inline(page: Figure, prefix: str) -> str:
    """Give a figure as an SVG element for a page; `prefix` keeps its identifiers apart from those of other figures."""
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "riskgrad", "text.parse_math": False}):
        page.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*|<style.*?</style>", "", text, flags=re.S)
    box = re.search(r'viewBox="([^"]*)"', text)
    # black is what SVG fills with when nothing is said, so matplotlib does not say it
    opening = f'<svg viewBox="{box.group(1) if box else ""}" fill="currentColor" aria-hidden="true">'
    text = re.sub(r"<svg.*?>", opening, text, count=1)
    text = text.replace("xlink:href", "href")
    text = _own_names(text, prefix)
    for drawn, variable in VARIABLES.items():
        text = text.replace(drawn, variable)
    # coordinates to a hundredth of a pixel; what is written stays as it is
    text = re.sub(r' (?:d|x|y|transform)="[^"]*"', lambda found: re.sub(r"(\.\d\d)\d+", r"\1", found[0]), text)
    return re.sub(r"\s*\n\s*", "\n", text).strip()


def _own_names(text: str, prefix: str) -> str:
    """Drop identifiers that nothing refers to, and set the prefix before the others."""
    wanted = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text))
    names = {one or other for one, other in wanted}
    text = re.sub(r' id="([^"]+)"', lambda found: f' id="{prefix}-{found[1]}"' if found[1] in names else "", text)
    return re.sub(r'(href="#|url\(#)', rf"\1{prefix}-", text)

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""One look for every figure: colors that color-blind readers can tell apart, thin axes, no global state.

A figure for a file is made by `make_figure` and written by `save_figure`. A figure for a page is made by `canvas`,
drawn once with the colors below, and turned by `inline_svg` into SVG in which each color is a variable of the page's
style sheet, so that one drawing serves the light and the dark scheme. It has no links to other files, and its
identifiers differ from those of other figures.
"""

import io
import itertools
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from riskgrad.checks import check_path, check_positive
from riskgrad.run.files import ELSEWHERE, refuse_other_ending, write_whole

# Okabe and Ito's palette without its yellow, which is too light for lines
COLORS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#444444")
BESIDE: Final = "#888888"  # of lines that only connect points
FORMATS: Final = (".svg", ".png", ".pdf")

RUNS: Final = ("#0072b2", "#b84a00", "#00795a", "#a8487f", "#7a6200", "#5b5f97")
NEUTRAL: Final = RUNS[0]  # the neutral policy in every figure
AVERSE: Final = RUNS[1]
DASHES: Final = ("-", (0, (6, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), (0, (10, 3)), (0, (3, 1.5)))
PALE: Final = -2  # the hue of the untrained policy
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


class NotebookFigure(Figure):
    """A figure that a notebook shows without pyplot."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def make_figure(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """Make a figure and its axes, row by row, without touching pyplot's global state."""
    check_positive("width", width)
    page = NotebookFigure(figsize=(float(width), height), layout="constrained")
    grid = page.subplots(rows, columns, squeeze=False)
    axes: list[Axes] = list(grid.flat)
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(visible=True, color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
    return page, axes


def save_figure(page: Figure, path: str | Path) -> Path:
    """Write a figure as SVG, PNG or PDF, by the ending of the path; text stays text in SVG."""
    target = check_path("path", path)
    refuse_other_ending("path", target, FORMATS)
    body, kind = io.BytesIO(), target.suffix.lower()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "riskgrad"}):
        page.savefig(body, format=kind[1:], dpi=150, metadata={"Date": None} if kind == ".svg" else None)
    write_whole(target, body.getvalue(), ELSEWHERE)
    return target


def canvas(height: float = 2.9) -> tuple[Figure, Axes]:
    """Make a figure of the page's width."""
    page, (axis,) = make_figure(WIDTH, height)
    axis.tick_params(labelsize=9, color=MUTED)
    axis.spines[["left", "bottom"]].set_color(MUTED)
    return page, axis


def ticks(write: Callable[[float], str]) -> FuncFormatter:
    """Give a formatter that labels the ticks of an axis by a function of their values."""

    def format_tick(place: float, _: int | None) -> str:
        return write(place)

    return FuncFormatter(format_tick)


def run_color(hue: int) -> str:
    """Give the color of a run by its hue; see `find_hues`."""
    return MUTED if hue == PALE else RUNS[hue % len(RUNS)]


def find_hues(attitudes: Sequence[str]) -> list[int]:
    """Give the hue of each run by its attitude: blue for the first neutral run only, orange for the first other run."""
    first = next((place for place, one in enumerate(attitudes) if one == "neutral"), None)
    others = (1 + count % (len(RUNS) - 1) for count in itertools.count())
    return [0 if place == first else next(others) for place in range(len(attitudes))]


def inline_svg(page: Figure, prefix: str) -> str:
    """Give a figure as an SVG element for a page; `prefix` makes its identifiers differ from those of other figures."""
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "riskgrad", "text.parse_math": False}):
        page.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*|<style.*?</style>", "", text, flags=re.S)
    box = re.search(r'viewBox="([^"]*)"', text)
    # SVG fills with black by default, so matplotlib does not write that color; it is set here instead
    opening = f'<svg viewBox="{box.group(1) if box else ""}" fill="currentColor" aria-hidden="true">'
    text = re.sub(r"<svg.*?>", opening, text, count=1)
    text = text.replace("xlink:href", "href")
    text = _own_names(text, prefix)
    for drawn, variable in VARIABLES.items():
        text = text.replace(drawn, variable)
    # coordinates to a hundredth of a pixel; text stays as it is
    text = re.sub(r' (?:d|x|y|transform)="[^"]*"', lambda found: re.sub(r"(\.\d\d)\d+", r"\1", found[0]), text)
    return re.sub(r"\s*\n\s*", "\n", text).strip()


def _own_names(text: str, prefix: str) -> str:
    """Drop identifiers that nothing refers to, and put the prefix before the others."""
    wanted = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text))
    names = {one or other for one, other in wanted}
    text = re.sub(r' id="([^"]+)"', lambda found: f' id="{prefix}-{found[1]}"' if found[1] in names else "", text)
    return re.sub(r'(href="#|url\(#)', rf"\1{prefix}-", text)

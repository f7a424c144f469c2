# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""A picture of the guarantee: for each constant how far the paper's, the sharp and the measured value lie apart."""

import math
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from riskgrad.pages.style import COLORS, NEUTRAL, figure, save
from riskgrad.theory.table import Row

MARKS = (
    ("literal", "literal (paper)", "s", COLORS[1]),
    ("sharp", "sharp", "o", COLORS[0]),
    ("measured", "measured", "D", COLORS[2]),
)


def plot_bounds(rows: Sequence[Row], path: str | Path | None = None, width: float = 9.0) -> Figure:
    """Draw bound against measured on a logarithmic axis, one line for each row of the table.

    Args:
        rows: from `riskgrad.theory.bounds_table`.
        path: where to write it (.svg, .png or .pdf); None only returns the figure.
        width: in inches.
    """
    drawn = [row for row in rows if row.symbol != "episodes"]
    page, (axis,) = figure(width, 0.8 + 0.38 * len(drawn))
    heights = range(len(drawn) - 1, -1, -1)
    for height, row in zip(heights, drawn, strict=True):
        found = [number for name, *_ in MARKS for number in _drawable(row, name)]
        if found:
            axis.plot([min(found), max(found)], [height, height], color=NEUTRAL, linewidth=1.0, zorder=1)
    for name, label, mark, color in MARKS:
        points = [
            (number, height) for height, row in zip(heights, drawn, strict=True) for number in _drawable(row, name)
        ]
        across, up = [number for number, _ in points], [height for _, height in points]
        axis.scatter(across, up, marker=mark, color=color, label=label, zorder=2)
    axis.set_xscale("log")
    axis.set_yticks(list(heights), [f"{row.meaning}\n{row.symbol}" for row in drawn], fontsize=8)
    axis.set_xlabel("value, logarithmic")
    axis.set_title("what is guaranteed, and what was found", loc="left", fontsize=11)
    axis.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.06), ncols=3)
    if path is not None:
        save(page, path)
    return page


def _drawable(row: Row, name: str) -> list[float]:
    """The value as a list of one, or nothing where a logarithmic axis has no place for it."""
    number: float | None = getattr(row, name)
    return [number] if number is not None and math.isfinite(number) and number > 0.0 else []

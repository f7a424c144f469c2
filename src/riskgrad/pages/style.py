# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""One look for every figure: colors that color-blind readers can tell apart, thin axes, no global state."""

from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from riskgrad.errors import InputError

# Okabe and Ito's palette without its yellow, which is too light for lines
COLORS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#444444")
AVERSE: Final = COLORS[0]
NEUTRAL: Final = "#888888"
FORMATS: Final = (".svg", ".png", ".pdf")


def figure(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """Make a figure and its axes, row by row, without touching pyplot's global state."""
    page = Figure(figsize=(width, height), layout="constrained")
    grid = page.subplots(rows, columns, squeeze=False)
    axes: list[Axes] = list(grid.flat)
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(visible=True, color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
    return page, axes


def save(page: Figure, path: str | Path) -> Path:
    """Write a figure as SVG, PNG or PDF by its ending; text stays text in SVG."""
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise InputError("path", f"end in {', '.join(FORMATS)}", str(path))
    import matplotlib as mpl  # noqa: PLC0415 - only to set how this one file is written

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "riskgrad"}):
        page.savefig(target, dpi=150, metadata={"Date": None} if target.suffix.lower() == ".svg" else None)
    return target

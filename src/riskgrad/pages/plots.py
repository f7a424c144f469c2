# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""Pictures in files of their own: distortions and their weights, bounds beside measured values, a frontier."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from riskgrad.distortion import (
    DistortionFunction,
    DualPower,
    Exponential,
    Identity,
    Logarithmic,
    Quadratic,
    SquareRoot,
)
from riskgrad.kinds import checks_kinds
from riskgrad.pages.axes import write_apart
from riskgrad.pages.family import Frontier, FrontierPoint
from riskgrad.pages.style import AVERSE, BESIDE, COLORS, NEUTRAL, make_figure, save_figure
from riskgrad.theory.table import BoundRow

TABLE: tuple[DistortionFunction, ...] = (DualPower(3), Quadratic(1), Exponential(3), SquareRoot(20), Logarithmic(20))
MARKS = (
    ("literal", "literal (paper)", "s", COLORS[1]),
    ("sharp", "sharp", "o", COLORS[0]),
    ("measured", "measured", "D", COLORS[2]),
)


@checks_kinds
def plot_distortions(
    distortions: Sequence[DistortionFunction] = TABLE, path: str | Path | None = None, width: float = 10.0
) -> Figure:
    """Draw distortions g and their duals, and the weight that each puts on every quantile of the return.

    The upper row shows g(s), averse on the left and seeking (the literal table) on the right. The lower row shows
    g'(1 - q), the weight of the quantile at q, from the worst outcome to the best; for the mean it is 1.

    Args:
        distortions: the distortions to draw, each with its dual; by default the five rows of the paper's table.
        path: where to write it (.svg, .png or .pdf); None only returns the figure.
        width: in inches.
    """
    page, axes = make_figure(width, 0.8 * width, rows=2, columns=2)
    for column, attitude in enumerate(("averse", "seeking")):
        turned = [g if g.attitude == attitude else g.dual() for g in distortions]
        _draw_functions(axes[column], attitude, turned)
        _draw_weights(axes[2 + column], turned)
    if path is not None:
        save_figure(page, path)
    return page


def _draw_functions(axis: Axes, attitude: str, distortions: list[DistortionFunction]) -> None:
    s = np.linspace(0.0, 1.0, 401)
    axis.plot(s, Identity()(s), color=NEUTRAL, linestyle="--", linewidth=1.2, label="identity (mean)")
    for g, color in zip(distortions, _cycle(len(distortions)), strict=True):
        axis.plot(s, g(s), color=color, linewidth=1.8, label=str(g).removesuffix(":seeking"))
    below = "below" if attitude == "averse" else "above"
    axis.set_title(f"{attitude}: g {below} the diagonal", loc="left", fontsize=11)
    axis.set(xlabel="s = P(R > x)", ylabel="g(s)", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axis.legend(frameon=False, fontsize=8, loc="upper left" if attitude == "averse" else "lower right")


def _draw_weights(axis: Axes, distortions: list[DistortionFunction]) -> None:
    q = np.linspace(0.0, 1.0, 401)
    axis.axhline(1.0, color=NEUTRAL, linestyle="--", linewidth=1.2)
    for g, color in zip(distortions, _cycle(len(distortions)), strict=True):
        axis.plot(q, g.derivative(1.0 - q), color=color, linewidth=1.8)
    axis.set(xlabel="quantile of the return (worst to best)", ylabel="weight g'(1 - q)", xlim=(0, 1))
    axis.set_ylim(bottom=0.0)


def _cycle(count: int) -> list[str]:
    others = COLORS[1:]  # the first one is that of the mean
    return [others[i % len(others)] for i in range(count)]


@checks_kinds
def plot_bounds(rows: Sequence[BoundRow], path: str | Path | None = None, width: float = 9.0) -> Figure:
    """Draw bounds and measured values on a logarithmic axis, one line for each row of the table.

    Args:
        rows: from `riskgrad.theory.bounds_table`.
        path: where to write it (.svg, .png or .pdf); None only returns the figure.
        width: in inches.
    """
    drawn = [row for row in rows if row.symbol != "episodes"]
    page, (axis,) = make_figure(width, 0.8 + 0.38 * len(drawn))
    heights = range(len(drawn) - 1, -1, -1)
    for height, row in zip(heights, drawn, strict=True):
        found = [number for name, *_ in MARKS for number in _as_drawable(row, name)]
        if found:
            axis.plot([min(found), max(found)], [height, height], color=BESIDE, linewidth=1.0, zorder=1)
    for name, label, mark, color in MARKS:
        points = [
            (number, height) for height, row in zip(heights, drawn, strict=True) for number in _as_drawable(row, name)
        ]
        across, up = [number for number, _ in points], [height for _, height in points]
        axis.scatter(across, up, marker=mark, color=color, label=label, zorder=2)
    axis.set_xscale("log")
    axis.set_yticks(list(heights), [f"{row.meaning}\n{row.symbol}" for row in drawn], fontsize=8)
    axis.set_xlabel("value, logarithmic")
    axis.set_title("what is guaranteed, and what was found", loc="left", fontsize=11)
    axis.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.06), ncols=3)
    if path is not None:
        save_figure(page, path)
    return page


def _as_drawable(row: BoundRow, name: str) -> list[float]:
    """Give the value as a list of one; an empty list if a logarithmic axis cannot show it."""
    number: float | None = getattr(row, name)
    return [number] if number is not None and math.isfinite(number) and number > 0.0 else []


@checks_kinds
def plot_frontier(found: Frontier, path: str | Path | None = None, width: float = 7.0) -> Figure:
    """Draw mean against risk, each policy with its bootstrap intervals; neutral is blue, averse orange.

    A policy that is not efficient (see `FrontierPoint`) is drawn as a ring.

    Args:
        found: the family.
        path: where to write it (.svg, .png or .pdf); None only returns the figure.
        width: in inches.
    """
    page, (axis,) = make_figure(width, 0.65 * width)
    best = sorted((p for p in found.points if p.efficient), key=lambda p: p.against.value)
    axis.plot([p.against.value for p in best], [p.mean.value for p in best], color=BESIDE, linewidth=1.6)
    for point in found.points:
        x, y = point.against, point.mean
        sides = [[[row.value - row.bootstrap[0]], [row.bootstrap[1] - row.value]] for row in (x, y)]
        neutral = point.risk == "mean"  # small and on top, so that both colors are seen where two lie on one spot
        hue = NEUTRAL if neutral else AVERSE
        look: dict[str, Any] = {"color": hue, "elinewidth": 1.0, "mfc": hue if point.efficient else "white"}
        look |= {"ms": 5, "zorder": 4} if neutral else {"ms": 8, "zorder": 3}
        error = [[max(end[0], 0.0)] for end in sides[0]], [[max(end[0], 0.0)] for end in sides[1]]
        axis.errorbar(x.value, y.value, xerr=error[0], yerr=error[1], marker="o", **look)
    axis.margins(0.2)
    axis.set(xlabel=f"{found.against} (right is safer)", ylabel="mean (up is better)")
    axis.set_title("What less risk costs in mean", loc="left", fontsize=11)
    write_apart(axis, [("\n".join(names), place) for place, names in _labels(found.points)], fontsize=9)
    if path is not None:
        save_figure(page, path)
    return page


def _labels(points: Sequence[FrontierPoint]) -> list[tuple[tuple[float, float], list[str]]]:
    """Give the labels, each a place and its names: policies that lie on top of each other share one."""
    places = [(point.against.value, point.mean.value) for point in points]
    widths = [(max(axis) - min(axis)) or 1.0 for axis in zip(*places, strict=True)]
    groups: list[tuple[tuple[float, float], list[str]]] = []
    for point, place in zip(points, places, strict=True):
        for other, names in groups:
            if all(abs(a - b) < 0.06 * width for a, b, width in zip(place, other, widths, strict=True)):
                names.append(point.risk)
                break
        else:
            groups.append((place, [point.risk]))
    return groups

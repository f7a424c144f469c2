# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""The paper's figure of distortion functions, for both attitudes, with what each does to a law's quantiles."""

from collections.abc import Sequence
from pathlib import Path

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
from riskgrad.pages.style import COLORS, NEUTRAL, figure, save

TABLE: tuple[DistortionFunction, ...] = (DualPower(3), Quadratic(1), Exponential(3), SquareRoot(20), Logarithmic(20))


def plot_distortions(
    distortions: Sequence[DistortionFunction] = TABLE, path: str | Path | None = None, width: float = 10.0
) -> Figure:
    """Draw distortions g and their duals, and the weight that each puts on every quantile of the return.

    The upper row is g(s), averse on the left and seeking (the literal table) on the right. The lower row is g'(1 - q),
    the weight on the quantile at q relative to the mean's weight of 1, from the worst outcome to the best.

    Args:
        distortions: what to draw, each with its dual; all five rows of the paper's table by default.
        path: where to write it (.svg, .png or .pdf); None only returns the figure.
        width: in inches.
    """
    page, axes = figure(width, 0.8 * width, rows=2, columns=2)
    for column, attitude in enumerate(("averse", "seeking")):
        turned = [g if g.attitude == attitude else g.dual() for g in distortions]
        _draw_functions(axes[column], attitude, turned)
        _draw_weights(axes[2 + column], turned)
    if path is not None:
        save(page, path)
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
    return [COLORS[i % len(COLORS)] for i in range(count)]

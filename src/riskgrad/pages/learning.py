# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""How a run learned: risk and mean against episodes, with intervals.

Each iteration's estimates are noisy, so that a line is the mean of a few neighboring ones. Its interval comes from the
standard errors that the record holds: over w iterations of independent episodes the mean of the estimates has the error
sqrt(sum of error^2) / w, and 1.96 of it to each side hold the mean of what was estimated 95 times in 100. The errors
are those of large samples; a tail of a handful of episodes has wider ones.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from riskgrad.pages.played import Played
from riskgrad.pages.run_figures import Drawn, Mark, column
from riskgrad.pages.theme import INK, canvas, color, ticks
from riskgrad.pages.words import interval, number
from riskgrad.types import FloatArray

POINTS = 160  # of a line, at most: more cannot be seen
WIDTH = 1.96  # standard errors to each side, for 95%


def learning(one: Played, index: int) -> Drawn:
    """Draw risk and mean against episodes, each with its interval, and the held-out looks."""
    page, axis = canvas()
    history = [line for line in one.run.history if line.get("risk") is not None and line.get("mean") is not None]
    shown = ("mean",) if one.risk.attitude == "neutral" else ("risk", "mean")
    named = {"risk": str(one.risk), "mean": "mean"}
    episodes, words = column(history, "episodes"), []
    for key in shown:
        first = key == shown[0]
        middle, error = smoothed(column(history, key), column(history, f"{key}_error"))
        _band(axis, episodes, middle, error, color(index) if first else INK, dashed=not first)
        if history:
            words.append(f"{named[key]} from {_estimate(middle[0], error[0])} to {_estimate(middle[-1], error[-1])}")
    looks = [line for line in history if line.get("held_out") is not None]
    places, values = column(looks, "episodes"), column(looks, "held_out")
    axis.plot(places, values, "o", markersize=4, markerfacecolor="none", color=color(index))
    axis.set(xlabel="episodes used", ylabel="return")
    axis.xaxis.set_major_formatter(ticks(_short))
    axis.xaxis.set_major_locator(MaxNLocator(5))
    marks = [Mark(named[key], index if key == shown[0] else -1, "line" if key == shown[0] else "dash") for key in shown]
    return Drawn(
        f"learning-{index}",
        "How it learned",
        page,
        f"Over {number(episodes[-1])} episodes: {'; '.join(words)}." if history else "No iteration was recorded.",
        "Lines: the mean of neighboring iterations' estimates; bands: its 95% interval. Circles: looks on episodes "
        "that no step used, by which the policy that is kept was chosen.",
        [*marks, Mark("95% interval", index, "band"), Mark("held-out look", index, "ring")],
    )


def smoothed(values: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the mean of each value [k] with its neighbors, and its standard error; NaN where one of theirs is."""
    half = max(1, len(values) // 40)
    first = np.maximum(np.arange(len(values)) - half, 0)
    last = np.minimum(np.arange(len(values)) + half + 1, len(values))
    spans = list(zip(first.tolist(), last.tolist(), strict=True))
    middle = np.array([float(np.mean(values[a:b])) for a, b in spans])
    error = np.array([float(np.sqrt(np.sum(errors[a:b] ** 2))) / (b - a) for a, b in spans])
    return middle, error


def _band(axis: Axes, x: FloatArray, middle: FloatArray, error: FloatArray, drawn: str, *, dashed: bool) -> None:
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), POINTS)).astype(int)) if len(x) else np.arange(0)
    low, high = middle[kept] - WIDTH * error[kept], middle[kept] + WIDTH * error[kept]
    axis.fill_between(x[kept], low, high, color=drawn, alpha=0.22, linewidth=0)
    axis.plot(x[kept], middle[kept], color=drawn, linewidth=1.8, linestyle="--" if dashed else "-")


def _estimate(middle: float, error: float) -> str:
    if not np.isfinite(error):
        return number(middle)
    return f"{number(middle)} ({interval((middle - WIDTH * error, middle + WIDTH * error))})"


def _short(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"

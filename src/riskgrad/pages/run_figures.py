# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""The figures of one run: how its episodes fall out, what its weights were worth; how it learned is in `learning`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from riskgrad.pages.played import Played
from riskgrad.pages.theme import INK, canvas, color, ticks
from riskgrad.pages.words import number, percent
from riskgrad.risk import CVaR
from riskgrad.types import DiscreteLaw, FloatArray

POINTS = 160  # of a line, at most: more cannot be seen
ATOMS = 30  # returns that are drawn as bars of their own
BINS = 40


@dataclass(frozen=True)
class Mark:
    """An entry of a figure's legend.

    Attributes:
        text: what the mark stands for.
        color: index of the run's color, or -1 for the color of text.
        kind: how it is drawn: "line", "dash", "dot", "band", "bar", "ring" or "tick".
    """

    text: str
    color: int
    kind: str


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure with what a reader needs who cannot see it.

    Attributes:
        key: its identifier on the page.
        title: what it shows.
        figure: the drawing.
        alternative: what is to be seen in it, in words.
        caption: how to read it.
        legend: its marks.
    """

    key: str
    title: str
    figure: Figure
    alternative: str
    caption: str
    legend: Sequence[Mark]


def distribution(one: Played, index: int, span: tuple[float, float]) -> Drawn:
    """Draw how the fresh episodes fall out, with the bad tail, VaR and CVaR marked, and the exact law if known."""
    page, axis = canvas(3.1)
    alpha, size = one.tail, len(one.values)
    ordered = np.sort(one.values)
    var, cvar, mean = float(ordered[int(np.ceil(alpha * size)) - 1]), _cvar(one.values, alpha), float(np.mean(ordered))
    places, shares, widths, exact = _bars(one, span)
    binned = len(np.unique(one.values)) > ATOMS
    strong = _in_tail(one.values, places + widths / 2.0 if binned else places, var, alpha)
    for chosen, alpha_of in ((~strong, 0.35), (strong, 0.95)):
        axis.bar(places[chosen], shares[chosen], widths[chosen], color=color(index), alpha=alpha_of, linewidth=0)
    if exact is not None:
        seen = exact > 0.3 / size
        axis.plot(places[seen], exact[seen], "o", color=INK, markerfacecolor="none", markersize=4)
    axis.set_yscale("log")
    axis.set_ylim(0.3 / size, 100.0)  # room for the labels above 100%
    axis.set_yticks([10.0**power for power in range(int(np.ceil(np.log10(0.3 / size))), 1)], minor=False)
    axis.minorticks_off()
    axis.set_xlim(*span)
    axis.yaxis.set_major_formatter(ticks(percent))
    marks = [
        (cvar, f"CVaR {number(cvar)}", "-"),
        (var, f"VaR {number(var)}", ":"),
        (mean, f"mean {number(mean)}", "--"),
    ]
    # a label reaches to the left of its line: further right means further up, where no other line is crossed
    for height, (place, text, line) in zip((0.81, 0.90, 0.99), sorted(marks), strict=True):
        _marked(axis, place, text, line, height, span)
    axis.set(xlabel="return of an episode", ylabel="share of episodes")
    tail = percent(alpha)
    words = (
        f"Of {number(size)} fresh episodes the worst {tail} return {number(var)} or less (VaR) and {number(cvar)} on "
        f"average (CVaR); the mean of all is {number(mean)}, the worst {number(float(ordered[0]))}, the best "
        f"{number(float(ordered[-1]))}."
    )
    legend = [Mark(f"the worst {tail}", index, "bar"), Mark("the others", index, "band")]
    return Drawn(
        f"distribution-{index}",
        "How its episodes fall out",
        page,
        words,
        "The scale is logarithmic, so that rare episodes can be seen.",
        legend if exact is None else [*legend, Mark("exact probability", -1, "ring")],
    )


def weights(one: Played, index: int) -> Drawn | None:
    """Draw how many episodes each reweighted batch was worth, and when a guard stepped in; None without weights."""
    size = one.run.settings.get("episodes")
    lines = [line for line in one.run.history if line.get("ess") is not None]
    if not lines or not size or one.run.settings.get("algorithm") != "offp_sf":
        return None
    page, axis = canvas(2.4)
    shares = column(lines, "ess") / float(size)
    _spread(axis, column(lines, "iteration"), shares, color(index), dashed=False)
    floor = one.run.settings.get("ess_floor") or 0.0
    if floor:
        axis.axhline(floor, color=INK, linestyle="--", linewidth=1.0)
    events = [line for line in one.run.history if line.get("events")]
    axis.plot(column(events, "iteration"), np.full(len(events), 0.03), "|", color=INK, markersize=9)
    axis.set(xlabel="iteration", ylabel="share of the batch", ylim=(0.0, max(1.05, float(np.max(shares)) * 1.05)))
    axis.yaxis.set_major_formatter(ticks(percent))
    times = "no guard stepped in" if not events else f"a guard stepped in at {len(events)} iterations"
    words = (
        f"The effective sample size was between {percent(float(np.min(shares)))} and {percent(float(np.max(shares)))} "
        f"of a batch of {size} episodes, {percent(float(np.median(shares)))} at the median; {times}."
    )
    marks = [Mark("effective sample size", index, "line")]
    marks += [Mark("floor below which a batch is not used", -1, "dash")] if floor else []
    marks += [Mark("a guard stepped in", -1, "tick")] if events else []
    caption = "How many of a batch's episodes are behind the steps that were taken on it, after reweighting."
    return Drawn(f"weights-{index}", "What its weights were worth", page, words, caption, marks)


def common_span(played: Sequence[Played]) -> tuple[float, float]:
    """The range of returns of all runs, a little wider."""
    low, high = min(float(one.values.min()) for one in played), max(float(one.values.max()) for one in played)
    room = 0.06 * (high - low) or max(1.0, 0.1 * abs(high))
    return low - room, high + room


def _spread(axis: Axes, x: FloatArray, y: FloatArray, drawn: str, *, dashed: bool) -> None:
    """Draw a noisy series by its running median and the range of eight of ten neighbors."""
    if not len(y):
        return
    window = min(len(y), max(3, len(y) // 20))
    padded = np.pad(y, (window // 2, window - 1 - window // 2), mode="edge")
    near = np.lib.stride_tricks.sliding_window_view(padded, window)
    low, middle, high = np.quantile(near, [0.1, 0.5, 0.9], axis=1)
    kept = np.unique(np.linspace(0, len(y) - 1, min(len(y), POINTS)).astype(int))
    axis.fill_between(x[kept], low[kept], high[kept], color=drawn, alpha=0.18, linewidth=0)
    axis.plot(x[kept], middle[kept], color=drawn, linewidth=1.8, linestyle="--" if dashed else "-")


def _bars(one: Played, span: tuple[float, float]) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray | None]:
    """Places, shares and widths of the bars, and the exact probability of each."""
    atoms, counts = np.unique(one.values, return_counts=True)
    width = span[1] - span[0]
    if len(atoms) <= ATOMS:
        gap = float(np.min(np.diff(atoms), initial=width / 20.0))
        widths = np.full(len(atoms), max(0.8 * gap, width / 90.0))
        law = one.law
        exact = None if law is None else np.array([_mass_near(law, place) for place in atoms])
        return atoms, counts / len(one.values), widths, exact
    edges = np.linspace(*span, BINS + 1)
    shares = np.histogram(one.values, edges)[0] / len(one.values)
    exact = None if one.law is None else np.histogram(one.law.values, edges, weights=one.law.probabilities)[0]
    return (edges[1:] + edges[:-1]) / 2.0, shares, np.diff(edges), exact


def _in_tail(values: FloatArray, ends: FloatArray, var: float, alpha: float) -> NDArray[np.bool_]:
    """Which bars are the tail, by their right ends: those below VaR, and one at it unless most of it lies above."""
    fits = np.count_nonzero(values <= var) <= 1.5 * alpha * len(values)
    return ends <= var if fits else ends < var


def _mass_near(law: DiscreteLaw, place: float) -> float:
    """The exact mass at a return, which sampling may have summed in another order."""
    close = np.abs(law.values - place) <= 1e-9 * max(1.0, abs(place))
    return float(np.sum(law.probabilities[close]))


def _marked(axis: Axes, place: float, text: str, line: str, height: float, span: tuple[float, float]) -> None:
    axis.plot([place, place], [0.0, height - 0.03], transform=axis.get_xaxis_transform(), color=INK, linestyle=line)
    left = place > span[0] + 0.3 * (span[1] - span[0])
    axis.annotate(
        text,
        (place, height),
        xycoords=axis.get_xaxis_transform(),
        xytext=(-4 if left else 4, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="top",
        fontsize=9,
    )


def _cvar(values: FloatArray, alpha: float) -> float:
    return float(CVaR(alpha).estimate(values))


def column(lines: Sequence[dict[str, Any]], key: str) -> FloatArray:
    """Give one column of a record; what is not known is NaN."""
    return np.array([line[key] for line in lines], dtype=np.float64)

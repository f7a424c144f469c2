# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""The figures of one run: how it learned, the returns of its episodes, and the effective sizes of its batches.

Each iteration's estimates are noisy, so a line shows the mean of a few neighboring ones. Its interval comes from the
standard errors in the record: over w iterations of independent episodes the mean of the estimates has the standard
error sqrt(sum of error^2) / w, and the interval is 1.96 of these to each side, for 95%. The standard errors hold for
large samples; for a tail of a few episodes they are too small.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from riskgrad.kinds import checks_kinds
from riskgrad.pages.axes import fit_curves, tell_beyond
from riskgrad.pages.played import PlayedRun
from riskgrad.pages.prose import percent, write, write_interval
from riskgrad.pages.style import (
    AVERSE,
    BESIDE,
    INK,
    MUTED,
    NEUTRAL,
    PALE,
    canvas,
    make_figure,
    run_color,
    save_figure,
    ticks,
)
from riskgrad.risk import CVaR, Mean
from riskgrad.run import Run
from riskgrad.types import DiscreteLaw, FloatArray, Line

POINTS = 160  # most points of a line; more could not be seen
ATOMS = 30  # most distinct returns that get a bar each
BINS = 40
WIDTH = 1.96  # standard errors to each side, for 95%


@dataclass(frozen=True)
class Mark:
    """An entry of a figure's legend.

    Attributes:
        text: what the mark stands for.
        color: hue of a run, or -1 for the color of text.
        kind: how it is drawn: "line", "dash", "dot", "band", "bar", "ring" or "tick".
    """

    text: str
    color: int
    kind: str


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure, with a description for readers who cannot see it.

    Attributes:
        key: its identifier on the page.
        title: its title.
        figure: the drawing.
        alternative: what it shows, in words.
        caption: how to read it.
        legend: its marks.
    """

    key: str
    title: str
    figure: Figure
    alternative: str
    caption: str
    legend: Sequence[Mark]


def learning_curve(one: PlayedRun, index: int) -> Drawing:
    """Draw the measure and the mean against episodes, each with its interval, and the values on held-out episodes."""
    page, axis = canvas()
    history = [line for line in one.run.history if line.get("risk") is not None and line.get("mean") is not None]
    shown = ("mean",) if one.risk.attitude == "neutral" else ("risk", "mean")
    named = {"risk": str(one.risk), "mean": "mean"}
    episodes, words, drawn = column(history, "episodes"), [], []
    for key in shown:
        first = key == shown[0]
        middle, error = smooth_history(column(history, key), column(history, f"{key}_error"))
        _band(axis, episodes, middle, error, run_color(one.hue) if first else INK, dashed=not first)
        drawn.append((middle, middle - WIDTH * error, middle + WIDTH * error))
        if history:
            words.append(f"{named[key]} from {_estimate(middle[0], error[0])} to {_estimate(middle[-1], error[-1])}")
    judged = [line for line in history if line.get("held_out") is not None]
    places, values = column(judged, "episodes"), column(judged, "held_out")
    axis.plot(places, values, "o", markersize=4, markerfacecolor="none", color=run_color(one.hue))
    marks = [
        Mark(named[key], one.hue if key == shown[0] else -1, "line" if key == shown[0] else "dash") for key in shown
    ]
    marks.append(Mark("95% interval", one.hue, "band"))
    marks += [Mark("value on held-out episodes", one.hue, "ring")] if judged else []
    end = end_of_path(history)
    if end is not None:
        axis.axvline(end, color=MUTED, linestyle=":", linewidth=1.2)
        marks.append(Mark("the path to the measure ends", PALE, "dot"))
        words.append(f"the path to the measure ends after {write(end)} episodes")
    beyond = fit_curves(axis, drawn, values) if history else ""
    axis.set(xlabel="episodes used", ylabel="return")
    axis.xaxis.set_major_formatter(ticks(_short_number))
    axis.xaxis.set_major_locator(MaxNLocator(5))
    circles = " Circles: values on episodes that no step used, by which the policy that is kept was chosen."
    return Drawing(
        f"learning-{index}",
        "How it learned",
        page,
        f"Over {write(episodes[-1])} episodes: {'; '.join(words)}." if history else "No iteration was recorded.",
        "Lines: the mean of neighboring iterations' estimates; bands: its 95% interval."
        + (circles if judged else "")
        + beyond,
        marks,
    )


@checks_kinds
def plot_run(run: Run, path: str | Path | None = None, width: float = 7.0) -> Figure:
    """Draw how a run learned: the measure and the mean against episodes, and the values on held-out episodes.

    Lines are means of neighboring iterations' estimates, bands their 95% intervals.

    Args:
        run: the run, finished or not.
        path: where to write it (.svg, .png or .pdf); None only returns the figure.
        width: in inches.
    """
    page, (axis,) = make_figure(width, 0.6 * width)
    lines = [line for line in run.history if line.get("risk") is not None and line.get("mean") is not None]
    episodes, named = column(lines, "episodes"), {"risk": run.settings.risk, "mean": "mean"}
    for key, color, style in (("risk", AVERSE, "-"), ("mean", NEUTRAL, "--")):
        if key == "risk" and named[key] == "mean":
            continue
        middle, error = smooth_history(column(lines, key), column(lines, f"{key}_error"))
        axis.plot(episodes, middle, color=color, linestyle=style, linewidth=1.8, label=named[key])
        axis.fill_between(episodes, middle - WIDTH * error, middle + WIDTH * error, color=color, alpha=0.2, linewidth=0)
    end = end_of_path(lines)
    if end is not None:
        axis.axvline(end, color=BESIDE, linestyle=":", linewidth=1.2, label="the path to the measure ends")
    judged = [line for line in lines if line.get("held_out") is not None]
    if judged:
        places, values = column(judged, "episodes"), column(judged, "held_out")
        axis.plot(places, values, "o", color=INK, markerfacecolor="none", label=f"{run.settings.risk}, held out")
    axis.set(xlabel="episodes used", ylabel="return")
    axis.xaxis.set_major_formatter(ticks(_short_number))
    if lines:
        axis.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)  # off the lines
    if path is not None:
        save_figure(page, path)
    return page


def end_of_path(history: Sequence[Line]) -> float | None:
    """Give the number of episodes after which the path to the measure ends; None without a path, or before its end."""
    away = [place for place, line in enumerate(history) if line.get("path") not in (None, 1.0)]
    if not away or away[-1] + 1 >= len(history):
        return None
    return float(history[away[-1]]["episodes"])


def distribution(one: PlayedRun, index: int, span: tuple[float, float]) -> Drawing:
    """Draw the returns of the fresh episodes, with the bad tail, VaR and CVaR marked, and the exact law if known."""
    page, axis = canvas(3.1)
    alpha, size = one.tail, len(one.values)
    ordered = np.sort(one.values)
    var, cvar, mean = float(ordered[int(np.ceil(alpha * size)) - 1]), _cvar(one.values, alpha), float(np.mean(ordered))
    places, shares, widths, exact = _bars(one, span)
    binned = len(np.unique(one.values)) > ATOMS
    strong = _in_tail(one.values, places + widths / 2.0 if binned else places, var, alpha)
    for chosen, alpha_of in ((~strong, 0.35), (strong, 0.95)):
        axis.bar(places[chosen], shares[chosen], widths[chosen], color=run_color(one.hue), alpha=alpha_of, linewidth=0)
    if exact is not None:
        seen = exact > 0.3 / size
        axis.plot(places[seen], exact[seen], "o", color=INK, markerfacecolor="none", markersize=4)
    axis.set_yscale("log")
    axis.set_ylim(0.3 / size, 1.5)
    axis.set_yticks([10.0**power for power in range(int(np.ceil(np.log10(0.3 / size))), 1)], minor=False)
    axis.minorticks_off()
    axis.set_xlim(*span)
    axis.xaxis.set_major_locator(MaxNLocator(6))
    axis.yaxis.set_major_formatter(ticks(percent))
    tail, texts = percent(alpha), (one.write_estimate(CVaR(alpha)), write(var), one.write_estimate(Mean()))
    legend = [Mark(f"the worst {tail}", one.hue, "bar")] if np.any(strong & (shares > 0.0)) else []
    legend.append(Mark("the others" if legend else "episodes", one.hue, "band"))
    # the lines are named in the legend above the figure, where no line crosses the text
    names = (f"CVaR {texts[0]}", f"VaR {texts[1]}", f"mean {texts[2]}")
    for place, text, line, kind in zip(
        (cvar, var, mean), names, ("-", ":", "--"), ("line", "dot", "dash"), strict=True
    ):
        axis.axvline(place, color=INK, linestyle=line, linewidth=1.5)
        legend.append(Mark(text, -1, kind))
    axis.set(xlabel="return of an episode", ylabel="share of episodes")
    words = (
        f"Of {write(size)} fresh episodes the worst {tail} return {texts[1]} or less (VaR) and {texts[0]} on "
        f"average (CVaR); the mean of all is {texts[2]}, the worst {write(float(ordered[0]))}, the best "
        f"{write(float(ordered[-1]))}."
    )
    return Drawing(
        f"distribution-{index}",
        "How its episodes turn out",
        page,
        words,
        "The scale is logarithmic, so that rare episodes can be seen." + tell_beyond(one.values, span),
        legend if exact is None else [*legend, Mark("exact probability", -1, "ring")],
    )


def weights(one: PlayedRun, index: int) -> Drawing | None:
    """Draw the effective sample size of each reweighted batch, and when a guard stepped in; None without weights."""
    size = one.run.settings.own.get("episodes")
    # the ascents of a race divide a batch among them, and weigh nothing
    lines = [line for line in one.run.history if line.get("ess") is not None and "way" not in line]
    if not size or all(line["ess"] == size for line in lines):
        return None
    page, axis = canvas(2.4)
    shares = column(lines, "ess") / float(size)
    _spread(axis, column(lines, "iteration"), shares, run_color(one.hue), dashed=False)
    floor = one.run.settings.own.get("ess_floor") or 0.0
    if floor:
        axis.axhline(floor, color=INK, linestyle="--", linewidth=1.0)
    events = [line for line in one.run.history if line.get("events")]
    axis.plot(column(events, "iteration"), np.full(len(events), 0.03), "|", color=INK, markersize=9)
    axis.set(xlabel="iteration", ylabel="share of the batch", ylim=(0.0, max(1.05, float(np.max(shares)) * 1.05)))
    axis.yaxis.set_major_formatter(ticks(percent))
    times = "no guard stepped in" if not events else f"a guard stepped in at {len(events)} iterations"
    words = (
        f"The effective sample size was between {percent(float(np.min(shares)))} and {percent(float(np.max(shares)))} "
        f"of a batch of {size:,} episodes, {percent(float(np.median(shares)))} at the median; {times}."
    )
    marks = [Mark("effective sample size", one.hue, "line")]
    marks += [Mark("floor below which a batch is not used", -1, "dash")] if floor else []
    marks += [Mark("a guard stepped in", -1, "tick")] if events else []
    caption = "How many of a batch's episodes are behind the steps that were taken on it, after reweighting."
    return Drawing(f"weights-{index}", "What its weights were worth", page, words, caption, marks)


def _spread(axis: Axes, x: FloatArray, y: FloatArray, drawn: str, *, dashed: bool) -> None:
    """Draw a noisy series as its running median and the range of the middle 80% of its neighbors."""
    if not len(y):
        return
    window = min(len(y), max(3, len(y) // 20))
    padded = np.pad(y, (window // 2, window - 1 - window // 2), mode="edge")
    near = np.lib.stride_tricks.sliding_window_view(padded, window)
    low, middle, high = np.quantile(near, [0.1, 0.5, 0.9], axis=1)
    kept = np.unique(np.linspace(0, len(y) - 1, min(len(y), POINTS)).astype(int))
    axis.fill_between(x[kept], low[kept], high[kept], color=drawn, alpha=0.18, linewidth=0)
    axis.plot(x[kept], middle[kept], color=drawn, linewidth=1.8, linestyle="--" if dashed else "-")


def _bars(one: PlayedRun, span: tuple[float, float]) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray | None]:
    """Give places, shares and widths of the bars [bars], and the exact probability of each where it is known."""
    atoms, counts = np.unique(one.values, return_counts=True)
    width = span[1] - span[0]
    if len(atoms) <= ATOMS:
        gap = float(np.min(np.diff(atoms), initial=width / 20.0))
        widths = np.full(len(atoms), max(0.8 * gap, width / 90.0))
        law = one.law
        exact = None if law is None else np.array([_mass_near(law, place) for place in atoms])
        return atoms, counts / len(one.values), widths, exact
    edges = np.linspace(*span, BINS + 1)
    shares = np.histogram(one.values, edges)[0] / len(one.values)  # the caption tells of values beyond the axis
    exact = None if one.law is None else np.histogram(one.law.values, edges, weights=one.law.probabilities)[0]
    return (edges[1:] + edges[:-1]) / 2.0, shares, np.diff(edges), exact


def _in_tail(values: FloatArray, ends: FloatArray, var: float, alpha: float) -> NDArray[np.bool_]:
    """Give the mask of the bars in the tail, by their right ends: up to VaR, or below it if VaR has too many values."""
    fits = np.count_nonzero(values <= var) <= 1.5 * alpha * len(values)
    return ends <= var if fits else ends < var


def _mass_near(law: DiscreteLaw, place: float) -> float:
    """Give the exact mass at a sampled return, whose rewards may have been summed in another order."""
    close = np.abs(law.values - place) <= 1e-9 * max(1.0, abs(place))
    return float(np.sum(law.probabilities[close]))


def _cvar(values: FloatArray, alpha: float) -> float:
    return float(CVaR(alpha).estimate(values))


def column(lines: Sequence[dict[str, Any]], key: str) -> FloatArray:
    """Give one column of a record; unknown values are NaN."""
    return np.array([line[key] for line in lines], dtype=np.float64)


def smooth_history(values: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the mean of each value [k] with its neighbors, and its standard error, NaN if one of their errors is."""
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
        return write(middle)
    return f"{write(middle)} ({write_interval((middle - WIDTH * error, middle + WIDTH * error))})"


def _short_number(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"

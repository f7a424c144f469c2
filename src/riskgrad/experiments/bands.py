# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""The figures of an experiment: what each seed reached, and how the seeds learned, with bands over seeds.

The estimates of each run are first smoothed over a few neighboring iterations. A curve is their interquartile mean over
seeds in each iteration, and its band is the bootstrap interval of that mean. A run that ended early counts with its
last value from then on.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.ticker import MaxNLocator

from riskgrad.evaluation.seeds import aggregate_seeds
from riskgrad.experiments.study import Experiment, Reached
from riskgrad.pages.axes import Curve, fit_curves
from riskgrad.pages.prose import percent, span_of, write, write_interval
from riskgrad.pages.run_figures import Drawing, Mark, column, smooth_history
from riskgrad.pages.style import INK, MUTED, PALE, canvas, run_color
from riskgrad.run import Run
from riskgrad.types import FloatArray

POINTS = 60  # most points of a curve
RESAMPLES = 1000  # most resamples for the interval at each point


def draw_reached(found: Experiment, rows: Sequence[Reached], risk: str, hues: Mapping[str, int]) -> Drawing:
    """Draw the score of every seed by one measure, with a line for each training measure."""
    here = [row for row in rows if row.risk == risk]
    page, axis = canvas(1.25 + 0.42 * len(here))
    for height, row in enumerate(reversed(here)):
        scores, hue = found.scores_of(row.trained_on, risk), run_color(hues[row.trained_on])
        low, high = row.aggregate.interval
        axis.plot([low, high], [height, height], color=hue, linewidth=7.0, alpha=0.3, solid_capstyle="butt")
        axis.plot(scores, np.full(len(scores), height), "o", markersize=4.5, markerfacecolor="none", color=hue)
        axis.plot([row.aggregate.value], [height], "|", markersize=15, markeredgewidth=2.4, color=hue)
    axis.axvline(here[0].untrained, color=MUTED, linestyle=":", linewidth=1.2)
    axis.set_yticks(range(len(here)), [row.trained_on for row in reversed(here)])
    axis.set_ylim(-0.6, len(here) - 0.4)
    axis.xaxis.set_major_locator(MaxNLocator(5))
    axis.margins(x=0.08)
    axis.set(xlabel=risk, ylabel="trained on")
    words = [
        f"trained on {row.trained_on}: {write(row.aggregate.value, span_of(row.aggregate.interval))} "
        f"({write_interval(found.interval_of(row.aggregate))})"
        for row in here
    ]
    return Drawing(
        f"reached-{found.measures.index(risk)}",
        f"What they reached by {risk}",
        page,
        f"{_tell_unit(len(found.seeds))}. {'; '.join(words)}; untrained: {write(here[0].untrained)}.",
        f"A circle is a seed; right is better. The tick is the interquartile mean, the bar its "
        f"{percent(found.confidence)} interval over seeds.",
        [
            *(Mark(f"trained on {row.trained_on}", hues[row.trained_on], "bar") for row in here),
            Mark("untrained", PALE, "dot"),
        ],
    )


def draw_learning(found: Experiment, risk: str, hue: int, neutral: bool) -> Drawing:
    """Draw how the seeds of one training measure learned: estimates of it and of the mean, with bands over seeds."""
    page, axis = canvas()
    runs = [found.runs[risk, seed] for seed in found.seeds]
    shown = {"mean": "mean"} if neutral else {"risk": risk, "mean": "mean"}
    words: list[str] = []
    bands: list[Curve] = []
    for place, (key, name) in enumerate(shown.items()):
        drawn, line = (run_color(hue), "-") if place == 0 else (INK, "--")
        where, curves = align_histories(runs, key)
        middle, low, high = _band_over_seeds(curves, found.confidence)
        bands.append((middle, low, high))
        axis.fill_between(where, low, high, color=drawn, alpha=0.22, linewidth=0)
        axis.plot(where, middle, color=drawn, linewidth=1.8, linestyle=line)
        width = float(high[-1] - low[-1]) or None
        words.append(f"{name} from {write(float(middle[0]), width)} to {write(float(middle[-1]), width)}")
    axis.set(xlabel="iteration", ylabel="return")
    axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    marks = [
        Mark(name, hue if place == 0 else -1, "line" if place == 0 else "dash")
        for place, name in enumerate(shown.values())
    ]
    return Drawing(
        f"learning-{found.risks.index(risk)}",
        f"How it learned, trained on {risk}",
        page,
        f"{_tell_unit(len(runs))}: {'; '.join(words)}.",
        f"Lines: the interquartile mean over seeds of the estimates of training; bands: its "
        f"{percent(found.confidence)} interval over seeds.{fit_curves(axis, bands, np.empty(0))}",
        [*marks, Mark(f"{percent(found.confidence)} interval", hue, "band")],
    )


def align_histories(runs: Sequence[Run], key: str) -> tuple[FloatArray, FloatArray]:
    """Give a column of the records of some runs side by side: places [k] and smoothed values [runs, k].

    A run that ended before the others keeps its last value. Iterations without an estimate are left out, so a place is
    the number of estimates before it.
    """
    columns: list[FloatArray] = []
    for run in runs:
        lines = [line for line in run.history if line.get(key) is not None]
        values = column(lines, key)
        columns.append(smooth_history(values, np.zeros(len(values)))[0] if len(values) else np.zeros(1))
    longest = max(len(one) for one in columns)
    table = np.array([np.pad(one, (0, longest - len(one)), mode="edge") for one in columns])
    kept = np.unique(np.linspace(0, longest - 1, min(longest, POINTS)).astype(int))
    return kept.astype(np.float64), table[:, kept]


def _tell_unit(seeds: int) -> str:
    return "One seed" if seeds == 1 else f"Interquartile mean over {seeds} seeds"


def _band_over_seeds(curves: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    found = [aggregate_seeds(values, confidence=confidence, resamples=RESAMPLES) for values in curves.T]
    middle = np.array([one.value for one in found])
    return middle, np.array([one.interval[0] for one in found]), np.array([one.interval[1] for one in found])

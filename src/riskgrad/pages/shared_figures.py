# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""The figures that show all runs together: tails, laws, mean against risk, and the weights of each measure."""

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import MaxNLocator, NullFormatter

from riskgrad.distortion import Identity
from riskgrad.evaluation import Table
from riskgrad.pages.axes import common_span, keep_readable, tell_beyond, write_apart
from riskgrad.pages.played import PlayedRun
from riskgrad.pages.prose import percent, write
from riskgrad.pages.run_figures import Drawing, Mark
from riskgrad.pages.style import DASHES, INK, MUTED, canvas, run_color, ticks
from riskgrad.risk import CVaR, Mean, RiskMeasure

POINTS = 200
LEAST_TAIL = 20  # fewest episodes of a tail that is shown
KINDS = ("line", "dash", "dot", "mixed", "long", "short")


def tails(played: Sequence[PlayedRun]) -> Drawing:
    """Draw the mean of the worst episodes against their share of all episodes."""
    page, axis = canvas()
    size = len(played[0].values)
    least = min(0.5, max(0.01, LEAST_TAIL / size))
    parts = np.geomspace(least, 1.0, 60)
    words: list[str] = []
    for index, one in enumerate(played):
        ordered = np.sort(one.values)
        sums = np.concatenate([[0.0], np.cumsum(ordered)])
        counts = parts * size
        whole = np.minimum(counts.astype(int), size - 1)
        means = (sums[whole] + (counts - whole) * ordered[whole]) / counts
        axis.plot(parts, means, color=run_color(one.hue), linewidth=2.0, linestyle=DASHES[index % len(DASHES)])
        tenth = CVaR(max(0.1, least))
        bad, mean = one.write_estimate(tenth), one.write_estimate(Mean())
        words.append(f"{one.letter or one.name}: {bad} over the worst tenth, {mean} over all")
    axis.set_xscale("log")
    axis.set_xticks([part for part in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if part >= least])
    axis.xaxis.set_major_formatter(ticks(percent))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set(xlabel="the worst part of the episodes", ylabel="their mean return")
    return Drawing(
        "tails",
        "How bad are the bad episodes?",
        page,
        f"Mean return of the worst part of the episodes. {'; '.join(words)}.",
        "At the right end all episodes count: the mean. Further left only the worst ones do: CVaR at that level. Where "
        "lines cross, the better policy depends on how much bad episodes matter to you.",
        _legend(played),
    )


def laws(played: Sequence[PlayedRun]) -> Drawing:
    """Draw the distribution function of the returns of every run."""
    page, axis = canvas()
    words: list[str] = []
    for index, one in enumerate(played):
        ordered = np.sort(one.values)
        kept = np.unique(np.linspace(0, len(ordered) - 1, POINTS).astype(int))
        line = DASHES[index % len(DASHES)]
        axis.step(
            ordered[kept],
            (kept + 1) / len(ordered),
            where="post",
            color=run_color(one.hue),
            linewidth=1.8,
            linestyle=line,
        )
        low, middle, high = np.quantile(ordered, [0.05, 0.5, 0.95]).tolist()
        words.append(f"{one.letter or one.name}: 5% at or below {write(low)}, half {write(middle)}, 95% {write(high)}")
    span = common_span(played)
    axis.set(xlabel="return", ylabel="share of episodes at or below", ylim=(0.0, 1.02), xlim=span)
    axis.xaxis.set_major_locator(MaxNLocator(6))
    axis.yaxis.set_major_formatter(ticks(percent))
    return Drawing(
        "laws",
        "All episodes",
        page,
        f"Cumulative share of episodes by return. {'; '.join(words)}.",
        "A line further to the right is better. One that starts to rise far to the left has bad episodes."
        + tell_beyond(np.concatenate([one.values for one in played]), span),
        _legend(played),
    )


def trade(played: Sequence[PlayedRun], tables: Sequence[Table], measure: RiskMeasure) -> Drawing:
    """Draw the mean against the risk of every run, with bootstrap intervals."""
    page, axis = canvas()
    words: list[str] = []
    for one, table in zip(played, tables, strict=True):
        risk, mean = table[str(measure)], table["mean"]
        error = [[[row.value - row.bootstrap[0]], [row.bootstrap[1] - row.value]] for row in (risk, mean)]
        axis.errorbar(
            risk.value, mean.value, xerr=np.abs(error[0]), yerr=np.abs(error[1]), color=run_color(one.hue), marker="o"
        )
        words.append(f"{one.letter}: mean {one.write_estimate(Mean())}, {measure} {one.write_estimate(measure)}")
    axis.margins(0.15)
    keep_readable(axis)
    axis.set(xlabel="risk (right is safer)", ylabel="mean (up is better)")
    axis.xaxis.set_major_locator(MaxNLocator(5))
    places = [(table[str(measure)].value, table["mean"].value) for table in tables]
    letters = [one.letter for one in played]
    write_apart(axis, list(zip(letters, places, strict=True)), fontsize=11, color=INK)
    return Drawing(
        "trade",
        "Mean against risk",
        page,
        f"Mean and {measure} of each run. {'; '.join(words)}.",
        f"Across: {measure}, {measure.meaning}. The crosses are bootstrap intervals. A run that has another above it "
        "and to its right is beaten by it on both counts.",
        [Mark(one.label, one.hue, "bar") for one in played],
    )


def quantile_weights(played: Sequence[PlayedRun]) -> Drawing | None:
    """Draw the weight of every quantile by each run's measure; None unless one is a distortion and not neutral."""
    page, axis = canvas()
    axis.axhline(1.0, color=MUTED, linestyle="--", linewidth=1.0)
    levels = np.linspace(0.0, 1.0, 401)
    seen: dict[str, int] = {}
    for index, one in enumerate(played):
        g = Identity() if one.risk.attitude == "neutral" else one.risk.function
        if g is None or str(one.risk) in seen:
            continue
        seen[str(one.risk)] = index
        drawn = g.slope_at(1.0 - levels)
        axis.plot(levels, drawn, color=run_color(one.hue), linewidth=2.0, linestyle=DASHES[index % len(DASHES)])
    if not seen or all(played[index].risk.attitude == "neutral" for index in seen.values()):
        return None
    axis.set(xlabel="episodes, from the worst to the best", ylabel="weight (mean: 1)", xlim=(0.0, 1.0))
    axis.set_ylim(bottom=0.0)
    axis.xaxis.set_major_formatter(ticks(percent))
    words = [f"{text} is {played[index].about}" for text, index in seen.items()]
    return Drawing(
        "quantile-weights",
        "What each measure gives weight to",
        page,
        f"Weight of each quantile of the return. {'; '.join(words)}.",
        "The mean weighs all episodes alike. A risk-averse measure weighs the bad ones, at the left, more.",
        [Mark(text, played[index].hue, KINDS[index % len(KINDS)]) for text, index in seen.items()],
    )


def _legend(played: Sequence[PlayedRun]) -> list[Mark]:
    return [Mark(one.label, one.hue, KINDS[index % len(KINDS)]) for index, one in enumerate(played)]

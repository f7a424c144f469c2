# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""Two samples of returns with one mean: what an average hides and a risk measure shows."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from riskgrad.distortion import DualPower, LowerTail
from riskgrad.random import Purpose, Stream
from riskgrad.report.style import AVERSE, COLOURS, NEUTRAL, figure, save
from riskgrad.risk import parse
from riskgrad.types import FloatArray

EPISODES = 20_000
MEAN = 10.0
MEASURES = ("mean", "cvar:0.1", "cvar:0.01", "dual-power:3", "exponential:5", "mean-variance:0.1", "cvar:0.1:seeking")


@dataclass(frozen=True)
class Samples:
    """Returns of two policies, both with mean 10 exactly.

    Attributes:
        safe: a narrow bell [m].
        skewed: a little better on most days, terrible on a few [m].
    """

    safe: FloatArray
    skewed: FloatArray


def samples(seed: int = 0, episodes: int = EPISODES) -> Samples:
    """Draw the two samples and shift each to the same mean."""
    rng = Stream(seed, Purpose.EXAMPLE).generator()
    safe = rng.normal(scale=1.5, size=episodes)
    skewed = -rng.lognormal(mean=0.0, sigma=1.1, size=episodes) * 2.0
    return Samples(safe - safe.mean() + MEAN, skewed - skewed.mean() + MEAN)


def risk_table(drawn: Samples) -> list[tuple[str, float, float]]:
    """Each measure with its estimate on the safe and on the skewed sample."""
    rows: list[tuple[str, float, float]] = []
    for text in MEASURES:
        measure = parse(text)
        rows.append((text, float(measure.estimate(drawn.safe)), float(measure.estimate(drawn.skewed))))
    return rows


def draw(drawn: Samples, path: Path) -> Path:
    """Draw both samples, their bad tails, and what two distortions weigh."""
    page, (left, right) = figure(11.0, 4.2, columns=2)
    low = float(np.quantile(drawn.skewed, 0.002))
    bins = np.linspace(low, max(drawn.safe.max(), drawn.skewed.max()), 90)
    _histogram(left, drawn.skewed, bins, "skewed", COLOURS[1])
    _histogram(left, drawn.safe, bins, "safe", AVERSE)
    left.axvline(MEAN, color=NEUTRAL, linestyle="--", linewidth=1.2, label="mean of both")
    left.set(
        xlabel="return of an episode", ylabel="density", title="One mean, two policies (arrows: mean of the worst 10%)"
    )
    left.legend(frameon=False, fontsize=9, loc="upper left")
    q = np.linspace(0.0, 1.0, 801)
    for g, label, colour in ((LowerTail(0.1), "cvar:0.1", COLOURS[2]), (DualPower(3), "dual-power:3", COLOURS[3])):
        right.plot(q, g.derivative(1.0 - q), color=colour, linewidth=1.8, label=label)
    right.axhline(1.0, color=NEUTRAL, linestyle="--", linewidth=1.2, label="mean")
    right.set(
        xlabel="quantile of the return (worst to best)", ylabel="weight", xlim=(0, 1), title="What a measure looks at"
    )
    right.legend(frameon=False, fontsize=9)
    return save(page, path)


def _histogram(axis: Axes, values: FloatArray, bins: FloatArray, name: str, colour: str) -> None:
    axis.hist(values, bins=list(bins), density=True, color=colour, alpha=0.55, label=name)
    tail = float(parse("cvar:0.1").estimate(values))
    axis.annotate(
        "", xy=(tail, 0.0), xytext=(tail, 0.06), arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2.0}
    )

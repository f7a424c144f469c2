"""Bootstrap intervals: far shorter than certified ones, right for many episodes, flagged where they cannot be.

Each resample draws m episodes with replacement; the interval lies between the (1 - confidence) / 2 and (1 +
confidence) / 2 quantiles of the measure's values on them. Percentiles were chosen by measurement: on the named laws
of benchmarks/intervals.py they cover as well as bias-corrected accelerated limits, and better at the kink of CVaR,
where the acceleration jumps.

A resample is a row of counts over the K distinct returns, so that a measure sees [rows, K] weights and shared values.

An interval is flagged when what it rests on is thin (fewer than ENOUGH = 20 episodes) in one of these ways:

- *the tail*: the measure looks at few episodes (`RiskMeasure.episodes_counted`): alpha m for CVaR(alpha).
- *the variance*: few episodes decide the estimate. With I_i the centered influence of episode i that number is
  (sum I_i^2)^2 / sum I_i^4, never less than the count of the return with the largest influence; and where one return
  makes up half of sum I_i^2, as rare ruin does, it is at most the count of that return.
- *what was not seen*: with a known range, a mass of 3 / m at its worst or best end, which m episodes miss in 5% of
  cases, would move the value by more than the interval is wide.
"""

from dataclasses import dataclass

import numpy as np

from riskgrad.random import Purpose, Stream
from riskgrad.risk import RiskMeasure
from riskgrad.types import DiscreteLaw, FloatArray, IntArray

RESAMPLES = 1000
ENOUGH = 20
MISSED = 3.0
ROUNDING = 1e-9
CHUNK = 1 << 21  # weights held at once: 16 MiB


@dataclass(frozen=True)
class Bootstrap:
    """A bootstrap interval.

    Attributes:
        interval: (low, high).
        flag: why it should not be relied on; None where nothing speaks against it.
    """

    interval: tuple[float, float]
    flag: str | None = None


def bootstrap_intervals(
    values: FloatArray,
    measures: list[RiskMeasure],
    return_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[Bootstrap]:
    """Give a percentile bootstrap interval for each measure, all from the same resamples.

    Args:
        values: returns of independent episodes [m].
        measures: the risk measures.
        return_range: bounds of every possible return, where they are known; used for the flags alone.
        confidence: in (0, 1).
        seed: of the resamples.
        resamples: how many.
    """
    atoms, counts = np.unique(values, return_counts=True)
    few = [_flag_few(measure, atoms, counts) for measure in measures]
    results = np.empty((len(measures), resamples))
    rows = max(1, CHUNK // len(atoms))
    stream = Stream(seed, Purpose.BOOTSTRAP)
    for part, start in enumerate(range(0, resamples, rows)):
        size = min(rows, resamples - start)
        drawn = stream.generator(part).multinomial(len(values), counts / len(values), size=size)
        for row, measure in enumerate(measures):
            results[row, start : start + size] = measure.estimate_counts(atoms, drawn)
    levels = [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0]
    ends = np.quantile(results, levels, axis=1, method="weibull")  # a share of levels[0] is expected beyond each end
    law = DiscreteLaw(atoms, counts / len(values))
    found: list[Bootstrap] = []
    for measure, flagged, low, high in zip(measures, few, ends[0].tolist(), ends[1].tolist(), strict=True):
        flag = flagged or _flag_unseen(measure, law, len(values), (low, high), return_range)
        found.append(Bootstrap((low, high), flag))
    return found


def _flag_few(measure: RiskMeasure, atoms: FloatArray, counts: IntArray) -> str | None:
    """Give the flag for too few episodes in the tail, or behind the variance."""
    size = int(counts.sum())
    tail = measure.episodes_counted(size)
    if tail < ENOUGH - 1e-6:
        return f"it looks at about {tail:.0f} of {size} episodes; want {ENOUGH}"
    if not measure.has_influence:
        return "the measure has no influence function, so it is not known how many episodes decide it"
    influence = measure.influence(atoms, counts)
    centered = influence - np.sum(counts * influence) / size
    parts = counts * centered**2
    second = float(np.sum(parts))
    if second <= (1e-12 * float(np.max(np.abs(atoms), initial=0.0))) ** 2:
        return None  # the estimate does not move with the sample: one return fills all that the measure looks at
    deciding = second**2 / float(np.sum(parts * centered**2))
    heaviest = int(np.argmax(parts))
    if parts[heaviest] >= second / 2.0:
        deciding = min(deciding, float(counts[heaviest]))
    if deciding < ENOUGH - 1e-6:
        return f"about {deciding:.0f} of {size} episodes decide it; want {ENOUGH}"
    return None


def _flag_unseen(
    measure: RiskMeasure,
    law: DiscreteLaw,
    size: int,
    interval: tuple[float, float],
    return_range: tuple[float, float] | None,
) -> str | None:
    """Give the flag for an outcome that may have been missed and would move the value by more than the interval."""
    if return_range is None:
        return None
    share = min(1.0, MISSED / size)
    width = interval[1] - interval[0] + ROUNDING * max(1.0, *(abs(end) for end in return_range))
    for end in return_range:
        moved = DiscreteLaw(np.append(law.values, end), np.append((1.0 - share) * law.probabilities, share))
        if abs(measure.value(moved) - measure.value(law)) > width:
            return (
                f"a return of {end:g} in {share:.2g} of episodes, which {size} may have missed, would move it further"
            )
    return None

"""Bootstrap intervals: far shorter than certified ones, right for many episodes, flagged where they are not reliable.

Each resample draws m episodes with replacement; the interval lies between the (1 - confidence) / 2 and (1 +
confidence) / 2 quantiles of the measure's values on them. Percentiles were chosen by measurement: on the named laws
of benchmarks/intervals.py they cover as well as bias-corrected accelerated limits, and better at the kink of CVaR,
where the acceleration jumps.

A resample is a row of counts over the K distinct returns, so that a measure sees [rows, K] weights and shared values.
Where K is beyond 2,048, neighbors are put into bins, which shortens an interval by 0.05% (see `masses`); but a measure
without an influence function, which may jump from one return to the next, is resampled return by return.
Episodes with importance weights are drawn together with them; they count for the (sum psi)^2 / sum psi^2 episodes that
they are worth.

An interval is flagged for one of these reasons, where few means fewer than ENOUGH = 20 episodes:

- *the tail*: the measure depends on few episodes (`RiskMeasure.episodes_counted`): alpha m for CVaR(alpha).
- *the variance*: few episodes decide the estimate. With I_i the centered influence of episode i that number is
  (sum I_i^2)^2 / sum I_i^4, never less than the count of the return with the largest influence; and where one return
  makes up half of sum I_i^2, as rare ruin does, it is at most the count of that return.
- *what was not seen*: with a known range, a mass of 3 / m at its worst or best end, which m episodes miss in 5% of
  cases, would move the value by more than the interval is wide.
"""

from dataclasses import dataclass

import numpy as np

from riskgrad.evaluation.masses import Masses, count_atoms, put_in_bins, weigh_atoms
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.random import Purpose, Stream
from riskgrad.risk import RiskMeasure
from riskgrad.types import DiscreteLaw, FloatArray

RESAMPLES = 1000
ENOUGH = 20
MISSED = 3.0
ROUNDING = 1e-9
CHUNK = 1 << 21  # weights held at once: 16 MiB


@checks_calls
@dataclass(frozen=True)
class Bootstrap:
    """A bootstrap interval.

    Attributes:
        interval: (low, high).
        flag: why it should not be relied on; None where it may be.
    """

    interval: tuple[float, float]
    flag: str | None = None


@checks_kinds
def bootstrap_intervals(
    values: FloatArray,
    measures: list[RiskMeasure],
    return_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
    *,
    weights: FloatArray | None = None,
    estimates: list[float] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[Bootstrap]:
    """Give a percentile bootstrap interval for each measure, from the same resamples.

    Args:
        values: returns of independent episodes [m].
        measures: the risk measures.
        return_range: bounds of every possible return, where they are known; used for the flags alone.
        confidence: in (0, 1).
        weights: importance weights psi [m]; None where the policy itself acted.
        estimates: the estimate of each measure from the values, where they are known already.
        seed: the seed of the resamples.
        resamples: how many; the ends of an interval are uncertain by 3% of its width with 1,000.
    """
    stream = Stream(seed, Purpose.BOOTSTRAP)
    if weights is None:
        whole = count_atoms(values)
        masses = put_in_bins(whole)
        known = estimates or [float(measure.estimate(values)) for measure in measures if masses is not whole]
        results = _resample_returns(known, whole, masses, measures, stream, resamples)
    else:
        masses = weigh_atoms(values, weights)
        results = _resample_weighted(values, weights, measures, stream, resamples)
    levels = [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0]
    ends = np.quantile(results, levels, axis=1, method="weibull")  # a share of levels[0] is expected beyond each end
    found: list[Bootstrap] = []
    for measure, low, high in zip(measures, ends[0].tolist(), ends[1].tolist(), strict=True):
        flag = _flag_few(measure, masses) or _flag_unseen(measure, masses, (low, high), return_range)
        found.append(Bootstrap((low, high), flag))
    return found


def _resample_returns(
    estimates: list[float], whole: Masses, bins: Masses, measures: list[RiskMeasure], stream: Stream, resamples: int
) -> FloatArray:
    """Give the value of each measure on each resample [measures, resamples]: of bins, where the measure allows it."""
    smooth = [measure for measure in measures if measure.has_influence]
    if bins is whole or not smooth:
        return _resample_counts(whole, measures, stream, resamples)
    found = iter(_resample_counts(bins, smooth, stream, resamples))
    others = [measure for measure in measures if not measure.has_influence]
    exact = iter(_resample_counts(whole, others, stream, resamples) if others else ())
    counts = np.rint(bins.masses).astype(np.int64)[np.newaxis]
    rows: list[FloatArray] = []
    for measure, estimate in zip(measures, estimates, strict=True):
        if measure.has_influence:
            shift = estimate - float(measure.estimate_counts(bins.atoms, counts)[0])
            rows.append(next(found) + shift)
        else:
            rows.append(next(exact))
    return np.array(rows)


def _resample_counts(masses: Masses, measures: list[RiskMeasure], stream: Stream, resamples: int) -> FloatArray:
    """Give the value of each measure on each resample [measures, resamples], by counts over the distinct returns."""
    results = np.empty((len(measures), resamples))
    size = round(masses.size)
    rows = max(1, CHUNK // len(masses.atoms))
    for part, start in enumerate(range(0, resamples, rows)):
        some = min(rows, resamples - start)
        drawn = stream.generator(part).multinomial(size, masses.masses / size, size=some)
        for row, measure in enumerate(measures):
            results[row, start : start + some] = measure.estimate_counts(masses.atoms, drawn)
    return results


def _resample_weighted(
    values: FloatArray, weights: FloatArray, measures: list[RiskMeasure], stream: Stream, resamples: int
) -> FloatArray:
    """Give the value of each measure on each resample [measures, at most resamples], of episodes with weights."""
    parts: list[FloatArray] = []
    rows = max(1, CHUNK // len(values))
    for part, start in enumerate(range(0, resamples, rows)):
        drawn = stream.generator(part).integers(len(values), size=(min(rows, resamples - start), len(values)))
        drawn = drawn[np.sum(weights[drawn], axis=1) > 0.0]  # a resample without any weight has no estimate
        parts.append(np.array([measure.estimate(values[drawn], weights[drawn]) for measure in measures]))
    return np.concatenate(parts, axis=1)


def _flag_few(measure: RiskMeasure, sample: Masses) -> str | None:
    """Give the flag for too few episodes in the tail, or behind the variance."""
    tail = measure.episodes_counted(max(1, round(sample.size)))
    if tail < ENOUGH - 1e-6:
        return f"it depends on about {tail:.0f} of {sample.size:.0f} episodes; want {ENOUGH}"
    if not measure.has_influence:
        return "the measure has no influence function, so it is not known how many episodes decide it"
    influence = measure.influence(sample.atoms, sample.masses)
    centered = influence - np.sum(sample.masses * influence) / sample.size
    largest = float(np.max(np.abs(centered)))
    if largest == 0.0:
        return None
    centered /= largest  # fourth powers of large returns are too large for a double
    parts = sample.squares * centered**2
    second = float(np.sum(parts))
    if second <= (1e-12 * float(np.max(np.abs(sample.atoms), initial=0.0)) / largest) ** 2:
        return None  # the estimate does not move with the sample: one return fills all that the measure depends on
    deciding = second**2 / float(np.sum(sample.fourths * centered**4))
    heaviest = int(np.argmax(parts))
    if parts[heaviest] >= second / 2.0:
        deciding = min(deciding, float(sample.masses[heaviest] ** 2 / sample.squares[heaviest]))
    if deciding < ENOUGH - 1e-6:
        return f"about {deciding:.0f} of {sample.size:,.0f} episodes decide it; want {ENOUGH}"
    return None


def _flag_unseen(
    measure: RiskMeasure, sample: Masses, interval: tuple[float, float], return_range: tuple[float, float] | None
) -> str | None:
    """Give the flag for an outcome that may have been missed and would move the value by more than the interval."""
    if return_range is None:
        return None
    law = DiscreteLaw(sample.atoms, sample.masses / sample.size)
    share = min(1.0, MISSED / sample.size)
    width = interval[1] - interval[0] + ROUNDING * max(1.0, *(abs(end) for end in return_range))
    for end in return_range:
        moved = DiscreteLaw(np.append(law.values, end), np.append((1.0 - share) * law.probabilities, share))
        if abs(measure.value(moved) - measure.value(law)) > width:
            return (
                f"a return of {end:,g} in {100.0 * share:.2g}% of episodes, which {sample.size:,.0f} may have missed, "
                f"would move it further"
            )
    return None

"""Certified intervals: they hold with the given confidence for any law, at any number of episodes.

One band around the whole law (`band.py`) serves every measure, so that all intervals from the same episodes hold
together with the given confidence. A measure that is monotone in first-order dominance (every distortion measure is)
lies between its values at the worst and the best law of the band. Both ends need bounds of the return that are known
beforehand: the smallest return seen is no such bound.

Mean-variance J - lam V is not monotone, so the two ends of the band do not bound it; its smallest and largest value
over all laws in the band are found exactly, in O(m log m). For lam > 0,

    J - lam V = max_c E[h_c(R)],    h_c(r) = r - lam (r - c)^2,    a hump in r with its peak at c + 1 / (2 lam).

*Largest.* For each c the law that maximizes E[h_c] brings all mass as close to the peak r as the band allows: F is
the lower bound before r and the upper bound from r on. So the largest value is the largest over r of J - lam V of
that law; between two points it is a concave parabola in r.

*Smallest.* E_F[h_c] is linear in F and concave in c, so min_F max_c = max_c min_F (Sion). For each c the law that
minimizes E[h_c] pushes mass away from the peak: F follows the upper bound up to some level q, stays there, and then
follows the lower bound. So the smallest value is the smallest over q of J - lam V of that law; between two levels of
the band it is a convex parabola in q.

For lam < 0 the same holds for -R, since J(R) - lam V(R) = -(J(-R) - |lam| V(-R)).
"""

from dataclasses import dataclass

import numpy as np

from riskgrad.checks import check_range
from riskgrad.distortion import Identity
from riskgrad.evaluation.band import Band, law_band
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.risk import RiskMeasure
from riskgrad.types import FloatArray

NO_RANGE = "the range of the return is not known; give return_range=(low, high)"
NOT_MONOTONE = "the measure does not declare monotonicity, so a band around the law does not bound it"


@checks_calls
@dataclass(frozen=True)
class Certified:
    """A certified interval, or the reason why there is none.

    Attributes:
        interval: (low, high), or None.
        reason: why there is none; None where there is one.
    """

    interval: tuple[float, float] | None
    reason: str | None = None


@checks_kinds
def certified_intervals(
    values: FloatArray,
    measures: list[RiskMeasure],
    return_range: tuple[float, float] | None,
    confidence: float = 0.95,
) -> list[Certified]:
    """Give a certified interval for each measure; together they hold with the given confidence.

    Args:
        values: returns of independent episodes [m].
        measures: the risk measures.
        return_range: bounds (low, high) of every possible return, or None where they are not known.
        confidence: in (0, 1).
    """
    if return_range is None:
        return [Certified(None, NO_RANGE) for _ in measures]
    band = law_band(values, check_range("return_range", return_range), confidence)
    intervals: list[Certified] = []
    for measure in measures:
        if measure.variance_price:
            intervals.append(Certified(mean_variance_bounds(band, measure.variance_price)))
        elif measure.variance_price == 0.0:
            intervals.append(Certified(band.distorted_ends(Identity())))
        elif measure.function is not None:
            intervals.append(Certified(band.distorted_ends(measure.function)))
        elif "monotonicity" in measure.axioms:
            intervals.append(Certified((measure.value(band.worst), measure.value(band.best))))
        else:
            intervals.append(Certified(None, NOT_MONOTONE))
    return intervals


def mean_variance_bounds(band: Band, lam: float) -> tuple[float, float]:
    """Give the range of J - lam V over the laws in a band.

    Args:
        band: bounds on the law of the return.
        lam: the weight of the variance, not 0; negative for a seeking measure.

    Returns:
        the smallest and the largest value.
    """
    if lam < 0.0:
        low, high = mean_variance_bounds(band.mirror, -lam)
        return -high, -low
    center = float(np.mean(band.points))  # J and V about it keep their digits when returns are large and alike
    points = band.points - center
    return center + _smallest_over_band(points, band, lam), center + _largest_over_band(points, band, lam)


def _largest_over_band(points: FloatArray, band: Band, lam: float) -> float:
    """Maximize over the place r of the peak, in each cell points[i] <= r <= points[i + 1]."""
    inner = points[1:-1]
    before, after = np.diff(band.lower), np.diff(band.upper)
    first = _split_sums(before * inner, after * inner)
    second = _split_sums(before * inner**2, after * inner**2)
    mass = band.upper - band.lower
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = (0.5 / lam + first) / (1.0 - mass)
    peak = np.clip(np.where(mass < 1.0, peak, np.inf), points[:-1], points[1:])
    mean = first + mass * peak
    return float(np.max(mean - lam * (second + mass * peak**2 - mean**2)))


def _split_sums(before: FloatArray, after: FloatArray) -> FloatArray:
    """Give the sum of before[:i] and after[i:] for i = 0..m."""
    heads = np.concatenate([[0.0], np.cumsum(before)])
    tails = np.concatenate([np.cumsum(after[::-1])[::-1], [0.0]])
    return heads + tails


def _smallest_over_band(points: FloatArray, band: Band, lam: float) -> float:
    """Minimize over the level q at which F leaves the upper bound for the lower one, in each cell of levels."""
    up, down = np.concatenate([[0.0], band.upper]), np.append(band.lower, 1.0)
    levels = np.unique(np.concatenate([up, down]))
    left, right = levels[:-1], levels[1:]
    leave = np.searchsorted(band.upper, right)  # the point where F, on the upper bound, reaches q
    rejoin = np.searchsorted(down, right)  # the point where F rises from q to the lower bound
    outer, inner = points[leave], points[rejoin]

    def fixed_part(power: int) -> FloatArray:
        moments = points**power
        heads = np.concatenate([[0.0], np.cumsum(np.diff(up) * moments[:-1])])
        tails = np.concatenate([np.cumsum((np.diff(down) * moments[1:])[::-1])[::-1], [0.0]])
        return heads[leave] - up[leave] * moments[leave] + down[rejoin] * moments[rejoin] + tails[rejoin]

    first, second = fixed_part(1), fixed_part(2)
    gap = outer - inner
    with np.errstate(divide="ignore", invalid="ignore"):
        best = -(1.0 - lam * (outer + inner) + 2.0 * lam * first) / (2.0 * lam * gap)
    level = np.clip(np.where(gap < 0.0, best, left), left, right)
    mean = first + level * gap
    square = second + level * (outer**2 - inner**2)
    return float(np.min(mean - lam * (square - mean**2)))

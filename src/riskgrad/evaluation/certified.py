"""Certified intervals: they hold with the given confidence for any law, at any number of episodes.

One band around the whole law (`band.py`) serves every measure, so that all intervals from the same episodes hold
together with the given confidence. A measure that is monotone in first-order dominance (every distortion measure is)
lies between its values at the worst and the best law of the band; mean-variance is not monotone and has bounds of its
own (`variance_bounds.py`). Both need bounds of the return that are known beforehand: the smallest return seen is
none.
"""

from dataclasses import dataclass

import numpy as np

from riskgrad.errors import InputError
from riskgrad.evaluation.band import law_band
from riskgrad.evaluation.variance_bounds import mean_variance_bounds
from riskgrad.risk import Blend, MeanVariance, RiskMeasure
from riskgrad.types import FloatArray

NO_RANGE = "the range of the return is not known; give return_range=(low, high)"
NOT_MONOTONE = "the measure does not declare monotonicity, so a band around the law does not bound it"


@dataclass(frozen=True)
class Certified:
    """A certified interval, or the reason why there is none.

    Attributes:
        interval: (low, high), or None.
        reason: why there is none; None where there is one.
    """

    interval: tuple[float, float] | None
    reason: str | None = None


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
    low, high = return_range
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise InputError("return_range", "be two finite numbers (low, high)", return_range)
    band = law_band(values, (float(low), float(high)), confidence)
    intervals: list[Certified] = []
    for measure in measures:
        price = _variance_price(measure)
        if price:
            intervals.append(Certified(mean_variance_bounds(band, price)))
        elif price == 0.0 or "monotonicity" in measure.axioms:
            intervals.append(Certified((measure.value(band.worst), measure.value(band.best))))
        else:
            intervals.append(Certified(None, NOT_MONOTONE))
    return intervals


def _variance_price(measure: RiskMeasure) -> float | None:
    """The lambda of a mean-variance measure, None for all others."""
    if isinstance(measure, MeanVariance):
        return measure.price
    if isinstance(measure, Blend):
        inner = _variance_price(measure.measure)
        return None if inner is None else inner * measure.weight
    return None

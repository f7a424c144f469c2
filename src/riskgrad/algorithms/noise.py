"""The error of a smoothed gradient that comes from the episodes, told from groups of them.

The episodes of every perturbed policy are cut into the same 8 groups; each group gives a gradient along the same
directions, and their spread tells the error of the whole. With one batch for all perturbed policies this is the part
that the directions cannot show. Along fewer than d directions it is a little too large, since it holds what the
directions make of the noise as well.
"""

from typing import Final

import numpy as np

from riskgrad.gradient._smoothed import combine
from riskgrad.risk import RiskMeasure
from riskgrad.types import FloatArray

GROUPS: Final = 8
SMALLEST_GROUP: Final = 4


def batch_error(
    risk: RiskMeasure, values: FloatArray, weights: FloatArray | None, directions: FloatArray, smoothing: float
) -> float:
    """Estimate the standard error of a smoothed gradient over its episodes.

    Args:
        risk: the measure.
        values: returns [2n, m], or [m] for one batch.
        weights: ratios [2n, m], or None.
        directions: unit vectors [n, d].
        smoothing: mu.

    Returns:
        the standard error; NaN below 8 episodes.
    """
    m, n = values.shape[-1], len(directions)
    groups = min(GROUPS, m // SMALLEST_GROUP)
    if groups < 2:
        return float("nan")
    gradients: list[FloatArray] = []
    for g in range(groups):
        span = slice(m * g // groups, m * (g + 1) // groups)
        found = risk.estimate(values[..., span], None if weights is None else weights[..., span])
        gradients.append(combine((found[:n] - found[n:]) / (2.0 * smoothing), directions))
    table = np.stack(gradients)
    return float(np.sqrt(np.sum((table - np.mean(table, axis=0)) ** 2) / (groups * (groups - 1))))

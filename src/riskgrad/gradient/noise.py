"""The errors that come from the episodes: of a smoothed gradient, and of the risk and the mean of a batch.

A gradient's error is told from groups of episodes. Those of every perturbed policy are cut into the same 8 groups; each
group gives a gradient along the same directions, and their spread tells the error of the whole. With one batch for all
perturbed policies this is the part that the directions cannot show. Along fewer than d directions it is a little too
large, since it holds what the directions make of the noise as well.

An estimate's error is told by its influence I, the share that each episode has in it: with p_i = psi_i / sum psi its
variance is about sum p_i^2 (I_i - sum p_j I_j)^2. A measure without an influence is told from groups, as a gradient is.
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


def estimate_errors(risk: RiskMeasure, values: FloatArray, weights: FloatArray | None = None) -> dict[str, float]:
    """Estimate the standard errors of a batch's risk and mean, as the record holds them.

    Args:
        risk: the measure.
        values: returns [m]; or [2n, m] of n pairs whose estimates are averaged, rows i and n + i from the same random
            numbers.
        weights: psi [m]; None where the policy itself acted, and for pairs.

    Returns:
        `risk_error` and `mean_error`; NaN where the episodes are too few to tell.
    """
    mean = _error_of(values, weights)
    if risk.has_influence:
        return {"risk_error": _error_of(risk.influence(values, weights), weights), "mean_error": mean}
    groups = min(GROUPS, values.shape[-1] // SMALLEST_GROUP)
    if groups < 2:
        return {"risk_error": float("nan"), "mean_error": mean}
    cuts = [slice(values.shape[-1] * g // groups, values.shape[-1] * (g + 1) // groups) for g in range(groups)]
    parts = [risk.estimate(values[..., cut], None if weights is None else weights[..., cut]) for cut in cuts]
    found = np.array([float(np.mean(part)) for part in parts])
    return {"risk_error": float(np.std(found, ddof=1) / np.sqrt(groups)), "mean_error": mean}


def _error_of(shares: FloatArray, weights: FloatArray | None) -> float:
    """The standard error of a mean of influences [m] or of the mean of their rows [2n, m]; NaN below two episodes."""
    if shares.shape[-1] < 2:
        return float("nan")
    if weights is not None:
        p = weights / np.sum(weights)
        return float(np.sqrt(np.sum((p * (shares - np.sum(p * shares))) ** 2)))
    # + and - of a pair share their random numbers: what counts is their mean, episode by episode
    half = len(shares) // 2
    paired = (shares[:half] + shares[half:]) / 2.0 if shares.ndim == 2 else shares[np.newaxis]
    variances = np.var(paired, axis=-1, ddof=1) / shares.shape[-1]
    return float(np.sqrt(np.sum(variances)) / len(paired))

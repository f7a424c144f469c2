"""The score gradient of a risk measure from one batch: grad rho = E[influence(R) Z], Z the episode's sum of scores.

The influence is the derivative of the measure with respect to the probability of each return: R for the mean,
R - lambda (R^2 - 2 J R) for mean-variance (`eq:nabla_E_R_theta_sq`), and the integral of g'(1 - F) up to R for a
distortion (`lm:nabla_rho_g`). With importance weights w_i, normalised to sum to one,

    c sum_i w_i (influence_i - sum_j w_j influence_j) Z_i,   c = ess / (ess - 1),   ess = 1 / sum w_i^2

which, but for c, is the derivative of the self-normalised estimate of the risk. An influence is defined up to a
constant, and E[Z] = 0: the weighted mean is the baseline. It uses the episodes' own influences, which shrinks the
estimate; c undoes that exactly for equal weights, where c = m / (m - 1) and the gradient of the mean is unbiased. It
is kept at most 2.

The error comes from groups: the batch is cut into up to 8 runs of episodes, each gives its own gradient with its own
influence, and their spread tells. Splitting costs one more pass over the batch; no array of scores per episode
[m, d] is made. In groups much smaller than one over the tail's mass a tail measure is nearly neutral, and so is its
error.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.errors import InputError
from riskgrad.policy.base import Policy
from riskgrad.risk.base import RiskMeasure
from riskgrad.types import Episodes, FloatArray, Gradient

GROUPS = 8
SMALLEST_GROUP = 4


def score(
    risk: RiskMeasure, policy: Policy, theta: ArrayLike, batch: Episodes, weights: ArrayLike | None = None
) -> Gradient:
    """Estimate the gradient of a risk measure from the scores of one batch of episodes.

    Args:
        risk: a measure with an influence.
        policy: the policy whose gradient is wanted.
        theta: its parameters [d].
        batch: m >= 2 recorded episodes.
        weights: importance ratios psi [m] of the policy over the one that acted, up to a factor; None where it acted.

    Returns:
        the estimate with its standard error over batches; NaN below 8 episodes.
    """
    m = len(batch.values)
    if m < 2:
        raise InputError("batch", "hold at least 2 episodes", m)
    masses, at = _masses(weights, m), np.asarray(theta, dtype=np.float64)

    def part(low: int, high: int) -> FloatArray:
        return policy.score_sum(at, *_visits(risk, batch, masses, low, high))

    return Gradient(part(0, m), _group_error(part, masses))


def _group_error(part: Callable[[int, int], FloatArray], masses: FloatArray) -> float:
    """Tell the standard error of the whole from the spread of its groups, each counted by the mass that it holds."""
    m = len(masses)
    groups = min(GROUPS, m // SMALLEST_GROUP)
    edges = [m * g // groups for g in range(groups + 1)] if groups else []
    spans = [(low, high) for low, high in pairwise(edges) if np.any(masses[low:high] > 0.0)]
    k = len(spans)
    if k < 2:
        return float("nan")
    parts = np.stack([part(low, high) for low, high in spans])
    shares = np.array([np.sum(masses[low:high]) for low, high in spans])[:, None]
    spread = np.sum(shares**2 * (parts - np.sum(shares * parts, axis=0)) ** 2)
    return float(np.sqrt(spread * k / (k - 1)))


def _masses(weights: ArrayLike | None, m: int) -> FloatArray:
    if weights is None:
        return np.full(m, 1.0 / m)
    ratios = np.asarray(weights, dtype=np.float64)
    if ratios.shape != (m,) or not np.all((ratios >= 0.0) & np.isfinite(ratios)) or not np.any(ratios > 0.0):
        raise InputError("weights", f"be {m} finite numbers, not negative and not all zero", weights)
    return ratios / np.sum(ratios)


def _visits(
    risk: RiskMeasure, batch: Episodes, masses: FloatArray, low: int, high: int
) -> tuple[NDArray[Any], NDArray[Any], FloatArray]:
    """Give the observations, actions and score coefficients of the visits of episodes low..high, taken on their own."""
    mass = masses[low:high] / np.sum(masses[low:high])
    influence = risk.influence(batch.values[low:high], mass * (high - low))
    centred = mass * (influence - np.sum(mass * influence))
    # ess / (ess - 1), no more than 2
    gain = 1.0 / (1.0 - min(float(np.sum(mass * mass)), 0.5))
    first, last = int(batch.offsets[low]), int(batch.offsets[high])
    per_visit = np.repeat(gain * centred, np.diff(batch.offsets[low : high + 1])) * batch.counts[first:last]
    return batch.observations[first:last], batch.actions[first:last], per_visit

"""The score gradient of a risk measure from one batch: grad rho = E[influence(R) Z], Z the episode's sum of scores.

The influence is the derivative of the measure with respect to the probability of each return: R for the mean,
R - lambda (R^2 - 2 J R) for mean-variance (`eq:nabla_E_R_theta_sq`), and the integral of g'(1 - F) up to R for a
distortion (`lm:nabla_rho_g`). With importance weights w_i, normalized to sum to one,

    c sum_i w_i (influence_i - sum_j w_j influence_j) Z_i,   c = ess / (ess - 1),   ess = 1 / sum w_i^2

which, but for c, is the derivative of the self-normalized estimate of the risk. An influence is defined up to a
constant, and E[Z] = 0: the weighted mean is the baseline. The baseline uses the episodes' own influences, which shrinks
the estimate; c undoes that exactly for equal weights, where c = m / (m - 1) and the gradient of the mean is unbiased. c
is kept at most 2.

The error comes from groups: the batch is cut into 8 groups of equally many consecutive episodes (up to 7 at the end
are left out), each group gives a gradient with its own influence, and the spread of these gradients is the error. That
costs one more pass over the batch; no array of scores per episode [m, d] is made. In groups much smaller than one over
the tail's mass a tail measure is nearly the mean, and the error is then nearly that of the mean's gradient.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import as_reals
from riskgrad.errors import InputError
from riskgrad.kinds import checks_kinds
from riskgrad.policy.base import Policy
from riskgrad.risk.base import RiskMeasure
from riskgrad.types import Episodes, FloatArray, Gradient

GROUPS: Final = 8


@checks_kinds
def score(
    risk: RiskMeasure,
    policy: Policy,
    theta: ArrayLike,
    batch: Episodes,
    weights: ArrayLike | None = None,
    *,
    with_error: bool = True,
) -> Gradient:
    """Estimate the gradient of a risk measure from the scores of one batch of episodes.

    Args:
        risk: a measure with an influence.
        policy: the policy whose gradient is wanted.
        theta: its parameters [d].
        batch: m >= 2 recorded episodes.
        weights: importance ratios psi [m] of `policy` over the one that acted, up to a factor; None if `policy` acted.
        with_error: whether to estimate the error, at the price of one more pass over the batch.

    Returns:
        the estimate with its standard error over batches, which is NaN if it was not asked for, below 16 episodes, or
        where all weights of a group are 0.
    """
    m = len(batch.values)
    if m < 2:
        raise InputError("batch", "hold at least 2 episodes", m)
    at, ratios = as_reals("theta", theta), _check_weights(weights, m)
    coefficients = _coefficients(risk, batch.values[np.newaxis], ratios[np.newaxis])[0]
    vector = _sum_scores(policy, at, batch, coefficients, 0)
    size = m // GROUPS
    if not with_error or size < 2:
        return Gradient(vector, float("nan"))
    values, shares = batch.values[: size * GROUPS].reshape(GROUPS, size), ratios[: size * GROUPS].reshape(GROUPS, size)
    masses = np.sum(shares, axis=1)
    if not np.all(masses > 0.0):
        return Gradient(vector, float("nan"))
    rows = _coefficients(risk, values, shares)
    parts = np.stack([_sum_scores(policy, at, batch, row, g * size) for g, row in enumerate(rows)])
    # a group counts by its share of the weights, as in the self-normalized estimate of the whole batch
    held = (masses / np.sum(masses))[:, np.newaxis]
    spread = float(np.sum(held**2 * (parts - np.sum(held * parts, axis=0)) ** 2))
    return Gradient(vector, float(np.sqrt(spread * GROUPS / (GROUPS - 1))))


def _check_weights(weights: ArrayLike | None, m: int) -> FloatArray:
    if weights is None:
        return np.ones(m)
    ratios = as_reals("weights", weights)
    if ratios.shape != (m,) or not np.all((ratios >= 0.0) & np.isfinite(ratios)) or not np.any(ratios > 0.0):
        raise InputError("weights", f"be {m} finite numbers, not negative and not all zero", weights)
    return ratios / np.max(ratios)


def _coefficients(risk: RiskMeasure, values: FloatArray, weights: FloatArray) -> FloatArray:
    """Give the factor of each episode's score [G, m], for values and weights [G, m] of G separate batches."""
    masses = weights / np.sum(weights, axis=-1, keepdims=True)
    influence = risk.influence(values, weights)
    centered = masses * (influence - np.sum(masses * influence, axis=-1, keepdims=True))
    # a division by 1 - 1 / ess, which multiplies by c = ess / (ess - 1), at most 2
    return centered / (1.0 - np.minimum(np.sum(masses * masses, axis=-1, keepdims=True), 0.5))


def _sum_scores(policy: Policy, theta: FloatArray, batch: Episodes, coefficients: FloatArray, first: int) -> FloatArray:
    """Sum the scores [d] of consecutive episodes from `first` on, each times its entry of coefficients [m]."""
    offsets = batch.offsets[first : first + len(coefficients) + 1]
    visits = slice(int(offsets[0]), int(offsets[-1]))
    per_visit = np.repeat(coefficients, np.diff(offsets)) * batch.counts[visits]
    return policy.score_sum(theta, batch.observations[visits], batch.actions[visits], per_visit)

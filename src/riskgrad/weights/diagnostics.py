"""From log ratios to weights, and what they are worth.

    psi_i = exp(log psi_i)          w_i = psi_i / sum_j psi_j          effective sample size = (sum psi)^2 / sum psi^2

Two scales, for two kinds of estimator. Self-normalized ones use only the proportions of the weights, so the largest is
made 1 before the exponential and nothing overflows. The "unbiased" and "paper" ones need psi itself, whose mean is 1.

The mean weight is a test of support: its expectation is 1 when the behavior policy gives a chance to whatever the
target does, and less by the mass that the target puts elsewhere. Episodes cannot show that mass, since they never went
there; a mean weight many standard errors below 1 is the only trace that it leaves. Heavy tails leave the same trace:
when the effective sample size is small, the two cannot be told apart.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.errors import InputError
from riskgrad.kernels.formulas import exp_of
from riskgrad.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What the weights of m episodes are worth, for each of P target policies.

    Attributes:
        effective_sample_size: (sum psi)^2 / sum psi^2, between 1 and m; 0 when every weight is 0 [P].
        largest_weight: share of the largest weight in their sum, between 1/m and 1; NaN when every weight is 0 [P].
        mean_weight: mean of psi, whose expectation is 1 where the supports agree [P].
        mean_weight_error: its standard error; NaN for one episode [P].
        support_violations: episodes that the behavior policy, by its own log-probabilities, could not have
            played but the target could (log ratio +inf); they are left out of the other figures [P].
    """

    effective_sample_size: FloatArray
    largest_weight: FloatArray
    mean_weight: FloatArray
    mean_weight_error: FloatArray
    support_violations: IntArray


def diagnose(log_ratios: ArrayLike) -> Diagnostics:
    """Say what the weights behind log ratios [P, m] are worth; [m] counts as one policy."""
    logs = np.atleast_2d(_checked_log_ratios(log_ratios))
    violations = np.sum(logs == np.inf, axis=-1)
    logs = np.where(logs == np.inf, -np.inf, logs)
    kept = logs.shape[-1] - violations
    scaled, top = _scale_rows(logs)
    total, squares = np.sum(scaled, axis=-1), np.sum(scaled * scaled, axis=-1)
    dead = total == 0.0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        mean = total / kept * exp_of(top)
        spread = np.sqrt(np.maximum(squares - total * total / kept, 0.0) / (kept - 1) / kept)
        return Diagnostics(
            effective_sample_size=np.where(dead, 0.0, total * total / np.where(dead, 1.0, squares)),
            largest_weight=np.where(dead, np.nan, 1.0 / total),
            mean_weight=np.where(dead & (kept > 0), 0.0, mean),
            mean_weight_error=np.where(kept > 1, np.where(dead, 0.0, spread * exp_of(top)), np.nan),
            support_violations=violations,
        )


def raw_weights(log_ratios: ArrayLike) -> FloatArray:
    """Give the weights psi themselves [..., m], for estimators that need their scale; what overflows is inf."""
    with np.errstate(over="ignore"):
        return exp_of(_checked_log_ratios(log_ratios))


def normalized_weights(log_ratios: ArrayLike) -> FloatArray:
    """Give weights in the proportions of psi that sum to 1 [..., m], for self-normalized estimators; none overflows.

    A row without any weight, or with an infinite one, has no proportions and is refused.
    """
    logs = _checked_log_ratios(log_ratios)
    if np.any(logs == np.inf):
        advice = "the log-probabilities of the behavior policy say that an episode was impossible"
        raise InputError("log_ratios", "be below infinity", f"{int(np.sum(logs == np.inf))} infinite ones", advice)
    scaled, top = _scale_rows(logs)
    if np.any(top == -np.inf):
        advice = "no recorded episode is possible under the target policy"
        raise InputError("log_ratios", "leave some weight to every row", "a row of -inf", advice)
    return scaled / np.sum(scaled, axis=-1, keepdims=True)


def _checked_log_ratios(log_ratios: ArrayLike) -> FloatArray:
    logs = np.asarray(log_ratios, dtype=np.float64)
    if logs.ndim == 0 or logs.shape[-1] == 0:
        raise InputError("log_ratios", "have shape [..., m] with m of at least 1", f"shape {logs.shape}")
    if np.any(np.isnan(logs)):
        raise InputError("log_ratios", "not be NaN", f"{int(np.sum(np.isnan(logs)))} NaNs")
    return logs


def _scale_rows(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give exp(logs - their row's largest) and that largest, -inf for a row of -inf, whose weights are 0."""
    top = np.max(logs, axis=-1)
    shift = np.where(np.isfinite(top), top, 0.0)
    return exp_of(logs - shift[..., None]), top

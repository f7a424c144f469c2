"""From preferences to a Gibbs distribution over actions, without overflow.

    pi(a) = exp h(a) / sum_b exp h(b)            grad log pi(a) = grad h(a) - sum_b pi(b) grad h(b)

Preferences are shifted by their largest before the exponential, so that any finite preference is safe.
"""

import numpy as np
from numpy.typing import NDArray

from riskgrad.kernels.formulas import exp_of, log_of
from riskgrad.types import FloatArray


def softmax(preferences: FloatArray) -> FloatArray:
    """Give exp h / sum exp h along the last axis."""
    weights = exp_of(preferences - np.max(preferences, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)


def log_softmax(preferences: FloatArray) -> FloatArray:
    """Give h - log sum exp h along the last axis, right to the last digits even where the probability underflows."""
    shifted = preferences - np.max(preferences, axis=-1, keepdims=True)
    return shifted - log_of(np.sum(exp_of(shifted), axis=-1, keepdims=True))


def action_log_softmax(preferences: FloatArray, actions: NDArray[np.intp]) -> FloatArray:
    """Give the log-probability [P, B] of the action taken, from preferences [P, B, A] and actions [B]."""
    return log_softmax(preferences)[:, np.arange(len(actions)), actions]


def sum_by_visit(
    where: NDArray[np.intp], actions: NDArray[np.intp], coefficients: FloatArray, shape: tuple[int, int]
) -> FloatArray:
    """Add up the coefficients [B] of the visits to each (distinct observation, action), in their order: [U, A]."""
    flat = np.bincount(where * shape[1] + actions, weights=coefficients, minlength=shape[0] * shape[1])
    return flat.astype(np.float64, copy=False).reshape(shape)


def preference_weights(sums: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Give w [U, A] with sum_{u, a} c[u, a] grad log pi(a | u) = sum_{u, a} w[u, a] grad h(u, a).

    That is w[u, a] = c[u, a] - pi(a | u) sum_b c[u, b], for coefficients c [U, A] and probabilities [U, A].
    """
    return sums - probabilities * np.sum(sums, axis=1, keepdims=True)

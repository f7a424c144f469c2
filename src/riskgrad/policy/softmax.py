"""From preferences to a Gibbs distribution over actions, without overflow.

    pi(a) = exp h(a) / sum_b exp h(b)            grad log pi(a) = grad h(a) - sum_b pi(b) grad h(b)

Preferences are shifted by their largest before the exponential, so that any finite preference is safe.
"""

import numpy as np
from numpy.typing import NDArray

from riskgrad.types import FloatArray


def softmax(preferences: FloatArray) -> FloatArray:
    """Give exp h / sum exp h along the last axis."""
    weights = np.exp(preferences - np.max(preferences, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)


def log_softmax(preferences: FloatArray) -> FloatArray:
    """Give h - log sum exp h along the last axis, right to the last digits even where the probability underflows."""
    shifted = preferences - np.max(preferences, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


def chosen_log_softmax(preferences: FloatArray, actions: NDArray[np.intp]) -> FloatArray:
    """Give the log-probability [P, B] of the action taken, from preferences [P, B, A] and actions [B]."""
    return log_softmax(preferences)[:, np.arange(len(actions)), actions]


def preference_weights(probabilities: FloatArray, actions: NDArray[np.intp], coefficients: FloatArray) -> FloatArray:
    """Give w [B, A] with sum_b c_b grad log pi(a_b | o_b) = sum_{b, a} w[b, a] grad h(o_b, a).

    That is w[b, a] = c_b (1{a = a_b} - pi(a | o_b)).
    """
    weights = -coefficients[:, None] * probabilities
    weights[np.arange(len(actions)), actions] += coefficients
    return weights

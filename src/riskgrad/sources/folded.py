"""Normalized observations for a loop that knows networks only: the first layer takes the normalization in.

    w . ((o - mean) / std) + b  =  w' . o + b'       w' = w / std       b' = b - w' . mean

That is exact but for rounding, as long as nothing is clipped: a policy with a finite limit cannot be folded.
"""

import numpy as np

from riskgrad.policy import Normalized
from riskgrad.types import FloatArray


def folded(policy: Normalized, thetas: FloatArray, outputs: int) -> FloatArray:
    """Give the parameters of the same policies on observations as they are.

    Args:
        policy: the normalized policy, whose parameters begin with its first layer: weights [k, n], then biases [n].
        thetas: parameters [P, d]; without biases where weights are all there is.
        outputs: units of the first layer, n.

    Returns:
        parameters with biases [P, d] or [P, d + n].
    """
    mean, scale = policy.statistics.mean, 1.0 / policy.statistics.std
    size = len(mean) * outputs
    weights = thetas[:, :size].reshape(-1, len(mean), outputs) * scale[:, np.newaxis]
    has_bias = thetas.shape[1] > size
    biases = thetas[:, size : size + outputs].copy() if has_bias else np.zeros((len(thetas), outputs))
    for feature, middle in enumerate(mean.tolist()):
        biases -= middle * weights[:, feature]
    rest = thetas[:, size + outputs :]
    return np.concatenate([weights.reshape(len(thetas), size), biases, rest], axis=1)

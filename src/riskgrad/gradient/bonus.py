"""The gradient of the policy's entropy at the states that a batch visited.

It is exact at each state (`Policy.entropy_sum`), so that the bonus adds no noise of its own. Visits to the same integer
state are counted together; of other observations at most 4096, evenly spread over the batch, are used.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from riskgrad.policy import Policy
from riskgrad.types import Episodes, FloatArray

MOST_OBSERVATIONS: Final = 4096


def entropy_gradient(policy: Policy, theta: FloatArray, batch: Episodes) -> FloatArray:
    """Give the gradient [d] of the entropy, averaged over the visits of a batch.

    Args:
        policy: what acts; it must have a density.
        theta: its parameters [d].
        batch: the visits.

    Returns:
        the gradient [d].
    """
    observations, shares = _visited(batch)
    return policy.entropy_sum(theta, observations, shares)


def _visited(batch: Episodes) -> tuple[NDArray[Any], FloatArray]:
    """Give the observations of a batch and the share of visits that each stands for."""
    observations = batch.observations
    counts = batch.counts.astype(np.float64)
    if observations.ndim == 1 and observations.dtype.kind in "iu":
        observations, where = np.unique(observations, return_inverse=True)
        counts = np.bincount(where, weights=counts)
    elif len(observations) > MOST_OBSERVATIONS:
        rows = np.linspace(0, len(observations) - 1, MOST_OBSERVATIONS).astype(np.int64)
        observations, counts = observations[rows], counts[rows]
    return observations, counts / np.sum(counts)

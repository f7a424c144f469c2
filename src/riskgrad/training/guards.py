"""Importance weights that are watched: how many episodes a reweighted batch is worth, and what is done when too few.

    worth = min((sum psi)^2 / sum psi^2, sum psi)

The first is the effective sample size. The second catches what it cannot see: the mean of psi is 1 where the policy
that acted covers the target, and if every psi is tiny the batch holds hardly anything of what the target does, however
equal they are. Below a floor, a part of m, the batch says too little:

- perturbed policies too far from theta: the smoothing is halved until they are not,
- a step that leads there, where the next batch will not be the new policy's own: the step is halved, then refused,
- theta itself is there: no step is taken on this batch.

Each is an event in the record of the run. A floor of 0 switches all of them off.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from riskgrad.kernels.formulas import exp_of
from riskgrad.policy import Policy
from riskgrad.types import Episodes, FloatArray
from riskgrad.weights import diagnose, log_ratios

MOST_HALVINGS: Final = 8
# beyond e^600 only the shares of the weights still mean something; below it weights are left as they are
LARGEST_LOG: Final = 600.0


def ratios_from_logs(logs: FloatArray) -> FloatArray:
    """Give psi from log psi [P, m], scaled down per row only where it would overflow."""
    return exp_of(logs - np.maximum(np.max(logs, axis=-1, keepdims=True) - LARGEST_LOG, 0.0))


def worth(logs: FloatArray) -> FloatArray:
    """Give how many episodes the weights with these logarithms [P, m] are worth [P]."""
    found = diagnose(logs)
    return np.minimum(found.effective_sample_size, logs.shape[-1] * found.mean_weight)


def worth_at(policy: Policy, theta: FloatArray, batch: Episodes) -> float:
    """Give how many episodes of one policy a batch is worth."""
    return float(worth(log_ratios(policy, theta[np.newaxis], batch))[0])


def shorten_smoothing(
    logs_at: Callable[[float], FloatArray], smoothing: float, least: float
) -> tuple[float, FloatArray, float, str | None]:
    """Shorten the smoothing until the batch's median worth for the perturbed policies reaches `least`.

    Args:
        logs_at: smoothing -> log weights [2n, m] of the perturbed policies.
        smoothing: mu.
        least: the worth that is enough; 0 for any.

    Returns:
        the smoothing, its log weights, their smallest worth, and what happened, or None.
    """
    mu, logs = smoothing, logs_at(smoothing)
    worths = worth(logs)
    for _ in range(MOST_HALVINGS):
        if float(np.median(worths)) >= least:
            break
        mu /= 2.0
        logs = logs_at(mu)
        worths = worth(logs)
    event = None if mu == smoothing else f"smoothing shortened from {smoothing:g} to {mu:g}"
    return mu, logs, float(np.min(worths)), event


def shorten_step(
    worth_of: Callable[[FloatArray], float], theta: FloatArray, moved: FloatArray, least: float
) -> tuple[FloatArray, str | None]:
    """Shorten a step until the batch is still worth enough where it leads; theta itself if that does not help.

    Args:
        worth_of: theta [d] -> worth of the batch there.
        theta: from where [d].
        moved: to where [d].
        least: the worth that is enough; 0 for any.

    Returns:
        where to, and what happened, or None.
    """
    if least == 0.0:
        return moved, None
    part = 1.0
    for _ in range(MOST_HALVINGS):
        there = theta + part * (moved - theta)
        if worth_of(there) >= least:
            return there, None if part == 1.0 else f"step shortened to {part:g} of its length"
        part /= 2.0
    return theta, "step refused: there the batch would be worth too little"

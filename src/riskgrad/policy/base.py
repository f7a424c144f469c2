"""What a policy is: a distribution over actions that is smooth in a flat vector of parameters.

    P policies at once   B observations   A actions   d parameters

A policy holds no parameters. They come in as `theta` [d] or as `thetas` [P, d], so that hundreds of perturbed policies
are evaluated by one call, and the same policy object serves every iteration of a run.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.errors import InputError
from riskgrad.types import FloatArray


class Policy(ABC):
    """A parametrised stochastic policy pi_theta(a | o) with finitely many actions."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """Number of parameters d."""

    @abstractmethod
    def probabilities(self, theta: ArrayLike, observations: ArrayLike) -> FloatArray:
        """Give pi_theta(a | o) for every action.

        Args:
            theta: parameters [d], or [P, d] for P policies at once.
            observations: one observation, or B of them along the first axis.

        Returns:
            probabilities [B, A], without B for one observation; with P in front for thetas [P, d].
        """

    @abstractmethod
    def log_prob(self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike) -> FloatArray:
        """Give log pi_theta(a_b | o_b) for B observations and actions: [B], or [P, B] for thetas [P, d]."""

    @abstractmethod
    def score_sum(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> FloatArray:
        """Give the sum over b of coefficients[b] * grad log pi_theta(a_b | o_b), a vector [d].

        It is a vector-Jacobian product: the scores of the visits [B, d] are never stored.
        """


def checked_thetas(theta: ArrayLike, dim: int) -> tuple[FloatArray, bool]:
    """Return thetas [P, d], and whether the caller gave one flat vector; refuse a wrong shape or NaN."""
    thetas = np.asarray(theta, dtype=np.float64)
    if thetas.ndim not in (1, 2) or thetas.shape[-1] != dim:
        raise InputError("theta", f"have shape ({dim},) or (P, {dim})", f"shape {thetas.shape}")
    if not np.all(np.isfinite(thetas)):
        raise InputError("theta", "be finite", float(thetas[~np.isfinite(thetas)][0]))
    return np.atleast_2d(thetas), thetas.ndim == 1


def checked_theta(theta: ArrayLike, dim: int) -> FloatArray:
    """Return one flat vector of parameters [d]."""
    thetas, flat = checked_thetas(theta, dim)
    if not flat:
        raise InputError("theta", f"be one vector of shape ({dim},)", f"shape {thetas.shape}")
    return thetas[0]


def checked_batch(observations: ArrayLike, ndim: int) -> tuple[NDArray[Any], bool]:
    """Return observations with the batch axis in front, and whether the caller gave a single one.

    Args:
        observations: one observation, or B of them.
        ndim: number of axes of one observation: 0 for a state, 1 for a vector.
    """
    batch = np.asarray(observations)
    if batch.ndim not in (ndim, ndim + 1):
        raise InputError("observations", f"have {ndim} axes each, or one more for a batch", f"shape {batch.shape}")
    return (batch[None], True) if batch.ndim == ndim else (batch, False)


def checked_states(observations: ArrayLike, n_states: int) -> tuple[NDArray[np.intp], bool]:
    """Return states [B], and whether the caller gave a single one; refuse what is not a state."""
    batch, single = checked_batch(observations, 0)
    if batch.dtype.kind not in "iu":
        raise InputError("observations", "be integer states", batch.dtype)
    if batch.size and (int(batch.min()) < 0 or int(batch.max()) >= n_states):
        bad = batch[(batch < 0) | (batch >= n_states)]
        raise InputError("observations", f"be states in 0..{n_states - 1}", int(bad[0]))
    return batch.astype(np.intp, copy=False), single


def checked_actions(actions: ArrayLike, size: int, n_actions: int) -> NDArray[np.intp]:
    """Return action indices [B]; refuse another number of them, or what is not an action."""
    chosen = np.atleast_1d(np.asarray(actions))
    if chosen.shape != (size,) or chosen.dtype.kind not in "iu":
        raise InputError("actions", f"be integers of shape ({size},)", f"{chosen.dtype} of shape {chosen.shape}")
    if chosen.size and (int(chosen.min()) < 0 or int(chosen.max()) >= n_actions):
        bad = chosen[(chosen < 0) | (chosen >= n_actions)]
        raise InputError("actions", f"be in 0..{n_actions - 1}", int(bad[0]))
    return chosen.astype(np.intp, copy=False)


def checked_coefficients(coefficients: ArrayLike, size: int) -> FloatArray:
    """Return the coefficients [B] of a sum of scores."""
    weights = np.atleast_1d(np.asarray(coefficients, dtype=np.float64))
    if weights.shape != (size,):
        raise InputError("coefficients", f"have shape ({size},)", f"shape {weights.shape}")
    return weights

"""The exact value of a risk measure for a policy and its parameters."""

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.exact.law import MAX_ATOMS, return_law
from riskgrad.mdp import FiniteMDP
from riskgrad.policy import Policy
from riskgrad.risk import RiskMeasure
from riskgrad.types import FloatArray


def value(mdp: FiniteMDP, policy: Policy, theta: ArrayLike, rho: RiskMeasure, max_atoms: int = MAX_ATOMS) -> float:
    """Give the risk measure of the return of a policy, exactly.

    Args:
        mdp: the model.
        policy: a policy over its states, such as `TabularGibbs`.
        theta: its parameters [d].
        rho: the risk measure.
        max_atoms: as for `return_law`.
    """
    return rho.value(return_law(mdp, policy_table(mdp, policy, theta), max_atoms=max_atoms))


def policy_table(mdp: FiniteMDP, policy: Policy, theta: ArrayLike) -> FloatArray:
    """Give the probability of each action in each state [S, A]."""
    return policy.probabilities(theta, np.arange(mdp.n_states))

"""The constants of a finite model and a class of policies, sharp or as the paper states them.

    symbol   paper                                          sharp
    M_r      r_max (1 - gamma^M_e) / (1 - gamma)            the largest |return| that some episode can have
    M_e      the horizon                                    the longest episode that can happen
    M_d      |A| M, M the largest norm of a feature         D = max ||phi(s, a) - phi(s, b)||, not attained
    M_h      |A| M^2 + |A|^2 M^2                            D^2 / 4 (the Hessian of log pi is minus a covariance)
    M_s      (1 / min b)^M_e                                the largest product of 1 / b along an episode

At gamma = 1 the paper's M_r is 0 / 0; its limit r_max M_e is used. M_s is kept as its logarithm, since it overflows on
long horizons. If the current policy is the behavior policy (the default of OffP-SF), the ratio of a perturbed policy is
at most exp(mu M_e M_d). This bound depends on mu, which `Constants.at` fixes.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.errors import InputError
from riskgrad.exact.graph import check_table
from riskgrad.kinds import checks_kinds
from riskgrad.mdp import FiniteMDP
from riskgrad.policy import Policy
from riskgrad.risk import Constants
from riskgrad.types import FloatArray

Behavior = ArrayLike | Literal["uniform", "current"]


@checks_kinds
def constants(mdp: FiniteMDP, policy: Policy, *, behavior: Behavior = "uniform", literal: bool = False) -> Constants:
    """Give M_r, M_e, M_d, M_h and M_s of a model and a class of policies.

    Args:
        mdp: the model.
        policy: a Gibbs policy over its states; one with a user's own preference must have been made with `bounds`.
        behavior: the policy whose episodes are reweighted: "uniform", "current" for the policy that is perturbed, or a
            table of probabilities [S, A], positive in every state that is not terminal (`as:b_pol`).
        literal: whether to give the paper's constants instead of the sharp ones.
    """
    known = policy.score_bounds
    if known is None:
        raise InputError(
            "policy",
            "have known bounds (M_d, M_h) of its score and Hessian (`as:nabla_logpi`)",
            policy,
            "a Gaussian has none; pass bounds=(M_d, M_h) to Gibbs, or an array of features to LinearGibbs",
        )
    norm = policy.feature_norm
    score, hessian = known
    if literal and norm is not None:
        count = mdp.n_actions
        score, hessian = count * norm, (count + count * count) * norm * norm
    low, high = mdp.return_range
    steps = mdp.horizon if literal else _longest(mdp, np.ones((mdp.n_states, mdp.n_actions)))
    log_ratio, slope = _log_ratio(mdp, behavior, literal=literal), 0.0
    if log_ratio is None:
        log_ratio, slope = 0.0, steps * score
    return Constants(
        M_r=_literal_reach(mdp) if literal else max(-low, high),
        M_e=int(steps),
        M_d=score,
        M_h=hessian,
        dim=policy.dim,
        log_M_s=log_ratio,
        ratio_slope=slope,
        return_range=(low, high),
        feature_spread=None if norm is None else known[0],
    )


def _literal_reach(mdp: FiniteMDP) -> float:
    largest = max(abs(reward) for reward in mdp.reward_range)
    if mdp.discount == 1.0:
        return largest * mdp.horizon
    return largest * math.expm1(mdp.horizon * math.log(mdp.discount)) / (mdp.discount - 1.0)


def _log_ratio(mdp: FiniteMDP, behavior: Behavior, *, literal: bool) -> float | None:
    """Give log M_s of a fixed behavior policy; None for the current policy."""
    if isinstance(behavior, str):
        if behavior == "current":
            return None
        if behavior != "uniform":
            raise InputError("behavior", "be 'uniform', 'current' or a table [S, A]", behavior)
        table = np.full((mdp.n_states, mdp.n_actions), 1.0 / mdp.n_actions)
    else:
        table = check_table(mdp, behavior)
    acting = table[~mdp.terminal]
    if np.any(acting == 0.0):
        state, action = (int(index) for index in np.argwhere((table == 0.0) & ~mdp.terminal[:, None])[0])
        raise InputError(
            f"behavior of (state {state}, action {action})",
            "be positive, since a Gibbs policy takes every action (`as:b_pol`)",
            0.0,
        )
    if literal:
        return mdp.horizon * -math.log(float(np.min(acting)))
    costs = np.zeros_like(table)
    costs[~mdp.terminal] = -np.log(acting)
    return _longest(mdp, costs)


def _longest(mdp: FiniteMDP, costs: FloatArray) -> float:
    """Give the largest sum of costs [S, A] >= 0 along an episode, by backward dynamic programming."""
    rows = np.repeat(np.arange(costs.size), np.diff(mdp.offsets))
    states = rows // mdp.n_actions
    ahead = np.zeros(mdp.n_states)
    for _ in range(mdp.horizon):
        reached = costs.ravel()[rows] + np.where(mdp.ends, 0.0, ahead[mdp.next_states])
        longer = np.zeros(mdp.n_states)
        np.maximum.at(longer, states, reached)
        if np.array_equal(longer, ahead):
            break
        ahead = longer
    return float(np.max(ahead[mdp.start > 0.0]))

"""The exact risk of a policy, and its gradient in the policy's parameters by the adjoint of the law's recursion.

With Z the sum of an episode's scores, every smooth risk measure has grad rho = E[influence(R) Z]; for a distortion
this is `lm:nabla_rho_g` integrated by parts. Writing out Z and conditioning on the time t, the state s, the accumulated
return x and the action a,

    grad rho = sum_{s, a} D[s, a] pi(a | s) grad log pi(a | s),
    D[s, a] = sum_{t, x} P(S_t = s, accumulated return x) E[influence(R) | t, s, x, a].

The conditional expectation is an adjoint: it starts as the influence of the final returns and is pulled back step by
step through the atoms of the forward pass. The cost is one forward and one backward pass, a small multiple of the cost
of the law; the number of parameters matters only for the policy's sum of scores.

A distortion with a kink, such as that of CVaR, has a gradient unless the kink is at the edge of an atom, that is,
P(R > x) = 1 - alpha for an atom x. There it has only one-sided derivatives, and the result is the gradient for the
measure's `influence`.
"""

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import check_count
from riskgrad.errors import InputError
from riskgrad.exact.graph import check_table, graph_of, weigh_edges
from riskgrad.exact.law import MAX_ATOMS, Atoms, advance_atoms, final_law, return_law, rounding_width, shifts
from riskgrad.kernels.recursion import pull_adjoints_back
from riskgrad.kinds import checks_kinds
from riskgrad.mdp import FiniteMDP
from riskgrad.policy import Policy
from riskgrad.risk import RiskMeasure
from riskgrad.types import DiscreteLaw, FloatArray, Gradient


@checks_kinds
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
    """Give the probability of each action in each state [S, A]; refuse a policy with memory."""
    if policy.memory is not None:
        raise InputError("policy", "have no memory, since its actions may depend on the state only", policy.memory)
    return policy.probabilities(theta, np.arange(mdp.n_states))


@checks_kinds
def gradient(
    mdp: FiniteMDP, policy: Policy, theta: ArrayLike, rho: RiskMeasure, max_atoms: int = MAX_ATOMS
) -> Gradient:
    """Give the exact gradient of the risk measure of a policy's return: `.vector` [d], with a standard error of 0.

    Args:
        mdp: the model.
        policy: a policy over its states, such as `TabularGibbs`.
        theta: its parameters [d].
        rho: a risk measure with an influence function.
        max_atoms: largest number of atoms of all times together, since the backward pass needs them all.
    """
    table = check_table(mdp, policy_table(mdp, policy, theta))
    coefficients = table * action_values(mdp, table, rho, check_count("max_atoms", max_atoms))
    states, actions = np.nonzero(coefficients)
    return Gradient(policy.score_sum(theta, states, actions, coefficients[states, actions]), 0.0)


def action_values(mdp: FiniteMDP, table: FloatArray, rho: RiskMeasure, max_atoms: int = MAX_ATOMS) -> FloatArray:
    """Give D [S, A] of the module docstring for a checked policy table; only right where pi(a | s) > 0."""
    width = rounding_width(mdp)
    kept = advance_atoms(mdp, table, width, max_atoms, keep=True)
    law = final_law(kept, width)
    influence = np.asarray(rho.influence(law.values, law.probabilities), dtype=np.float64)
    # scores have mean zero, so subtracting a constant changes only the rounding
    starts = influence - np.sum(law.probabilities * influence)
    carried = np.zeros(len(mdp.rewards))
    adjoint = np.zeros(len(kept[-1].values))
    for last in (True, False):
        graph = graph_of(mdp, last=last)
        step = weigh_edges(mdp, graph, table)
        totals = np.zeros(len(step.edges))
        for t in (mdp.horizon - 1,) if last else range(mdp.horizon - 2, -1, -1):
            _start_adjoint(adjoint, kept[t + 1], law, starts)
            now, later = kept[t], kept[t + 1]
            adjoint = pull_adjoints_back(
                now.values,
                now.masses,
                now.begin,
                later.values,
                adjoint,
                later.begin,
                step.incoming,
                step.source,
                shifts(mdp, step, t),
                step.weight,
                totals,
            )
        everywhere = np.zeros(len(graph.source))
        everywhere[step.edges] = totals
        carried += everywhere[graph.outcome_edge]
    rows = np.repeat(np.arange(table.size), np.diff(mdp.offsets))
    sums = np.bincount(rows, weights=mdp.probabilities * carried, minlength=table.size)
    return sums.astype(np.float64, copy=False).reshape(table.shape)


def _start_adjoint(adjoint: FloatArray, atoms: Atoms, law: DiscreteLaw, starts: FloatArray) -> None:
    """Set the adjoint of each episode that ended in the last of these steps to the influence of its return."""
    values, _ = atoms.end_atoms
    where = np.searchsorted(law.values, values, side="right") - 1
    # an atom whose mass underflowed to zero may lie below the first atom of the law
    adjoint[atoms.begin[-2] :] = starts[np.maximum(where, 0)]

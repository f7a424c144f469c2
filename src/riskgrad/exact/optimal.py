"""The best deterministic policy of a small model, by trying them all.

Gibbs policies are stationary: their actions depend on the state, but neither on the time nor on the rewards so far; so
are the deterministic policies that they can approximate. No dynamic program finds the best stationary policy for a
risk measure, nor for the mean if the horizon cuts episodes off. So all A^(states that can be reached) deterministic
ones are tried, and the exact law of each is computed. For a tail measure a randomized policy may be better still.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from riskgrad.errors import TooLargeError
from riskgrad.exact.law import MAX_ATOMS, advance_atoms, final_law, rounding_width
from riskgrad.kinds import checks_kinds
from riskgrad.mdp import FiniteMDP
from riskgrad.risk import RiskMeasure
from riskgrad.types import DiscreteLaw, IntArray

MAX_POLICIES = 100_000


@checks_kinds
def best_deterministic(
    mdp: FiniteMDP, rho: RiskMeasure, max_policies: int = MAX_POLICIES
) -> tuple[IntArray, DiscreteLaw]:
    """Give the deterministic stationary policy with the largest value of a risk measure, and the law of its return.

    Args:
        mdp: the model.
        rho: the risk measure.
        max_policies: more candidates than this are refused.

    Returns:
        its action in each state [S] (0 in states that no episode reaches) and the law; the first if several are best.
    """
    return max(deterministic_laws(mdp, max_policies), key=lambda candidate: rho.value(candidate[1]))


def deterministic_laws(mdp: FiniteMDP, max_policies: int = MAX_POLICIES) -> Iterator[tuple[IntArray, DiscreteLaw]]:
    """Yield every deterministic stationary policy, as its action in each state [S], with the law of its return."""
    acting = np.flatnonzero(mdp.reachable)
    count = mdp.n_actions ** len(acting)
    if count > max_policies:
        raise TooLargeError(
            "the search",
            f"have at most {max_policies:,} deterministic policies",
            f"{mdp.n_actions} actions in {len(acting):,} states, {count:.2g} policies",
            "climb the exact gradient instead",
        )
    width = rounding_width(mdp)
    for choice in product(range(mdp.n_actions), repeat=len(acting)):
        actions = np.zeros(mdp.n_states, dtype=np.int64)
        actions[acting] = choice
        table = np.zeros((mdp.n_states, mdp.n_actions))
        table[np.arange(mdp.n_states), actions] = 1.0
        yield actions, final_law(advance_atoms(mdp, table, width, MAX_ATOMS), width)

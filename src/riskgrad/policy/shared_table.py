"""A table for policies with memory, whose cells share a row per state: h(x, a, theta) = shared[s, a] + own[x, a].

    s a state of the source   x = (cell of memory, s), what the policy sees   n states   S = n * cells   d = (n + S) A

With memory a plain table has a row for each x, which learns only from the visits to x. Here every visit to a state s
also moves the row that all cells of s share, so that what is right at any time and return is learned from all visits.
Both tables can express the same policies; gradient ascent takes other paths through them. With exact gradients of
CVaR(0.1) on the inventory model, a plain table ended at 2.6 in four of five trials, this one at the best, 4.36, in all.

Without memory it is the plain table.
"""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import check_count, check_states
from riskgrad.kernels.formulas import softmax
from riskgrad.policy.base import preference_weights, sum_by_visit
from riskgrad.policy.gibbs import PreferencePolicy, TabularGibbs
from riskgrad.types import ActionKind, Choice, FloatArray, ObservationKind, States


@final
class SharedTable(PreferencePolicy):
    """A softmax over the sum of two preferences: one that all memory cells of a state share, and one of each cell.

    Args:
        n_states: S, the number of states that the policy sees: those of the source, times the cells of memory.
        n_actions: A; theta[s * A + a] is the shared preference for action a in state s, and with memory
            theta[(n + x) * A + a] is the cell's own preference for action a in x.
    """

    name, sized_by, scales = "shared-table", "n_states", True

    def __init__(self, n_states: int, n_actions: int) -> None:
        self.n_states = check_count("n_states", n_states)
        self.n_actions = check_count("n_actions", n_actions)
        self.reads, self.acts = (States(self.n_states),), Choice(self.n_actions)

    @property
    def n_shared(self) -> int:
        """How many rows are shared: n, the states of the source."""
        return self.n_states if self.memory is None else self.n_states // self.memory.cells

    @property
    def dim(self) -> int:
        """Number of parameters d: n * A, and with memory S * A more."""
        return (self.n_shared + (0 if self.memory is None else self.n_states)) * self.n_actions

    @property
    def feature_norm(self) -> float:
        """The largest norm M of a feature: one entry is 1, and with memory two are."""
        return 1.0 if self.memory is None else float(np.sqrt(2.0))

    @property
    def score_bounds(self) -> tuple[float, float]:
        """(M_d, M_h) of `as:nabla_logpi`: D and D^2 / 4, D = sqrt(2) M the spread of features."""
        spread = np.sqrt(2.0) * self.feature_norm if self.n_actions > 1 else 0.0
        return float(spread), float(spread * spread / 4.0)

    def check_observations(self, observations: ArrayLike) -> tuple[NDArray[Any], bool]:
        """Give states x [B], which include the cell of memory, and whether the caller gave a single one."""
        return check_states(observations, self.n_states)

    def preferences(self, thetas: FloatArray, batch: NDArray[Any]) -> FloatArray:
        """Give the sums of the shared and the own rows for states x [B]: [P, B, A]."""
        rows = thetas.reshape(len(thetas), -1, self.n_actions)
        shared = rows[:, batch % self.n_shared]
        return shared if self.memory is None else shared + rows[:, self.n_shared + batch]

    def score_sum(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> FloatArray:
        """Give sum_b c_b grad log pi_theta(a_b | x_b) [d]."""
        vector, states, chosen, scale = self.check_visits(theta, observations, actions, coefficients)
        met, where = np.unique(states, return_inverse=True)
        sums = sum_by_visit(where, chosen, scale, (len(met), self.n_actions))
        weights = preference_weights(sums, softmax(self.preferences(vector[None], met)[0]))
        total = np.zeros((self.dim // self.n_actions, self.n_actions))
        np.add.at(total, met % self.n_shared, weights)
        if self.memory is not None:
            total[self.n_shared + met] = weights
        return total.ravel()

    @classmethod
    def fit(cls, gives: ObservationKind, takes: ActionKind) -> "SharedTable":
        """Make a table of the states and actions of a source; refuse a source without states or discrete actions."""
        plain = TabularGibbs.fit(gives, takes)
        return cls(plain.n_states, plain.n_actions)

    def recipe(self) -> dict[str, Any]:
        """Give the numbers of states and actions."""
        return {"n_states": self.n_states, "n_actions": self.n_actions}

    def __repr__(self) -> str:
        return f"SharedTable({self.n_states}, {self.n_actions})"

"""A finite episodic Markov decision process, stored sparsely, frozen, and checked when it is made.

    S states   A actions   K outcomes with positive probability

Taking action a in state s draws one of the outcomes of (s, a): a next state, a reward, and whether the episode ends. An
episode ends on such an outcome or after `horizon` steps (`eq:M_e`), whichever comes first; its return is the sum of
discount^t * reward over its steps t = 0, 1, ... (`eq:Rtheta`). A discount of 1 is allowed: the horizon keeps it finite.

How models are stored and checked:

- Outcomes are stored rather than arrays [S, A, S], because the reward may be random given (s, a, s'), and because
  real models are sparse. Equal outcomes of one (s, a) are merged, and its outcomes are sorted by next state, reward
  and `ends`.
- The probabilities of a row, the outcomes of one (s, a), must sum to 1 within 1e-6, so that tables kept in single
  precision pass; they are then divided by their sum.
- A state that can be reached needs a row for every action. A state that no episode can reach may lack rows: it is
  treated as terminal, which changes no return. Rows given for a terminal state are ignored for the same reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import check_count, check_discount
from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls
from riskgrad.mdp.checks import check_rows, reachable_states, start_distribution, terminal_mask
from riskgrad.mdp.outcomes import Outcomes, from_arrays, from_lists, merge_equal
from riskgrad.types import FloatArray, IntArray

OutcomeTable = Sequence[Sequence[Sequence[tuple[float, int, float, bool]]]] | Mapping[int, Any]


@checks_calls
@dataclass(frozen=True, eq=False)
class FiniteMDP:
    """A finite episodic MDP.

    Args:
        transition: probability of the next state [S, A, S]; rows of terminal states are ignored.
        reward: reward of each transition [S, A, S]; finite wherever the transition is possible.
        start: a state, or a distribution over states [S].
        terminal: the states in which an episode ends, as indices or as a mask [S]; may be empty.
        horizon: largest number of steps of an episode, at least 1.
        discount: in (0, 1].

    Attributes:
        n_states: S.
        n_actions: A.
        horizon: as given.
        discount: as given.
        start: distribution of the first state [S].
        terminal: whether an episode is over when it enters the state [S]; such states have no outcomes.
        offsets: outcomes of (s, a) are the rows `offsets[s * A + a]:offsets[s * A + a + 1]`, [S * A + 1].
        probabilities: of each outcome, positive [K].
        next_states: [K].
        rewards: [K].
        ends: whether the episode is over after the outcome [K]; true for all outcomes that lead to a terminal state.
    """

    n_states: int
    n_actions: int
    horizon: int
    discount: float
    start: FloatArray
    terminal: NDArray[np.bool_]
    offsets: IntArray
    probabilities: FloatArray
    next_states: IntArray
    rewards: FloatArray
    ends: NDArray[np.bool_]

    def __init__(
        self,
        transition: ArrayLike,
        reward: ArrayLike,
        start: int | ArrayLike,
        terminal: ArrayLike,
        horizon: int,
        discount: float = 1.0,
    ) -> None:
        outcomes = from_arrays(transition, reward)
        _fill(self, outcomes, start, terminal, horizon=horizon, discount=discount)

    @classmethod
    def from_outcomes(
        cls,
        outcomes: OutcomeTable,
        start: int | ArrayLike,
        horizon: int,
        discount: float = 1.0,
        terminal: ArrayLike = (),
    ) -> "FiniteMDP":
        """Make a model from lists of outcomes, where one (s, a, s') may have several rewards.

        Args:
            outcomes: `outcomes[s][a]` is a list of (probability, next state, reward, ends), as in a Gymnasium toy-text
                table. `ends` says whether the episode is over after the outcome, wherever that leads.
            start: a state, or a distribution over states [S].
            horizon: largest number of steps of an episode, at least 1.
            discount: in (0, 1].
            terminal: states in which an episode ends; a state that episodes enter only by outcomes that end them need
                not be listed.
        """
        columns = from_lists(outcomes)
        model = cls.__new__(cls)
        _fill(model, columns, start, terminal, horizon=horizon, discount=discount)
        return model

    @cached_property
    def reachable(self) -> NDArray[np.bool_]:
        """The states in which some policy can act if episodes are long enough; a mask [S]."""
        rows = np.repeat(np.arange(self.n_states * self.n_actions), np.diff(self.offsets))
        columns = (rows, self.probabilities, self.next_states, self.rewards, self.ends)
        found = reachable_states(Outcomes(self.n_states, self.n_actions, *columns), self.start, self.terminal)
        found.flags.writeable = False
        return found

    @cached_property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a step."""
        return float(np.min(self.rewards)), float(np.max(self.rewards))

    @cached_property
    def return_range(self) -> tuple[float, float]:
        """The smallest and the largest return that an episode can have, by backward dynamic programming.

        The return of every episode lies in this range, and a policy that takes every action with positive probability,
        as Gibbs policies do, attains both ends. The range lies within [-M_r, M_r], the bound stated after `eq:Rtheta`,
        and is usually much narrower.
        """
        filled = np.flatnonzero(np.diff(self.offsets) > 0)
        by_state = np.searchsorted(filled, np.arange(0, self.n_states * self.n_actions, self.n_actions))
        alive = np.flatnonzero(~self.terminal)
        low, high = np.zeros(self.n_states), np.zeros(self.n_states)
        for _ in range(self.horizon):
            lowest = self.rewards + self.discount * np.where(self.ends, 0.0, low[self.next_states])
            highest = self.rewards + self.discount * np.where(self.ends, 0.0, high[self.next_states])
            low[alive] = np.minimum.reduceat(np.minimum.reduceat(lowest, self.offsets[filled]), by_state[alive])
            high[alive] = np.maximum.reduceat(np.maximum.reduceat(highest, self.offsets[filled]), by_state[alive])
        begins = self.start > 0.0
        return float(np.min(low[begins])), float(np.max(high[begins]))

    def dense(self) -> tuple[FloatArray, FloatArray]:
        """Give transition [S, A, S] and mean reward [S, A, S]; rows of terminal states are zero.

        Arrays cannot hold every model. Where the reward is random given (s, a, s'), they have the same mean return as
        the model, but another law. Where an outcome ends an episode in a state that is not terminal, the end is lost.
        """
        shape = (self.n_states * self.n_actions, self.n_states)
        rows = np.repeat(np.arange(shape[0]), np.diff(self.offsets))
        transition, weighted = np.zeros(shape), np.zeros(shape)
        np.add.at(transition, (rows, self.next_states), self.probabilities)
        np.add.at(weighted, (rows, self.next_states), self.probabilities * self.rewards)
        reward = np.divide(weighted, transition, out=np.zeros(shape), where=transition > 0.0)
        full = (self.n_states, self.n_actions, self.n_states)
        return transition.reshape(full), reward.reshape(full)

    def __repr__(self) -> str:
        return (
            f"FiniteMDP({self.n_states} states, {self.n_actions} actions, {len(self.rewards)} outcomes, "
            f"horizon={self.horizon}, discount={self.discount})"
        )


def _fill(
    model: FiniteMDP,
    given: Outcomes,
    start: int | ArrayLike,
    terminal: ArrayLike,
    *,
    horizon: int,
    discount: float,
) -> None:
    """Check the parts of a new model and set its fields."""
    n_states, n_actions = given.n_states, given.n_actions
    first = start_distribution(start, n_states)
    is_terminal = terminal_mask(terminal, n_states)
    is_over = is_terminal & (first > 0.0)
    if is_over.any():
        state = int(np.flatnonzero(is_over)[0])
        raise InputError("start", "not be a terminal state", state, "an episode takes at least one step")
    reachable = reachable_states(given, first, is_terminal)
    is_terminal = is_terminal | (_entered_by_ends(given, is_terminal) & ~reachable)
    is_terminal = check_rows(given, reachable, is_terminal)
    kept = merge_equal(given, is_terminal)
    fields: dict[str, Any] = {
        "n_states": n_states,
        "n_actions": n_actions,
        "horizon": check_count("horizon", horizon),
        "discount": check_discount("discount", discount),
        "start": first,
        "terminal": is_terminal,
        "offsets": np.searchsorted(kept.rows, np.arange(n_states * n_actions + 1)).astype(np.int64),
        "probabilities": kept.probabilities,
        "next_states": kept.next_states,
        "rewards": kept.rewards,
        "ends": kept.ends,
    }
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(model, name, value)


def _entered_by_ends(outcomes: Outcomes, terminal: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Give the mask [S] of the states that outcomes which end an episode lead to, except from terminal states."""
    entered = np.zeros(outcomes.n_states, dtype=np.bool_)
    entered[outcomes.next_states[outcomes.ends & ~terminal[outcomes.rows // outcomes.n_actions]]] = True
    return entered

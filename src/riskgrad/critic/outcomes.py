"""Counts of what followed each state and action: a model of the environment to which every step of the run adds."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from riskgrad.critic.reward_grid import RewardGrid
from riskgrad.kernels.compile import as_contiguous
from riskgrad.kernels.outcome_counts import EMPTY, count_steps, fill_slots
from riskgrad.types import FloatArray, IntArray

SMALLEST: Final = 1 << 10
NOTHING: Final = 1e-9  # a count up to this is 0: what rounding leaves of shares that were counted and taken back


@dataclass(frozen=True)
class OutcomeModel:
    """The outcomes that were seen, in groups of one state, action and reward.

        G groups   K outcomes

    Attributes:
        groups: where groups begin [S * A + 1]; those of (s, a) are groups[s * A + a]:groups[s * A + a + 1].
        group_rewards: the reward of each group [G].
        firsts: where outcomes begin [G + 1]; those of group k are firsts[k]:firsts[k + 1].
        nexts: the next state of each outcome, S for the end [K].
        chances: probability of each outcome given (s, a) [K].
        starts: probability of each state to be the first of an episode [S].
        counts: how often each action was taken in each state, over the outcomes above [S, A].
    """

    groups: IntArray
    group_rewards: FloatArray
    firsts: IntArray
    nexts: IntArray
    chances: FloatArray
    starts: FloatArray
    counts: FloatArray


class OutcomeCounts:
    """Counts of outcomes, (state, action) -> (next state, reward), and of first states.

    Args:
        n_states: S.
        n_actions: A.
        horizon: T; 0 where it is not known.
    """

    def __init__(self, n_states: int, n_actions: int, horizon: int = 0) -> None:
        self.n_states, self.n_actions, self._horizon = n_states, n_actions, horizon
        self.starts = np.zeros(n_states)
        self._used = 0
        self._allocate(SMALLEST)
        self._order: IntArray | None = None

    def _allocate(self, room: int) -> None:
        """Make columns for this many outcomes, and the hash twice as many slots."""
        old = (self._pairs, self._nexts, self._rewards, self._counts) if self._used else ()
        self._pairs, self._nexts, self._rewards = (np.zeros(room, dtype=np.int64) for _ in range(3))
        self._counts = np.zeros(room)
        for now, before in zip((self._pairs, self._nexts, self._rewards, self._counts), old, strict=bool(old)):
            now[: len(before)] = before
        self._slots = np.full(2 * room, EMPTY, dtype=np.int64)
        fill_slots(self._slots, self._used, self._pairs, self._nexts, self._rewards)

    def count(
        self,
        sign: int,
        offsets: IntArray,
        ended: NDArray[np.bool_],
        states: NDArray[np.integer],
        actions: NDArray[np.integer],
        rewards: FloatArray,
        grid: RewardGrid | None = None,
    ) -> None:
        """Count the steps of a batch (sign 1), or take them back (sign -1); see `kernels.outcome_counts.count_steps`.

        With a grid each step is counted in two shares, at the grid points below and above its reward.
        """
        self.starts += sign * np.bincount(states[offsets[:-1]], minlength=self.n_states)
        steps = sign, offsets, ended, states, actions
        if grid is None:
            self._count(*steps, rewards, np.ones(len(rewards)))
            return
        low, high, share = grid.split(rewards)
        self._count(*steps, low, 1.0 - share)
        self._count(*steps, high, share)

    def _count(
        self,
        sign: int,
        offsets: IntArray,
        ended: NDArray[np.bool_],
        states: NDArray[np.integer],
        actions: NDArray[np.integer],
        rewards: FloatArray,
        shares: FloatArray,
    ) -> None:
        room = len(self._pairs)
        while self._used + len(states) > room:
            room *= 2
        if room > len(self._pairs):
            self._allocate(room)
        self._used = count_steps(
            sign,
            self.n_states,
            self.n_actions,
            self._horizon,
            offsets,
            as_contiguous(ended, np.bool_),
            as_contiguous(states, np.int64),
            as_contiguous(actions, np.int64),
            as_contiguous(rewards + 0.0, np.float64).view(np.int64),  # + 0.0 turns -0.0 into 0.0, which has other bits
            shares,
            self._slots,
            self._used,
            self._pairs,
            self._nexts,
            self._rewards,
            self._counts,
        )

    def model(self) -> OutcomeModel:
        """Give the model that the counts make.

        What follows a step at the horizon is not known. Such steps are left out of the model, except in a state whose
        steps all are at the horizon, as for the last states of an environment with time in its state: there they end
        the episode.
        """
        used, (n_states, n_actions) = self._used, (self.n_states, self.n_actions)
        order = self._sort()
        counts, pairs, nexts = self._counts[:used][order], self._pairs[:used][order], self._nexts[:used][order]
        cut, states = nexts > n_states, pairs // n_actions
        goes_on = np.bincount(states, weights=np.where(cut, 0.0, counts), minlength=n_states) > 0.0
        kept = (counts > NOTHING) & ~(cut & goes_on[states])
        counts, pairs, nexts = counts[kept], pairs[kept], np.minimum(nexts[kept], n_states)
        rewards = self._rewards[:used].view(np.float64)[order[kept]]
        new = np.concatenate([[True], (np.diff(pairs) != 0) | (np.diff(rewards) != 0.0)])
        groups = np.zeros(n_states * n_actions + 1, dtype=np.int64)
        groups[1:] = np.cumsum(np.bincount(pairs[new], minlength=len(groups) - 1))
        totals = np.asarray(np.bincount(pairs, weights=counts, minlength=len(groups) - 1), dtype=np.float64)
        return OutcomeModel(
            groups=groups,
            group_rewards=rewards[new],
            firsts=np.append(np.flatnonzero(new), len(pairs)),
            nexts=nexts,
            chances=counts / totals[pairs],
            starts=self.starts / np.sum(self.starts),
            counts=totals.reshape(n_states, n_actions),
        )

    def _sort(self) -> IntArray:
        """Give the order of outcomes by (state, action), reward and next state."""
        used = self._used
        if self._order is None or len(self._order) != used:
            rewards = self._rewards[:used].view(np.float64)
            self._order = np.lexsort((self._nexts[:used], rewards, self._pairs[:used]))
        return self._order

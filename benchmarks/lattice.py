"""Laws and dynamic programs of models whose rewards are integers, on all (time, state, return so far) at once.

`riskgrad.exact` keeps the atoms that there are, whatever the rewards; on a lattice the place of an atom is known, which
is faster where there are many. Searches use this; what they find is valued by `riskgrad.exact`.
"""

from dataclasses import dataclass
from typing import Final

import numba
import numpy as np

from riskgrad.mdp import FiniteMDP
from riskgrad.risk import RiskMeasure
from riskgrad.types import DiscreteLaw, FloatArray, IntArray

NEGLIGIBLE: Final = 1e-16


@numba.njit(cache=False)
def span(row, first, last):
    """Narrow a range to where a row has mass that is not negligible."""
    while first < last and row[first] <= NEGLIGIBLE:
        first += 1
    while first < last and row[last - 1] <= NEGLIGIBLE:
        last -= 1
    return first, last


@numba.njit(cache=False)
def push(acting, begin, offsets, probabilities, next_states, rewards, ends, least, most, table, mass, law):
    """Move mass [T, S, W] forward from mass[0], and gather what ended in law [W]; both are cleared first."""
    horizon, n_actions = mass.shape[0], table.shape[1]
    low = least[horizon, 0]
    law[:] = 0.0
    for t in range(1, horizon):
        for s in acting[begin[t] : begin[t + 1]]:
            mass[t, s, least[t, s] - low : most[t, s] - low + 1] = 0.0
    for t in range(horizon):
        for s in acting[begin[t] : begin[t + 1]]:
            first, last = span(mass[t, s], least[t, s] - low, most[t, s] - low + 1)
            for a in range(n_actions):
                if table[s, a] <= 0.0:
                    continue
                for k in range(offsets[s * n_actions + a], offsets[s * n_actions + a + 1]):
                    weight, shift = table[s, a] * probabilities[k], rewards[k]
                    if ends[k] or t == horizon - 1:
                        for y in range(first, last):
                            law[y + shift] += weight * mass[t, s, y]
                    else:
                        then = next_states[k]
                        for y in range(first, last):
                            mass[t + 1, then, y + shift] += weight * mass[t, s, y]


@numba.njit(cache=False)
def pull(
    acting, begin, offsets, probabilities, next_states, rewards, ends, least, most, table, mass, seeds, now, later
):
    """Give D [S, A], the sum over time and return of mass times the expected seed [W] after each action."""
    horizon, n_actions = mass.shape[0], table.shape[1]
    low = least[horizon, 0]
    slopes = np.zeros(table.shape)
    for t in range(horizon - 1, -1, -1):
        for s in acting[begin[t] : begin[t + 1]]:
            first, last = least[t, s] - low, most[t, s] - low + 1
            now[s, first:last] = 0.0
            first, last = span(mass[t, s], first, last)
            for a in range(n_actions):
                for k in range(offsets[s * n_actions + a], offsets[s * n_actions + a + 1]):
                    chance, shift, total = probabilities[k], rewards[k], 0.0
                    weight = chance * table[s, a]
                    if ends[k] or t == horizon - 1:
                        for y in range(first, last):
                            total += mass[t, s, y] * seeds[y + shift]
                            now[s, y] += weight * seeds[y + shift]
                    else:
                        then = next_states[k]
                        for y in range(first, last):
                            total += mass[t, s, y] * later[then, y + shift]
                            now[s, y] += weight * later[then, y + shift]
                    slopes[s, a] += chance * total
        now, later = later, now
    return slopes


@numba.njit(cache=False)
def sweep(states, offsets, probabilities, next_states, rewards, ends, n_actions, final, later, now):
    """Do a step of a program: now[s, w] = max over a of E[final[w - r] if over, else later[s', w - r]]."""
    width = final.shape[0]
    for s in states:
        for w in range(width):
            top = -np.inf
            for a in range(n_actions):
                total = 0.0
                for k in range(offsets[s * n_actions + a], offsets[s * n_actions + a + 1]):
                    left = min(max(w - rewards[k], 0), width - 1)
                    total += probabilities[k] * (final[left] if ends[k] else later[next_states[k], left])
                top = max(top, total)
            now[s, w] = top


@dataclass(frozen=True, eq=False)
class Lattice:
    """A model with integer rewards, with room for its mass.

    Attributes:
        mdp: the model.
        acting: states that can be acted in at each time, T arrays.
        rewards: as integers [K].
        least: the least that can be earned on the way to each (time, state), and in all in row T [T + 1, S].
        most: likewise the most.
        mass: room for P(time, state, return so far) [T, S, W].
        law: room for that of the return [W].
    """

    mdp: FiniteMDP
    acting: tuple[IntArray, ...]
    rewards: IntArray
    least: IntArray
    most: IntArray
    mass: FloatArray
    law: FloatArray

    @classmethod
    def of(cls, mdp: FiniteMDP, *, room: bool = True) -> "Lattice":
        """Lay out a model; without room for mass if only a program is wanted."""
        rewards = mdp.rewards.astype(np.int64)
        if not np.array_equal(rewards, mdp.rewards) or mdp.discount != 1.0:
            raise ValueError("a lattice needs integer rewards and discount 1")
        source = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.offsets)) // mdp.n_actions
        least = np.full((mdp.horizon + 1, mdp.n_states), np.inf)
        most = -least
        least[0, mdp.start > 0.0], most[0, mdp.start > 0.0] = 0.0, 0.0
        inner = ~mdp.ends
        for t in range(mdp.horizon - 1):
            np.minimum.at(least[t + 1], mdp.next_states[inner], (least[t, source] + rewards)[inner])
            np.maximum.at(most[t + 1], mdp.next_states[inner], (most[t, source] + rewards)[inner])
        acting = tuple(np.flatnonzero(np.isfinite(row) & ~mdp.terminal).astype(np.int64) for row in least[:-1])
        low, high = mdp.return_range
        least[-1] = min(low, np.min(least[np.isfinite(least)]))
        most[-1] = max(high, np.max(most[np.isfinite(most)]))
        width = int(most[-1, 0] - least[-1, 0]) + 1
        shape = (mdp.horizon, mdp.n_states, width) if room else (0, 0, 0)
        mass = np.zeros(shape)
        least, most = (np.where(np.isfinite(one), one, 0.0).astype(np.int64) for one in (least, most))
        if room:
            mass[0, :, -least[-1, 0]] = mdp.start
        return cls(mdp, acting, rewards, least, most, mass, np.zeros(width))

    @property
    def timed(self) -> bool:
        """Whether the state tells the time."""
        return len(np.unique(np.concatenate(self.acting))) == sum(len(states) for states in self.acting)

    @property
    def told(self) -> bool:
        """Whether the state tells the time and what was earned so far."""
        return self.timed and all(
            np.array_equal(self.least[t, states], self.most[t, states]) for t, states in enumerate(self.acting)
        )

    @property
    def cells(self) -> int:
        """How many (time, state, return) there are."""
        return sum(int(np.sum(self.most[t, at] - self.least[t, at] + 1)) for t, at in enumerate(self.acting))

    def _columns(self) -> tuple[object, ...]:
        mdp, begin = self.mdp, np.cumsum([0, *(len(states) for states in self.acting)])
        outcomes = (mdp.offsets, mdp.probabilities, mdp.next_states, self.rewards, mdp.ends)
        return np.concatenate(self.acting), begin, *outcomes, self.least, self.most

    def return_law(self, table: FloatArray) -> DiscreteLaw:
        """Give the law of the return of a policy table [S, A]."""
        push(*self._columns(), table, self.mass, self.law)
        there = np.flatnonzero(self.law > 0.0)
        return DiscreteLaw((there + self.least[-1, 0]).astype(np.float64), self.law[there] / np.sum(self.law[there]))

    def slopes(self, table: FloatArray, rho: RiskMeasure) -> tuple[DiscreteLaw, FloatArray]:
        """Give the law, and D [S, A] of `riskgrad.exact.risk`, the derivative of the measure in each probability."""
        law = self.return_law(table)
        influence = np.asarray(rho.influence(law.values, law.probabilities), dtype=np.float64)
        seeds = np.zeros(len(self.law))
        seeds[self.law > 0.0] = influence - np.sum(law.probabilities * influence)
        rooms = np.zeros((2, self.mdp.n_states, len(self.law)))
        return law, pull(*self._columns(), table, self.mass, seeds, rooms[0], rooms[1])

    def visits(self) -> FloatArray:
        """Give how often each state was acted in under the last table, on average [S]."""
        return np.sum(self.mass, axis=(0, 2))

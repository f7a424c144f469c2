"""Slow and plain truths to hold the fast ones against: every episode of a small model, one after the other."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from riskgrad.mdp import FiniteMDP


class Enumeration:
    """Every episode of a small model under a policy table, in exact arithmetic."""

    def __init__(self, mdp, table, discount):
        self.mdp, self.table, self.discount = mdp, table, Fraction(discount)
        self.episodes = []  # (probability, return, [(state, action), ...])
        for state in np.flatnonzero(mdp.start):
            self._walk(int(state), 0, Fraction(float(mdp.start[state])), Fraction(0), [])

    def _walk(self, state, t, chance, earned, visits):
        mdp = self.mdp
        for action in range(mdp.n_actions):
            likely = chance * Fraction(float(self.table[state, action]))
            if likely == 0:
                continue
            row = state * mdp.n_actions + action
            for k in range(mdp.offsets[row], mdp.offsets[row + 1]):
                mass = likely * Fraction(float(mdp.probabilities[k]))
                total = earned + self.discount**t * Fraction(float(mdp.rewards[k]))
                seen = [*visits, (state, action)]
                if mdp.ends[k] or t + 1 == mdp.horizon:
                    self.episodes.append((mass, total, seen))
                else:
                    self._walk(int(mdp.next_states[k]), t + 1, mass, total, seen)

    def law(self):
        masses = defaultdict(Fraction)
        for mass, total, _ in self.episodes:
            masses[total] += mass
        values = sorted(masses)
        return np.array([float(value) for value in values]), np.array([float(masses[value]) for value in values])

    def expected_score(self, influence, table):
        """E[influence(R) Z] for a table of free preferences, [S * A]."""
        n_states, n_actions = table.shape
        total = np.zeros((n_states, n_actions))
        for mass, value, visits in self.episodes:
            score = np.zeros((n_states, n_actions))
            for state, action in visits:
                score[state] -= table[state]
                score[state, action] += 1.0
            total += float(mass) * influence[value] * score
        return total.ravel()


DISCOUNTS = ("1", "1/2", "3/4", "9/10")


def random_model(seed, discount="1", horizon=3, n_states=3, n_actions=2, unit=0.25):
    """A model with random outcomes, chances in eighths and a random start; half the time with a terminal state."""
    rng = np.random.default_rng(seed)

    def row():
        chances = rng.multinomial(8, np.full(3, 1.0 / 3.0)) / 8.0
        return [
            (chance, int(rng.integers(n_states)), unit * float(rng.integers(-8, 9)), bool(rng.random() < 0.2))
            for chance in chances
        ]

    outcomes = [[row() for _ in range(n_actions)] for _ in range(n_states)]
    start = np.zeros(n_states)
    start[: n_states - 1] = rng.multinomial(8, np.full(n_states - 1, 1.0 / (n_states - 1))) / 8.0
    terminal = [n_states - 1] if rng.random() < 0.5 else []
    model = FiniteMDP.from_outcomes(
        outcomes, start, horizon=horizon, discount=float(Fraction(discount)), terminal=terminal
    )
    table = (rng.multinomial(8, np.full(n_actions, 1.0 / n_actions), size=n_states)) / 8.0
    return model, table


@pytest.fixture(scope="session")
def enumeration():
    return Enumeration


@pytest.fixture(scope="session")
def make_model():
    return random_model


@pytest.fixture(scope="session", params=DISCOUNTS)
def discount(request):
    return request.param

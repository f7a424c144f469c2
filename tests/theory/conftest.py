"""Three finite models whose every episode is written down, so that each lemma meets exact truth."""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial
from types import SimpleNamespace

import numpy as np
import pytest

import riskgrad as rg


@dataclass(frozen=True)
class Small:
    """A model with all of its episodes: actions taken [E, S, A], chance of the outcomes [E], returns [E]."""

    mdp: rg.mdp.FiniteMDP
    policy: object
    counts: np.ndarray
    chances: np.ndarray
    returns: np.ndarray
    lengths: np.ndarray

    def log_pi(self, theta):
        return np.log(self.policy.probabilities(theta, np.arange(self.mdp.n_states)))

    def masses(self, theta):
        """Probability of each episode [E]."""
        return self.chances * np.exp(np.sum(self.counts * self.log_pi(theta), axis=(1, 2)))

    def law(self, theta):
        return rg.DiscreteLaw(self.returns, self.masses(theta))

    def value(self, risk, theta):
        return risk.value(self.law(theta))

    def gradient(self, risk, theta):
        return rg.exact.gradient(self.mdp, self.policy, theta, risk).vector

    def hessian(self, risk, theta, step=1e-4):
        """Central differences of the exact gradient, right to about 1e-7."""
        rows = [
            (self.gradient(risk, theta + step * u) - self.gradient(risk, theta - step * u)) / (2 * step)
            for u in np.eye(self.policy.dim)
        ]
        return (np.array(rows) + np.array(rows).T) / 2

    def joint(self, theta, behavior):
        """The law of (return, ratio) under a behavior table: returns, ratios and masses of the distinct pairs."""
        logs = np.log(behavior)
        acting = self.chances * np.exp(np.sum(self.counts * logs, axis=(1, 2)))
        ratios = np.exp(np.sum(self.counts * (self.log_pi(theta) - logs), axis=(1, 2)))
        keys = np.round(np.stack([self.returns, np.log(ratios)], 1), 10)
        _, first, where = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        return self.returns[first], ratios[first], np.bincount(where.ravel(), weights=acting)


def episodes_of(mdp):
    """Write down every episode by walking the tree of outcomes."""
    found = []

    def walk(state, t, chance, total, counts):
        if t == mdp.horizon:
            found.append((counts, chance, total, t))
            return
        for action in range(mdp.n_actions):
            row = state * mdp.n_actions + action
            taken = counts.copy()
            taken[state, action] += 1
            for k in range(mdp.offsets[row], mdp.offsets[row + 1]):
                now = total + mdp.discount**t * mdp.rewards[k]
                if mdp.ends[k]:
                    found.append((taken, chance * mdp.probabilities[k], now, t + 1))
                else:
                    walk(int(mdp.next_states[k]), t + 1, chance * mdp.probabilities[k], now, taken)

    for state in np.flatnonzero(mdp.start > 0):
        walk(int(state), 0, float(mdp.start[state]), 0.0, np.zeros((mdp.n_states, mdp.n_actions)))
    counts, chances, returns, lengths = zip(*found, strict=True)
    return np.array(counts), np.array(chances), np.array(returns), np.array(lengths)


def small(mdp, policy):
    return Small(mdp, policy, *episodes_of(mdp))


def samples_of(masses, m):
    """Every sample of m from K outcomes up to order: indices [J, m] and their probabilities [J]."""
    rows = np.array(list(combinations_with_replacement(range(len(masses)), m)))
    ways = [factorial(m) / np.prod([factorial(c) for c in np.bincount(row)]) for row in rows]
    return rows, np.array(ways) * np.prod(np.asarray(masses)[rows], axis=1)


def exact_error(risk, value, m, returns, masses, ratios=None):
    """Mean square error and bias of an estimate from m episodes, over every possible sample."""
    rows, chances = samples_of(masses, m)
    weights = None if ratios is None else ratios[rows]
    errors = risk.estimate(returns[rows], weights) - value
    return float(np.sum(chances * errors**2)), float(np.sum(chances * errors))


def one_step(rewards):
    """One state, one action for each reward, over after one step."""
    outcomes = [[[(1.0, 0, reward, True)] for reward in rewards]]
    return rg.mdp.FiniteMDP.from_outcomes(outcomes, start=0, horizon=1)


def coin():
    return small(one_step([-1.0, 1.0]), rg.policy.TabularGibbs(1, 2))


def gamble():
    """One step: a fair coin or nothing for sure. A policy that always gambles has ratio M_s on every episode."""
    outcomes = [[[(0.5, 0, -1.0, True), (0.5, 0, 1.0, True)], [(1.0, 0, 0.0, True)]]]
    return small(rg.mdp.FiniteMDP.from_outcomes(outcomes, start=0, horizon=1), rg.policy.TabularGibbs(1, 2))


def walk():
    """Two states, random moves, discounted, two steps; episodes may end early."""
    outcomes = [
        [[(0.7, 1, 1.0, False), (0.3, 1, -1.0, True)], [(1.0, 1, 0.25, False)]],
        [[(1.0, 0, 0.0, True)], [(0.5, 0, 2.0, True), (0.5, 0, -1.0, True)]],
    ]
    mdp = rg.mdp.FiniteMDP.from_outcomes(outcomes, start=0, horizon=2, discount=0.9)
    return small(mdp, rg.policy.TabularGibbs(2, 2))


def bandit():
    """One state, three arms, two pulls, linear preferences in two features; returns far from zero."""
    outcomes = [[[(1.0, 0, 5.0, False)], [(0.5, 0, 4.0, False), (0.5, 0, 7.0, False)], [(1.0, 0, 5.5, False)]]]
    mdp = rg.mdp.FiniteMDP.from_outcomes(outcomes, start=0, horizon=2)
    return small(mdp, rg.policy.LinearGibbs([[[1.0, 0.0], [-1.0, 0.5], [0.0, -1.0]]]))


@pytest.fixture(scope="session", params=["coin", "walk", "bandit"])
def model(request):
    return {"coin": coin, "walk": walk, "bandit": bandit}[request.param]()


@pytest.fixture(scope="session")
def tools():
    """Builders and enumerations, for tests that need a model of their own."""
    return SimpleNamespace(
        small=small,
        one_step=one_step,
        coin=coin,
        gamble=gamble,
        walk=walk,
        bandit=bandit,
        exact_error=exact_error,
    )


def thetas_of(dim, count, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([np.zeros((1, dim)), rng.normal(size=(count, dim)) * rng.choice([0.5, 1.5, 4.0], (count, 1))])


@pytest.fixture(scope="session")
def some_thetas():
    return thetas_of

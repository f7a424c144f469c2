"""The most that a policy can be worth which knows the time and the return so far, and what such a policy is worth.

    N_t histories at time t, each a state and a return so far   A actions   F final returns

Both are exact, for small models: every state and return so far that can be reached is a node of a graph. For CVaR and
mean-variance the value is the best of a family of expected utilities,

    CVaR(alpha) = max over c of E[c - max(c - R, 0) / alpha]
    E[R] - lambda Var[R] = max over c of E[R - lambda (R - c)^2],

and the best policy for a utility is found backward from the end. The first is straight in c between final returns, so
that these are all that has to be tried. In the second, c is the mean of the best policy for it: each step from c to
that mean goes up, and the best of many beginnings is taken.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import riskgrad as rg
from riskgrad.mdp import FiniteMDP
from riskgrad.policy import Policy

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
DIGITS = 9  # to which returns so far are told apart
BEGINNINGS = 400  # values of c


@dataclass(frozen=True)
class Step:
    """What can happen at one time.

    Attributes:
        states, sums: of each node [N_t].
        node, action, chance: of each outcome [K].
        follows: its node at the next time, or its final return, whose number is negative: -1 is the first [K].
    """

    states: Integers
    sums: Floats
    node: Integers
    action: Integers
    chance: Floats
    follows: Integers


@dataclass(frozen=True)
class Histories:
    """All that can happen in a model.

    Attributes:
        start: chance of each node at time 0 [N_0].
        steps: one for each time.
        finals: the final returns [F].
        n_actions: A.
    """

    start: Floats
    steps: tuple[Step, ...]
    finals: Floats
    n_actions: int

    def law(self, choices: list[Floats]) -> rg.DiscreteLaw:
        """Give the law of the return where actions are chosen with these chances [N_t, A], time by time."""
        masses, mass = np.zeros(len(self.finals)), self.start
        for t, (step, table) in enumerate(zip(self.steps, choices, strict=True)):
            moved = mass[step.node] * table[step.node, step.action] * step.chance
            over = step.follows < 0
            np.add.at(masses, -1 - step.follows[over], moved[over])
            later = len(self.steps[t + 1].states) if t + 1 < len(self.steps) else 0
            mass = np.bincount(step.follows[~over], weights=moved[~over], minlength=later)
        order = np.argsort(self.finals)
        seen = order[masses[order] > 0.0]
        return rg.DiscreteLaw(self.finals[seen], masses[seen] / np.sum(masses))

    def best(self, utility: Floats) -> tuple[float, list[Floats]]:
        """Give the best expected utility of the final returns [F], and the choices that have it."""
        choices: list[Floats] = []
        values = np.zeros(0)
        for step in reversed(self.steps):
            over = step.follows < 0
            then = np.where(over, utility[-1 - np.minimum(step.follows, -1)], 0.0)
            then[~over] = values[step.follows[~over]]
            worth = np.zeros((len(step.states), self.n_actions))
            np.add.at(worth, (step.node, step.action), step.chance * then)
            values = np.max(worth, axis=1)
            choices.append(np.eye(self.n_actions)[np.argmax(worth, axis=1)])
        return float(self.start @ values), choices[::-1]


def list_histories(mdp: FiniteMDP) -> Histories:
    """List every state and return so far that can be reached, and what can follow."""
    layer = [(int(s), 0.0) for s in np.flatnonzero(mdp.start)]
    start, finals, steps = mdp.start[[s for s, _ in layer]], dict[float, int](), list[Step]()
    for t in range(mdp.horizon):
        later, rows = dict[tuple[int, float], int](), list[tuple[int, int, float, int]]()
        for node, (state, total) in enumerate(layer):
            for action in range(mdp.n_actions):
                pair = state * mdp.n_actions + action
                for k in range(mdp.offsets[pair], mdp.offsets[pair + 1]):
                    then = round(total + mdp.discount**t * float(mdp.rewards[k]), DIGITS)
                    if mdp.ends[k] or t == mdp.horizon - 1:
                        follows = -1 - finals.setdefault(then, len(finals))
                    else:
                        key = (int(mdp.next_states[k]), then)
                        follows = later.setdefault(key, len(later))
                    rows.append((node, action, float(mdp.probabilities[k]), follows))
        nodes, actions, chances, follow = (np.array(column) for column in zip(*rows, strict=True))
        states, sums = (np.array(column) for column in zip(*layer, strict=True))
        steps.append(Step(states, sums, nodes, actions, chances, follow))
        layer = list(later)
        if not layer:
            break
    return Histories(start, tuple(steps), np.array(list(finals)), mdp.n_actions)


def best_with_memory(mdp: FiniteMDP, rho: rg.risk.RiskMeasure) -> float:
    """Give the most that a policy which knows the time and the return so far can be worth."""
    histories = list_histories(mdp)
    finals = histories.finals
    if isinstance(rho, rg.risk.CVaR):
        return max(histories.best(c - np.maximum(c - finals, 0.0) / rho.alpha)[0] for c in finals)
    if isinstance(rho, rg.risk.MeanVariance):

        def utility(c: float) -> Floats:
            return finals - rho.lam * (finals - c) ** 2

        begins = np.linspace(np.min(finals), np.max(finals), BEGINNINGS)
        return max(_climb(histories, utility, float(c)) for c in begins)
    raise TypeError(f"no family of utilities is known for {rho}")


def _climb(histories: Histories, utility: Callable[[float], Floats], c: float) -> float:
    """Go from c to the mean of the best policy for it, until nothing changes; give what that is worth."""
    worth, before = histories.best(utility(c)), -np.inf
    while worth[0] > before + 1e-12:
        before = worth[0]
        worth = histories.best(utility(histories.law(worth[1]).mean))
    return worth[0]


def law_with_memory(mdp: FiniteMDP, policy: Policy, theta: Floats) -> rg.DiscreteLaw:
    """Give the law of the return under a policy with memory."""
    histories, choices = list_histories(mdp), list[Floats]()
    for t, step in enumerate(histories.steps):
        seen = policy.memory.extend(step.states, np.full(len(step.states), t), step.sums)
        choices.append(policy.probabilities(theta, seen))
    return histories.law(choices)

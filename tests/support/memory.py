"""The truth for policies with memory on small finite models: every history, one after the other."""

from collections import defaultdict

import gymnasium
import numpy as np
from gymnasium import spaces

from riskgrad.mdp import FiniteMDP
from riskgrad.types import DiscreteLaw


def enumerate_histories(mdp: FiniteMDP, policy, theta) -> tuple[DiscreteLaw, dict[tuple[int, int], float]]:
    """Give the law of the return, and the expected visits to each (observation with memory, action)."""
    memory, ended = policy.memory, []
    visits = defaultdict(float)
    going = [(state, 0.0, mass) for state, mass in enumerate(mdp.start) if mass > 0.0]
    for t in range(mdp.horizon):
        following = []
        for state, total, mass in going:
            seen = memory.extend(np.array([state]), np.array([t]), np.array([total]))
            chances = policy.probabilities(theta, seen)[0]
            for action, chance in enumerate(chances):
                visits[int(seen[0]), action] += mass * chance
                first = state * mdp.n_actions + action
                for k in range(mdp.offsets[first], mdp.offsets[first + 1]):
                    value = total + mdp.discount**t * mdp.rewards[k]
                    after = (int(mdp.next_states[k]), value, mass * chance * mdp.probabilities[k])
                    (ended if mdp.ends[k] else following).append(after)
        going = following
    every = ended + going
    return DiscreteLaw([value for _, value, _ in every], [mass for _, _, mass in every]), visits


def with_time(mdp: FiniteMDP) -> FiniteMDP:
    """Give the model whose state is t * S + s: a policy of it is one of the model with memory of the time."""
    outcomes = []
    for t in range(mdp.horizon):
        shift = min(t + 1, mdp.horizon - 1) * mdp.n_states
        for state in range(mdp.n_states):
            rows = [state * mdp.n_actions + action for action in range(mdp.n_actions)]
            outcomes.append(
                [
                    [
                        (mdp.probabilities[k], shift + int(mdp.next_states[k]), mdp.rewards[k], bool(mdp.ends[k]))
                        for k in range(mdp.offsets[row], mdp.offsets[row + 1])
                    ]
                    for row in rows
                ]
            )
    start = np.zeros(mdp.horizon * mdp.n_states)
    start[: mdp.n_states] = mdp.start
    terminal = np.flatnonzero(np.tile(mdp.terminal, mdp.horizon)).tolist()
    return FiniteMDP.from_outcomes(outcomes, start=start, horizon=mdp.horizon, discount=mdp.discount, terminal=terminal)


class WithReturns:
    """The model whose state is (t, s, y), y the return so far: a policy of it remembers both, and the law is exact.

    Attributes:
        model: the model; discount is 1 there and here.
        times, states, returns: what each of its states stands for.
    """

    def __init__(self, mdp: FiniteMDP) -> None:
        assert mdp.discount == 1.0
        known: dict[tuple[int, int, float], int] = {}
        for state in np.flatnonzero(mdp.start).tolist():
            known[0, state, 0.0] = len(known)
        start, outcomes = mdp.start[[state for _, state, _ in known]], []
        while len(outcomes) < len(known):
            t, state, total = list(known)[len(outcomes)]
            last, actions = t + 1 == mdp.horizon, []
            for row in range(state * mdp.n_actions, (state + 1) * mdp.n_actions):
                actions.append([])
                for k in range(mdp.offsets[row], mdp.offsets[row + 1]):
                    after = (t + 1, int(mdp.next_states[k]), round(total + float(mdp.rewards[k]), 9))
                    over = last or bool(mdp.ends[k])
                    place = len(outcomes) if over else known.setdefault(after, len(known))
                    actions[-1].append((mdp.probabilities[k], place, mdp.rewards[k], over))
            outcomes.append(actions)
        self.times, self.states, self.returns = (np.array(part) for part in zip(*known, strict=True))
        whole = np.concatenate([start, np.zeros(len(known) - len(start))])
        self.model = FiniteMDP.from_outcomes(outcomes, start=whole, horizon=mdp.horizon)

    def seen(self, memory):
        """Give what a policy with memory sees in each state."""
        return memory.extend(self.states, self.times, self.returns)


class Walked(gymnasium.Env):
    """A finite model as an environment."""

    def __init__(self, mdp: FiniteMDP) -> None:
        self.mdp = mdp
        self.observation_space, self.action_space = spaces.Discrete(mdp.n_states), spaces.Discrete(mdp.n_actions)

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        super().reset(seed=seed)
        self.state = int(self.np_random.choice(self.mdp.n_states, p=self.mdp.start))
        return self.state, {}

    def step(self, action):
        mdp, first = self.mdp, self.state * self.mdp.n_actions + action
        rows = slice(mdp.offsets[first], mdp.offsets[first + 1])
        k = mdp.offsets[first] + int(self.np_random.choice(rows.stop - rows.start, p=mdp.probabilities[rows]))
        self.state = int(mdp.next_states[k])
        return self.state, float(mdp.rewards[k]), bool(mdp.ends[k]), False, {}

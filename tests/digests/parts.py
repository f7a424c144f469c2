"""What the cases train on and with that the project does not make: environments, functions and numbers, all fixed."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

import riskgrad as rg


class Steps(gymnasium.Env):
    """A short walk on a line, whose actions are a side and a stride."""

    observation_space = spaces.Box(-10.0, 10.0, (2,), np.float64)
    action_space = spaces.MultiDiscrete([2, 3])

    def __init__(self, longest: int = 6) -> None:
        self.longest = longest

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):  # noqa: ARG002
        super().reset(seed=seed)
        self.place, self.age = float(self.np_random.uniform(-1.0, 1.0)), 0
        return self._seen(), {}

    def step(self, action):
        side, stride = int(action[0]), int(action[1])
        self.age += 1
        self.place += (2 * side - 1) * 0.5 * stride + 0.25 * float(self.np_random.integers(-1, 2))
        reward = -abs(self.place - 1.0) - (2.0 if self.np_random.random() < 0.1 * stride else 0.0)
        return self._seen(), reward, bool(abs(self.place) > 3.0), self.age >= self.longest, {}

    def _seen(self):
        return np.array([self.place, float(self.age)])


class Reach(Steps):
    """The walk with actions that are two numbers: a move and an effort."""

    action_space = spaces.Box(np.array([-1.0, -2.0]), np.array([1.0, 2.0]), dtype=np.float64)

    def step(self, action):
        self.age += 1
        self.place += float(action[0]) + 0.1 * float(self.np_random.integers(-2, 3))
        return self._seen(), -abs(self.place) - 0.1 * abs(float(action[1])), False, self.age >= self.longest, {}


def make_steps():
    return Steps(longest=5)


def curved_preference(theta, state):
    """Two preferences that are not linear in the three parameters."""
    s = float(state)
    return np.array([theta[0] + theta[1] * s, theta[2] * theta[2] - theta[0] * (1.0 + s)])


def curved_gradient(theta, state):
    """The gradient [2, 3] of `curved_preference`."""
    s = float(state)
    return np.array([[1.0, s, 0.0], [-(1.0 + s), 0.0, 2.0 * theta[2]]])


def pole_preference(theta, obs):
    """Two preferences for observations of four numbers, with five parameters."""
    return np.array([theta[0] * obs[0] + theta[1] * obs[1] + theta[4], theta[2] * obs[2] + theta[3] * obs[3]])


def pole_features(obs):
    """Features [2, 3] of an observation of four numbers."""
    return np.array([[obs[0], obs[1], 1.0], [obs[2], obs[3], -1.0]])


def cube(s):
    return s * s * s


def flipped_cube(s):
    return 1.0 - cube(1.0 - s)


CUBE = rg.distortion.Custom(
    g=cube,
    derivative=lambda s: 3.0 * s * s,
    second_derivative=lambda s: 6.0 * s,
    slope_bound=3.0,
    curvature_bound=6.0,
)
CUBE_ALONE = rg.distortion.Custom(g=cube)
FLIPPED_CUBE = rg.distortion.Custom(g=flipped_cube, attitude="seeking")


def normals(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def make_model():
    """A finite model of five states and three actions; the last state is terminal."""
    rng = np.random.default_rng(5)
    transition = rng.random((5, 3, 5))
    transition /= transition.sum(axis=2, keepdims=True)
    reward = np.round(4.0 * rng.standard_normal((5, 3, 5)), 1)
    return rg.mdp.FiniteMDP(transition, reward, start=0, terminal=[4], horizon=7, discount=0.9)


def make_log(observes, discount=1.0):
    """A log of sixty episodes in no order: of "states" (six, with three actions) or "vectors" (with two actions)."""
    rng = np.random.default_rng(17)
    n_states, n_actions = 6, 3 if observes == "states" else 2
    table = 0.2 + rng.random((n_states, n_actions))
    table /= table.sum(axis=1, keepdims=True)
    rows = []
    for episode in range(60):
        state = int(rng.integers(n_states))
        for t in range(int(rng.integers(1, 6))):
            action = int(rng.choice(n_actions, p=table[state]))
            reward = round(float(rng.standard_normal() * (1 + action) + 0.3 * state - action), 3)
            rows.append((episode, t, action, reward, table[state, action], state))
            state = int(rng.integers(n_states))
    order = rng.permutation(len(rows))
    ids, times, actions, rewards, chances, states = (np.array(column)[order] for column in zip(*rows, strict=True))
    columns = {"episode_id": ids, "t": times, "action": actions, "reward": rewards}
    if observes == "states":
        columns |= {"behavior_prob": chances, "state": states}
    else:
        noise = rng.standard_normal((len(rows), 2))
        obs = np.column_stack([states / 2.0 - 1.0, 3.0 * noise[:, 0] + 5.0, noise[:, 1]])
        columns |= {"behavior_logp": np.log(chances), "obs": obs}
    return rg.LoggedEpisodes.from_arrays(**columns, discount=discount, n_actions=n_actions)

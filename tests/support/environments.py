"""Small environments with known behavior and with the oddities that users' environments have."""

import random
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv


class Countdown(gymnasium.Env):
    """Draws its length at the start; each step pays its own number; the observation is (steps so far, length)."""

    observation_space = spaces.Box(0.0, 100.0, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, longest: int = 9, truncates: bool = False) -> None:
        self.longest, self.truncates = longest, truncates

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):  # noqa: ARG002
        super().reset(seed=seed)
        self.length, self.age = int(self.np_random.integers(1, self.longest + 1)), 0
        return self._seen(), {}

    def step(self, action):
        assert type(action) is int
        assert self.age < self.length, "stepped after its end"
        self.age += 1
        over = self.age == self.length
        return self._seen(), float(self.age), over and not self.truncates, over and self.truncates, {}

    def _seen(self):
        return np.array([self.age, self.length], dtype=np.float32)


class Fragile(Countdown):
    """A countdown that fails in its second step while a file is there."""

    def __init__(self, broken: str) -> None:
        super().__init__()
        self.broken = Path(broken)

    def step(self, action):
        if self.age == 1 and self.broken.exists():
            raise RuntimeError("the simulator fell over")
        return super().step(action)


class Marked(Countdown):
    """A countdown that leaves a file where it is closed."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.folder = Path(folder)

    def close(self):
        (self.folder / f"{id(self)}").touch()


class Scaled(gymnasium.Env):
    """Shows a large and a small number in each of six steps, and pays for telling the sign of the small one."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = spaces.Discrete(2)
    spread = np.array([100.0, 0.01])
    middle = np.array([500.0, 0.0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):  # noqa: ARG002
        super().reset(seed=seed)
        self.age = 0
        return self._seen(), {}

    def step(self, action):
        reward = float((self.shown[1] > 0.0) == bool(action))
        self.age += 1
        return self._seen(), reward, self.age == 6, False, {}

    def _seen(self):
        self.shown = self.middle + self.spread * self.np_random.normal(size=2)
        return self.shown


class Noise(gymnasium.Env):
    """Shows a fresh uniform number in each of ten steps and pays action times that number."""

    observation_space = spaces.Box(0.0, 1.0, (1,), np.float64)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):  # noqa: ARG002
        super().reset(seed=seed)
        self.age, self.shown = 0, self.np_random.random()
        return np.array([self.shown]), {}

    def step(self, action):
        reward = action * self.shown
        self.age, self.shown = self.age + 1, self.np_random.random()
        return np.array([self.shown]), reward, self.age == 10, False, {}


class Spaced(gymnasium.Env):
    """Any pair of spaces; notes what it was given."""

    def __init__(self, observation_space, action_space, shown) -> None:
        self.observation_space, self.action_space, self.shown = observation_space, action_space, shown
        self.given: list[Any] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):  # noqa: ARG002
        return self.shown, {}

    def step(self, action):
        assert self.action_space.contains(action), f"{action!r} is not in {self.action_space}"
        self.given.append(action)
        return self.shown, 1.0, False, len(self.given) % 3 == 0, {}


class Odd(gymnasium.Env):
    """One oddity at a time."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = spaces.Discrete(2, start=1)

    def __init__(self, oddity: str) -> None:
        self.oddity, self.age = oddity, 0

    def reset(self, seed=None):  # noqa: ARG002 - and takes no options
        self.age = 0
        first = [0.0, np.nan] if self.oddity == "nan at first" else [0.0, 0.0]
        return (first if self.oddity == "lists" else np.array(first)), {}

    def step(self, action):
        if not (isinstance(action, int) and not isinstance(action, np.integer) and action in (1, 2)):
            raise TypeError(f"integers only, got {type(action)}")
        self.age += 1
        seen: Any = np.zeros(2, dtype=np.int64)
        reward: Any = {
            "integer": 1,
            "int64": np.int64(1),
            "float32": np.float32(1.0),
            "array": np.array([1.0]),
            "bool": np.True_,
            "nan": float("nan"),
            "text": "one",
        }.get(self.oddity, 1.0)
        if self.oddity == "raises" and self.age == 3:
            raise RuntimeError("the simulator\nfell over")
        if self.oddity == "lists":
            seen = [0.0, 0.0]
        if self.oddity == "nan seen":
            seen = np.array([0.0, np.nan])
        if self.oddity == "four":
            return seen, reward, False, {}
        return seen, reward, np.bool_(self.age == 4), 0, {}


class CountdownVector(VectorEnv):
    """Lanes that end after a length drawn at the start, without automatic resets."""

    def __init__(self, num_envs: int = 1, max_episode_steps: int = 50, longest: int = 9) -> None:
        self.num_envs, self.limit, self.longest = num_envs, max_episode_steps, longest
        self.single_observation_space, self.single_action_space = Countdown.observation_space, Countdown.action_space
        self.metadata = {"autoreset_mode": AutoresetMode.DISABLED}
        self.masked = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool))
        if options is None:
            self.lengths = np.zeros(self.num_envs, dtype=np.int64)
            self.ages = np.zeros(self.num_envs, dtype=np.int64)
        else:
            self.masked += 1
        self.lengths[mask] = self.np_random.integers(1, self.longest + 1, size=self.num_envs)[mask]
        self.ages[mask] = 0
        return self._seen(), {}

    def step(self, actions):
        assert actions.shape == (self.num_envs,)
        assert np.all(self.ages < self.lengths), "a lane was stepped after its end"
        self.ages = self.ages + 1
        over = self.ages == self.lengths
        return self._seen(), self.ages.astype(np.float32), over, self.ages >= self.limit, {}

    def _seen(self):
        return np.stack([self.ages, self.lengths], axis=1).astype(np.float32)


def register() -> None:
    """Register the countdown with a vector form of its own."""
    if "RiskgradTest/Countdown-v0" not in gymnasium.registry:
        gymnasium.register(
            "RiskgradTest/Countdown-v0",
            entry_point=Countdown,
            vector_entry_point=CountdownVector,
            max_episode_steps=50,
        )


class Hanging(Countdown):
    """A countdown that hangs in its second step while a file is there."""

    def __init__(self, hung: str) -> None:
        super().__init__(longest=5)
        self.hung = Path(hung)

    def step(self, action):
        while self.age == 1 and self.hung.exists():
            time.sleep(0.1)
        return super().step(action)


class Unseeded(Countdown):
    """A countdown that draws its length from elsewhere than its seed: "own", "numpy", "python" or, rightly, "seed"."""

    def __init__(self, draws: str) -> None:
        super().__init__(longest=1000)
        self.draws, self.own = draws, np.random.default_rng(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed, options=options)
        if self.draws == "own":
            self.length = int(self.own.integers(1, 1001))
        elif self.draws == "numpy":
            self.length = int(np.random.randint(1, 1001))  # noqa: NPY002
        elif self.draws == "python":
            self.length = random.randint(1, 1000)  # noqa: S311
        return self._seen(), {}


class Toss(gymnasium.Env):
    """One step and it is over; subclasses answer otherwise."""

    observation_space, action_space = spaces.Discrete(2), spaces.Discrete(2)
    reward, terminated, truncated = 1.0, True, False

    def reset(self, *, seed=None, options=None):
        del seed, options
        return 0, {}

    def step(self, action):
        del action
        return 0, self.reward, self.terminated, self.truncated, {}

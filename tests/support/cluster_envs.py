"""Environments that fail on a cluster: once, or always, at one and the same episode; others that take their time."""

import os
import time
from pathlib import Path

import gymnasium
import numpy as np


class Walk(gymnasium.Env):
    """A random walk of up to 12 steps, whose spread the action chooses."""

    observation_space = gymnasium.spaces.Box(-99.0, 99.0, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.place, self.age = np.zeros(2, dtype=np.float32), 0
        return self.place.copy(), {}

    def step(self, action):
        self.place += ((1 + action) * self.np_random.normal(size=2)).astype(np.float32)
        self.age += 1
        return (
            self.place.copy(),
            float(self.place[0]),
            bool(self.np_random.random() < 0.05) or self.age == 12,
            False,
            {},
        )


class Failing(Walk):
    """Fails in the third step of episodes whose seed is divisible by 7: it raises, hangs, or ends its process.

    Args:
        how: "raise", "hang" or "die".
        once: a file that is there after the first time, after which it no longer fails; None to fail always.
        after: a file that has to be there before it fails; None where it fails from the start.
    """

    def __init__(self, how, once=None, after=None):
        self.how, self.once, self.after = how, once, after

    def reset(self, *, seed=None, options=None):
        self.bad = seed is not None and seed % 7 == 0
        return super().reset(seed=seed, options=options)

    def step(self, action):
        begun = self.after is None or Path(self.after).exists()
        if self.bad and self.age == 2 and begun and not (self.once and Path(self.once).exists()):
            if self.once:
                Path(self.once).touch()
            if self.how == "raise":
                raise RuntimeError("the simulator is gone")
            if self.how == "hang":
                time.sleep(600.0)
            os._exit(3)
        return super().step(action)


class Slow(Walk):
    """Takes some time for each step."""

    def step(self, action):
        time.sleep(0.001)
        return super().step(action)


class Paced(Walk):
    """Takes some time for each step until a file is there.

    Args:
        until: the file.
    """

    def __init__(self, until):
        self.until = Path(until)

    def step(self, action):
        if not self.until.exists():
            time.sleep(0.002)
        return super().step(action)

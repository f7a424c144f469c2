"""Environments on which learners by networks are compared: trading in a price that comes back, and betting.

All are `LaneGame`s with vector forms of their own; importing this module registers them.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
from gymnasium import spaces
from lane_games import Flags, Floats, LaneGame, register_game
from numpy.typing import NDArray


class Trading(LaneGame):
    """Buys and sells a stock whose price comes back to 1, in ten steps; what is held at the end is sold, at a penalty.

    p <- 1 + (p - 1) exp(-k/N) + eta Z with k = 2, sigma = 1, N = 10, eta = sigma sqrt((1 - exp(-2 k/N)) / (2 k)) and Z
    standard normal. To buy u shares, one of 21 numbers from -2 to 2, earns -p u - 0.005 u^2 at the price before it
    moves. The last step also earns q p - 0.5 q^2 for the q shares held by then, at the price after it moved.
    Published with QR-SRM (ICML 2025), at a discount of 0.99, which is the caller's to give.

    Observations: price, shares held, steps played. Actions: which number.
    """

    steps = 10
    seen = spaces.Box(-np.inf, np.inf, (3,), np.float64)
    moves = spaces.Discrete(21)

    TRADES: ClassVar[Floats] = np.linspace(-2.0, 2.0, 21)
    PULL, SPREAD, FEE, PENALTY = 2.0, 1.0, 0.005, 0.5
    KEPT = float(np.exp(-PULL / steps))
    NOISE = float(SPREAD * np.sqrt((1.0 - np.exp(-2.0 * PULL / steps)) / (2.0 * PULL)))

    def begin(self, lanes: Flags) -> None:
        """Begin at price 1 with no shares."""
        if np.all(lanes):
            self.price, self.held = np.ones(self.num_envs), np.zeros(self.num_envs)
        self.price[lanes], self.held[lanes] = 1.0, 0.0

    def play(self, actions: NDArray[np.int64]) -> tuple[Floats, Flags]:
        """Buy, then let the price move."""
        bought = self.TRADES[actions]
        rewards = -self.price * bought - self.FEE * bought**2
        self.held += bought
        self.price = 1.0 + (self.price - 1.0) * self.KEPT + self.NOISE * self.np_random.standard_normal(self.num_envs)
        over = self.age >= self.steps
        rewards += np.where(over, self.held * self.price - self.PENALTY * self.held**2, 0.0)
        return rewards, over

    def observe(self) -> Floats:
        """Give price, shares held and steps played [L, 3]."""
        return np.stack([self.price, self.held, self.age.astype(np.float64)], axis=1)


class Betting(LaneGame):
    """Stakes a share of a purse in each round of a good game; the purse has a cap, and the return is the gain.

    The rules of the finite models `wheel` and `stakes` of the risky problems to the last penny, with the state shown as
    numbers of unlike scale instead of an index.

    Observations: rounds played, log(1 + purse), purse. Actions: which share.
    """

    seen = spaces.Box(0.0, np.inf, (3,), np.float64)
    shares: ClassVar[Sequence[float]]
    results: ClassVar[Sequence[tuple[float, int]]]  # (chance, how many times the stake is won)
    start: ClassVar[int]
    cap: ClassVar[int]

    def begin(self, lanes: Flags) -> None:
        """Begin with the first purse."""
        if np.all(lanes):
            self.purse = np.empty(self.num_envs)
        self.purse[lanes] = self.start

    def play(self, actions: NDArray[np.int64]) -> tuple[Floats, Flags]:
        """Stake a share, and win or lose it."""
        room = self.cap - self.purse
        stake = np.minimum(np.rint(self.purse * np.asarray(self.shares)[actions]), room)
        chances, times = (np.asarray(each) for each in zip(*self.results, strict=True))
        spun = np.searchsorted(np.cumsum(chances)[:-1], self.np_random.random(self.num_envs), side="right")
        won = np.minimum(times[spun] * stake, room)
        self.purse += won
        return won, self.age >= self.steps

    def observe(self) -> Floats:
        """Give rounds played, the logarithm of the purse and one more, and the purse [L, 3]."""
        return np.stack([self.age.astype(np.float64), np.log1p(self.purse), self.purse], axis=1)


class Wheel(Betting):
    """Betting at a wheel that now and then pays twice over: the finite model `wheel`."""

    steps, start, cap = 10, 60, 999
    moves = spaces.Discrete(4)
    shares = (0.0, 0.15, 0.4, 0.9)
    results = ((0.6, 1), (0.15, 2), (0.25, -1))


class Stakes(Betting):
    """Betting with even pay and shares up to all of the purse: the finite model `stakes`."""

    steps, start, cap = 8, 100, 1000
    moves = spaces.Discrete(5)
    shares = (0.0, 0.1, 0.25, 0.5, 1.0)
    results = ((0.8, 1), (0.2, -1))


TRADING: Final = register_game("Trading-v0", Trading)
WHEEL: Final = register_game("Wheel-v0", Wheel)
STAKES: Final = register_game("Stakes-v0", Stakes)

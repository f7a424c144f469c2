"""Environments that are set aside: learners by networks are judged on them once, after they were chosen on others.

Each is unlike the others in kind: numbers or several choices to act by, one step or 120, a risky short cut, a sight of
several parts. A game has a rule of thumb, `rule`, with numbers found by a short random search; it is no optimum.
"""

from typing import Any, ClassVar, Final

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import FlattenObservation
from lane_games import Flags, Floats, LaneGame, OneLane, register_game
from numpy.typing import NDArray


class Hedge(LaneGame):
    """Hedges a call option that was sold, by holding a share of the stock between 20 dates; trades cost 0.2%.

    The price moves by 3% from date to date and now and then falls by 15%, which no hedge follows.

    Observations: price, shares held, dates left. Actions: shares to hold, from -0.5 to 1.5.
    """

    steps = 20
    seen = spaces.Box(-np.inf, np.inf, (3,), np.float64)
    moves = spaces.Box(-0.5, 1.5, (1,), np.float64)
    STRIKE, PREMIUM, SPREAD, FALL, CHANCE, FEE = 100.0, 6.0, 0.03, 0.85, 0.02, 0.002

    def begin(self, lanes: Flags) -> None:
        """Begin at the strike, with nothing held."""
        if np.all(lanes):
            self.price, self.held = np.empty(self.num_envs), np.empty(self.num_envs)
        self.price[lanes], self.held[lanes] = self.STRIKE, 0.0

    def play(self, actions: Floats) -> tuple[Floats, Flags]:
        """Trade, let the price move, and pay the option at the last date."""
        held = np.clip(actions[:, 0], -0.5, 1.5)
        rewards = -self.FEE * np.abs(held - self.held) * self.price
        noise, falls = self.np_random.standard_normal(self.num_envs), self.np_random.random(self.num_envs)
        move = np.exp(self.SPREAD * noise - 0.5 * self.SPREAD**2) * np.where(falls < self.CHANCE, self.FALL, 1.0)
        rewards += held * self.price * (move - 1.0)
        self.price, self.held = self.price * move, held
        over = self.age >= self.steps
        paid = self.PREMIUM - np.maximum(self.price - self.STRIKE, 0.0) - self.FEE * np.abs(held) * self.price
        return rewards + np.where(over, paid, 0.0), over

    def observe(self) -> Floats:
        """Give price, shares held and dates left [L, 3]."""
        return np.stack([self.price, self.held, (self.steps - self.age).astype(np.float64)], axis=1)

    @staticmethod
    def rule(seen: Floats) -> Floats:
        """Hold the option's delta, nearly, as if prices moved more than they do."""
        away = (np.log(seen[:, 0] / 100.0) - 0.04) / (0.057 * np.sqrt(np.maximum(seen[:, 2], 1.0)))
        return (1.05 / (1.0 + np.exp(-1.702 * away)))[:, np.newaxis]


class Store(LaneGame):
    """Orders two goods for a shop of 20 places, for 30 days; a slow mood moves the demand for both.

    What is ordered comes the next day; what has no place is thrown away, and a truck costs 3 on any day with an order.

    Observations: stock of both, what is on its way of both, mood. Actions: how much of each, 0 to 5.
    """

    steps = 30
    seen = spaces.Box(-np.inf, np.inf, (5,), np.float64)
    moves = spaces.MultiDiscrete([6, 6])
    PRICE: ClassVar[Floats] = np.array([4.0, 7.0])
    COST: ClassVar[Floats] = np.array([2.0, 3.0])
    DEMAND: ClassVar[Floats] = np.array([2.0, 1.2])
    PLACES, TRUCK, KEEPING, LOST = 20.0, 3.0, 0.2, 1.0

    def begin(self, lanes: Flags) -> None:
        """Begin with six of each, nothing on its way and an even mood."""
        if np.all(lanes):
            self.stock, self.coming = np.empty((self.num_envs, 2)), np.empty((self.num_envs, 2))
            self.mood = np.empty(self.num_envs)
        self.stock[lanes], self.coming[lanes], self.mood[lanes] = 6.0, 0.0, 0.0

    def play(self, actions: NDArray[np.int64]) -> tuple[Floats, Flags]:
        """Put on the shelf what comes, sell, and order."""
        free = self.PLACES - np.sum(self.stock, axis=1)
        first = np.minimum(self.coming[:, 0], free)
        self.stock += np.stack([first, np.minimum(self.coming[:, 1], free - first)], axis=1)
        asked = self.np_random.poisson(self.DEMAND * np.exp(self.mood)[:, np.newaxis])
        sold = np.minimum(asked, self.stock)
        self.stock -= sold
        rewards = sold @ self.PRICE - actions @ self.COST - self.TRUCK * np.any(actions > 0, axis=1)
        rewards -= self.KEEPING * np.sum(self.stock, axis=1) + self.LOST * np.sum(asked - sold, axis=1)
        self.coming = actions.astype(np.float64)
        self.mood = 0.9 * self.mood + 0.25 * self.np_random.standard_normal(self.num_envs)
        return rewards, self.age >= self.steps

    def observe(self) -> Floats:
        """Give stock, what is on its way, and mood [L, 5]."""
        return np.concatenate([self.stock, self.coming, self.mood[:, np.newaxis]], axis=1)

    @staticmethod
    def rule(seen: Floats) -> NDArray[np.int64]:
        """Order up to a level that follows the mood, when one of the goods is far below it."""
        level = np.array([7.1, 5.2]) * np.exp(0.38 * seen[:, 4:])
        missing = np.clip(np.rint(level - seen[:, :2] - seen[:, 2:4]), 0, 5).astype(np.int64)
        return np.where(np.max(missing, axis=1, keepdims=True) >= 4, missing, 0)


class Passage(LaneGame):
    """Walks in the plane to a far bank: by a ford ahead, which may sweep one away, or by a bridge out of the way.

    Ten to the right is the goal; between 4 and 6 there is water, passable where |y| < 1 (the ford) and 8 < y < 10 (the
    bridge). A step costs 0.5, and a unit to the right earns 2. A step in the ford has a chance of 0.03 to be the last,
    and then costs 25.

    Observations: x, y. Actions: where to go, up to 1 in x and in y; one drifts a little.
    """

    steps = 40
    seen = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    moves = spaces.Box(-1.0, 1.0, (2,), np.float64)
    GOAL, BANKS, FORD, BRIDGE, SWEPT, LOSS, DRIFT = 10.0, (4.0, 6.0), 1.0, (8.0, 10.0), 0.03, 25.0, 0.1

    def begin(self, lanes: Flags) -> None:
        """Begin near the origin."""
        if np.all(lanes):
            self.place = np.empty((self.num_envs, 2))
        self.place[lanes] = self.np_random.uniform(-0.5, 0.5, (int(np.sum(lanes)), 2))

    def play(self, actions: Floats) -> tuple[Floats, Flags]:
        """Walk, unless there is water that cannot be passed; the ford may sweep one away."""
        to = self.place + np.clip(actions, -1.0, 1.0) + self.DRIFT * self.np_random.standard_normal(self.place.shape)
        wet = (to[:, 0] > self.BANKS[0]) & (to[:, 0] < self.BANKS[1])
        ford = np.abs(to[:, 1]) < self.FORD
        blocked = wet & ~ford & ~((to[:, 1] > self.BRIDGE[0]) & (to[:, 1] < self.BRIDGE[1]))
        to[blocked] = self.place[blocked]
        gained = 2.0 * (np.minimum(to[:, 0], self.GOAL) - np.minimum(self.place[:, 0], self.GOAL))
        self.place = to
        swept = wet & ford & (self.np_random.random(self.num_envs) < self.SWEPT)
        return gained - 0.5 - self.LOSS * swept, swept | (to[:, 0] >= self.GOAL)

    def observe(self) -> Floats:
        """Give x and y [L, 2]."""
        return self.place.copy()

    @staticmethod
    def rule(seen: Floats) -> Floats:
        """Go over the bridge."""
        before = (seen[:, 0] < 6.0) & (np.abs(seen[:, 1] - 9.0) > 0.7)
        near = before & (seen[:, 0] > 2.8)
        along = np.where(near, 0.0, np.where(before, 0.35, 1.0))
        return np.stack([along, np.where(seen[:, 0] < 6.0, np.clip(9.0 - seen[:, 1], -1.0, 1.0), 0.0)], axis=1)


class Dosing(LaneGame):
    """Chooses a weekly dose for one of three kinds of patient; how strongly it acts is theirs, and is not seen.

    The disease grows and the drug shrinks it; the drug is a poison that wears off, and much of it may end the treatment
    at a cost of 20. Each week costs what is left of the disease.

    Observations: kind (one-hot, 3), disease, poison, whether the disease grew, whether poison is high. Actions: dose.
    """

    steps = 12
    seen = spaces.Box(0.0, np.inf, (7,), np.float64)
    moves = spaces.Discrete(4)
    GROWTH: ClassVar[Floats] = np.array([1.05, 1.15, 1.3])
    EFFECT, KEPT, LOSS = 0.25, 0.6, 20.0

    def begin(self, lanes: Flags) -> None:
        """Begin with a patient of some kind."""
        if np.all(lanes):
            self.kind = np.empty(self.num_envs, dtype=np.int64)
            self.effect, self.disease, self.poison, self.grew = (np.empty(self.num_envs) for _ in range(4))
        some = int(np.sum(lanes))
        self.kind[lanes] = self.np_random.integers(0, 3, some)
        self.effect[lanes] = self.EFFECT * np.exp(0.5 * self.np_random.standard_normal(some))
        self.disease[lanes], self.poison[lanes], self.grew[lanes] = 1.0, 0.0, 0.0

    def play(self, actions: NDArray[np.int64]) -> tuple[Floats, Flags]:
        """Give the dose, and let a week pass."""
        noise = np.exp(0.1 * self.np_random.standard_normal(self.num_envs))
        before = self.disease
        self.disease = before * self.GROWTH[self.kind] * np.exp(-self.effect * actions) * noise
        self.grew = (self.disease > before).astype(np.float64)
        self.poison = self.KEPT * self.poison + actions
        chance = 0.1 / (1.0 + np.exp(-2.0 * (self.poison - 4.0)))
        hurt = self.np_random.random(self.num_envs) < chance
        return -self.disease - self.LOSS * hurt, hurt | (self.age >= self.steps)

    def observe(self) -> Floats:
        """Give kind, disease, poison and two signs [L, 7]."""
        signs = [self.disease, self.poison, self.grew, (self.poison > 3.0).astype(np.float64)]
        return np.concatenate([np.eye(3)[self.kind], np.stack(signs, axis=1)], axis=1)

    @staticmethod
    def rule(seen: Floats) -> NDArray[np.int64]:
        """Give what keeps the poison below a level that disease and kind set."""
        level = 2.5 + 2.2 * np.log1p(seen[:, 3]) + 0.5 * seen[:, 2]
        return np.clip(np.floor(level - 0.9 * seen[:, 4] + 0.5), 0, 3).astype(np.int64)


class Parts(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Shows what `Dosing` shows as parts with names: a kind, two levels, two signs."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        gymnasium.ObservationWrapper.__init__(self, env)
        self.observation_space = spaces.Dict(
            kind=spaces.Discrete(3), levels=spaces.Box(0.0, np.inf, (2,), np.float64), signs=spaces.MultiBinary(2)
        )

    def observation(self, observation: Floats) -> dict[str, Any]:
        """Give the parts."""
        signs = observation[5:].astype(np.int8)
        return {"kind": int(np.argmax(observation[:3])), "levels": observation[3:5], "signs": signs}


class Quote(LaneGame):
    """Quotes a premium to one client, who is seen as four numbers and may not take it; losses have a heavy tail.

    One step. The first number moves the chance of a loss, the second what the client is ready to pay; two mean nothing.

    Observations: the four numbers. Actions: the premium, 0 to 10.
    """

    steps = 1
    seen = spaces.Box(-np.inf, np.inf, (4,), np.float64)
    moves = spaces.Box(0.0, 10.0, (1,), np.float64)
    CHANCE, LOSS, LARGEST = 0.1, 6.0, 60.0

    def begin(self, lanes: Flags) -> None:
        """Begin with a client."""
        if np.all(lanes):
            self.client = np.empty((self.num_envs, 4))
        self.client[lanes] = self.np_random.standard_normal((int(np.sum(lanes)), 4))

    def play(self, actions: Floats) -> tuple[Floats, Flags]:
        """Quote; who takes it pays the premium, and may have a loss."""
        premium = np.clip(actions[:, 0], 0.0, 10.0)
        draws = self.np_random.random((3, self.num_envs))
        sold = draws[0] < 1.0 / (1.0 + np.exp(2.0 * (premium - 3.0 - self.client[:, 1])))
        lost = draws[1] < self.CHANCE * np.exp(0.7 * self.client[:, 0])
        loss = np.minimum(self.LOSS * (1.0 - draws[2]) ** (-1.0 / 1.5), self.LARGEST)  # a power law
        return np.where(sold, premium - np.where(lost, loss, 0.0), 0.0), np.ones(self.num_envs, np.bool_)

    def observe(self) -> Floats:
        """Give the client's numbers [L, 4]."""
        return self.client.copy()

    @staticmethod
    def rule(seen: Floats) -> Floats:
        """Ask for more where losses are likelier, and where the client is ready to pay."""
        return np.clip(2.1 + 1.04 * np.exp(0.7 * seen[:, :1]) + 0.54 * seen[:, 1:2], 0.0, 10.0)


class Reservoir(LaneGame):
    """Releases water from a reservoir for 120 days: power now, against floods and dry days later.

    Rain comes in spells. What is above 100 floods the valley at 5 a unit; a day below 10 costs 20.

    Observations: level, rain of the day, sine and cosine of the season. Actions: how much to release, 0 to 4 times 3.
    """

    steps = 120
    seen = spaces.Box(-np.inf, np.inf, (4,), np.float64)
    moves = spaces.Discrete(5)
    FULL, LOW, UNIT = 100.0, 10.0, 3.0

    def begin(self, lanes: Flags) -> None:
        """Begin half full, on some day of the season, in a dry spell."""
        if np.all(lanes):
            self.level, self.rain, self.day = (np.empty(self.num_envs) for _ in range(3))
            self.wet = np.empty(self.num_envs, dtype=np.bool_)
        self.level[lanes], self.rain[lanes], self.wet[lanes] = 50.0, 0.0, False
        self.day[lanes] = self.np_random.uniform(0.0, 360.0, int(np.sum(lanes)))

    def play(self, actions: NDArray[np.int64]) -> tuple[Floats, Flags]:
        """Release, and let it rain."""
        released = np.minimum(self.UNIT * actions, self.level)
        power = released * (0.5 + 0.5 * self.level / self.FULL)  # a high level drives the turbines harder
        self.level -= released
        season = 0.5 + 0.5 * np.sin(np.pi * self.day / 180.0)
        draws = self.np_random.random((2, self.num_envs))
        self.wet = np.where(self.wet, draws[0] < 0.85, draws[0] < 0.03 + 0.07 * season)
        self.rain = np.where(self.wet, 10.0, 2.0) * -np.log1p(-draws[1])
        self.level += self.rain
        flood = np.maximum(self.level - self.FULL, 0.0)
        self.level -= flood
        self.day += 1.0
        return 0.2 * power - 5.0 * flood - 20.0 * (self.level < self.LOW), self.age >= self.steps

    def observe(self) -> Floats:
        """Give level, rain, and the season [L, 4]."""
        angle = np.pi * self.day / 180.0
        return np.stack([self.level, self.rain, np.sin(angle), np.cos(angle)], axis=1)

    @staticmethod
    def rule(seen: Floats) -> NDArray[np.int64]:
        """Release all that is not needed against dry days."""
        return np.clip(np.rint((seen[:, 0] - 12.0) / 3.5), 0, 4).astype(np.int64)


def make_dosing() -> gymnasium.Env[Any, Any]:
    """Make `Dosing` with parts to see."""
    return Parts(OneLane(Dosing))


def make_lake() -> gymnasium.Env[Any, Any]:
    """Make the slippery lake of four by four, its states one-hot."""
    return FlattenObservation(gymnasium.make("FrozenLake-v1"))


HEDGE: Final = register_game("Hedge-v0", Hedge)
STORE: Final = register_game("Store-v0", Store)
PASSAGE: Final = register_game("Passage-v0", Passage)
QUOTE: Final = register_game("Quote-v0", Quote)
RESERVOIR: Final = register_game("Reservoir-v0", Reservoir)
DOSING: Final = "riskgrad-benchmarks/Dosing-v0"
LAKE: Final = "riskgrad-benchmarks/OneHotLake-v0"
gymnasium.register(DOSING, make_dosing, max_episode_steps=Dosing.steps)
gymnasium.register(LAKE, make_lake, max_episode_steps=100)

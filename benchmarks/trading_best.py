"""The most that trading can be worth, by dynamic programming on a grid, to about 0.01.

For the mean the state is price, shares and time. For CVaR(alpha) = max over s of s + E[min(R - s, 0)] / alpha it also
has z, the return so far less s, and one pass serves every s: it begins at z = -s. So the value is that of the best
policy that also knows what was earned, which one that sees price, shares and time alone may not reach.

    P prices   Q numbers of shares, in steps of 0.2   Z returns less s
"""

from dataclasses import dataclass

import numpy as np
from lane_games import Floats
from learning_envs import Trading
from numpy.typing import NDArray

SHARES = 0.2 * np.arange(-60, 61)
NODES, CHANCES = np.polynomial.hermite_e.hermegauss(15)


def expect(prices: Floats) -> Floats:
    """Give the matrix [P, P] that takes a function of the next price to its mean, given the price before."""
    to = 1.0 + (prices[:, None] - 1.0) * Trading.KEPT + Trading.NOISE * NODES
    gap = prices[1] - prices[0]
    place = np.clip((to - prices[0]) / gap, 0.0, len(prices) - 1.001)
    below, part = place.astype(np.int64), place % 1.0
    matrix = np.zeros((len(prices), len(prices)))
    for node, chance in enumerate(CHANCES / np.sum(CHANCES)):
        rows = np.arange(len(prices))
        np.add.at(matrix, (rows, below[:, node]), chance * (1.0 - part[:, node]))
        np.add.at(matrix, (rows, below[:, node] + 1), chance * part[:, node])
    return matrix


def best_mean(discount: float = 1.0) -> float:
    """Give the best mean of the return."""
    prices = np.linspace(-2.0, 4.0, 601)
    matrix = expect(prices)
    worth = prices[:, None] * SHARES - Trading.PENALTY * SHARES**2
    for step in range(Trading.steps):
        then = (matrix @ worth) * (discount if step else 1.0)  # what is held is sold within the last step
        worth = np.max([earn(prices, trade)[:, None] + shift(then, trade) for trade in Trading.TRADES], axis=0)
    return float(np.interp(1.0, prices, worth[:, len(SHARES) // 2]))


@dataclass(frozen=True)
class TailPlan:
    """The best policy for CVaR(alpha), which knows the return so far.

    Attributes:
        value: what it is worth, by the program.
        start: s, the return that it compares with.
        prices: the grid of prices [P].
        so_far: the grid of returns less s [Z].
        trades: which trade to make at each step [T, P, Q, Z].
    """

    value: float
    start: float
    prices: Floats
    so_far: Floats
    trades: NDArray[np.int8]

    def play(self, games: int, seed: int) -> Floats:
        """Give the returns of games played by the nearest points of the grid, at a discount of 1."""
        game, returns = Trading(games), np.zeros(games)
        game.reset(seed=seed)
        for plan in self.trades:
            held = np.clip(np.rint(game.held / 0.2).astype(np.int64) + len(SHARES) // 2, 0, len(SHARES) - 1)
            near = nearest(self.prices, game.price), held, nearest(self.so_far, returns - self.start)
            returns += game.step(plan[near])[1]
        return returns


def best_tail(alpha: float, discount: float = 1.0, fine: int = 1) -> TailPlan:
    """Give the best policy for CVaR(alpha) of the return, on a grid so many times as fine."""
    factors = discount ** np.arange(Trading.steps)
    prices, so_far = np.linspace(-1.0, 3.0, 40 * fine + 1), np.linspace(-10.0, 6.0, 160 * fine + 1)
    matrix = expect(prices)
    last = prices[:, None] * SHARES - Trading.PENALTY * SHARES**2
    worth = np.minimum(so_far + factors[-1] * last[:, :, None], 0.0)  # [P, Q, Z]
    plans: list[NDArray[np.int8]] = []
    for factor in factors[::-1]:
        then = np.tensordot(matrix, worth, 1)
        worth, plan = np.full_like(then, -np.inf), np.zeros(then.shape, dtype=np.int8)
        for which, trade in enumerate(Trading.TRADES):
            earned, bought = factor * earn(prices, trade), shift(then, trade)
            for row, reward in enumerate(earned):
                found = move(bought[row], reward, so_far)
                better = found > worth[row]
                worth[row][better], plan[row][better] = found[better], which
        plans.insert(0, plan)
    values = -so_far + worth[nearest(prices, np.ones(1))[0], len(SHARES) // 2] / alpha
    best = int(np.argmax(values))
    return TailPlan(float(values[best]), float(-so_far[best]), prices, so_far, np.stack(plans))


def nearest(grid: Floats, values: Floats) -> NDArray[np.int64]:
    """Give the places of the points of an even grid that are nearest to values."""
    places = np.rint((values - grid[0]) / (grid[1] - grid[0])).astype(np.int64)
    return np.clip(places, 0, len(grid) - 1)


def earn(prices: Floats, trade: float) -> Floats:
    """Give what a trade earns at each price [P]."""
    return -prices * trade - Trading.FEE * trade**2


def shift(then: Floats, trade: float) -> Floats:
    """Give a function of the shares [P, Q, ...] as one of the shares before a trade; the ends stand for all beyond."""
    places = np.clip(np.arange(len(SHARES)) + round(trade / 0.2), 0, len(SHARES) - 1)
    return then[:, places]


def move(then: Floats, reward: float, so_far: Floats) -> Floats:
    """Give a function of the return so far [Q, Z] as one of that before a reward, linear between points and beyond."""
    place = np.clip((so_far + reward - so_far[0]) / (so_far[1] - so_far[0]), 0.0, len(so_far) - 1.001)
    below, part = place.astype(np.int64), place % 1.0
    found = (1.0 - part) * then[:, below] + part * then[:, below + 1]
    return found + np.minimum(so_far + reward - so_far[0], 0.0)  # far below s every unit counts in full

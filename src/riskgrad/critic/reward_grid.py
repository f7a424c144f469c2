"""A grid for rewards that take very many values: each is split between two grid points so that its mean is kept.

A model has an outcome for each different reward, so that continuous rewards would make one outcome for each step that
was ever played. Beyond 2,048 values each reward is therefore split between its neighbors on a grid, with
shares that keep its mean. Half of the grid points are quantiles of the rewards, where most of them lie; the other half
is evenly spaced from the least to the largest reward, for the tails. The grid is a function of the rewards alone.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from riskgrad.types import FloatArray

MOST_REWARDS: Final = 2048


@dataclass(frozen=True, eq=False)
class RewardGrid:
    """A grid of rewards.

    Attributes:
        values: the grid points [K], increasing, at least two.
    """

    values: FloatArray

    def covers(self, rewards: FloatArray) -> bool:
        """Say whether all rewards [N] lie within the grid."""
        return bool(np.min(rewards) >= self.values[0] and np.max(rewards) <= self.values[-1])

    def split(self, rewards: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Give the grid points below and above each reward, each [N], and the share of the point above [N]."""
        above = np.clip(np.searchsorted(self.values, rewards, side="right"), 1, len(self.values) - 1)
        low, high = self.values[above - 1], self.values[above]
        return low, high, (rewards - low) / (high - low)


def make_grid(rewards: FloatArray) -> RewardGrid:
    """Make the grid for rewards [N], which take at least two different values."""
    half = MOST_REWARDS // 2
    common = np.quantile(rewards, np.linspace(0.0, 1.0, half), method="inverted_cdf")
    spread = np.linspace(np.min(rewards), np.max(rewards), half)
    return RewardGrid(np.unique(np.concatenate([common, spread])))

"""A grid for rewards that have very many values: each is split between two points so that its mean is kept.

A model has an outcome for each reward that followed a step, so that rewards from a continuum would make one for each
step that was ever played. Beyond 2,048 values each reward is therefore split between its neighbors on a grid, with
shares that keep its mean. Half of the grid are quantiles of the rewards, where most of them lie; the other half is
evenly spread from the least to the largest, for the tails. It is a function of the rewards alone.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from riskgrad.types import FloatArray

MOST_REWARDS: Final = 2048


@dataclass(frozen=True, eq=False)
class RewardGrid:
    """Rewards that a model knows.

    Attributes:
        values: rising, at least two [K].
    """

    values: FloatArray

    def covers(self, rewards: FloatArray) -> bool:
        """Say whether all rewards [N] lie within the grid."""
        return bool(np.min(rewards) >= self.values[0] and np.max(rewards) <= self.values[-1])

    def split(self, rewards: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Give the neighbors below and above each reward [N], and the share of the one above [N]."""
        above = np.clip(np.searchsorted(self.values, rewards, side="right"), 1, len(self.values) - 1)
        low, high = self.values[above - 1], self.values[above]
        return low, high, (rewards - low) / (high - low)


def make_grid(rewards: FloatArray) -> RewardGrid:
    """Give the grid of rewards [N], of which there are at least two values."""
    half = MOST_REWARDS // 2
    common = np.quantile(rewards, np.linspace(0.0, 1.0, half), method="inverted_cdf")
    spread = np.linspace(np.min(rewards), np.max(rewards), half)
    return RewardGrid(np.unique(np.concatenate([common, spread])))

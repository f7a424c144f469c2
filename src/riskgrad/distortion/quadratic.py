"""The quadratic row of the table, g(s) = (1 + lambda) s - lambda s^2; -lambda gives its dual."""

from dataclasses import dataclass

import numpy as np

from riskgrad.distortion.base import TableRow
from riskgrad.types import FloatArray


@dataclass(frozen=True)
class Quadratic(TableRow):
    """The mean minus (averse) or plus (seeking) lambda/2 times Gini's mean difference E|R - R'|.

    Literal row (`tb:g`): g(s) = (1 + lambda) s - lambda s^2, 0 <= lambda <= 1.
    """

    name = "quadratic"
    example = "quadratic:0.5"
    highest = 1.0
    lowest_allowed = True
    why = "above 1 it is not monotone"

    def _row_at(self, s: FloatArray) -> FloatArray:
        return s * (1.0 + self.lam * (1.0 - s))

    def _dual_at(self, s: FloatArray) -> FloatArray:
        return s * ((1.0 - self.lam) + self.lam * s)

    def _row_slope_at(self, s: FloatArray) -> FloatArray:
        return 1.0 + self.lam * (1.0 - 2.0 * s)

    def _row_bend_at(self, s: FloatArray) -> FloatArray:
        return np.full_like(s, -2.0 * self.lam)

    @property
    def slope_bound(self) -> float:
        """M_g' = 1 + lambda."""
        return 1.0 + self.lam

    @property
    def curvature_bound(self) -> float:
        """M_g'' = 2 lambda."""
        return 2.0 * self.lam

"""The square-root row of the table; -lambda / (1 + lambda) in place of lambda gives its dual."""

from dataclasses import dataclass

import numpy as np

from riskgrad.distortion.base import TableRow
from riskgrad.types import FloatArray


@dataclass(frozen=True)
class SquareRoot(TableRow):
    """A mild distortion: its slope is at most (sqrt(1 + lambda) + 1) / 2, which grows slowly with lambda.

    Literal row (`tb:g`): g(s) = (sqrt(1 + lambda s) - 1) / (sqrt(1 + lambda) - 1), lambda > 0. Both forms are computed
    after multiplying by the conjugate, which avoids cancellation and gives the identity at tiny lambda.
    """

    name = "square-root"
    example = "square-root:5"

    def _row_at(self, s: FloatArray) -> FloatArray:
        return s * ((self._root + 1.0) / (np.sqrt(1.0 + self.lam * s) + 1.0))

    def _dual_at(self, s: FloatArray) -> FloatArray:
        return s * ((self._root + 1.0) / (np.sqrt(1.0 + self.lam * (1.0 - s)) + self._root))

    def _row_slope_at(self, s: FloatArray) -> FloatArray:
        return self.slope_bound / np.sqrt(1.0 + self.lam * s)

    def _row_bend_at(self, s: FloatArray) -> FloatArray:
        inside = 1.0 + self.lam * s
        return -self.curvature_bound / (inside * np.sqrt(inside))

    @property
    def _root(self) -> float:
        return float(np.sqrt(1.0 + self.lam))

    @property
    def slope_bound(self) -> float:
        """M_g' = (sqrt(1 + lambda) + 1) / 2."""
        return (self._root + 1.0) / 2.0

    @property
    def curvature_bound(self) -> float:
        """M_g'' = lambda (sqrt(1 + lambda) + 1) / 4."""
        return self.lam * self.slope_bound / 2.0

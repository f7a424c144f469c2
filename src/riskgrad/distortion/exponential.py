"""The exponential row of the table, g(s) = (1 - e^(-lambda s)) / (1 - e^(-lambda)); its dual has -lambda for lambda."""

from dataclasses import dataclass

import numpy as np

from riskgrad.distortion.base import NEGLIGIBLE, TableRow
from riskgrad.types import FloatArray


@dataclass(frozen=True)
class Exponential(TableRow):
    """Weights on the quantiles that fall (seeking: rise) geometrically from the worst to the best outcome.

    Literal row (`tb:g`): g(s) = (1 - exp(-lambda s)) / (1 - exp(-lambda)), lambda > 0.
    """

    name = "exponential"
    example = "exponential:3"

    def _literal(self, s: FloatArray) -> FloatArray:
        return s if self.lam < NEGLIGIBLE else np.expm1(-self.lam * s) / np.expm1(-self.lam)

    def _dual(self, s: FloatArray) -> FloatArray:
        # (e^(lambda s) - 1) / (e^lambda - 1), scaled so that no exponential overflows
        return s if self.lam < NEGLIGIBLE else np.exp(-self.lam * (1.0 - s)) * self._literal(s)

    def _first(self, s: FloatArray) -> FloatArray:
        return self.slope_bound * np.exp(-self.lam * s)

    def _second(self, s: FloatArray) -> FloatArray:
        return -self.curvature_bound * np.exp(-self.lam * s)

    @property
    def slope_bound(self) -> float:
        """M_g' = lambda / (1 - e^(-lambda))."""
        return float(-self.lam / np.expm1(-self.lam))

    @property
    def curvature_bound(self) -> float:
        """M_g'' = lambda^2 / (1 - e^(-lambda))."""
        return self.lam * self.slope_bound

"""The exponential row of the table, g(s) = (1 - e^(-lambda s)) / (1 - e^(-lambda)); -lambda gives its dual."""

from dataclasses import dataclass

from riskgrad.distortion.base import NEGLIGIBLE, TableRow
from riskgrad.kernels.formulas import exp_of, expm1_of
from riskgrad.types import FloatArray


@dataclass(frozen=True)
class Exponential(TableRow):
    """A distortion whose weights fall (seeking: rise) geometrically from the worst quantile to the best.

    Literal row (`tb:g`): g(s) = (1 - exp(-lambda s)) / (1 - exp(-lambda)), lambda > 0.
    """

    name = "exponential"
    example = "exponential:3"

    def _row_at(self, s: FloatArray) -> FloatArray:
        return s if self.lam < NEGLIGIBLE else expm1_of(-self.lam * s) / expm1_of(-self.lam)

    def _dual_at(self, s: FloatArray) -> FloatArray:
        # (e^(lambda s) - 1) / (e^lambda - 1), scaled so that no exponential overflows
        return s if self.lam < NEGLIGIBLE else exp_of(-self.lam * (1.0 - s)) * self._row_at(s)

    def _row_slope_at(self, s: FloatArray) -> FloatArray:
        return self.slope_bound * exp_of(-self.lam * s)

    def _row_bend_at(self, s: FloatArray) -> FloatArray:
        return -self.curvature_bound * exp_of(-self.lam * s)

    @property
    def slope_bound(self) -> float:
        """M_g' = lambda / (1 - e^(-lambda))."""
        return float(-self.lam / expm1_of(-self.lam))

    @property
    def curvature_bound(self) -> float:
        """M_g'' = lambda^2 / (1 - e^(-lambda))."""
        return self.lam * self.slope_bound

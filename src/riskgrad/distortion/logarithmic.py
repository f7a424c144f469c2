"""The logarithmic row of the table; its dual has -lambda / (1 + lambda) for lambda."""

from dataclasses import dataclass

from riskgrad.distortion.base import NEGLIGIBLE, TableRow
from riskgrad.kernels.formulas import log1p_of
from riskgrad.kinds import checks_fields
from riskgrad.types import FloatArray


@checks_fields
@dataclass(frozen=True)
class Logarithmic(TableRow):
    """Weights on the quantiles that fall like 1 / (1 + lambda q) away from the worst (seeking: best) outcome.

    Literal row (`tb:g`): g(s) = log(1 + lambda s) / log(1 + lambda), lambda > 0.
    """

    name = "logarithmic"
    example = "logarithmic:5"

    def _literal(self, s: FloatArray) -> FloatArray:
        return s if self.lam < NEGLIGIBLE else log1p_of(self.lam * s) / log1p_of(self.lam)

    def _dual(self, s: FloatArray) -> FloatArray:
        # log((1 + lambda) / (1 + lambda (1 - s))), with the ratio's distance from 1 formed first
        if self.lam < NEGLIGIBLE:
            return s
        return log1p_of(self.lam * s / (1.0 + self.lam * (1.0 - s))) / log1p_of(self.lam)

    def _first(self, s: FloatArray) -> FloatArray:
        return self.slope_bound / (1.0 + self.lam * s)

    def _second(self, s: FloatArray) -> FloatArray:
        return -self.curvature_bound / (1.0 + self.lam * s) ** 2

    @property
    def slope_bound(self) -> float:
        """M_g' = lambda / log(1 + lambda)."""
        return float(self.lam / log1p_of(self.lam))

    @property
    def curvature_bound(self) -> float:
        """M_g'' = lambda^2 / log(1 + lambda)."""
        return self.lam * self.slope_bound

"""The dual-power row of the table, g(s) = 1 - (1 - s)^lambda, and its averse dual s^lambda."""

from dataclasses import dataclass

from riskgrad.distortion.base import TableRow
from riskgrad.kernels.formulas import expm1_of, log1p_of, power_of
from riskgrad.types import FloatArray


@dataclass(frozen=True)
class DualPower(TableRow):
    """The mean of the worst (averse, s^lambda) or best (seeking) of lambda independent returns, for whole lambda.

    Literal row (`tb:g`): g(s) = 1 - (1 - s)^lambda, lambda >= 2; for 1 < lambda < 2 the second derivative is unbounded
    and no guarantee holds.
    """

    name = "dual-power"
    example = "dual-power:2"
    lowest = 2.0
    lowest_allowed = True
    why = "between 1 and 2 its second derivative is unbounded; 1 is the identity"

    def _row_at(self, s: FloatArray) -> FloatArray:
        if self.lam == 2.0:
            return s * (2.0 - s)
        return -expm1_of(self.lam * log1p_of(-s))  # at s = 1 log1p gives -inf, and so g(1) = 1

    def _dual_at(self, s: FloatArray) -> FloatArray:
        return s * s if self.lam == 2.0 else power_of(s, self.lam)

    def _row_slope_at(self, s: FloatArray) -> FloatArray:
        return self.lam * power_of(1.0 - s, self.lam - 1.0)

    def _row_bend_at(self, s: FloatArray) -> FloatArray:
        return -self.lam * (self.lam - 1.0) * power_of(1.0 - s, self.lam - 2.0)

    @property
    def slope_bound(self) -> float:
        """M_g' = lambda."""
        return self.lam

    @property
    def curvature_bound(self) -> float:
        """M_g'' = lambda (lambda - 1)."""
        return self.lam * (self.lam - 1.0)

"""The logarithmic row of the table; -lambda / (1 + lambda) in place of lambda gives its dual."""

from dataclasses import dataclass
from functools import lru_cache

from riskgrad.distortion.base import NEGLIGIBLE, TableRow
from riskgrad.kernels.formulas import log1p_of
from riskgrad.types import FloatArray


@lru_cache(maxsize=64)
def _scale(lam: float) -> float:
    """Give log(1 + lambda), by which g is divided so that g(1) = 1."""
    return float(log1p_of(lam))


@dataclass(frozen=True)
class Logarithmic(TableRow):
    """A distortion whose weights fall like 1 / (1 + lambda q) from the worst quantile, q = 0 (seeking: from the best).

    Literal row (`tb:g`): g(s) = log(1 + lambda s) / log(1 + lambda), lambda > 0.
    """

    name = "logarithmic"
    example = "logarithmic:5"

    def _row_at(self, s: FloatArray) -> FloatArray:
        return s if self.lam < NEGLIGIBLE else log1p_of(self.lam * s) / _scale(self.lam)

    def _dual_at(self, s: FloatArray) -> FloatArray:
        # log((1 + lambda) / (1 + lambda (1 - s))), as log1p of the ratio minus 1, which has a closed form
        if self.lam < NEGLIGIBLE:
            return s
        below = 1.0 - s  # computed in place from here on: a new array takes as long as an operation
        below *= self.lam
        below += 1.0
        ratio = self.lam * s
        ratio /= below
        answer = log1p_of(ratio)
        answer /= _scale(self.lam)
        return answer

    def _row_slope_at(self, s: FloatArray) -> FloatArray:
        return self.slope_bound / (1.0 + self.lam * s)

    def _row_bend_at(self, s: FloatArray) -> FloatArray:
        return -self.curvature_bound / (1.0 + self.lam * s) ** 2

    @property
    def slope_bound(self) -> float:
        """M_g' = lambda / log(1 + lambda)."""
        return self.lam / _scale(self.lam)

    @property
    def curvature_bound(self) -> float:
        """M_g'' = lambda^2 / log(1 + lambda)."""
        return self.lam * self.slope_bound

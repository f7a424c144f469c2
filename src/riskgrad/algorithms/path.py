"""The way from the mean to the named measure: straight, or bent by way of a power.

    straight    (1 - w) s + w g(s)
    bent        (1 - w)^2 s + 2 w (1 - w) p(s) + w^2 g(s),   p(s) = s^K,   K = (1 + M_g') / 2

w rises from 0 to 1. A tail measure sees nothing of what happens above its tail: where ruin fills the worst tenth, a
policy with less ruin, but more than a tenth, is no better in CVaR(0.1), and the straight way ends on that plateau. The
mean of the worst of K episodes, which is what s^K stands for, does see it, and leads past. A seeking measure goes by
way of the seeking power 1 - (1 - s)^K. Where K is below 2 the measure is close to the mean and the way is straight; so
it is for measures that are no distortion, mean-variance among them.
"""

from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np

from riskgrad.distortion import Attitude, DistortionFunction, DualPower
from riskgrad.errors import InputError
from riskgrad.risk import Distortion, RiskMeasure
from riskgrad.risk.distortion import DistortionMeasure
from riskgrad.types import FloatArray


@final
@dataclass(frozen=True, slots=True)
class BentPath:
    """A path from the mean to the named measure by way of a power; for `risk_path`.

    Attributes:
        part: the part of the run that it takes, in (0, 1].
    """

    part: float


RiskPath = float | BentPath


@final
@dataclass(frozen=True)
class Bend(DistortionFunction):
    """(1 - w)^2 s + 2 w (1 - w) p(s) + w^2 g(s): a point on the bent path.

    Attributes:
        g: the distortion at the end.
        by: the distortion p on the way.
        weight: w in [0, 1].
    """

    g: DistortionFunction
    by: DistortionFunction
    weight: float

    @property
    def attitude(self) -> Attitude:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The attitude of g, or neutral at weight 0."""
        return self.g.attitude if self.weight > 0.0 else "neutral"

    def at(self, s: FloatArray) -> FloatArray:
        """Give the distortion at levels in [0, 1]."""
        return self._mixed(s, self.by.at(s), self.g.at(s))

    def slope_at(self, s: FloatArray) -> FloatArray:
        """Give its first derivative."""
        return self._mixed(np.ones_like(s), self.by.slope_at(s), self.g.slope_at(s))

    def bend_at(self, s: FloatArray) -> FloatArray:
        """Give its second derivative."""
        return self._mixed(np.zeros_like(s), self.by.bend_at(s), self.g.bend_at(s))

    def dual(self) -> Self:
        """The path to the dual of g by way of the dual power."""
        return replace(self, g=self.g.dual(), by=self.by.dual())

    @property
    def slope_bound(self) -> float:
        """M_g' of the mixture, from those of its parts."""
        return (1.0 - self.weight) ** 2 + sum(share * part.slope_bound for share, part in self._shares() if share > 0.0)

    @property
    def curvature_bound(self) -> float:
        """M_g'' of the mixture, from those of its parts."""
        return sum(share * part.curvature_bound for share, part in self._shares() if share > 0.0)

    def _shares(self) -> tuple[tuple[float, DistortionFunction], tuple[float, DistortionFunction]]:
        return (2.0 * self.weight * (1.0 - self.weight), self.by), (self.weight**2, self.g)

    def _mixed(self, s: FloatArray, by: FloatArray, g: FloatArray) -> FloatArray:
        w = self.weight
        return (1.0 - w) ** 2 * s + 2.0 * w * (1.0 - w) * by + w**2 * g


def settled(path: RiskPath | None, risk: RiskMeasure) -> tuple[float | None, DualPower | None]:
    """Check a path; give the part of the run that it takes and the power on the way, each None where there is none."""
    part = path.part if isinstance(path, BentPath) else path
    if part is None:
        return None, None
    if isinstance(part, bool) or not isinstance(part, int | float) or not 0.0 < part <= 1.0:
        raise InputError("risk_path", "be a part of the run in (0, 1], a BentPath, or None", part)
    if not isinstance(path, BentPath) or not isinstance(risk, DistortionMeasure):
        return float(part), None
    if risk.attitude not in ("averse", "seeking") or not 3.0 <= risk.function.slope_bound < np.inf:
        return float(part), None
    return float(part), DualPower(0.5 * (1.0 + risk.function.slope_bound), attitude=risk.attitude)


def measure_at(risk: RiskMeasure, by: DualPower | None, weight: float) -> RiskMeasure:
    """Give the measure on the path at weight w."""
    if weight == 1.0:
        return risk
    if by is None or not isinstance(risk, DistortionMeasure):
        return risk.along(weight)
    return Distortion(Bend(risk.function, by, weight), estimator=risk.estimator)

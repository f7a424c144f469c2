"""The way to the named measure: from the mean, or from the worse of two episodes.

    from the mean      (1 - w) s + w g(s)
    from the square    (1 - w) s^2 + w g(s)

w rises from 0 to 1. s^2 stands for the mean of the worse of two episodes. It leads out of where a tail measure stands
still, as the mean does, and has two merits of its own. It is averse, so that the policy does not first make sure of
what the named measure will condemn. And it sees what is above the tail: where ruin fills the worst tenth, a policy with
less ruin, but more than a tenth, is no better in CVaR(0.1), and the mean may even prefer the ruin.

A seeking measure starts from 1 - (1 - s)^2, the better of two. A measure milder than the square (M_g' below 2), and one
that is no distortion, such as mean-variance, starts from the mean.
"""

from dataclasses import dataclass, replace
from typing import Final, Self, final

import numpy as np

from riskgrad.distortion import Attitude, DistortionFunction, DualPower
from riskgrad.errors import InputError
from riskgrad.risk import Distortion, RiskMeasure
from riskgrad.risk.distortion import DistortionMeasure
from riskgrad.types import FloatArray

PAIR: Final = 2.0


@final
@dataclass(frozen=True, slots=True)
class SquarePath:
    """A path to the named measure that starts from the worse of two episodes; for `risk_path`.

    Attributes:
        part: the part of the run that it takes, in (0, 1].
    """

    part: float


RiskPath = float | SquarePath


@final
@dataclass(frozen=True)
class Between(DistortionFunction):
    """(1 - w) p(s) + w g(s), for p and g of one attitude: a point on the path from p to g.

    Attributes:
        start: p.
        g: the distortion at the end.
        weight: w in [0, 1].
    """

    start: DistortionFunction
    g: DistortionFunction
    weight: float

    @property
    def attitude(self) -> Attitude:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The attitude that both ends have."""
        return self.g.attitude

    def at(self, s: FloatArray) -> FloatArray:
        """Give the distortion at levels in [0, 1]."""
        return (1.0 - self.weight) * self.start.at(s) + self.weight * self.g.at(s)

    def slope_at(self, s: FloatArray) -> FloatArray:
        """Give its first derivative."""
        return (1.0 - self.weight) * self.start.slope_at(s) + self.weight * self.g.slope_at(s)

    def bend_at(self, s: FloatArray) -> FloatArray:
        """Give its second derivative."""
        return (1.0 - self.weight) * self.start.bend_at(s) + self.weight * self.g.bend_at(s)

    def dual(self) -> Self:
        """The path between the duals."""
        return replace(self, start=self.start.dual(), g=self.g.dual())

    @property
    def slope_bound(self) -> float:
        """M_g', at most the mixture of those of the ends."""
        return (1.0 - self.weight) * self.start.slope_bound + (self.weight * self.g.slope_bound if self.weight else 0.0)

    @property
    def curvature_bound(self) -> float:
        """M_g'', at most the mixture of those of the ends."""
        end = self.weight * self.g.curvature_bound if self.weight else 0.0
        return (1.0 - self.weight) * self.start.curvature_bound + end


def settled(path: RiskPath | None, risk: RiskMeasure) -> tuple[float | None, DualPower | None]:
    """Check a path; give the part of the run that it takes (None: no path) and where it starts (None: the mean)."""
    part = path.part if isinstance(path, SquarePath) else path
    if part is None:
        return None, None
    if isinstance(part, bool) or not isinstance(part, int | float) or not 0.0 < part <= 1.0:
        raise InputError("risk_path", "be a part of the run in (0, 1], a SquarePath, or None", part)
    if not isinstance(path, SquarePath) or not isinstance(risk, DistortionMeasure):
        return float(part), None
    if risk.attitude not in ("averse", "seeking") or not PAIR <= risk.function.slope_bound < np.inf:
        return float(part), None
    return float(part), DualPower(PAIR, attitude=risk.attitude)


def measure_at(risk: RiskMeasure, start: DualPower | None, weight: float) -> RiskMeasure:
    """Give the measure on the path at weight w."""
    if weight == 1.0:
        return risk
    if start is None or not isinstance(risk, DistortionMeasure):
        return risk.along(weight)
    return Distortion(Between(start, risk.function, weight), estimator=risk.estimator)

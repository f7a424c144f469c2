"""A mixture of the identity and another distortion: the path from neutral to averse."""

from dataclasses import dataclass, replace
from typing import Self

from riskgrad.checks import check_share
from riskgrad.distortion.base import Attitude, DistortionFunction
from riskgrad.types import FloatArray


@dataclass(frozen=True)
class Mixture(DistortionFunction):
    """g_w(s) = (1 - w) s + w g(s), so that rho = (1 - w) mean + w rho_g.

    Attributes:
        g: the distortion at the end of the path.
        weight: w in [0, 1]; 0 is neutral, 1 is g.
    """

    g: DistortionFunction
    weight: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", check_share("weight", self.weight))

    @property
    def attitude(self) -> Attitude:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The attitude of g, or neutral at weight 0."""
        return self.g.attitude if self.weight > 0.0 else "neutral"

    def at(self, s: FloatArray) -> FloatArray:
        """g_w(s)."""
        return (1.0 - self.weight) * s + self.weight * self.g.at(s)

    def slope_at(self, s: FloatArray) -> FloatArray:
        """g_w'(s)."""
        return (1.0 - self.weight) + self.weight * self.g.slope_at(s)

    def bend_at(self, s: FloatArray) -> FloatArray:
        """g_w''(s)."""
        return self.weight * self.g.bend_at(s)

    def dual(self) -> Self:
        """The mixture of the identity and the dual of g."""
        return replace(self, g=self.g.dual())

    @property
    def slope_bound(self) -> float:
        """(1 - w) + w M_g', exact since g' is not negative."""
        return (1.0 - self.weight) + (self.weight * self.g.slope_bound if self.weight else 0.0)

    @property
    def curvature_bound(self) -> float:
        """The weight w times M_g''."""
        return self.weight * self.g.curvature_bound if self.weight else 0.0

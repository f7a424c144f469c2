"""A mixture of two distortions: a point on the path from a milder one, such as the identity, to another."""

from dataclasses import dataclass, field, replace
from typing import Self

from riskgrad.checks import check_share
from riskgrad.distortion.base import Attitude, DistortionFunction
from riskgrad.distortion.identity import Identity
from riskgrad.types import FloatArray


@dataclass(frozen=True)
class Mixture(DistortionFunction):
    """g_w(s) = (1 - w) p(s) + w g(s), so that rho = (1 - w) rho_p + w rho_g.

    Attributes:
        g: the distortion at the end of the path.
        weight: w in [0, 1]; 0 is p, 1 is g.
        start: p, where the path begins: the identity, or a distortion of the attitude of g.
    """

    g: DistortionFunction
    weight: float
    start: DistortionFunction = field(default_factory=Identity)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", check_share("weight", self.weight))

    @property
    def attitude(self) -> Attitude:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The attitude of g, and of p at weight 0."""
        return self.g.attitude if self.weight > 0.0 else self.start.attitude

    def at(self, s: FloatArray) -> FloatArray:
        """Give g_w at levels in [0, 1]."""
        return (1.0 - self.weight) * self.start.at(s) + self.weight * self.g.at(s)

    def slope_at(self, s: FloatArray) -> FloatArray:
        """Give g_w'."""
        return (1.0 - self.weight) * self.start.slope_at(s) + self.weight * self.g.slope_at(s)

    def bend_at(self, s: FloatArray) -> FloatArray:
        """Give g_w''."""
        return (1.0 - self.weight) * self.start.bend_at(s) + self.weight * self.g.bend_at(s)

    def dual(self) -> Self:
        """Give the mixture of the duals."""
        return replace(self, start=self.start.dual(), g=self.g.dual())

    @property
    def slope_bound(self) -> float:
        """The mixture of both bounds, which is exact where p is the identity, since g' is not negative."""
        return (1.0 - self.weight) * self.start.slope_bound + (self.weight * self.g.slope_bound if self.weight else 0.0)

    @property
    def curvature_bound(self) -> float:
        """The mixture of both bounds; the weight w times M_g'' where p is the identity."""
        end = self.weight * self.g.curvature_bound if self.weight else 0.0
        return (1.0 - self.weight) * self.start.curvature_bound + end

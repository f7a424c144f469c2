"""Distortion functions: maps g of [0, 1] onto itself that say how much each part of a law counts.

    rho_g(R) = int_{-inf}^0 (g(P(R > x)) - 1) dx + int_0^inf g(P(R > x)) dx            (eq:rho_g_1)

Returns are sums of rewards, so g decides the attitude to risk: if g(s) <= s, bad outcomes count more than their share
and the measure is averse (rho_g <= mean); if g(s) >= s, it is seeking. The rows of the paper's table are concave, hence
seeking; the constructors here default to their averse duals 1 - g(1 - s). See docs/corrections.md, "Direction of risk".

To add a family, add a file to this folder with a final subclass of `DistortionFunction`, or of `TableRow`, which makes
the dual of a row. `riskgrad.distortion`, `parse`, the command line, the docs and the contract tests then include it.
`rg.register` adds a family that is defined elsewhere.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self, final

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import as_reals, check_number, check_share, check_word
from riskgrad.errors import InputError
from riskgrad.registry import PartList, demand_example, write_name
from riskgrad.types import FloatArray

Attitude = Literal["averse", "neutral", "seeking", "mixed"]

# a smaller parameter of a family changes g by less than rounding does: g is then the identity
NEGLIGIBLE = 2.0**-60


class DistortionFunction(ABC):
    """A non-decreasing continuous g on [0, 1] with g(0) = 0 and g(1) = 1, callable on arrays.

    Attributes:
        name: the name of the family for `parse` and the command line; empty if no string can build its members.
        example: a string that `parse` turns into a member of the family.
        attitude: "averse" if g(s) <= s everywhere, "seeking" if g(s) >= s, "neutral" if both hold, "mixed" if neither.
    """

    name: ClassVar[str] = ""
    example: ClassVar[str] = ""
    attitude: Attitude

    def __init_subclass__(cls) -> None:
        demand_example(cls)

    @final
    def __call__(self, s: ArrayLike) -> FloatArray:
        """Give g(s), elementwise; s outside [0, 1] is refused."""
        return self.at(check_levels(s))

    @final
    def derivative(self, s: ArrayLike) -> FloatArray:
        """Give g'(s), elementwise, one-sided at the ends; s outside [0, 1] is refused."""
        return self.slope_at(check_levels(s))

    @final
    def second_derivative(self, s: ArrayLike) -> FloatArray:
        """Give g''(s), elementwise, one-sided at the ends; s outside [0, 1] is refused."""
        return self.bend_at(check_levels(s))

    @abstractmethod
    def at(self, s: FloatArray) -> FloatArray:
        """Give g at levels that are known to lie in [0, 1]; estimators call this, since it does not check them."""

    @abstractmethod
    def slope_at(self, s: FloatArray) -> FloatArray:
        """Give g' at levels that are known to lie in [0, 1]."""

    @abstractmethod
    def bend_at(self, s: FloatArray) -> FloatArray:
        """Give g'' at levels that are known to lie in [0, 1]."""

    @abstractmethod
    def dual(self) -> "DistortionFunction":
        """Give the distortion s -> 1 - g(1 - s), for which rho_dual(R) = -rho_g(-R)."""

    @property
    @abstractmethod
    def slope_bound(self) -> float:
        """M_g' = sup |g'| on (0, 1); inf where there is no bound or none is known."""

    @property
    @abstractmethod
    def curvature_bound(self) -> float:
        """M_g'' = sup |g''| on (0, 1); inf where there is no bound or none is known."""

    def __str__(self) -> str:
        if not self.name:
            return f"distortion of {self!r}"
        numbers = [value for field, value in vars(self).items() if field != "attitude"]
        return write_name(self.name, *numbers, self.attitude if self.attitude == "seeking" else "")


@dataclass(frozen=True)
class Identity(DistortionFunction):
    """g(s) = s, the only neutral distortion; it is its own dual."""

    name = "identity"
    example = "identity"
    attitude = "neutral"

    def at(self, s: FloatArray) -> FloatArray:
        """Give g(s) = s."""
        return s

    def slope_at(self, s: FloatArray) -> FloatArray:
        """Give g'(s) = 1."""
        return np.ones_like(s)

    def bend_at(self, s: FloatArray) -> FloatArray:
        """Give g''(s) = 0."""
        return np.zeros_like(s)

    def dual(self) -> "Identity":
        """Give the identity."""
        return self

    @property
    def slope_bound(self) -> float:
        """M_g' = 1."""
        return 1.0

    @property
    def curvature_bound(self) -> float:
        """M_g'' = 0."""
        return 0.0


@dataclass(frozen=True)
class Mixture(DistortionFunction):
    """g_w(s) = (1 - w) p(s) + w g(s), so that rho = (1 - w) rho_p + w rho_g.

    Attributes:
        g: the distortion at the end of the path.
        weight: w in [0, 1]; 0 is p, 1 is g.
        start: p, the distortion at the start of the path: the identity, or one with the attitude of g.
    """

    g: DistortionFunction
    weight: float
    start: DistortionFunction = field(default_factory=Identity)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", check_share("weight", self.weight))

    @property
    def attitude(self) -> Attitude:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The attitude of g; at weight 0, that of p."""
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
        """The mixture of both bounds; exact if p is the identity, since g' is not negative."""
        return (1.0 - self.weight) * self.start.slope_bound + (self.weight * self.g.slope_bound if self.weight else 0.0)

    @property
    def curvature_bound(self) -> float:
        """The mixture of both bounds; if p is the identity, w times the bound of g."""
        end = self.weight * self.g.curvature_bound if self.weight else 0.0
        return (1.0 - self.weight) * self.start.curvature_bound + end


@dataclass(frozen=True)
class TableRow(DistortionFunction):
    """A row of the paper's table `tb:g`, or its averse dual: one parameter and an explicit attitude.

    A subclass gives the literal (concave, seeking) form of the row, and a closed form of its dual without cancellation;
    the attitude decides which of them is used.

    Attributes:
        lam: the parameter lambda of the row.
        attitude: "averse" (default) for the dual, "seeking" for the literal row of the paper.
    """

    lam: float
    attitude: Attitude = "averse"

    lowest: ClassVar[float] = 0.0
    highest: ClassVar[float] = np.inf
    lowest_allowed: ClassVar[bool] = False
    why: ClassVar[str] = ""

    def __post_init__(self) -> None:
        check_attitude(self.attitude)
        object.__setattr__(self, "lam", check_number("lambda", self.lam))
        above = self.lam >= self.lowest if self.lowest_allowed else self.lam > self.lowest
        if not (above and self.lam <= self.highest and np.isfinite(self.lam)):
            low = f"{'[' if self.lowest_allowed else '('}{self.lowest:g}"
            high = "inf)" if np.isinf(self.highest) else f"{self.highest:g}]"
            raise InputError(f"lambda of {self.name}", f"be in {low}, {high}", self.lam, self.why)

    def at(self, s: FloatArray) -> FloatArray:
        """Give the row or its dual at levels in [0, 1]."""
        return self._row_at(s) if self.attitude == "seeking" else self._dual_at(s)

    def slope_at(self, s: FloatArray) -> FloatArray:
        """Give g'(s), which for the dual is the derivative of the row at 1 - s."""
        return self._row_slope_at(s if self.attitude == "seeking" else 1.0 - s)

    def bend_at(self, s: FloatArray) -> FloatArray:
        """Give g''(s), which for the dual is minus the second derivative of the row at 1 - s."""
        return self._row_bend_at(s) if self.attitude == "seeking" else -self._row_bend_at(1.0 - s)

    def dual(self) -> Self:
        """Give the same row with the other attitude."""
        return replace(self, attitude="averse" if self.attitude == "seeking" else "seeking")

    @abstractmethod
    def _row_at(self, s: FloatArray) -> FloatArray:
        """Give g of the paper's row."""

    @abstractmethod
    def _dual_at(self, s: FloatArray) -> FloatArray:
        """Give 1 - g(1 - s), where g is the paper's row, in a form without cancellation."""

    @abstractmethod
    def _row_slope_at(self, s: FloatArray) -> FloatArray:
        """Give the first derivative of the row of the paper."""

    @abstractmethod
    def _row_bend_at(self, s: FloatArray) -> FloatArray:
        """Give the second derivative of the row of the paper."""


def check_levels(s: ArrayLike) -> FloatArray:
    """Check that s lies in [0, 1] and give it as an array."""
    level = as_reals("s", s)
    if level.size and not (level.min() >= 0.0 and level.max() <= 1.0):
        raise InputError("s", "be in [0, 1]", level[~((level >= 0.0) & (level <= 1.0))].flat[0])
    return level


def check_attitude(attitude: str) -> None:
    """Refuse an attitude that is neither "averse" nor "seeking"."""
    check_word("attitude", attitude, ["averse", "seeking"])


DISTORTIONS = PartList("distortion", DistortionFunction, "riskgrad.distortion")

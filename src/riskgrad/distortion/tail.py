"""Distortions that give weight to a tail only: that of CVaR, which has a kink, and one with the kink rounded to C^2.

Lower-tail (averse) CVaR at mass alpha has g(s) = max(0, 1 - (1 - s) / alpha): convex, with slope 1 / alpha above the
kink at s = 1 - alpha and slope 0 below. The textbooks' min(s / alpha, 1), written for losses, is its dual, which for
rewards gives the mean of the best outcomes of mass alpha.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from riskgrad.checks import check_number
from riskgrad.distortion.base import Attitude, DistortionFunction, check_attitude
from riskgrad.errors import InputError
from riskgrad.kernels.formulas import power_of
from riskgrad.types import FloatArray


@dataclass(frozen=True)
class TailFunction(DistortionFunction):
    """A distortion of a tail, as a function of the mass t from its end: t = 1 - s (averse) or t = s (seeking).

    Attributes:
        alpha: mass of the tail, in (0, 0.5].
        attitude: "averse" (default) for the bad tail, "seeking" for the good one.
    """

    alpha: float
    attitude: Attitude = "averse"

    def __post_init__(self) -> None:
        check_attitude(self.attitude)
        object.__setattr__(self, "alpha", check_alpha(self.alpha))

    def at(self, s: FloatArray) -> FloatArray:
        """Give g(s), which for s = P(R > x) is the share of the tail that lies above x."""
        return 1.0 - self._uncovered_share(s) if self.attitude == "seeking" else self._uncovered_share(1.0 - s)

    def slope_at(self, s: FloatArray) -> FloatArray:
        """Give g'(s); at a kink, the slope outside of the tail."""
        return self._density(s if self.attitude == "seeking" else 1.0 - s)

    def bend_at(self, s: FloatArray) -> FloatArray:
        """Give g''(s), NaN at a kink."""
        return -self._bend(s) if self.attitude == "seeking" else self._bend(1.0 - s)

    def dual(self) -> Self:
        """Give the distortion of the other tail."""
        return replace(self, attitude="averse" if self.attitude == "seeking" else "seeking")

    @property
    def slope_bound(self) -> float:
        """M_g' = 1 / alpha."""
        return 1.0 / self.alpha

    @abstractmethod
    def _uncovered_share(self, t: FloatArray) -> FloatArray:
        """Give the share of the tail that the outermost mass t does not cover: 1 at t = 0, 0 from about alpha on."""

    @abstractmethod
    def _density(self, t: FloatArray) -> FloatArray:
        """Give minus the first derivative of `_uncovered_share`: the weight of the quantile at t."""

    @abstractmethod
    def _bend(self, t: FloatArray) -> FloatArray:
        """Give the second derivative of `_uncovered_share`."""


@dataclass(frozen=True)
class LowerTail(TailFunction):
    """The distortion of CVaR: g(s) = max(0, 1 - (1 - s) / alpha). It has a kink, so its curvature has no bound."""

    def _uncovered_share(self, t: FloatArray) -> FloatArray:
        return np.maximum(0.0, 1.0 - t / self.alpha)

    def _density(self, t: FloatArray) -> FloatArray:
        return np.where(t < self.alpha, 1.0 / self.alpha, 0.0)[()]

    def _bend(self, t: FloatArray) -> FloatArray:
        return np.where(t == self.alpha, np.nan, 0.0)[()]

    @property
    def curvature_bound(self) -> float:
        """Infinite: the slope jumps at the kink."""
        return np.inf


@dataclass(frozen=True)
class SmoothLowerTail(TailFunction):
    """The distortion of CVaR with its kink rounded over [alpha - width, alpha + width].

    With x = (alpha - t) / width the hinge max(0, x) becomes p(x) = (1 + x)^3 (3 - x) / 16 on [-1, 1], the quartic with
    p, p' and p'' matched at both ends: the averse g is C^2 and convex, and 0 <= g_smooth - g <= gap, with
    gap = 3 width / (16 alpha).

    Attributes:
        alpha: mass of the tail, in (0, 0.5].
        width: half-width of the rounding, in (0, alpha]; alpha / 2 when not given.
    """

    width: float = np.nan

    def __init__(self, alpha: float, width: float | None = None, attitude: Attitude = "averse") -> None:
        check_attitude(attitude)
        mass = check_alpha(alpha)
        half = mass / 2.0 if width is None else check_number("width", width)
        if not 0.0 < half <= mass:
            raise InputError("width", f"be in (0, alpha] = (0, {mass:g}]", width)
        object.__setattr__(self, "alpha", mass)
        object.__setattr__(self, "width", half)
        object.__setattr__(self, "attitude", attitude)

    @property
    def gap(self) -> float:
        """The largest distance from the distortion of CVaR, 3 width / (16 alpha)."""
        return 3.0 * self.width / (16.0 * self.alpha)

    @property
    def curvature_bound(self) -> float:
        """M_g'' = 3 / (4 width alpha), attained in the middle of the rounding."""
        return 0.75 / (self.width * self.alpha)

    def _uncovered_share(self, t: FloatArray) -> FloatArray:
        raw = (self.alpha - t) / self.width
        x = np.clip(raw, -1.0, 1.0)
        rounded = power_of(1.0 + x, 3.0) * (3.0 - x) / 16.0
        return np.where(raw >= 1.0, 1.0 - t / self.alpha, rounded * (self.width / self.alpha))[()]

    def _density(self, t: FloatArray) -> FloatArray:
        x = np.clip((self.alpha - t) / self.width, -1.0, 1.0)
        return (1.0 + x) ** 2 * (2.0 - x) / (4.0 * self.alpha)

    def _bend(self, t: FloatArray) -> FloatArray:
        x = np.clip((self.alpha - t) / self.width, -1.0, 1.0)
        return self.curvature_bound * (1.0 - x * x)


def check_alpha(alpha: float) -> float:
    """Give alpha as a float; refuse one that is not the mass of a tail, and say what may have been meant."""
    mass = check_number("alpha", alpha)
    if not 0.0 < mass <= 0.5:
        hint = f"; did you mean {1.0 - mass:g}?" if 0.5 < mass < 1.0 else ""
        raise InputError("alpha", "be in (0, 0.5]", alpha, f"it is the mass of the bad tail (0.05: the worst 5%){hint}")
    return mass

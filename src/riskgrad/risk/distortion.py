"""Distortion risk measures: the mean of the return after its law has been distorted.

    rho_g(R) = int_{-inf}^0 (g(P(R > x)) - 1) dx + int_0^inf g(P(R > x)) dx            (eq:rho_g_1)

Estimators are in `risk/order.py`. With weights the self-normalized one is the default; the paper's order-statistic form
`eq:hat_rho_H1` is kept as "paper"; its integral form is not offered (docs/corrections.md, "Off-policy distortion").
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.distortion import Attitude, DistortionFunction, LowerTail, Mixture, SmoothLowerTail
from riskgrad.errors import InputError, UnknownNameError
from riskgrad.risk.base import EVERY_AXIOM, Axiom, RiskMeasure, check_weight, text
from riskgrad.risk.distortion_smoothness import distortion_smoothness
from riskgrad.risk.order import equal_weights, upper_masses, weighted
from riskgrad.risk.sample import checked_sample, shaped_sample
from riskgrad.risk.smoothness import Constants, Smoothness
from riskgrad.types import DiscreteLaw, FloatArray

Estimator = Literal["self-normalized", "paper"]


class DistortionMeasure(RiskMeasure):
    """A measure that is the distortion g of the law; what is common to all of them.

    Attributes:
        estimator: "self-normalized" (default), or "paper" for `eq:hat_rho_H1` as it stands.
    """

    estimator: Estimator

    @property
    def axioms(self) -> frozenset[Axiom]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Every axiom; the literal form can cross the mean, since it lets the top samples' weights go."""
        return EVERY_AXIOM if self.estimator == "self-normalized" else EVERY_AXIOM - {"direction"}

    @property
    @abstractmethod
    def function(self) -> DistortionFunction:
        """The distortion g."""

    def estimate(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """Estimate from order statistics: `eq:hat_rho_G1` without weights, reweighted with them."""
        sample = shaped_sample(values, weights)
        if sample.weights is None:
            return equal_weights(self.function, sample.values)
        return weighted(self.function, sample, literal=self.estimator == "paper")

    def value(self, law: DiscreteLaw) -> float:
        """Give rho_g of an exact law, atoms split correctly."""
        return float(law.values[0] + np.sum(np.diff(law.values) * self.function.at(law.upper_mass[1:])))

    def influence(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """Give the integral of g'(P(R > x)) up to each return, from the smallest (`lm:nabla_rho_g`)."""
        sample = checked_sample(values, weights)
        table = np.broadcast_to(sample.values, (*sample.shape, sample.size))
        order = np.argsort(table, axis=-1)
        steps = np.diff(np.take_along_axis(table, order, axis=-1), axis=-1)
        climbed = np.zeros(table.shape)
        climbed[..., 1:] = np.cumsum(steps * self.function.slope_at(upper_masses(sample, order)), axis=-1)
        result = np.empty(table.shape)
        np.put_along_axis(result, order, climbed, axis=-1)
        return result

    def smoothness(self, problem: Constants, *, off_policy: bool = False, literal: bool = False) -> Smoothness:
        """The constants of `lm:est_error_G`, `lm:est_error_H` and `lm:rho_lip`, or sharp ones; a kink has none."""
        if not np.isfinite(self.function.curvature_bound):
            raise InputError(
                "risk",
                "have a distortion with bounded g'' for a guarantee (`as:g'_bound`)",
                str(self),
                "a kink, as CVaR has, breaks the smoothness that the proof needs: SmoothCVaR rounds it off and has a "
                "bound; for a g of your own pass slope_bound and curvature_bound to Custom",
            )
        estimator = self.estimator if off_policy else "on-policy"
        return distortion_smoothness(self.function, problem, estimator, literal=literal)

    def along(self, weight: float) -> "Distortion":
        """The measure of the mixture (1 - w) s + w g(s)."""
        return Distortion(Mixture(self.function, check_weight(weight)), estimator=self.estimator)


@final
@dataclass(frozen=True)
class Distortion(DistortionMeasure):
    """The distortion risk measure rho_g of any distortion function.

    Attributes:
        g: the distortion; its attitude is the measure's.
        estimator: "self-normalized" (default) or "paper".
    """

    g: DistortionFunction
    estimator: Estimator = field(default="self-normalized", kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.g, DistortionFunction):
            raise InputError("g", "be a distortion function", self.g, "wrap your own in rg.distortion.Custom")
        _check_estimator(self.estimator)

    @property
    def function(self) -> DistortionFunction:
        """The distortion g."""
        return self.g

    @property
    def attitude(self) -> Attitude:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The attitude of g."""
        return self.g.attitude

    def __str__(self) -> str:
        return describe(self.g)


@final
@dataclass(frozen=True)
class CVaR(DistortionMeasure):
    """The mean of the worst alpha of the returns (conditional value at risk, expected shortfall).

    An atom that straddles the level is split, so that exactly alpha of mass counts. Kinked, hence not smooth: it can be
    trained, but the paper's guarantee needs `SmoothCVaR`.

    Attributes:
        alpha: mass of the bad tail, in (0, 0.5].
        attitude: "averse" (default), or "seeking" for the mean of the best alpha.
        estimator: "self-normalized" (default) or "paper".
    """

    name = "cvar"
    example = "cvar:0.1"
    alpha: float
    attitude: Attitude = "averse"
    estimator: Estimator = field(default="self-normalized", kw_only=True)

    def __post_init__(self) -> None:
        _check_estimator(self.estimator)
        object.__setattr__(self, "alpha", self.function.alpha)

    @property
    def function(self) -> LowerTail:
        """The kinked distortion of the tail."""
        return LowerTail(self.alpha, self.attitude)

    def __str__(self) -> str:
        return _tagged(f"cvar:{text(self.alpha)}", self.attitude)


@final
@dataclass(frozen=True)
class SmoothCVaR(DistortionMeasure):
    """CVaR with its kink rounded off, so that it is a smooth risk measure with a guarantee.

    Never below CVaR (averse), and above it by at most gap times (q(alpha + width) - q(alpha - width)), where q is the
    quantile of the return and gap = 3 width / (16 alpha).

    Attributes:
        alpha: mass of the bad tail, in (0, 0.5].
        width: half-width of the rounding in mass, in (0, alpha]; alpha / 2 when not given.
        attitude: "averse" (default), or "seeking" for the good tail.
        estimator: "self-normalized" (default) or "paper".
    """

    name = "smooth-cvar"
    example = "smooth-cvar:0.1"
    alpha: float
    width: float | None = None
    attitude: Attitude = "averse"
    estimator: Estimator = field(default="self-normalized", kw_only=True)

    def __post_init__(self) -> None:
        _check_estimator(self.estimator)
        object.__setattr__(self, "alpha", self.function.alpha)
        object.__setattr__(self, "width", self.function.width)

    @property
    def function(self) -> SmoothLowerTail:
        """The C^2 distortion of the tail."""
        return SmoothLowerTail(self.alpha, self.width, self.attitude)

    @property
    def gap(self) -> float:
        """The largest distance between the two distortions, 3 width / (16 alpha)."""
        return self.function.gap

    def __str__(self) -> str:
        return _tagged(f"smooth-cvar:{text(self.alpha)}:{text(self.function.width)}", self.attitude)


def describe(g: DistortionFunction) -> str:
    """Write a distortion as the string that `parse` reads, or as its representation if there is none."""
    fields = {name: value for name, value in vars(g).items() if name != "attitude"}
    if not g.name:
        return f"distortion of {g!r}"
    return _tagged(":".join([g.name, *(text(value) for value in fields.values())]), g.attitude)


def _tagged(words: str, attitude: Attitude) -> str:
    return f"{words}:seeking" if attitude == "seeking" else words


def _check_estimator(estimator: str) -> None:
    if estimator not in ("self-normalized", "paper"):
        raise UnknownNameError("estimator", estimator, ["self-normalized", "paper"])

"""Distortion risk measures: the mean of the return after its law has been distorted.

    rho_g(R) = int_{-inf}^0 (g(P(R > x)) - 1) dx + int_0^inf g(P(R > x)) dx            (eq:rho_g_1)

Estimators are in `risk/sample.py`. With weights the self-normalized one is the default, and the paper's order-statistic
form `eq:hat_rho_H1` is "paper"; its integral form is not offered (docs/corrections.md, "Off-policy distortion").

The sharp constants of a guarantee: with returns in an interval of length 2w everything is an integral over it
(`lm:nabla_rho_g`).

    error       rho_hat - rho = int g(1 - F_hat) - g(1 - F), so m MSE <= (2w M_g')^2 k, k a bound on m E[(F_hat - F)^2]:
                1/4 on policy (attained by a fair coin and g(s) = s), and off policy see `normalized_error` and below
    bias        a Taylor step: |E rho_hat - rho| <= 2w (M_g' |E F_hat - F| + M_g'' E[(F_hat - F)^2] / 2)
    slope       grad rho = Cov(influence(R), Z), and the influence int^R g'(1 - F) has a deviation of at most
                int g'(1 - F) sqrt(F (1 - F)) <= 2w K, K = sup g'(s) sqrt(s (1 - s)) <= M_g' / 2
    curvature   hess rho = E[influence(R) Y] + int g''(1 - F) grad F grad F', and (u.grad F)^2 <= F (1 - F) Var(Z.u)

The literal off-policy form `eq:hat_rho_H1` takes H = 1 above the largest return seen, which adds
(1 - F)^2 P_b(all returns <= x) to the error: at most M_s / (e m), and at most 4 M_s^2 / (27 m).
"""

import inspect
import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import check_word
from riskgrad.distortion import DISTORTIONS, Attitude, DistortionFunction, Identity, Mixture
from riskgrad.errors import InputError
from riskgrad.risk.base import EVERY_AXIOM, Axiom, RiskMeasure
from riskgrad.risk.sample import (
    check_sample,
    check_shapes,
    counted_distorted_mean,
    distorted_mean,
    order_coefficients,
    upper_masses,
    weighted_distorted_mean,
)
from riskgrad.risk.smoothness import Constants, Smoothness, normalized_bias, normalized_error, product
from riskgrad.types import DiscreteLaw, FloatArray, IntArray

DistortionEstimator = Literal["self-normalized", "paper"]

CELLS = 1 << 14  # cells of [0, 1] in which `spread_slope` bounds the slope


class DistortionMeasure(RiskMeasure):
    """A measure that is the distortion g of the law; what is common to all of them.

    Attributes:
        estimator: "self-normalized" (default), or "paper" for `eq:hat_rho_H1` as it stands.
    """

    estimator: DistortionEstimator
    has_influence = True

    @property
    def axioms(self) -> frozenset[Axiom]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Every axiom; the paper's estimator lacks direction: it ignores the weights of the largest returns."""
        return EVERY_AXIOM if self.estimator == "self-normalized" else EVERY_AXIOM - {"direction"}

    @property
    @abstractmethod
    def function(self) -> DistortionFunction:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The distortion g."""

    @property
    def estimator_name(self) -> str:
        """Which of its estimators is used."""
        return self.estimator

    def estimate(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """Estimate from order statistics: `eq:hat_rho_G1` without weights, reweighted with them."""
        sample = check_shapes(values, weights)
        if sample.weights is None:
            return distorted_mean(self.function, sample.values)
        return weighted_distorted_mean(self.function, sample, literal=self.estimator == "paper")

    def value(self, law: DiscreteLaw) -> float:
        """Give rho_g of an exact law, atoms split correctly."""
        return float(law.values[0] + np.sum(np.diff(law.values) * self.function.at(law.upper_mass[1:])))

    def influence(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """Give the integral of g'(P(R > x)) up to each return, from the smallest (`lm:nabla_rho_g`)."""
        sample = check_sample(values, weights)
        table = np.broadcast_to(sample.values, (*sample.shape, sample.size))
        # the sums of weights follow the order of equal returns, which NumPy's plain order leaves to the processor
        order = np.argsort(table, axis=-1, kind=None if sample.weights is None else "stable")
        steps = np.diff(np.take_along_axis(table, order, axis=-1), axis=-1)
        climbed = np.zeros(table.shape)
        climbed[..., 1:] = np.cumsum(steps * self.function.slope_at(upper_masses(sample, order)), axis=-1)
        result = np.empty(table.shape)
        np.put_along_axis(result, order, climbed, axis=-1)
        return result

    def estimate_counts(self, values: FloatArray, counts: IntArray) -> FloatArray:
        """Estimate from order statistics; counts are used as masses, whichever the estimator is."""
        check_shapes(values, counts)
        return counted_distorted_mean(self.function, values, counts)

    def episodes_counted(self, size: int) -> float:
        """Give 1 / sum w_i^2, where w_i = g(S_i) - g(S_{i+1}) are the weights on the sorted returns."""
        weights = order_coefficients(self.function, size)
        return 1.0 / float(np.einsum("m,m->", weights, weights))

    @property
    def meaning(self) -> str:
        """What it is in plain words."""
        if self.attitude == "neutral":
            return "the mean return"
        kind = {"averse": "bad", "seeking": "good"}.get(self.attitude, "some")
        return f"a mean that gives {kind} episodes more weight ({self})"

    def smoothness(self, problem: Constants, *, off_policy: bool = False, literal: bool = False) -> Smoothness:
        """Give the constants of `lm:est_error_G`, `lm:est_error_H`, `lm:rho_lip`, or sharp ones; refuse a kinked g."""
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

    def along(self, weight: float, start: DistortionFunction | None = None) -> "Distortion":
        """Give the measure of the mixture (1 - w) p(s) + w g(s), p the identity unless another start is given."""
        return Distortion(Mixture(self.function, weight, start or Identity()), estimator=self.estimator)


@final
@dataclass(frozen=True)
class Distortion(DistortionMeasure):
    """The distortion risk measure rho_g of any distortion function.

    Attributes:
        g: the distortion; its attitude is the measure's.
        estimator: "self-normalized" (default) or "paper".
    """

    g: DistortionFunction
    estimator: DistortionEstimator = field(default="self-normalized", kw_only=True)

    @classmethod
    def builders(cls) -> dict[str, tuple[Callable[..., RiskMeasure], str]]:
        """Give the names of the distortion families, each of which builds the measure of one of its members."""
        return {name: (_measure_of(family), family.example) for name, family in DISTORTIONS.by_name().items()}

    def __post_init__(self) -> None:
        if not isinstance(self.g, DistortionFunction):
            raise InputError("g", "be a distortion function", self.g, "wrap your own in rg.distortion.Custom")
        check_estimator(self.estimator)

    @property
    def function(self) -> DistortionFunction:
        """The distortion g."""
        return self.g

    @property
    def attitude(self) -> Attitude:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The attitude of g."""
        return self.g.attitude

    def __str__(self) -> str:
        return str(self.g)


def check_estimator(estimator: str) -> None:
    """Refuse what is not an estimator of a distortion measure."""
    check_word("estimator", estimator, ["self-normalized", "paper"])


def distortion_smoothness(
    g: DistortionFunction,
    problem: Constants,
    estimator: Literal["on-policy", "self-normalized", "paper"],
    *,
    literal: bool,
) -> Smoothness:
    """Give the constants of rho_g for one estimator; g must have bounded first and second derivatives."""
    ratio = 1.0 if estimator == "on-policy" else problem.M_s
    if literal:
        return _literal_distortion(g, problem, ratio)
    law_error = _paper_law_error(ratio) if estimator == "paper" else normalized_error(ratio)
    law_bias = math.inf if estimator == "paper" else normalized_bias(ratio)
    width, steep, bend = 2.0 * problem.half_range, g.slope_bound, g.curvature_bound
    score, spread = problem.score_deviation, spread_slope(g)
    return Smoothness(
        error=product(width, width, steep, steep, law_error),
        bias=product(width, steep * law_bias + product(bend, law_error) / 2.0),
        slope=width * spread * score,
        curvature=width * (spread * problem.curvature_deviation + bend * score * score / 4.0),
        span=width,
    )


def _literal_distortion(g: DistortionFunction, problem: Constants, ratio: float) -> Smoothness:
    reach, steps, score = problem.M_r, problem.M_e, problem.M_d
    steep, bend = g.slope_bound, g.curvature_bound
    return Smoothness(
        error=product(16.0, reach, reach, steep, steep, ratio, ratio),
        bias=math.inf,
        slope=2.0 * reach * steep * steps * score,
        curvature=2.0 * reach * steps * (problem.M_h * steep + steps * score * score * (steep + bend)),
        span=2.0 * reach,
    )


def _paper_law_error(ratio: float) -> float:
    """Bound m E[(H(x) - F(x))^2] for the H of `eq:hat_rho_H1`: sup over F of M_s F - F^2, and the top of the law."""
    spread = ratio - 1.0 if ratio >= 2.0 else ratio * ratio / 4.0
    return spread + min(ratio / math.e, 4.0 * ratio * ratio / 27.0)


@lru_cache(maxsize=64)
def spread_slope(g: DistortionFunction) -> float:
    """Bound sup g'(s) sqrt(s (1 - s)) from above, by cells in which g' moves by at most M_g'' times their width."""
    edges = np.linspace(0.0, 1.0, CELLS + 1)
    slopes = np.abs(g.slope_at(edges))
    steepest = np.minimum((slopes[:-1] + slopes[1:]) / 2.0 + g.curvature_bound / (2.0 * CELLS), g.slope_bound)
    nearest = np.clip(0.5, edges[:-1], edges[1:])
    return float(np.max(steepest * np.sqrt(nearest * (1.0 - nearest))))


def _measure_of(family: type[DistortionFunction]) -> Callable[..., RiskMeasure]:
    def build(*args: Any, **kwargs: Any) -> RiskMeasure:
        return Distortion(family(*args, **kwargs))

    build.__signature__ = inspect.signature(family)  # pyright: ignore[reportFunctionMemberAccess]
    return build

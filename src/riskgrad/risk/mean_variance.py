"""Mean-variance: the mean of the return minus lambda times its variance.

    rho_lambda = J - lambda V,  J = E[R],  V = Var[R]                                          (eq:rho_lambda)

On-policy `eq:hat_rho_lambda_pi` uses the sample mean and the unbiased sample variance. With weights there are three:

    self-normalized (default)  J = sum psi R / sum psi,
                               V = sum_{i != j} psi_i psi_j (R_i - R_j)^2 / (2 sum_{i != j} psi_i psi_j)
    unbiased                   J = mean(psi R),  V_U = sum_{i < j} psi_i psi_j (R_i - R_j)^2 / (m (m - 1))
    paper                      J = mean(psi R),  V = sample variance of psi R   (`eq:hat_rho_lambda_b`, inconsistent: it
                               estimates Var(psi R); docs/corrections.md, "Off-policy mean-variance")

The first moves by c when every return moves by c, and by nothing else. All are O(m): sums over pairs are formed about
the heaviest sample's return, where one dominant weight leaves nothing to cancel.
"""

from dataclasses import dataclass, field
from typing import Literal, cast, final

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.distortion import Attitude
from riskgrad.distortion.base import check_attitude, number
from riskgrad.errors import InputError, UnknownNameError
from riskgrad.risk.base import Axiom, RiskMeasure, check_weight, text
from riskgrad.risk.mean_variance_smoothness import mean_variance_smoothness
from riskgrad.risk.sample import Sample, checked_sample
from riskgrad.risk.smoothness import Constants, Smoothness
from riskgrad.types import DiscreteLaw, FloatArray

Estimator = Literal["self-normalized", "unbiased", "paper"]
ESTIMATORS = ("self-normalized", "unbiased", "paper")


@final
@dataclass(frozen=True)
class MeanVariance(RiskMeasure):
    """J - lambda V; averse, and in the units of a reward plus lambda times a reward squared.

    It matches the exponential utility -log E[exp(-c R)] / c to second order at c = 2 lambda. Not monotone: a policy
    that is better in every outcome can score lower.

    Attributes:
        lam: lambda >= 0, the price of a unit of variance.
        attitude: "averse" (default) subtracts the variance, "seeking" adds it.
        estimator: "self-normalized" (default), "unbiased" or "paper".
    """

    name = "mean-variance"
    example = "mean-variance:0.5"
    lam: float
    attitude: Attitude = "averse"
    estimator: Estimator = field(default="self-normalized", kw_only=True)

    def __post_init__(self) -> None:
        check_attitude(self.attitude)
        object.__setattr__(self, "lam", number("lambda", self.lam))
        if not (self.lam >= 0.0 and np.isfinite(self.lam)):
            advice = 'a negative price rewards variance; say attitude="seeking" if that is meant'
            raise InputError("lambda of mean-variance", "be in [0, inf)", self.lam, advice)
        if self.estimator not in ESTIMATORS:
            raise UnknownNameError("estimator", self.estimator, ESTIMATORS)

    @property
    def axioms(self) -> frozenset[Axiom]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Direction and translation, for the self-normalized form."""
        return frozenset(["direction", "translation"]) if self.estimator == "self-normalized" else frozenset()

    @property
    def price(self) -> float:
        """What one unit of variance costs: lambda, negative when seeking."""
        return self.lam if self.attitude == "averse" else -self.lam

    def estimate(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """The estimated mean minus lambda times the estimated variance of each row."""
        sample = checked_sample(values, weights)
        if sample.size < 2 and self.lam:
            raise InputError("values", "hold at least 2 returns for a variance", f"m = {sample.size}")
        if sample.weights is None:
            spread = np.var(sample.values, axis=-1, ddof=1) if self.lam else 0.0
            return np.mean(sample.values, axis=-1) - self.price * spread
        if self.estimator == "self-normalized":
            return sample.mean() - self.price * (_normalized_variance(sample) if self.lam else 0.0)
        products = sample.weights * sample.values
        if self.estimator == "unbiased":
            pairs = sample.size * (sample.size - 1)
            spread = _pair_sums(sample)[0] / pairs if self.lam else 0.0
        else:
            spread = np.var(products, axis=-1, ddof=1) if self.lam else 0.0
        return np.mean(products, axis=-1) - self.price * spread

    def value(self, law: DiscreteLaw) -> float:
        """The exact mean minus lambda times the exact variance."""
        return law.mean - self.price * law.variance

    def influence(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """R - lambda (R - J)^2, which is R - lambda (R^2 - 2 J R) up to a constant (`eq:nabla_E_R_theta_sq`)."""
        sample = checked_sample(values, weights)
        centerd = sample.values - sample.mean()[..., np.newaxis]
        return sample.values - self.price * centerd * centerd

    def smoothness(self, problem: Constants, *, off_policy: bool = False, literal: bool = False) -> Smoothness:
        """The constants of `lm:est_error_mvrm_pi` and `lm:lip_rho_lambda`, or sharp ones, with |lambda| for lambda.

        `lm:est_error_mvrm_b` is refused for the estimator it is stated for, which is not consistent, and given for the
        unbiased variance, for which it holds. The self-normalized estimator has a sharp constant of its own only.
        """
        if off_policy and self.lam and (self.estimator == "paper" or (literal and self.estimator != "unbiased")):
            raise InputError(
                "estimator",
                "be 'unbiased' for lm:est_error_mvrm_b, since eq:Vm_b estimates Var(psi R) instead of Var(R)",
                self.estimator,
                "see docs/corrections.md, 'Off-policy mean-variance'; the default estimator has a sharp constant",
            )
        estimator = self.estimator if off_policy else "on-policy"
        return mean_variance_smoothness(self.lam, problem, estimator, literal=literal)

    def along(self, weight: float) -> "MeanVariance":
        """Mean-variance with weight times lambda."""
        return MeanVariance(check_weight(weight) * self.lam, self.attitude, estimator=self.estimator)

    def __str__(self) -> str:
        words = f"mean-variance:{text(self.lam)}"
        return f"{words}:seeking" if self.attitude == "seeking" else words


def _normalized_variance(sample: Sample) -> FloatArray:
    squares, pairs = _pair_sums(sample)
    if not np.all(pairs > 0.0):
        raise InputError("weights", "be positive for at least 2 returns, for a variance", "a single positive weight")
    return squares / pairs


def _pair_sums(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """sum_{i < j} psi_i psi_j (R_i - R_j)^2 [...] and 2 sum_{i < j} psi_i psi_j [...].

    With the heaviest sample h set apart (weight a, the others w_i, sum W) and d_i = R_i - R_h these are
    (a + W) sum w d^2 - (sum w d)^2 and 2 a W + W^2 - sum w^2.
    """
    weights = cast("FloatArray", sample.weights)
    heaviest = np.argmax(weights, axis=-1)[..., np.newaxis]
    top = np.take_along_axis(weights, heaviest, axis=-1)
    others = weights.copy()
    np.put_along_axis(others, heaviest, 0.0, axis=-1)
    others /= top  # the scale is put back at the end, so that products of tiny weights do not vanish
    table = np.broadcast_to(sample.values, (*sample.shape, sample.size))
    distance = table - np.take_along_axis(table, np.broadcast_to(heaviest, (*sample.shape, 1)), axis=-1)
    rest = np.sum(others, axis=-1)
    first = np.sum(others * distance, axis=-1)
    second = np.sum(others * distance * distance, axis=-1)
    squares = np.maximum((1.0 + rest) * second - first * first, 0.0)
    pairs = 2.0 * rest + np.maximum(rest * rest - np.sum(others * others, axis=-1), 0.0)
    scale = top[..., 0] ** 2
    return squares * scale, pairs * scale

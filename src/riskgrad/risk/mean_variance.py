"""Mean-variance: the mean of the return minus lambda times its variance.

    rho_lambda = J - lambda V,  J = E[R],  V = Var[R]                                          (eq:rho_lambda)

On-policy `eq:hat_rho_lambda_pi` uses the sample mean and the unbiased sample variance. With weights there are three:

    self-normalized (default)  J = sum psi R / sum psi,
                               V = sum_{i != j} psi_i psi_j (R_i - R_j)^2 / (2 sum_{i != j} psi_i psi_j)
    unbiased                   J = mean(psi R),  V_U = sum_{i < j} psi_i psi_j (R_i - R_j)^2 / (m (m - 1))
    paper                      J = mean(psi R),  V = sample variance of psi R   (`eq:hat_rho_lambda_b`, inconsistent: it
                               estimates Var(psi R); docs/corrections.md, "Off-policy mean-variance")

When c is added to every return, the self-normalized estimate grows by c; the other two in general do not. All are
O(m): sums over pairs are formed about the heaviest sample's return, so that one dominant weight loses no digits.

The sharp constants of a guarantee: every error but that of the unbiased mean(psi R) stays the same when a constant is
added to the returns, so that half their range w stands where the paper has M_r. For a law on an interval of length 2w
with central moments s^2, mu_3, mu_4:

    mu_4 - s^4 <= w^4   and   mu_4 + s^4 <= 2 w^4,

the first attained by two atoms at the odds (2 + sqrt 2) : (2 - sqrt 2), the second by a fair coin (docs/theory.md).

    error, on policy         m Var(V_hat) = mu_4 - s^4 (m - 3) / (m - 1) <= 2 w^4 for m >= 2
    error, unbiased          Hoeffding's Var(U) <= (2 / m) Var(kernel); E[kernel^2] <= M_s^2 (mu_4 + 3 s^4) / 2
    error, self-normalized   two bounds, the smaller of which holds. With N and U the pair means of
                             psi psi' ((R - R')^2 / 2 - V) and of psi psi', V_hat - V = N + (V_hat - V)(1 - U), where
                             m Var(N) <= M_s^2 (mu_4 + s^4), m Var(U) <= 2 (M_s^2 - 1) and |V_hat - V| <= 2 w^2. With
                             V_p the variance of the self-normalized law and q the sum of its squared weights,
                             V_hat = V_p + q V_hat, where |V_p - V| <= int 2 max(x - a, b - x) |F_hat - F| dx over the
                             range [a, b], V_hat <= 2 w^2 and m E[q] <= (5/2 + 50 / (9e)) M_s
    slope                    grad rho = Cov(R - lambda (R - J)^2, Z), a deviation of at most w + |lambda| w^2
    curvature                hess V = E[(R - J)^2 Y] - 2 grad J grad J'
"""

import math
from dataclasses import dataclass, field
from typing import Literal, cast, final

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import check_number, check_share, check_word
from riskgrad.distortion import Attitude, DistortionFunction
from riskgrad.distortion.base import check_attitude
from riskgrad.errors import InputError
from riskgrad.risk.base import Axiom, RiskMeasure
from riskgrad.risk.sample import Sample, check_sample, mean_of_products, refuse_overflow
from riskgrad.risk.smoothness import (
    Constants,
    Smoothness,
    mean_smoothness,
    normalized_bias,
    normalized_error,
    product,
    weighted_mean_error,
)
from riskgrad.types import DiscreteLaw, FloatArray, IntArray

MeanVarianceEstimator = Literal["self-normalized", "unbiased", "paper"]
ESTIMATORS = ("self-normalized", "unbiased", "paper")

# E[sum of squared weights] <= E[min(1, M_s / (m W))] <= CONCENTRATION M_s / m: split at W = 2/5, where the lower tail
# P(W < 1 - t) <= exp(-m t^2 / (2 M_s)) of a mean of non-negative numbers is at most 50 M_s / (9 e m)
CONCENTRATION = 2.5 + 50.0 / (9.0 * math.e)


@final
@dataclass(frozen=True)
class MeanVariance(RiskMeasure):
    """J - lambda V, the mean of the return minus lambda times its variance.

    It matches the exponential utility -log E[exp(-c R)] / c to second order at c = 2 lambda. Not monotone: a policy
    that is better in every outcome can score lower.

    Attributes:
        lam: lambda >= 0, the price of a unit of variance.
        attitude: "averse" (default) subtracts the variance, "seeking" adds it.
        estimator: "self-normalized" (default), "unbiased" or "paper".
    """

    name = "mean-variance"
    example = "mean-variance:0.5"
    has_influence = True
    lam: float
    attitude: Attitude = "averse"
    estimator: MeanVarianceEstimator = field(default="self-normalized", kw_only=True)

    def __post_init__(self) -> None:
        check_attitude(self.attitude)
        object.__setattr__(self, "lam", check_number("lambda", self.lam))
        if not (self.lam >= 0.0 and np.isfinite(self.lam)):
            advice = 'a negative price rewards variance; say attitude="seeking" if that is meant'
            raise InputError("lambda of mean-variance", "be in [0, inf)", self.lam, advice)
        check_word("estimator", self.estimator, ESTIMATORS)

    @property
    def axioms(self) -> frozenset[Axiom]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Direction and translation, for the self-normalized form."""
        return frozenset(["direction", "translation"]) if self.estimator == "self-normalized" else frozenset()

    @property
    def variance_price(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What one unit of variance costs: lambda, negative when seeking."""
        return self.lam if self.attitude == "averse" else -self.lam

    @property
    def estimator_name(self) -> str:
        """Which of its estimators is used."""
        return self.estimator

    def estimate(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """Estimate the mean minus lambda times the variance of each row [...]."""
        sample = check_sample(values, weights)
        if sample.size < 2 and self.lam:
            raise InputError("values", "hold at least 2 returns for a variance", f"m = {sample.size}")
        if sample.weights is None:
            spread = np.var(sample.values, axis=-1, ddof=1) if self.lam else 0.0
            return np.mean(sample.values, axis=-1) - self.variance_price * spread
        if self.estimator == "self-normalized":
            return sample.mean() - self.variance_price * (_normalized_variance(sample) if self.lam else 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            return refuse_overflow(mean_of_products(sample) - self.variance_price * self._product_variance(sample))

    def _product_variance(self, sample: Sample) -> FloatArray | float:
        """Give the variance of the unbiased estimator or of the paper's; 0 where lambda is 0."""
        if not self.lam:
            return 0.0
        if self.estimator == "unbiased":
            squares, _, top = _pair_sums(sample)
            return squares * top**2 / (sample.size * (sample.size - 1))
        return np.var(cast("FloatArray", sample.weights) * sample.values, axis=-1, ddof=1)

    def value(self, law: DiscreteLaw) -> float:
        """Give the exact mean minus lambda times the exact variance."""
        return law.mean - self.variance_price * law.variance

    def influence(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """Give R - lambda (R - J)^2, which is R - lambda (R^2 - 2 J R) up to a constant (`eq:nabla_E_R_theta_sq`)."""
        sample = check_sample(values, weights)
        centered = sample.values - sample.mean()[..., np.newaxis]
        return sample.values - self.variance_price * centered * centered

    def estimate_counts(self, values: FloatArray, counts: IntArray) -> FloatArray:
        """Estimate the mean minus lambda times the unbiased variance of each sample [rows]."""
        mean = check_sample(values, counts).mean()
        squares = np.sum(counts * (values - mean[:, np.newaxis]) ** 2, axis=1)
        return mean - self.variance_price * squares / max(int(counts[0].sum()) - 1, 1)

    def smoothness(self, problem: Constants, *, off_policy: bool = False, literal: bool = False) -> Smoothness:
        """Give the constants of `lm:est_error_mvrm_pi` and `lm:lip_rho_lambda`, or sharp ones; |lambda| for lambda.

        `lm:est_error_mvrm_b` is refused for the estimator it is stated for, which is not consistent, and given for the
        unbiased variance, for which it holds. The self-normalized estimator has a sharp constant only.
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

    def along(self, weight: float, start: DistortionFunction | None = None) -> "MeanVariance":
        """Give mean-variance with weight times lambda."""
        del start
        return MeanVariance(check_share("weight", weight) * self.lam, self.attitude, estimator=self.estimator)

    @property
    def meaning(self) -> str:
        """What it is in plain words."""
        if self.variance_price == 0.0:
            return "the mean return"
        sign = "minus" if self.variance_price > 0.0 else "plus"
        return f"the mean return {sign} {self.lam:.4g} times its variance"


def _normalized_variance(sample: Sample) -> FloatArray:
    squares, pairs, top = _pair_sums(sample)
    with np.errstate(over="ignore", under="ignore"):
        scale = np.where((top * top > 0.0) & np.isfinite(top * top), top * top, 1.0)
    if not np.all(pairs * scale > 0.0):
        raise InputError("weights", "be positive for at least 2 returns, for a variance", "a single positive weight")
    return squares * scale / (pairs * scale)


def _pair_sums(sample: Sample) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give sum_{i < j} psi_i psi_j (R_i - R_j)^2 [...], 2 sum_{i < j} psi_i psi_j [...] and the largest psi [...].

    Both sums are in units of the square of the largest psi.

    With the heaviest sample h set apart (weight a, the others w_i, sum W) and d_i = R_i - R_h these are
    (a + W) sum w d^2 - (sum w d)^2 and 2 a W + W^2 - sum w^2.
    """
    weights = cast("FloatArray", sample.weights)
    heaviest = np.argmax(weights, axis=-1)[..., np.newaxis]
    top = np.take_along_axis(weights, heaviest, axis=-1)
    others = weights.copy()
    np.put_along_axis(others, heaviest, 0.0, axis=-1)
    others /= top  # so that products of tiny weights do not vanish
    table = np.broadcast_to(sample.values, (*sample.shape, sample.size))
    distance = table - np.take_along_axis(table, np.broadcast_to(heaviest, (*sample.shape, 1)), axis=-1)
    rest = np.sum(others, axis=-1)
    first = np.sum(others * distance, axis=-1)
    second = np.sum(others * distance * distance, axis=-1)
    squares = np.maximum((1.0 + rest) * second - first * first, 0.0)
    pairs = 2.0 * rest + np.maximum(rest * rest - np.sum(others * others, axis=-1), 0.0)
    return squares, pairs, top[..., 0]


def mean_variance_smoothness(
    price: float,
    problem: Constants,
    estimator: Literal["on-policy", "self-normalized", "unbiased", "paper"],
    *,
    literal: bool,
) -> Smoothness:
    """Give the constants of J - lambda V for one estimator; "paper" is right only at price 0.

    Args:
        price: |lambda|.
        problem: what is known of the model and the policies.
        estimator: "on-policy", or which weighted one.
        literal: as stated in the paper; with weights, for the unbiased variance.
    """
    off_policy = estimator != "on-policy"
    mean = mean_smoothness(problem, off_policy=off_policy, literal=literal)
    if literal:
        return _literal_mean_variance(price, problem, mean, problem.M_s if off_policy else 1.0)
    half, score = problem.half_range, problem.score_deviation
    square = half * half
    mean_error, mean_bias = (
        (weighted_mean_error(problem), 0.0) if estimator in ("unbiased", "paper") else (mean.error, mean.bias)
    )
    error, bias = _variance_error(problem.M_s if off_policy else 1.0, normalized=estimator != "unbiased")
    root = math.sqrt(mean_error) + product(price, square, error)
    return Smoothness(
        error=root * root,
        bias=mean_bias + product(price, square, bias),
        slope=(half + price * square) * score,
        curvature=(half + price * square) * problem.curvature_deviation + 2.0 * price * square * score * score,
        span=mean.span + price * square,
        fewest_episodes=2 if price else 1,
    )


def _variance_error(ratio: float, *, normalized: bool) -> tuple[float, float]:
    """Bound sqrt(m) times the deviation of the estimated variance and m times its bias, in units of w^2."""
    excess = product(ratio, ratio) - 1.0
    if not normalized:
        return math.sqrt(4.0 * product(ratio, ratio) - 2.0), 0.0
    law, concentration = normalized_error(ratio), CONCENTRATION * ratio
    error = min(
        math.sqrt(2.0) * (ratio + 2.0 * math.sqrt(excess)), 6.0 * math.sqrt(law) + 2.0 * math.sqrt(concentration)
    )
    bias = min(product(error, math.sqrt(2.0 * excess)), 4.0 * normalized_bias(ratio) + 4.0 * law + 2.0 * concentration)
    return error, bias


def _literal_mean_variance(price: float, problem: Constants, mean: Smoothness, ratio: float) -> Smoothness:
    reach, steps, score = problem.M_r, problem.M_e, problem.M_d
    fourth = product(reach, reach, reach, reach, ratio, ratio, ratio, ratio)
    return Smoothness(
        error=mean.error + product(32.0, price, price, fourth),
        bias=mean.bias,
        slope=mean.slope + 3.0 * price * reach * reach * steps * score,
        curvature=mean.curvature + price * reach * reach * steps * (3.0 * problem.M_h + 5.0 * steps * score * score),
        span=mean.span + price * reach * reach,
        fewest_episodes=3 if price else 1,
    )

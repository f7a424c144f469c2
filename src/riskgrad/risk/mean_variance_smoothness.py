"""The constants of mean-variance: the paper's, and sharp ones with their reasons.

Everything but the unbiased mean(psi R) moves with the returns, so that half their range w stands where the paper has
M_r. For a law on an interval of length 2w with central moments s^2, mu_3, mu_4:

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
from typing import Literal

from riskgrad.risk.smoothness import (
    Constants,
    Smoothness,
    mean_smoothness,
    normalized_bias,
    normalized_error,
    product,
    weighted_mean_error,
)

# E[sum of squared weights] <= E[min(1, M_s / (m W))] <= CONCENTRATION M_s / m: split at W = 2/5, where the lower tail
# P(W < 1 - t) <= exp(-m t^2 / (2 M_s)) of a mean of non-negative numbers is at most 50 M_s / (9 e m)
CONCENTRATION = 2.5 + 50.0 / (9.0 * math.e)

Estimator = Literal["on-policy", "self-normalized", "unbiased", "paper"]


def mean_variance_smoothness(price: float, problem: Constants, estimator: Estimator, *, literal: bool) -> Smoothness:
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
        return _literal(price, problem, mean, problem.M_s if off_policy else 1.0)
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


def _literal(price: float, problem: Constants, mean: Smoothness, ratio: float) -> Smoothness:
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

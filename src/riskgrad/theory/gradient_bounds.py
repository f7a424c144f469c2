"""How far the smoothed gradient can be from the true one: the lemmas behind the main theorem, literal and sharp.

The error is a sum,

    smoothed gradient - grad rho  =  x + y + z,

where x comes from the noise of the estimates, y from the choice of directions and z from the smoothing. The paper
bounds E||x + y + z||^2 by 3 (E||x||^2 + E||y||^2 + ||z||^2). The sharp versions (right of the arrows) use that z is not
random, that y depends only on the directions and has mean zero, and that the mean of x comes only from the bias of the
estimates:

    lm:bias_rho   ||z||:     mu d L' / 2         ->  mu L' d / (d + 1): grad rho_mu averages grad rho over the ball
    lm:bias_SF_2  E||y||^2:  16 e^2 d^2 L^2 / n  ->  (d - 1) L^2 / n, attained by linear functions
    lm:bias_SF_1  E||x||^2:  C_1 d^2 / (mu^2 m)  ->  d^2 / mu^2 (C_1 / (m n) + (1 - 1/n) beta^2 / d)
                  where beta is the error that all directions have in common: on policy, where each has its own
                  episodes, only the bias, at most B / m; off policy that of the shared batch, at most sqrt(C_1 / m)
    lm:bias_SF    E||x||^2 + 2 sqrt(b_x (E||y||^2 + ||z||^2)) + E||y||^2 + ||z||^2, where b_x is the part of E||x||^2
                  that comes from the bias, 0 for unbiased estimates
    lm:var_SF     3 d^2 C_1 / (2 mu^2 m) + 3 d^2 L^2 (the proof's constant; the statement's 3/4 is false, see
                  docs/corrections.md, "Variance of the smoothed gradient")  ->  the same sum with
                  L^2 (1 + (d - 1) / n) for E||y||^2 + ||z||^2

Proofs are in docs/theory.md. With common random numbers the two estimates of a pair may depend on each other in any
way; without them, on policy, C_1 / m above is replaced by (C_1 / m + beta^2) / 2.
"""

import math
from dataclasses import dataclass

from riskgrad.checks import check_number
from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.risk import Smoothness
from riskgrad.risk.smoothness import product


@checks_calls
@dataclass(frozen=True, kw_only=True)
class GradientBounds:
    """Bounds on the parts of the error of one smoothed gradient.

    Attributes:
        smoothing_bias: bound on ||grad rho_mu - grad rho|| (`lm:bias_rho`).
        direction_variance: bound on the second moment of the error from the choice of directions (`lm:bias_SF_2`).
        noise: bound on the second moment of the error from estimating the risk (`lm:bias_SF_1`).
        error: bound on the second moment of the whole error (`lm:bias_SF`).
        second_moment: bound on the second moment of the estimated gradient (`lm:var_SF`).
        bias: bound on ||E[estimate] - grad rho||; the paper has none, so the literal one is sqrt(error).
    """

    smoothing_bias: float
    direction_variance: float
    noise: float
    error: float
    second_moment: float
    bias: float


@checks_kinds
def gradient_bounds(
    measure: Smoothness,
    *,
    dim: int,
    smoothing: float,
    directions: float,
    episodes: float,
    off_policy: bool = False,
    literal: bool = False,
    common_random_numbers: bool = True,
) -> GradientBounds:
    """Give bounds on the error of the smoothed gradient `eq:hat_nabla_hat_rho` that hold at all parameters.

    Args:
        measure: C_1, B, L_rho and L_rho' of the risk measure.
        dim: d, the number of parameters.
        smoothing: mu, in (0, 1].
        directions: n >= 1, the number of independent directions.
        episodes: m, the number of episodes of each estimate.
        off_policy: whether one batch is reweighted for all directions.
        literal: whether to give the paper's bounds instead of the sharp ones.
        common_random_numbers: on policy, whether the two estimates of a pair share their random numbers.
    """
    if not 0.0 < smoothing <= 1.0:
        raise InputError("smoothing", "be in (0, 1]", smoothing)
    for name, size in (("dim", dim), ("directions", directions), ("episodes", episodes)):
        if not check_number(name, size) >= 1.0:
            raise InputError(name, "be at least 1", size)
    if literal:
        return _literal_gradient_bounds(measure, float(dim), smoothing, directions, episodes)
    d, slope = float(dim), measure.slope
    per_pair, bias = measure.error / episodes, min(measure.bias / episodes, math.sqrt(measure.error / episodes)) ** 2
    common = per_pair if off_policy else bias
    if not (common_random_numbers or off_policy):
        per_pair = (per_pair + bias) / 2.0
    rest = 1.0 - 1.0 / directions
    scale = d / smoothing
    noise = scale * scale * (per_pair / directions + product(rest, common) / d)
    from_bias = scale * scale * product(bias, 1.0 / directions + rest / d)
    smoothing_bias = smoothing * measure.curvature * d / (d + 1.0)
    direction_variance = (d - 1.0) * slope * slope / directions
    others = direction_variance + smoothing_bias * smoothing_bias
    pure = slope * slope * (1.0 + (d - 1.0) / directions)
    return GradientBounds(
        smoothing_bias=smoothing_bias,
        direction_variance=direction_variance,
        noise=noise,
        error=noise + 2.0 * math.sqrt(product(from_bias, others)) + others,
        second_moment=noise + 2.0 * math.sqrt(product(from_bias, pure)) + pure,
        bias=smoothing_bias + math.sqrt(d * bias) / smoothing,
    )


def _literal_gradient_bounds(
    measure: Smoothness, d: float, smoothing: float, directions: float, episodes: float
) -> GradientBounds:
    smoothing_bias = smoothing * d * measure.curvature / 2.0
    direction_variance = 16.0 * math.e**2 * d * d * measure.slope * measure.slope / directions
    noise = measure.error * d * d / (smoothing * smoothing * episodes)
    error = 3.0 * (noise + direction_variance + smoothing_bias * smoothing_bias)
    return GradientBounds(
        smoothing_bias=smoothing_bias,
        direction_variance=direction_variance,
        noise=noise,
        error=error,
        second_moment=1.5 * noise + 3.0 * d * d * measure.slope * measure.slope,
        bias=math.sqrt(error),
    )

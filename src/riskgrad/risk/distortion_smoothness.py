"""The constants of distortion measures: the paper's, and sharp ones with their reasons.

With returns in an interval of length 2w everything is an integral over it (`lm:nabla_rho_g`):

    error       rho_hat - rho = int g(1 - F_hat) - g(1 - F), so m MSE <= (2w M_g')^2 k, k a bound on m E[(F_hat - F)^2]:
                1/4 on policy (attained by a fair coin and g(s) = s), and off policy see `normalized_error` and below
    bias        a Taylor step: |E rho_hat - rho| <= 2w (M_g' |E F_hat - F| + M_g'' E[(F_hat - F)^2] / 2)
    slope       grad rho = Cov(influence(R), Z), and the influence int^R g'(1 - F) has a deviation of at most
                int g'(1 - F) sqrt(F (1 - F)) <= 2w K, K = sup g'(s) sqrt(s (1 - s)) <= M_g' / 2
    curvature   hess rho = E[influence(R) Y] + int g''(1 - F) grad F grad F', and (u.grad F)^2 <= F (1 - F) Var(Z.u)

The literal off-policy form `eq:hat_rho_H1` takes H = 1 above the largest return seen, which adds
(1 - F)^2 P_b(all returns <= x) to the error: at most M_s / (e m), and at most 4 M_s^2 / (27 m).
"""

import math
from functools import lru_cache
from typing import Literal

import numpy as np

from riskgrad.distortion import DistortionFunction
from riskgrad.risk.smoothness import Constants, Smoothness, normalized_bias, normalized_error, product

Estimator = Literal["on-policy", "self-normalized", "paper"]

CELLS = 1 << 14


def distortion_smoothness(
    g: DistortionFunction, problem: Constants, estimator: Estimator, *, literal: bool
) -> Smoothness:
    """Give the constants of rho_g for one estimator; g must have bounded first and second derivatives."""
    ratio = 1.0 if estimator == "on-policy" else problem.M_s
    if literal:
        return _literal(g, problem, ratio)
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


def _literal(g: DistortionFunction, problem: Constants, ratio: float) -> Smoothness:
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

"""What a guarantee needs to know: the constants of a problem, and what a smooth measure makes of them.

`Constants` describes a model and a class of policies in the symbols of the paper; `riskgrad.theory.constants` computes
it. A smooth measure turns it into `Smoothness`, the constants of `as:mse`, `as:lip` and `as:smooth`, by its method
`smoothness`; so a new measure brings its own and nothing else has to change.

Sharp constants come from three facts, with Z the sum of an episode's scores, u a unit vector, and Y the second
derivative of an episode's probability divided by it, Y = ZZ' + sum of the Hessians of log pi (`lm:nablaFG`):

    E[Z] = 0 and E[Y] = 0, so that only the spread of the return counts: half its range, not M_r;
    Z.u is a martingale, so that its variance is at most M_e times the largest Fisher information v;
    u'Yu is a martingale with increments 2 (Z.u)(x) + (x^2 + H), so that its deviation is at most
    v sqrt(2 M_e (M_e - 1)) + c sqrt(M_e), c the largest deviation of x^2 + H in one step.

For a linear Gibbs policy with feature spread D both v and c are D^2 / 4 (the first by Popoviciu, the second by the
bound Var((X - EX)^2) <= w^4 for X in an interval of length 2w). Proofs are in docs/theory.md.
"""

import math
from dataclasses import dataclass, replace

from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls


@checks_calls
@dataclass(frozen=True, kw_only=True)
class Constants:
    """What the theory knows of a model, a class of policies and a behavior policy.

    Attributes:
        M_r: bound on |return|.
        M_e: bound on the number of steps of an episode (`eq:M_e`).
        M_d: bound on the norm of the score grad log pi (`as:nabla_logpi`).
        M_h: bound on the norm of the Hessian of log pi.
        dim: d, the number of parameters.
        log_M_s: log of M_s, the bound on the importance ratio (`eq:is_ratio`), since M_s itself may overflow.
        ratio_slope: what log M_s gains per unit of smoothing, when the behavior policy is the current one.
        return_range: smallest and largest possible return, where known; [-M_r, M_r] otherwise.
        feature_spread: D = max ||phi(s, a) - phi(s, b)|| of a linear Gibbs policy; None for others.
    """

    M_r: float
    M_e: int
    M_d: float
    M_h: float
    dim: int
    log_M_s: float = 0.0  # noqa: N815 - the log of the paper's symbol
    ratio_slope: float = 0.0
    return_range: tuple[float, float] | None = None
    feature_spread: float | None = None

    def __post_init__(self) -> None:
        for name in ("M_r", "M_d", "M_h", "log_M_s", "ratio_slope"):
            if not 0.0 <= getattr(self, name) <= math.inf:
                raise InputError(name, "not be negative or NaN", getattr(self, name))
        for name in ("M_e", "dim"):
            if not getattr(self, name) >= 1:
                raise InputError(name, "be at least 1", getattr(self, name))
        low, high = self.return_range or (0.0, 0.0)
        if not -math.inf < low <= high < math.inf:
            raise InputError("return_range", "be finite, the smallest return first", self.return_range)

    @property
    def M_s(self) -> float:  # noqa: N802 - the paper's symbol
        """The bound on the importance ratio, inf where it overflows; at smoothing 1 for the current policy."""
        return _exp(self.log_M_s + self.ratio_slope)

    def at(self, smoothing: float) -> "Constants":
        """Fix the smoothing mu, on which the ratio depends when the behavior policy is the current one.

        Then log pi moves by at most mu M_d in each step, so that psi <= exp(mu M_e M_d).
        """
        return replace(self, log_M_s=self.log_M_s + smoothing * self.ratio_slope, ratio_slope=0.0)

    @property
    def half_range(self) -> float:
        """Half of largest minus smallest return: what sharp constants have in place of M_r."""
        low, high = self.return_range or (-self.M_r, self.M_r)
        return (high - low) / 2.0

    @property
    def score_deviation(self) -> float:
        """Bound on the standard deviation of Z.u: D sqrt(M_e) / 2 for linear Gibbs."""
        return math.sqrt(self.M_e * self._information)

    @property
    def curvature_deviation(self) -> float:
        """Bound on the standard deviation of u'Yu."""
        steps = float(self.M_e)
        one_step = self.M_d * self.M_d / 2.0 + self.M_h if self.feature_spread is None else self._information
        return self._information * math.sqrt(2.0 * steps * (steps - 1.0)) + one_step * math.sqrt(steps)

    @property
    def _information(self) -> float:
        # the Fisher information is E[score score'] and also -E[Hessian]
        if self.feature_spread is None:
            return min(self.M_d * self.M_d, self.M_h)
        return self.feature_spread * self.feature_spread / 4.0


@checks_calls
@dataclass(frozen=True, kw_only=True)
class Smoothness:
    """The constants of a smooth measure on one problem, which are all that the main theorem needs.

    Attributes:
        error: C_1, with E[(estimate - value)^2] <= C_1 / m (`as:mse`).
        bias: B, with |E[estimate] - value| <= B / m; 0 for an unbiased estimator, inf where none is known.
        slope: L_rho, the Lipschitz constant of the measure in the parameters (`as:lip`).
        curvature: L_rho', the Lipschitz constant of its gradient (`as:smooth`).
        span: largest minus smallest possible value, a bound on rho* - rho(theta_0).
        fewest_episodes: the smallest m for which the bound on the error holds.
    """

    error: float
    bias: float
    slope: float
    curvature: float
    span: float
    fewest_episodes: int = 1

    @property
    def C_1(self) -> float:  # noqa: N802 - the paper's symbol
        """The constant of `as:mse`."""
        return self.error

    @property
    def L_rho(self) -> float:  # noqa: N802 - the paper's symbol
        """The constant of `as:lip`."""
        return self.slope

    @property
    def L_rho_prime(self) -> float:  # noqa: N802 - the paper's symbol
        """The constant of `as:smooth`."""
        return self.curvature


def mix_smoothness(first: Smoothness, second: Smoothness, weight: float) -> Smoothness:
    """Give the constants of (1 - weight) times one measure plus weight times another, estimated from one sample."""
    rest = 1.0 - weight
    root = product(rest, math.sqrt(first.error)) + product(weight, math.sqrt(second.error))
    return Smoothness(
        error=root * root,
        bias=product(rest, first.bias) + product(weight, second.bias),
        slope=product(rest, first.slope) + product(weight, second.slope),
        curvature=product(rest, first.curvature) + product(weight, second.curvature),
        span=product(rest, first.span) + product(weight, second.span),
        fewest_episodes=max(first.fewest_episodes, second.fewest_episodes),
    )


def mean_smoothness(problem: Constants, *, off_policy: bool, literal: bool) -> Smoothness:
    """Give the constants of the mean, self-normalized off policy; if literal, those of mean-variance at lambda = 0.

    The paper has literal constants of the mean twice; those of the identity as a distortion are larger. On policy the
    sharp error is attained by a fair coin.
    """
    half, ratio = problem.half_range, problem.M_s if off_policy else 1.0
    if literal:
        steps, reach = problem.M_e, problem.M_r
        return Smoothness(
            error=product(8.0, reach, reach, ratio, ratio),
            bias=math.inf if off_policy else 0.0,
            slope=reach * steps * problem.M_d,
            curvature=reach * steps * (problem.M_h + steps * problem.M_d * problem.M_d),
            span=2.0 * reach,
        )
    return Smoothness(
        error=product(4.0, half, half, normalized_error(ratio)),
        bias=product(2.0, half, normalized_bias(ratio)),
        slope=half * problem.score_deviation,
        curvature=half * problem.curvature_deviation,
        span=2.0 * half,
    )


def weighted_mean_error(problem: Constants) -> float:
    """Bound m times the variance of the unbiased mean(psi R) (`eq:Jm_b`), which depends on where the returns lie.

    Var(psi R) <= M_s E[R^2] - J^2 <= M_s (w^2 - (J - c)^2) + (M_s - 1) J^2 for returns in [c - w, c + w]: largest at
    J = M_s c, or at the end of the range if that is outside. It is w^2 at M_s = 1.
    """
    low, high = problem.return_range or (-problem.M_r, problem.M_r)
    ratio, half, center, reach = problem.M_s, (high - low) / 2.0, (high + low) / 2.0, max(-low, high)
    if product(ratio, abs(center)) <= reach:
        return product(ratio, half, half) + product(ratio, ratio - 1.0, center, center)
    return product(ratio - 1.0, reach, reach)


def normalized_error(ratio: float) -> float:
    """Bound m E[(F_hat(x) - F(x))^2] of the self-normalized empirical law when no ratio exceeds M_s.

    With A and B the weighted masses at most x and above x, F_hat = A / (A + B) is no further from F than the worse of
    A from F and B from 1 - F; their variances add up to at most M_s - 1/2. Near M_s = 1, where that is twice the
    on-policy 1/4, the expansion F_hat - F = N + (F_hat - F)(1 - W) is better, N the mean of psi (1{R <= x} - F) and W
    that of psi: their deviations are at most sqrt(M_s F (1 - F)) and sqrt(M_s - 1).

    Args:
        ratio: M_s >= 1, may be inf.
    """
    expansion = (math.sqrt(ratio - 1.0) + math.sqrt(2.0 * ratio - 1.0)) / 2.0
    return min(ratio - 0.5, expansion * expansion)


def normalized_bias(ratio: float) -> float:
    """Bound m |E[F_hat(x)] - F(x)| of the self-normalized empirical law: E[(F_hat - F)(1 - W)] by Cauchy-Schwarz."""
    return math.sqrt(product(normalized_error(ratio), ratio - 1.0))


def product(*factors: float) -> float:
    """Multiply; zero times infinity is zero, since a factor of zero removes its whole term."""
    return 0.0 if 0.0 in factors else math.prod(factors)


def _exp(exponent: float) -> float:
    try:
        return math.exp(exponent)
    except OverflowError:
        return math.inf

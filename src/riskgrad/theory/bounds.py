"""The main theorem as numbers: how small the gradient of the risk is after N iterations, and the cost in episodes.

The literal bound (`pr:non_asym_sf`; with the schedule of the theorem it is `tm:sf`, and with the constants of a measure
one of the four corollaries) is

    E||grad rho(theta_R)||^2 <= 2 (rho* - rho(theta_0)) / (N alpha) + L' alpha S + E,

where S and E are the bounds of `lm:var_SF` and `lm:bias_SF`. The sharp bound replaces E by the squared bias of the
smoothed gradient: given theta_k, the proof of `eq:sf_1` needs only E<grad rho, grad rho - estimate>, in which the parts
of the error with mean zero vanish. Their variance enters only through S, which is multiplied by the small alpha.

It follows that n = 1 and m = sqrt(N) have the rate 1 / sqrt(N) of the theorem, for any estimator with a bias of
O(1 / m). This is `thrifty_schedule`, with which a run of OnP-SF needs 2 N^(3/2) episodes instead of 2 N^(5/2).

The trivial bound is L_rho^2, since the gradient is never longer than L_rho; a guarantee above it says nothing. Do not
derive stopping rules from these numbers: they hold for every model with the same constants, even the worst.
"""

import math
from dataclasses import dataclass

from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.risk import Constants, RiskMeasure, Smoothness, parse
from riskgrad.risk.smoothness import product
from riskgrad.theory._schedule import Schedule, schedule
from riskgrad.theory.gradient_bounds import GradientBounds, gradient_bounds

MOST_ITERATIONS = 1 << 900


@checks_calls
@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A bound on E||grad rho(theta_R)||^2, R uniform on the iterates, with its parts.

    The expectation is over R, the episodes and the directions.

    Attributes:
        plan: the schedule for which the bound holds.
        measure: C_1, B, L_rho and L_rho' of the risk measure.
        gradient: bounds on one smoothed gradient.
        start: 2 gap / (N alpha), the part that comes from the distance between the start and the optimum.
        step: L_rho' alpha times the second moment, the part that comes from the size of the steps.
        error: the part that comes from the error of the gradient, or (sharp) from its bias.
        episodes: how many episodes the whole run samples.
    """

    plan: Schedule
    measure: Smoothness
    gradient: GradientBounds
    start: float
    step: float
    error: float
    episodes: int

    @property
    def total(self) -> float:
        """The bound on E||grad rho(theta_R)||^2."""
        return self.start + self.step + self.error

    @property
    def trivial(self) -> float:
        """L_rho^2, which bounds the squared length of the gradient everywhere."""
        return self.measure.slope * self.measure.slope

    @property
    def informative(self) -> bool:
        """Whether the guarantee says more than the trivial bound."""
        return self.total < self.trivial


@checks_kinds
def guarantee(
    risk: str | RiskMeasure,
    constants: Constants,
    *,
    iterations: int | None = None,
    plan: Schedule | None = None,
    off_policy: bool = False,
    literal: bool = False,
    gap: float | None = None,
    common_random_numbers: bool = True,
) -> Guarantee:
    """Give the bound on E||grad rho(theta_R)||^2 after a run, with its parts.

    The bound holds for the paper's algorithms: one measure throughout, a constant step along the smoothed gradient and
    independent directions. A risk path, a bonus, Adam, orthogonal directions and reused batches are not covered.

    Args:
        risk: the measure, or its string.
        constants: from `riskgrad.theory.constants`.
        iterations: N, with the schedule of `tm:sf`, where n = sqrt(N) if `literal`, and otherwise rounded up.
        plan: another schedule, instead of `iterations`.
        off_policy: OffP-SF with a fresh batch in each iteration; one batch for the whole run has no guarantee.
        literal: whether to use the paper's proposition instead of the sharp one; pass literal constants with it.
        gap: rho* - rho(theta_0) where it is known; by default the largest that it can be.
        common_random_numbers: whether the two policies of a pair share their random numbers.
    """
    chosen = _choose_plan(iterations, plan)
    at_schedule = literal and plan is None
    measure = parse(risk).smoothness(constants.at(chosen.smoothing), off_policy=off_policy, literal=literal)
    if chosen.episodes < measure.fewest_episodes:
        raise InputError("episodes", f"be at least {measure.fewest_episodes} for this measure", chosen.episodes)
    gradient = gradient_bounds(
        measure,
        dim=constants.dim,
        smoothing=chosen.smoothing,
        directions=math.sqrt(chosen.iterations) if at_schedule else chosen.directions,
        episodes=chosen.episodes,
        off_policy=off_policy,
        literal=literal,
        common_random_numbers=common_random_numbers,
    )
    return Guarantee(
        plan=chosen,
        measure=measure,
        gradient=gradient,
        start=2.0 * _check_gap(gap, measure) / (chosen.iterations * chosen.step_size),
        step=product(measure.curvature, chosen.step_size, gradient.second_moment),
        error=gradient.error if literal else gradient.bias * gradient.bias,
        episodes=chosen.offp_sf_episodes if off_policy else chosen.onp_sf_episodes,
    )


@checks_kinds
def bound(
    risk: str | RiskMeasure,
    constants: Constants,
    *,
    iterations: int | None = None,
    plan: Schedule | None = None,
    off_policy: bool = False,
    literal: bool = False,
    gap: float | None = None,
) -> float:
    """Give the bound on E||grad rho(theta_R)||^2 after a run, the total of `guarantee`; see there for the arguments."""
    return guarantee(
        risk, constants, iterations=iterations, plan=plan, off_policy=off_policy, literal=literal, gap=gap
    ).total


@checks_kinds
def iterations_for(
    eps: float,
    risk: str | RiskMeasure,
    constants: Constants,
    *,
    off_policy: bool = False,
    literal: bool = False,
    gap: float | None = None,
) -> int:
    """Give a number of iterations N that makes theta_R an eps-stationary point (`def:esolution`).

    It is the smallest such N if the bound falls with N, as it does for all but the first few. The run then samples
    `guarantee(..., iterations=N).episodes` episodes.

    Args:
        eps: the largest E||grad rho(theta_R)||^2 that is allowed.
        risk: the measure, or its string.
        constants: from `riskgrad.theory.constants`.
        off_policy: as for `guarantee`.
        literal: as for `guarantee`.
        gap: as for `guarantee`.
    """
    if not 0.0 < eps < math.inf:
        raise InputError("eps", "be positive and finite", eps)
    measure = parse(risk)

    def enough(iterations: int) -> bool:
        return bound(measure, constants, iterations=iterations, off_policy=off_policy, literal=literal, gap=gap) <= eps

    fewest = measure.smoothness(constants, off_policy=off_policy, literal=literal).fewest_episodes
    high = fewest
    while not enough(high):
        high *= 2
        if high > MOST_ITERATIONS:
            raise InputError("eps", "be within reach of some number of iterations", eps, "M_s or M_r is too large")
    low = fewest - 1 if high == fewest else high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _choose_plan(iterations: int | None, plan: Schedule | None) -> Schedule:
    if plan is None and iterations is not None:
        return schedule(iterations)
    if plan is not None and iterations is None:
        return plan
    raise InputError("iterations and plan", "be given one at a time", f"iterations={iterations}, plan={plan}")


def _check_gap(gap: float | None, measure: Smoothness) -> float:
    if gap is None:
        return measure.span
    if not 0.0 <= gap < math.inf:
        raise InputError("gap", "be rho* - rho(theta_0), not negative and finite", gap)
    return float(gap)

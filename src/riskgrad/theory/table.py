"""A table of all constants and bounds: literal, sharp and measured, each with one line on how to read it."""

import math
from dataclasses import dataclass

import numpy as np

from riskgrad.distortion import DistortionFunction
from riskgrad.errors import InputError, TooLargeError
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.mdp import FiniteMDP
from riskgrad.policy import Policy
from riskgrad.risk import Constants, RiskMeasure, Smoothness, parse
from riskgrad.theory._constants import Behavior, constants
from riskgrad.theory._schedule import schedule
from riskgrad.theory.bounds import Guarantee, guarantee, iterations_for
from riskgrad.theory.measurement import Measurement, Sampling, measure


@checks_calls
@dataclass(frozen=True, kw_only=True)
class BoundRow:
    """One line of the table.

    Attributes:
        symbol: the paper's symbol, with the label of the formula.
        meaning: the constant or bound in plain words.
        literal: the paper's number; None where there is no literal guarantee.
        sharp: riskgrad's number.
        measured: the number measured on this model, at most `sharp`; None where nothing can be measured.
        reading: one line that says how to read the numbers.
    """

    symbol: str
    meaning: str
    literal: float | None
    sharp: float
    measured: float | None
    reading: str


@checks_kinds
def bounds_table(
    mdp: FiniteMDP,
    policy: Policy,
    risk: str | RiskMeasure,
    iterations: int,
    *,
    off_policy: bool = False,
    behavior: Behavior = "current",
    effort: int = 16,
    seed: int = 0,
) -> list[BoundRow]:
    """Give the constants and the guarantee of a run beside the numbers measured on the model.

    Args:
        mdp: a finite model; if it is too large for exact gradients, nothing is measured.
        policy: a Gibbs policy over its states.
        risk: a smooth measure, or its string.
        iterations: N, with the schedule of `tm:sf`.
        off_policy: whether the run is OffP-SF instead of OnP-SF.
        behavior: the policy whose episodes OffP-SF reweights: "current" (its default), "uniform" or a table [S, A].
        effort: how many parameter vectors to try in each round of the measurement; see `measure`.
        seed: of the search and the samples.

    Returns:
        the rows, from the constants of the model to the guarantee of the run.
    """
    rho = parse(risk)
    plan = schedule(iterations)
    ours, theirs = (constants(mdp, policy, behavior=behavior, literal=flag) for flag in (False, True))
    sharp = guarantee(rho, ours, iterations=iterations, off_policy=off_policy)
    try:
        literal, reason = guarantee(rho, theirs, iterations=iterations, off_policy=off_policy, literal=True), ""
    except InputError as refusal:
        literal, reason = None, str(refusal)
    try:
        sampling = _find_sampling(behavior, off_policy=off_policy)
        seen = measure(mdp, policy, rho, smoothing=plan.smoothing, sampling=sampling, effort=effort, seed=seed)
    except TooLargeError:
        seen = None
    fixed = ours.at(plan.smoothing), theirs.at(plan.smoothing)
    return [
        *_problem_rows(*fixed),
        *([_ratio_row(*fixed, seen)] if off_policy else []),
        *(_distortion_rows(rho.function) if rho.function is not None else []),
        *_measure_rows(sharp, literal, rho.smoothness(theirs, literal=True), seen, reason),
        *_run_rows(rho, ours, sharp, literal, off_policy=off_policy),
    ]


def _find_sampling(behavior: Behavior, *, off_policy: bool) -> Sampling | None:
    """Say whose episodes are played to measure errors; None for a table of probabilities, which is not measured."""
    if not off_policy:
        return "on-policy"
    if not isinstance(behavior, str):
        return None
    return "current" if behavior == "current" else "uniform"


def _problem_rows(ours: Constants, theirs: Constants) -> list[BoundRow]:
    low, high = ours.return_range or (-ours.M_r, ours.M_r)
    return [
        BoundRow(
            symbol="M_r",
            meaning="largest |return|",
            literal=theirs.M_r,
            sharp=ours.M_r,
            measured=max(-low, high),
            reading=f"returns lie in [{low:g}, {high:g}]; sharp constants use half of that range, {ours.half_range:g}",
        ),
        BoundRow(
            symbol="M_e (eq:M_e)",
            meaning="longest episode",
            literal=float(theirs.M_e),
            sharp=float(ours.M_e),
            measured=None,
            reading="steps",
        ),
        BoundRow(
            symbol="M_d (as:nabla_logpi)",
            meaning="longest score",
            literal=theirs.M_d,
            sharp=ours.M_d,
            measured=None,
            reading="approached as the policy becomes deterministic",
        ),
        BoundRow(
            symbol="M_h (as:nabla_logpi)",
            meaning="largest Hessian of log pi",
            literal=theirs.M_h,
            sharp=ours.M_h,
            measured=None,
            reading="attained where two actions share the probability",
        ),
    ]


def _distortion_rows(g: DistortionFunction) -> list[BoundRow]:
    levels = np.linspace(0.0, 1.0, 4097)
    seen = (float(np.max(np.abs(slope(levels)))) for slope in (g.slope_at, g.bend_at))
    return [
        BoundRow(
            symbol=f"{symbol} (as:g'_bound)",
            meaning=f"largest |{name}| of the distortion",
            literal=bound,
            sharp=bound,
            measured=found,
            reading=reading,
        )
        for symbol, name, bound, found, reading in zip(
            ("M_g'", "M_g''"),
            ("g'", "g''"),
            (g.slope_bound, g.curvature_bound),
            seen,
            ("how much the heaviest outcome counts, the mean has 1", "how sharply the weight changes"),
            strict=True,
        )
    ]


def _ratio_row(ours: Constants, theirs: Constants, seen: Measurement | None) -> BoundRow:
    return BoundRow(
        symbol="M_s (eq:is_ratio)",
        meaning="largest importance ratio",
        literal=theirs.M_s,
        sharp=ours.M_s,
        measured=seen.ratio if seen else None,
        reading=f"10^{ours.log_M_s / math.log(10.0):.1f}; errors of weighted estimates grow with it",
    )


def _measure_rows(
    sharp: Guarantee, literal: Guarantee | None, on_policy: Smoothness, seen: Measurement | None, reason: str
) -> list[BoundRow]:
    m, n = sharp.plan.episodes, sharp.plan.directions
    typical = math.sqrt(sharp.measure.error / m)
    return [
        BoundRow(
            symbol="C_1 (as:mse)",
            meaning="m times the squared error of the estimated risk",
            literal=literal.measure.error if literal else None,
            sharp=sharp.measure.error,
            measured=seen.error if seen else None,
            reading=reason or f"with m = {m} episodes the estimate is off by at most about {typical:.3g}",
        ),
        BoundRow(
            symbol="L_rho (as:lip)",
            meaning="longest gradient",
            literal=on_policy.slope,
            sharp=sharp.measure.slope,
            measured=seen.slope if seen else None,
            reading="the trivial bound on the gradient, wherever a run ends",
        ),
        BoundRow(
            symbol="L_rho' (as:smooth)",
            meaning="fastest change of the gradient",
            literal=on_policy.curvature,
            sharp=sharp.measure.curvature,
            measured=seen.curvature if seen else None,
            reading="steps much longer than its inverse are not covered",
        ),
        BoundRow(
            symbol="bias (lm:bias_rho)",
            meaning="what smoothing does to the gradient",
            literal=literal.gradient.smoothing_bias if literal else None,
            sharp=sharp.gradient.smoothing_bias,
            measured=seen.smoothing_bias if seen else None,
            reading=f"at mu = {sharp.plan.smoothing:.3g}",
        ),
        BoundRow(
            symbol="directions (lm:bias_SF_2)",
            meaning="squared error from drawing few directions",
            literal=literal.gradient.direction_variance if literal else None,
            sharp=sharp.gradient.direction_variance,
            measured=seen.direction_variance / n if seen else None,
            reading=f"with n = {n}",
        ),
        BoundRow(
            symbol="noise (lm:bias_SF_1)",
            meaning="squared error from estimating the risk",
            literal=literal.gradient.noise if literal else None,
            sharp=sharp.gradient.noise,
            measured=None,
            reading=f"with m = {m}, n = {n}",
        ),
    ]


def _run_rows(
    risk: RiskMeasure, ours: Constants, sharp: Guarantee, literal: Guarantee | None, *, off_policy: bool
) -> list[BoundRow]:
    verdict = "says more than" if sharp.informative else "says no more than"
    try:
        needed = iterations_for(max(sharp.trivial, 1e-300), risk, ours, off_policy=off_policy)
        when = f"; informative from N = {needed:.3g}" if not sharp.informative and sharp.trivial > 0.0 else ""
    except InputError:
        when = "; never informative"
    return [
        BoundRow(
            symbol="E||grad rho(theta_R)||^2 (tm:sf)",
            meaning="the guarantee of the run",
            literal=literal.total if literal else None,
            sharp=sharp.total,
            measured=None,
            reading=f"{verdict} the trivial L_rho^2 = {sharp.trivial:.3g}{when}",
        ),
        BoundRow(
            symbol="episodes",
            meaning="what the run costs",
            literal=float(sharp.episodes),
            sharp=float(sharp.episodes),
            measured=float(sharp.episodes),
            reading="N m with a fresh batch in each iteration" if off_policy else "2 n m in each of N iterations",
        ),
    ]

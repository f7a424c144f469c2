"""OffP-SF: one batch of episodes is reweighted for all 2 n perturbed policies (`alg:onP` with off-policy estimates).

One iteration samples m episodes, not 2 n m. The default behavior is the current policy with a fresh batch in each
iteration: the ratios psi are then at most exp(mu M_e M_d), and the proof of `pr:non_asym_sf` stands, since it needs the
estimates at theta_k +- mu v only. Since + and - share the batch, their difference shrinks with mu and its noise with
it: a small smoothing costs nothing here.
"""

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.algorithms.behavior import Behavior, acting
from riskgrad.algorithms.guards import near_enough, ratios
from riskgrad.algorithms.loop import Keeping, follow
from riskgrad.algorithms.noise import batch_error
from riskgrad.algorithms.path import RiskPath
from riskgrad.algorithms.problem import checked_floor, held_out_size, source_text, stated, whole
from riskgrad.algorithms.reweighted import Point, Reweighted
from riskgrad.algorithms.schedule import ScheduleName, settled
from riskgrad.ascent import Ascent
from riskgrad.gradient import smoothed, sphere
from riskgrad.policy import Policy
from riskgrad.random import Purpose
from riskgrad.risk import RiskMeasure
from riskgrad.run import Run
from riskgrad.sources.base import Source
from riskgrad.types import FloatArray, Gradient
from riskgrad.weights import log_ratios


def offp_sf(
    source: Source | None,
    policy: Policy,
    risk: str | RiskMeasure,
    *,
    iterations: int,
    step_size: float | str | Ascent | None = None,
    smoothing: float | None = None,
    directions: int | None = None,
    episodes: int | None = None,
    behavior: Behavior = "current",
    reuse_batch: bool = False,
    steps_per_batch: int = 1,
    ess_floor: float | None = None,
    schedule: ScheduleName = "practical",
    orthogonal: bool | None = None,
    risk_path: RiskPath | None = None,
    entropy: float = 0.0,
    normalize: bool = False,
    seed: int = 0,
    theta: ArrayLike | None = None,
    held_out: int | None = None,
    **keeping: Unpack[Keeping],
) -> Run:
    """Maximize a risk measure by OffP-SF.

    Args:
        source: where episodes come from; None with logged episodes.
        policy: what is trained.
        risk: a risk measure, or a string such as "cvar:0.1".
        iterations: N.
        step_size: a number is the paper's constant step; or an ascent, such as `Adam(0.1)`, or its name, "adam:0.1".
        smoothing: mu in (0, 1].
        directions: n.
        episodes: m, the batch of each iteration.
        behavior: who acts: "current", a pair (policy, theta), or logged episodes.
        reuse_batch: draw one batch for the whole run; outside the guarantee.
        steps_per_batch: most ascent steps on one batch; 1 is the paper's.
        ess_floor: least effective sample size, as a part of m, for a batch to tell; 0 switches the guards off. None as
            the schedule says: 0 for "paper".
        schedule: where the numbers that are not given come from, "practical" or "paper" (`tm:sf`).
        orthogonal: whether the directions of a block are orthogonal; None as the schedule says.
        risk_path: the part of the run over which the measure goes from the mean to the named one; None for no path.
            A `SquarePath` starts from the worse of two episodes instead.
        entropy: a bonus, in standard deviations of the return, falling to 0.
        normalize: whether the policy sees observations less their mean, over their spread, from statistics of what was
            seen in the first half of the run; see `riskgrad.algorithms.observing`.
        seed: the run's seed.
        theta: theta_0 [d]; by default what the policy starts from, mostly zeros.
        held_out: episodes of each look at an iterate; None for a tenth of the training, 0 takes the last iterate.
        keeping: `folder`, `resume`, `callback`, `checkpoint_seconds`; see `Keeping`.

    Returns:
        the run.
    """
    problem = stated(
        policy,
        risk,
        iterations,
        seed=seed,
        theta=theta,
        risk_path=risk_path,
        entropy=entropy,
        normalize=normalize,
    )
    numbers = settled(
        problem,
        schedule,
        off_policy=True,
        step_size=step_size,
        smoothing=smoothing,
        directions=directions,
        episodes=episodes,
        orthogonal=orthogonal,
    )
    steps = whole("steps_per_batch", steps_per_batch)
    n, m = numbers.directions, numbers.episodes
    floor = checked_floor(ess_floor, schedule, fresh=behavior == "current" and not reuse_batch)
    judged = held_out_size(held_out, iterations, m)
    who = acting(problem, source, behavior, reuse_batch, m, judged, floor)

    def gradient_at(point: Point) -> tuple[Gradient, float]:
        values = point.batch.values
        v = sphere(problem.stream(Purpose.DIRECTIONS, point.k).generator(point.step), n, policy.dim, numbers.orthogonal)

        def logs_at(mu: float) -> FloatArray:
            return log_ratios(point.policy, np.concatenate([point.theta + mu * v, point.theta - mu * v]), point.batch)

        mu, logs, smallest, event = near_enough(logs_at, numbers.smoothing, floor * point.size)
        if event is not None:
            point.events.append(event)
        psi = ratios(logs)
        gradient = smoothed(lambda _: point.rho.estimate(values, psi), point.theta, v, mu)
        error = float("nan")
        if point.step == 0:
            # the directions' error given the batch, and the batch's own; a full finite difference has the latter alone
            error = float(np.hypot(np.nan_to_num(gradient.standard_error), batch_error(point.rho, values, psi, v, mu)))
        return Gradient(gradient.vector, error), smallest

    settings = {
        **problem.settings("offp_sf"),
        **numbers.settings(),
        "source": source_text(source),
        "behavior": who.text,
        "reuse_batch": reuse_batch,
        "steps_per_batch": steps,
        "ess_floor": floor,
        "held_out": judged,
    }
    return follow(Reweighted(problem, who, numbers.ascent, steps, floor, gradient_at).course(settings), **keeping)

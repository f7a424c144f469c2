"""The score algorithm: ascent along the score gradient of the risk, from one batch per iteration.

It needs the measure's influence and the policy's score, and then no perturbation: what OffP-SF reaches with 2 d
perturbed policies as mu goes to 0, at the cost of one. It is a third algorithm and a check of the other two.
"""

from typing import Unpack

from numpy.typing import ArrayLike

from riskgrad.algorithms.behavior import Behavior, acting
from riskgrad.algorithms.loop import Keeping, follow
from riskgrad.algorithms.path import RiskPath
from riskgrad.algorithms.problem import checked_floor, held_out_size, source_text, stated, whole
from riskgrad.algorithms.reweighted import Point, Reweighted
from riskgrad.algorithms.schedule import ScheduleName, settled
from riskgrad.ascent import Ascent
from riskgrad.gradient import score
from riskgrad.policy import Policy
from riskgrad.risk import RiskMeasure
from riskgrad.run import Run
from riskgrad.run.recipes import describe
from riskgrad.sources.base import Source
from riskgrad.types import Gradient


def score_ascent(
    source: Source | None,
    policy: Policy,
    risk: str | RiskMeasure,
    *,
    iterations: int,
    step_size: float | str | Ascent | None = None,
    episodes: int | None = None,
    behavior: Behavior = "current",
    reuse_batch: bool = False,
    steps_per_batch: int = 1,
    ess_floor: float | None = None,
    schedule: ScheduleName = "practical",
    risk_path: RiskPath | None = None,
    entropy: float = 0.0,
    normalize: bool = False,
    seed: int = 0,
    theta: ArrayLike | None = None,
    held_out: int | None = None,
    **keeping: Unpack[Keeping],
) -> Run:
    """Maximize a risk measure along its score gradient.

    Args:
        source: where episodes come from; None with logged episodes.
        policy: what is trained.
        risk: a risk measure with an influence, or a string such as "cvar:0.1".
        iterations: N.
        step_size: a number is a constant step; or an ascent, such as `Adam(0.1)`, or its name, "adam:0.1".
        episodes: m, the batch of each iteration.
        behavior: who acts: "current", a pair (policy, theta), or logged episodes.
        reuse_batch: draw one batch for the whole run; outside the guarantee.
        steps_per_batch: most ascent steps on one batch.
        ess_floor: least effective sample size, as a part of m, for a batch to tell; 0 switches the guards off.
        schedule: where the numbers that are not given come from, "practical" or "paper" (`tm:sf`).
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
    numbers = settled(problem, schedule, off_policy=True, step_size=step_size, episodes=episodes)
    steps, m = whole("steps_per_batch", steps_per_batch), whole("episodes", numbers.episodes, 2)
    floor = checked_floor(ess_floor, schedule, fresh=behavior == "current" and not reuse_batch)
    judged = held_out_size(held_out, iterations, m)
    who = acting(problem, source, behavior, reuse_batch, m, judged, floor)

    def gradient_at(point: Point) -> tuple[Gradient, float]:
        first = point.step == 0
        return score(point.rho, point.policy, point.theta, point.batch, point.weights, with_error=first), point.size

    settings = {
        **problem.settings("score"),
        "ascent": describe(numbers.ascent),
        "episodes": m,
        "source": source_text(source),
        "behavior": who.text,
        "reuse_batch": reuse_batch,
        "steps_per_batch": steps,
        "ess_floor": floor,
        "held_out": judged,
    }
    return follow(Reweighted(problem, who, numbers.ascent, steps, floor, gradient_at).course(settings), **keeping)

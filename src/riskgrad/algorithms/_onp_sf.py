"""OnP-SF (`alg:onP`): each perturbed policy is tried out with episodes of its own.

One iteration samples 2 n m episodes; a run of N iterations 2 n m N. The policies of a +- pair see the same random
numbers (common random numbers), which takes most of the noise out of their difference; the paper's pairs are
independent, `common_random_numbers=False`.

At small m a distortion estimate is nearly neutral: with m = 1 every distortion measure estimates the mean. Take m well
above one over the mass of the tail that matters.
"""

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.algorithms.loop import Course, Iteration, Keeping, follow
from riskgrad.algorithms.noise import batch_error, estimate_errors
from riskgrad.algorithms.observing import begun, observed
from riskgrad.algorithms.path import RiskPath
from riskgrad.algorithms.problem import held_out_size, judge_by_source, looks, source_text, stated
from riskgrad.algorithms.schedule import ScheduleName, settled
from riskgrad.ascent import Ascent, Memory
from riskgrad.gradient import smoothed, sphere
from riskgrad.policy import Policy
from riskgrad.random import Purpose
from riskgrad.risk import RiskMeasure
from riskgrad.run import Run
from riskgrad.sources.base import Source
from riskgrad.types import FloatArray


def onp_sf(
    source: Source,
    policy: Policy,
    risk: str | RiskMeasure,
    *,
    iterations: int,
    step_size: float | str | Ascent | None = None,
    smoothing: float | None = None,
    directions: int | None = None,
    episodes: int | None = None,
    schedule: ScheduleName = "practical",
    orthogonal: bool | None = None,
    common_random_numbers: bool = True,
    risk_path: RiskPath | None = None,
    entropy: float = 0.0,
    normalize: bool = False,
    seed: int = 0,
    theta: ArrayLike | None = None,
    held_out: int | None = None,
    **keeping: Unpack[Keeping],
) -> Run:
    """Maximize a risk measure by OnP-SF.

    Args:
        source: where episodes come from.
        policy: what is trained.
        risk: a risk measure, or a string such as "cvar:0.1".
        iterations: N.
        step_size: a number is the paper's constant step; or an ascent, such as `Adam(0.1)`, or its name, "adam:0.1".
        smoothing: mu in (0, 1].
        directions: n.
        episodes: m, for each of the 2 n perturbed policies.
        schedule: where the numbers that are not given come from, "practical" or "paper" (`tm:sf`).
        orthogonal: whether the directions of a block are orthogonal; None as the schedule says.
        common_random_numbers: whether + and - see the same random numbers.
        risk_path: the part of the run over which the measure goes from the mean to the named one; None for no path.
            A `SquarePath` starts from the worse of two episodes instead.
        entropy: a bonus, in standard deviations of the return, falling to 0; costs m more episodes per iteration.
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
        off_policy=False,
        step_size=step_size,
        smoothing=smoothing,
        directions=directions,
        episodes=episodes,
        orthogonal=orthogonal,
    )
    n, m, mu = numbers.directions, numbers.episodes, numbers.smoothing
    pairs = np.concatenate([np.arange(n), np.arange(n) + (0 if common_random_numbers else n)])

    begin = begun(problem, source, on_policy=True)

    def iterate(k: int, policy: Policy, theta: FloatArray, memory: Memory) -> Iteration:
        rho = problem.measure(k)
        v = sphere(problem.stream(Purpose.DIRECTIONS, k).generator(), n, policy.dim, numbers.orthogonal)
        thetas, stream = np.concatenate([theta + mu * v, theta - mu * v]), problem.stream(Purpose.TRAINING, k)
        returns, following = observed(source, policy, thetas, m, stream, pairs, problem.moves(k))
        gradient = smoothed(lambda _: rho.estimate(returns), theta, v, mu)
        uphill, extra = gradient.vector, 0
        if problem.entropy > 0.0:
            batch, extra = source.record(policy, theta, m, stream), m
            uphill = uphill + problem.bonus(k, policy, theta, batch)
        moved, remembered = numbers.ascent.step(theta, uphill, memory)
        error = gradient.standard_error
        line: dict[str, Any] = {
            "risk": float(np.mean(problem.risk.estimate(returns))),
            "mean": float(np.mean(returns)),
            **estimate_errors(problem.risk, returns),
            "path": problem.path_weight(k),
            "gradient_norm": gradient.norm,
            "gradient_error": batch_error(rho, returns, None, v, mu) if np.isnan(error) else error,
            "ess": None,
            "events": [],
        }
        return Iteration(following, moved, remembered, line, 2 * n * m + extra, returns)

    per_iteration = 2 * n * m + (m if problem.entropy > 0.0 else 0)
    judged = held_out_size(held_out, iterations, per_iteration)
    settings = {
        **problem.settings("onp_sf"),
        **numbers.settings(),
        "source": source_text(source),
        "common_random_numbers": common_random_numbers,
        "held_out": judged,
    }
    course = Course(
        iterate=iterate,
        judge=judge_by_source(problem, source, judged),
        looks=looks(iterations),
        theta=problem.theta,
        memory=numbers.ascent.start(policy.dim),
        iterations=iterations,
        seed=seed,
        policy=policy,
        begin=begin,
        settings=settings,
        notes=problem.notes(),
    )
    return follow(course, **keeping)

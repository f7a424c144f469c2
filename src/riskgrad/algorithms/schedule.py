"""The numbers of a run, from what the user gave and the schedule for the rest.

`schedule="paper"` is that of the main theorem (`tm:sf`): a constant step, independent directions. `"practical"` is
Adam, whose steps do not depend on the scale of rewards, and orthogonal directions. A number given as the step size is
the paper's constant step; for Adam of another size give `rg.ascent.Adam(size)` or "adam:size".

A budget in episodes settles m as well as N. Many rough steps lead further than few exact ones: with 2,000 episodes and
the usual batch of 400 a run has four iterations, and learns next to nothing. So m is lowered until there is room for
80 iterations, as far as the measure allows: its tail must hold an episode or two.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

from riskgrad.algorithms.practical import PRACTICAL
from riskgrad.algorithms.problem import Problem, whole
from riskgrad.ascent import Adam, Ascent, ConstantStep, parse
from riskgrad.errors import UnknownNameError
from riskgrad.gradient._smoothed import checked_smoothing
from riskgrad.policy import Policy
from riskgrad.risk import RiskMeasure
from riskgrad.risk.distortion import DistortionMeasure
from riskgrad.run.recipes import describe
from riskgrad.theory import schedule as theorem

ScheduleName = Literal["practical", "paper"]


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a run.

    Attributes:
        ascent: how theta moves.
        smoothing: mu.
        directions: n.
        episodes: m.
        orthogonal: whether the directions of a block are orthogonal.
    """

    ascent: Ascent
    smoothing: float
    directions: int
    episodes: int
    orthogonal: bool

    def settings(self) -> dict[str, Any]:
        """The numbers by name."""
        return {
            "ascent": describe(self.ascent),
            "smoothing": self.smoothing,
            "directions": self.directions,
            "episodes": self.episodes,
            "orthogonal": self.orthogonal,
        }


def settled(
    problem: Problem,
    schedule: ScheduleName,
    *,
    off_policy: bool,
    step_size: float | str | Ascent | None,
    smoothing: float | None = None,
    directions: int | None = None,
    episodes: int | None = None,
    orthogonal: bool | None = None,
) -> Numbers:
    """Take what is given and fill the rest from the schedule."""
    default = scheduled(schedule, problem, off_policy)
    return Numbers(
        ascent=default.ascent if step_size is None else as_ascent(step_size),
        smoothing=default.smoothing if smoothing is None else checked_smoothing(smoothing),
        directions=default.directions if directions is None else whole("directions", directions),
        episodes=default.episodes if episodes is None else whole("episodes", episodes),
        orthogonal=default.orthogonal if orthogonal is None else orthogonal,
    )


def scheduled(schedule: ScheduleName, problem: Problem, off_policy: bool) -> Numbers:
    """Give the numbers of a schedule by its name."""
    if schedule == "paper":
        plan = theorem(problem.iterations)
        return Numbers(ConstantStep(plan.step_size), plan.smoothing, plan.directions, plan.episodes, orthogonal=False)
    if schedule != "practical":
        raise UnknownNameError("schedule", schedule, ["paper", "practical"])
    return default_numbers(problem.policy, problem.risk, off_policy=off_policy)


def default_numbers(policy: Policy, risk: RiskMeasure, *, off_policy: bool) -> Numbers:
    """Give the practical numbers for a policy and a measure."""
    ours = PRACTICAL
    smoothing = ours.off_policy_smoothing if off_policy else ours.on_policy_smoothing
    step = min(ours.step_size, ours.layered_step / math.sqrt(policy.dim)) if policy.layered else ours.step_size
    if off_policy:
        directions, episodes = ours.off_policy_directions, ours.batch_episodes
    elif not policy.has_density:
        directions, episodes = ours.deterministic_directions, math.ceil(_slope(risk))
        # what is known of the function is its average over a ball of radius mu: a step stays within it
        step = min(step, smoothing / math.sqrt(policy.dim))
    else:
        directions, episodes = ours.on_policy_directions, ours.on_policy_episodes
    return Numbers(Adam(step), smoothing, min(policy.dim, directions), episodes, ours.orthogonal)


def affordable_episodes(budget: int, usual: int, estimates: int, risk: RiskMeasure, *, off_policy: bool) -> int:
    """Give m for a budget in episodes: the usual one, or fewer where that would leave few iterations.

    Args:
        budget: episodes of the whole run, held-out ones included.
        usual: m without a budget.
        estimates: how many times m episodes an iteration samples: 1, or 2 n and more of OnP-SF.
        risk: the measure that they estimate.
        off_policy: whether one batch serves all estimates.
    """
    ours = PRACTICAL
    room = int(budget / (1.0 + ours.held_out_share) / (ours.least_iterations * estimates))
    least = math.ceil(ours.least_in_tail * _slope(risk))
    return min(usual, max(room, least, ours.least_episodes if off_policy else 1))


def _slope(risk: RiskMeasure) -> float:
    """How many episodes the measure needs to show itself: the largest weight M_g' of one, over that of the mean."""
    if risk.attitude == "neutral":
        return 1.0
    slope = risk.function.slope_bound if isinstance(risk, DistortionMeasure) else math.inf
    return max(1.0, slope) if math.isfinite(slope) else PRACTICAL.unknown_slope


def as_ascent(step_size: float | str | Ascent) -> Ascent:
    """Take an ascent as it is, a string as the one that it names, and a number as the paper's constant step."""
    if isinstance(step_size, str):
        return parse(step_size)
    return ConstantStep(float(step_size)) if isinstance(step_size, int | float) else step_size

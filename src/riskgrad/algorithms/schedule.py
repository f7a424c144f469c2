"""The numbers of a run, from what the user gave and the schedule for the rest.

`schedule="paper"` is that of the main theorem (`tm:sf`): a constant step, independent directions. `"practical"` is
Adam, whose steps do not depend on the scale of rewards, and orthogonal directions. A number given as the step size is
the paper's constant step; for Adam of another size give `rg.ascent.Adam(size)`.
"""

from dataclasses import dataclass
from typing import Any, Literal

from riskgrad.algorithms.practical import PRACTICAL
from riskgrad.algorithms.problem import Problem, whole
from riskgrad.ascent import Adam, Ascent, ConstantStep
from riskgrad.errors import UnknownNameError
from riskgrad.gradient._smoothed import checked_smoothing
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
            "ascent": repr(self.ascent),
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
    step_size: float | Ascent | None,
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
    return default_numbers(problem.policy.dim, off_policy=off_policy)


def default_numbers(dim: int, *, off_policy: bool) -> Numbers:
    """Give the practical numbers for d parameters."""
    ours = PRACTICAL
    smoothing = ours.off_policy_smoothing if off_policy else ours.on_policy_smoothing
    directions = ours.off_policy_directions if off_policy else ours.on_policy_directions
    episodes = ours.batch_episodes if off_policy else ours.on_policy_episodes
    return Numbers(Adam(ours.step_size), smoothing, min(dim, directions), episodes, ours.orthogonal)


def as_ascent(step_size: float | Ascent) -> Ascent:
    """Take an ascent as it is, and a number as the paper's constant step."""
    return ConstantStep(float(step_size)) if isinstance(step_size, int | float) else step_size

"""The score algorithm: ascent along the score gradient of the risk, from one batch per iteration.

It needs the measure's influence and the policy's score, and then no perturbation: what OffP-SF reaches with 2 d
perturbed policies as mu goes to 0, at the cost of one. It is a third algorithm and a check of the other two.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, final

from riskgrad.checks import check_count, check_share
from riskgrad.gradient import score
from riskgrad.settings import Rule, option
from riskgrad.training.algorithm import Algorithm, Info, State
from riskgrad.training.batches import check_behavior, find_floor
from riskgrad.training.climb import Climb
from riskgrad.training.plan import afford_episodes
from riskgrad.training.problem import Problem


@final
@dataclass(frozen=True)
class Score(Algorithm):
    """Ascent along the score gradient.

    Attributes:
        episodes: m, the batch of each iteration, at least 2.
        behavior: who acts: "current", or a pair (policy, theta).
        reuse_batch: draw one batch for the whole run.
        steps_per_batch: most ascent steps on one batch.
        ess_floor: least effective sample size, as a part of m, for a batch to be used; 0 switches the guards off.
    """

    name = "score"
    needs_influence = True

    episodes: int = option(
        Rule("400, fewer on a small budget", lambda case, own: afford_episodes(case, own, usual=400)),
        int,
        "m, the episodes of each estimate or batch.",
        paper=Rule("N", lambda case, _: case.plan.episodes),
        check=partial(check_count, least=2),
    )
    behavior: Any = option("current", None, 'Who acts: "current", or a pair (policy, theta).', check=check_behavior)
    reuse_batch: bool = option(False, bool, "Draw one batch for the whole run; outside the guarantee.")
    steps_per_batch: int = option(8, int, "Most ascent steps on one batch.", paper=1, check=check_count)
    ess_floor: float = option(
        Rule("0.9, or 0.1 where the current policy does not act", find_floor),
        float,
        "Least effective sample size, as a part of m, for a batch to be used; 0 for any.",
        paper=0.0,
        check=check_share,
    )

    def step(self, problem: Problem, state: State) -> tuple[State, Info]:
        """Draw a batch, and climb on it along the score gradient, reweighted to each theta on the way."""
        climb = Climb(problem, state, self.ess_floor)
        for point in climb.points(self.steps_per_batch):
            told = point.number == 0
            gradient = score(point.rho, state.policy, point.theta, climb.batch, point.weights, with_error=told)
            climb.ascend(gradient, point.size)
        return climb.end()

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
"""The score algorithm: ascent along the score gradient of the risk, from one batch per iteration.

It needs the measure's influence and the policy's score, and no perturbed policies. But for a factor near 1, its
gradient is the limit of that of OffP-SF with 2 d perturbed policies as mu goes to 0, at the cost of one policy.
"""

from dataclasses import dataclass
from functools import partial
from typing import final

from riskgrad.checks import check_count
from riskgrad.gradient import score
from riskgrad.settings import Rule, option
from riskgrad.training.algorithm import PAPER_EPISODES, Info, State
from riskgrad.training.climb import Climb, Reweighting
from riskgrad.training.plan import afford_episodes
from riskgrad.training.problem import Problem


@final
@dataclass(frozen=True)
class Score(Reweighting):
    """Ascent along the score gradient.

    Attributes:
        episodes: m, the batch of each iteration, at least 2.
    """

    name = "score"
    needs_influence = True
    preference = 3

    episodes: int = option(
        Rule("400, fewer on a small budget", lambda case, own: afford_episodes(case, own, usual=400)),
        int,
        "m, the episodes of each estimate or batch.",
        paper=PAPER_EPISODES,
        check=partial(check_count, least=2),
    )

    def step(self, problem: Problem, state: State) -> tuple[State, Info]:
        """Draw a batch, and climb along its score gradient, reweighted to each theta on the way."""
        climb = Climb(problem, state, self)
        for point in climb.points():
            first = point.number == 0  # whose error is recorded
            gradient = score(point.rho, state.policy, point.theta, climb.batch, point.weights, with_error=first)
            climb.ascend(gradient, point.size)
        return climb.end()

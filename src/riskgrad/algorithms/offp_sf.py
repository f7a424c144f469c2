# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
"""OffP-SF: one batch of episodes is reweighted for all 2 n perturbed policies (`alg:onP` with off-policy estimates).

One iteration samples m episodes, not 2 n m. By default the current policy acts, with a fresh batch in each iteration:
the ratios psi are then at most exp(mu M_e M_d), and the proof of `pr:non_asym_sf` holds, since it needs the estimates
at theta_k +- mu v only. Since + and - share the batch, the noise of their difference shrinks with mu as the difference
does: a small smoothing costs nothing here.
"""

from dataclasses import dataclass
from typing import final

from riskgrad.checks import check_count, check_smoothing
from riskgrad.gradient import smoothed_difference, sphere, with_batch_error
from riskgrad.random import Purpose, Stream
from riskgrad.settings import Rule, option
from riskgrad.training.algorithm import PAPER_DIRECTIONS, PAPER_EPISODES, PAPER_SMOOTHING, Info, State
from riskgrad.training.climb import Climb, Reweighting
from riskgrad.training.plan import afford_episodes
from riskgrad.training.problem import Problem
from riskgrad.weights import weigh_around


@final
@dataclass(frozen=True)
class OffPSF(Reweighting):
    """OffP-SF: 2 n perturbed policies, estimated from one reweighted batch of m episodes.

    Attributes:
        directions: n, how many are drawn in each iteration.
        smoothing: mu in (0, 1], how far perturbed policies are from theta.
        episodes: m, the batch of each iteration.
        orthogonal: whether the directions of a block are orthogonal.
    """

    name = "offp-sf"
    preference = 2

    directions: int = option(
        Rule("128, at most d", lambda case, _: min(case.dim, 128)),
        int,
        "n, the directions of one iteration.",
        paper=PAPER_DIRECTIONS,
        check=check_count,
    )
    smoothing: float = option(
        0.05,
        float,
        "mu in (0, 1], how far perturbed policies are from theta.",
        paper=PAPER_SMOOTHING,
        check=check_smoothing,
    )
    episodes: int = option(
        Rule("400, fewer on a small budget", lambda case, own: afford_episodes(case, own, usual=400)),
        int,
        "m, the episodes of each estimate or batch.",
        paper=PAPER_EPISODES,
        check=check_count,
    )
    orthogonal: bool = option(True, bool, "Make the directions of a block orthogonal.", paper=False)

    def step(self, problem: Problem, state: State) -> tuple[State, Info]:
        """Draw a batch, and climb on it along smoothed differences of its reweighted estimates."""
        climb = Climb(problem, state, self)
        for point in climb.points():
            stream = Stream(problem.seed, Purpose.DIRECTIONS, state.iteration).generator(point.number)
            v = sphere(stream, self.directions, point.theta.size, self.orthogonal)
            least, values = self.ess_floor * point.size, climb.batch.values
            mu, psi, size = weigh_around(state.policy, point.theta, climb.batch, v, self.smoothing, least, climb.events)
            gradient = smoothed_difference(point.rho.estimate(values, psi), v, mu)
            if point.number == 0:
                gradient = with_batch_error(gradient, point.rho, values, psi, v, mu)
            climb.ascend(gradient, size)
        return climb.end()

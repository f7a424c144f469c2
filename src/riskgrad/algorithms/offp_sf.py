"""OffP-SF: one batch of episodes is reweighted for all 2 n perturbed policies (`alg:onP` with off-policy estimates).

One iteration samples m episodes, not 2 n m. By default the current policy acts, with a fresh batch in each iteration:
the ratios psi are then at most exp(mu M_e M_d), and the proof of `pr:non_asym_sf` stands, since it needs the estimates
at theta_k +- mu v only. Since + and - share the batch, their difference shrinks with mu and its noise with it: a small
smoothing costs nothing here.
"""

from dataclasses import dataclass
from typing import Any, final

from riskgrad.checks import check_count, check_share
from riskgrad.gradient import check_smoothing, smoothed_difference, sphere
from riskgrad.random import Purpose
from riskgrad.settings import Rule, option
from riskgrad.training.algorithm import Algorithm, Info, State
from riskgrad.training.batches import check_behavior, find_floor
from riskgrad.training.climb import Climb
from riskgrad.training.plan import afford_episodes
from riskgrad.training.problem import Problem


@final
@dataclass(frozen=True)
class OffPSF(Algorithm):
    """OffP-SF: 2 n perturbed policies, weighed on one batch of m episodes.

    Attributes:
        directions: n.
        smoothing: mu in (0, 1].
        episodes: m, the batch of each iteration.
        behavior: who acts: "current", or a pair (policy, theta).
        reuse_batch: draw one batch for the whole run; outside the guarantee.
        steps_per_batch: most ascent steps on one batch; 1 is the paper's.
        ess_floor: least effective sample size, as a part of m, for a batch to be used; 0 switches the guards off.
        orthogonal: whether the directions of a block are orthogonal.
    """

    name = "offp-sf"

    directions: int = option(
        Rule("128, at most d", lambda case, _: min(case.dim, 128)),
        int,
        "n, the directions of one iteration.",
        paper=Rule("N^1/2", lambda case, _: case.plan.directions),
        check=check_count,
    )
    smoothing: float = option(
        0.05,
        float,
        "mu in (0, 1], how far perturbed policies are from theta.",
        paper=Rule("N^-1/4", lambda case, _: case.plan.smoothing),
        check=check_smoothing,
    )
    episodes: int = option(
        Rule("400, fewer on a small budget", lambda case, own: afford_episodes(case, own, usual=400)),
        int,
        "m, the episodes of each estimate or batch.",
        paper=Rule("N", lambda case, _: case.plan.episodes),
        check=check_count,
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
    orthogonal: bool = option(True, bool, "Make the directions of a block orthogonal.", paper=False)

    def step(self, problem: Problem, state: State) -> tuple[State, Info]:
        """Draw a batch, and climb on it along smoothed differences of its reweighted estimates."""
        climb = Climb(problem, state, self.ess_floor)
        for point in climb.points(self.steps_per_batch):
            stream = problem.stream(Purpose.DIRECTIONS, state).generator(point.number)
            v = sphere(stream, self.directions, problem.dim, self.orthogonal)
            mu, psi, size = climb.weigh_around(point, v, self.smoothing)
            gradient = smoothed_difference(point.rho.estimate(climb.batch.values, psi), v, mu)
            climb.ascend(climb.with_batch_error(gradient, point, psi, v, mu), size)
        return climb.end()

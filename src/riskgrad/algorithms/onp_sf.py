"""OnP-SF (`alg:onP`): each perturbed policy is estimated from episodes of its own.

One iteration samples 2 n m episodes; a run of N iterations 2 n m N. The policies of a +- pair see the same random
numbers (common random numbers), which takes most of the noise out of their difference; the paper's pairs are
independent.

At small m a distortion estimate is nearly the mean: with m = 1 every distortion measure estimates the mean. Take m well
above one over the mass of the tail that matters.
"""

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from riskgrad.checks import check_count, check_smoothing
from riskgrad.gradient import around, batch_error, smoothed_difference, sphere
from riskgrad.random import Purpose, Stream
from riskgrad.risk.base import error_of_mean
from riskgrad.settings import Rule, option
from riskgrad.training.algorithm import (
    PAPER_DIRECTIONS,
    PAPER_EPISODES,
    PAPER_SMOOTHING,
    Algorithm,
    Circumstances,
    Info,
    State,
)
from riskgrad.training.plan import afford_episodes
from riskgrad.training.problem import Problem


def _directions(case: Circumstances, _: "OnPSF") -> int:
    # for a deterministic policy one more direction is worth more than one more episode of each perturbed policy
    return min(case.dim, 16 if case.has_density else 4)


def _episodes(case: Circumstances, own: "OnPSF") -> int:
    return afford_episodes(case, own, usual=100 if case.has_density else math.ceil(case.slope))


@final
@dataclass(frozen=True)
class OnPSF(Algorithm):
    """OnP-SF: 2 n perturbed policies, m episodes of each.

    Attributes:
        directions: n, how many are drawn in each iteration.
        smoothing: mu in (0, 1], how far perturbed policies are from theta; the noise grows as mu falls.
        episodes: m, for each of the 2 n perturbed policies.
        common_random_numbers: whether + and - see the same random numbers.
        orthogonal: whether the directions of a block are orthogonal.
    """

    name = "onp-sf"
    needs_density = False
    takes_log = False
    least_episodes = 1
    preference = 1

    directions: int = option(
        Rule("16, or 4 for a policy without a density; at most d", _directions),
        int,
        "n, the directions of one iteration.",
        paper=PAPER_DIRECTIONS,
        check=check_count,
    )
    smoothing: float = option(
        0.3,
        float,
        "mu in (0, 1], how far perturbed policies are from theta.",
        paper=PAPER_SMOOTHING,
        check=check_smoothing,
    )
    episodes: int = option(
        Rule("100, or M_g' for a policy without a density; fewer on a small budget", _episodes),
        int,
        "m, the episodes of each estimate or batch.",
        paper=PAPER_EPISODES,
        check=check_count,
    )
    common_random_numbers: bool = option(True, bool, "Let + and - see the same random numbers.")
    orthogonal: bool = option(True, bool, "Make the directions of a block orthogonal.", paper=False)

    def step(self, problem: Problem, state: State) -> tuple[State, Info]:
        """Play 2 n perturbed policies and step along their smoothed difference."""
        n, m, mu = self.directions, self.episodes, self.smoothing
        v = sphere(
            Stream(problem.seed, Purpose.DIRECTIONS, state.iteration).generator(), n, problem.dim, self.orthogonal
        )
        pairs = np.concatenate([np.arange(n), np.arange(n) + (0 if self.common_random_numbers else n)])
        returns, policy = problem.play(state, around(state.theta, v, mu), m, pairs)
        rho = problem.measure(state)
        gradient = smoothed_difference(rho.estimate(returns), v, mu)
        bonus, more = problem.play_bonus(state, m)
        error = gradient.standard_error
        line: dict[str, Any] = {
            "risk": float(np.mean(problem.risk.estimate(returns))),
            "mean": float(np.mean(returns)),
            "risk_error": problem.risk.standard_error(returns),
            "mean_error": error_of_mean(returns, None),
            "path": problem.path_weight(state),
            "gradient_norm": gradient.norm,
            "gradient_error": batch_error(rho, returns, None, v, mu) if np.isnan(error) else error,
            "ess": None,
            "events": [],
        }
        return problem.ascend(state, gradient.vector + bonus, policy), Info(line, 2 * n * m + more, returns)

    def count_estimates(self, has_bonus: bool) -> int:
        """Give 2 n, and one more for the bonus, which has a batch of its own."""
        return 2 * self.directions + (1 if has_bonus else 0)

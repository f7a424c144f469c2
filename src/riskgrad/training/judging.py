"""Which iterate is the best: iterates are judged by held-out episodes, which no step has used.

Up to 5 iterates are judged, the first and the last among them; the episodes count in the cost. Where the current policy
acts, an iterate plays fresh episodes of its own, with the same random numbers for all, so that they compare well.
Elsewhere one held-out batch of the policy that acts is reweighted for each iterate.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from riskgrad.policy import Policy
from riskgrad.random import Purpose, Stream
from riskgrad.settings import Options, default_of, facts_of
from riskgrad.training.guards import ratios_from_logs, worth
from riskgrad.training.problem import Problem
from riskgrad.types import Episodes, FloatArray
from riskgrad.weights import log_ratios

TIMES: Final = 4  # how often iterates are judged, besides the last
HELD_OUT_SHARE: Final = 0.1  # episodes that judge iterates, as a part of those for training


@dataclass(frozen=True)
class Judge:
    """How iterates are compared.

    Attributes:
        value: (policy, theta [d]) -> estimate of the risk; not finite where the episodes say too little, and then not
            chosen.
        first: episodes sampled when the first iterate is judged.
        later: episodes sampled for each later one.
    """

    value: Callable[[Policy, FloatArray], float]
    first: int
    later: int


def judged_iterations(iterations: int) -> frozenset[int]:
    """Give the iterations at which iterates are judged; the last iterate is judged when the run ends."""
    count = min(TIMES, iterations)
    return frozenset(j * iterations // count for j in range(count))


def count_held_out(given: int | None, iterations: int, cost: int) -> int:
    """Give the episodes by which an iterate is judged: as given, or a share of those for training.

    Args:
        given: what the user gave.
        iterations: N.
        cost: episodes of one iteration.
    """
    share = HELD_OUT_SHARE * iterations * cost / (len(judged_iterations(iterations)) + 1)
    return default_of(facts_of(Options)["held_out"], "practical", share) if given is None else given


def find_judge(problem: Problem, episodes: int, floor: float) -> Judge | None:
    """Give the judge of a run; None where no episode is held out.

    Args:
        problem: what is maximized.
        episodes: held-out episodes.
        floor: least effective sample size, as a part of them, where they are reweighted.
    """
    if episodes == 0:
        return None
    apart = problem.batches.apart
    if apart is not None:
        return Judge(_judge_by_weights(problem, apart, floor), 0 if problem.batches.logged is not None else episodes, 0)

    def value(policy: Policy, theta: FloatArray) -> float:
        stream = Stream(problem.seed, Purpose.HELD_OUT)
        returns = problem.source.returns(policy, theta[np.newaxis], episodes, stream)
        return float(problem.risk.estimate(returns.values)[0])

    return Judge(value, episodes, episodes)


def _judge_by_weights(
    problem: Problem, apart: Callable[[Policy], Episodes], floor: float
) -> Callable[[Policy, FloatArray], float]:
    drawn: list[Episodes] = []

    def value(policy: Policy, theta: FloatArray) -> float:
        if not drawn:
            drawn.append(apart(policy))
        logs = log_ratios(policy, theta[np.newaxis], drawn[0])
        if worth(logs)[0] < floor * len(drawn[0].values):
            return float("nan")
        return float(problem.risk.estimate(drawn[0].values, ratios_from_logs(logs)[0]))

    return value

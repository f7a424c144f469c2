"""How iterates are compared: by held-out episodes, which no step has used and which count in the cost.

Where the current policy acts, an iterate plays fresh episodes of its own, with the same random numbers for all, so that
they compare well. Elsewhere one held-out batch of the policy that acts is reweighted for each iterate.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from riskgrad.evaluation.bootstrap import bootstrap_intervals
from riskgrad.policy import Policy
from riskgrad.risk import RiskMeasure
from riskgrad.training.problem import Problem
from riskgrad.types import Episodes, FloatArray
from riskgrad.weights import log_ratios, ratios_from_logs, worth

CONFIDENCE: Final = 0.95
CLEAR: Final = 2.0  # standard errors of a difference that is no accident


@dataclass(frozen=True)
class Look:
    """What held-out episodes say of an iterate.

    Attributes:
        risk: the estimate of the risk; not finite where the episodes say too little, and then not chosen.
        mean: the estimate of the mean, by which equal risks are told apart.
        error: the standard error of the risk; NaN where it cannot be told.
        low: where the bootstrap interval of the risk begins, at 95%.
        high: where it ends.
        flag: why the interval should not be relied on; None where nothing speaks against it.
    """

    risk: float
    mean: float
    error: float
    low: float
    high: float
    flag: str | None

    def beats(self, other: "Look | None") -> bool:
        """Say whether this one is kept rather than an earlier one: by the risk, and at equal risk by the mean."""
        if other is None:
            return True
        return (self.risk, self.mean) >= (other.risk, other.mean)


def read_look(found: Mapping[str, Any]) -> Look:
    """Read a look from a file, where a number that is not finite is None."""
    numbers = {name: float("nan") if value is None else value for name, value in found.items() if name != "flag"}
    return Look(**numbers, flag=found["flag"])


@dataclass(frozen=True)
class Judge:
    """Who compares iterates.

    Attributes:
        look: (policy, theta [d]) -> what held-out episodes say.
        first: episodes sampled when the first iterate is judged.
        later: episodes sampled for each later one.
    """

    look: Callable[[Policy, FloatArray], Look]
    first: int
    later: int


def find_judge(problem: Problem, floor: float) -> Judge | None:
    """Give the judge of a run; None where no episode is held out.

    Args:
        problem: what is maximized.
        floor: least effective sample size, as a part of the held-out episodes, where they are reweighted.
    """
    if problem.look_size == 0:
        return None
    apart = problem.batches.apart
    if apart is not None:
        first = 0 if problem.batches.logged is not None else problem.look_size
        return Judge(_look_by_weights(problem, apart, floor), first, 0)
    return Judge(lambda policy, theta: look_at(problem, policy, theta), problem.look_size, problem.look_size)


def look_at(problem: Problem, policy: Policy, theta: FloatArray) -> Look:
    """Play held-out episodes of an iterate."""
    return look_at_returns(problem, problem.play_held_out(policy, theta))


def excels(risk: RiskMeasure, values: FloatArray, others: FloatArray) -> bool:
    """Say whether returns [m] are better than others, of the same random numbers, by more than chance would have it.

    The difference of the estimates is compared with twice its standard error, which is told by the influences of the
    pairs of episodes.
    """
    difference = float(risk.estimate(values)) - float(risk.estimate(others))
    shares = risk.influence(values) - risk.influence(others)
    return difference > CLEAR * float(np.std(shares)) / math.sqrt(len(values))


def look_at_returns(problem: Problem, values: FloatArray, weights: FloatArray | None = None) -> Look:
    """Give what the returns of held-out episodes [m] say, with their weights [m] where another policy acted."""
    risk = problem.risk
    if weights is None:
        estimate, mean = float(risk.estimate(values[np.newaxis])[0]), float(np.mean(values))
    else:
        estimate, mean = float(risk.estimate(values, weights)), float(np.sum(weights * values) / np.sum(weights))
    bounds = problem.source.return_range
    sure = bootstrap_intervals(values, [risk], bounds, CONFIDENCE, weights=weights, seed=problem.seed)[0]
    return Look(estimate, mean, risk.standard_error(values, weights), *sure.interval, sure.flag)


def _look_by_weights(
    problem: Problem, apart: Callable[[Policy], Episodes], floor: float
) -> Callable[[Policy, FloatArray], Look]:
    drawn: list[Episodes] = []

    def look(policy: Policy, theta: FloatArray) -> Look:
        if not drawn:
            drawn.append(apart(policy))
        values, logs = drawn[0].values, log_ratios(policy, theta[np.newaxis], drawn[0])
        if worth(logs)[0] < floor * len(values):
            return Look(*[float("nan")] * 5, flag="the held-out episodes are worth too little for it")
        return look_at_returns(problem, values, ratios_from_logs(logs)[0])

    return look

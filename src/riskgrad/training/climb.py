"""Ascent steps on one batch, each reweighted to the theta that it starts from.

The paper takes one step per batch. Here up to `steps_per_batch` steps are taken, as long as the effective sample size
of the batch stays above a floor, a share of its m episodes (see `riskgrad.weights`). Below the floor the batch says too
little about the policy:

- for perturbed policies that are too far from theta, mu is halved until they are not;
- where batches are not drawn from the current policy, a step that would lead below the floor is halved until it does
  not, or refused;
- if theta itself is below the floor, no more steps are taken on this batch.

The record of the run notes as events what was halved or refused, and a batch on which no step was taken. A floor of 0
switches these guards off.
"""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import check_count, check_share, check_theta
from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls
from riskgrad.policy import Policy
from riskgrad.risk import RiskMeasure
from riskgrad.risk.base import error_of_mean
from riskgrad.settings import Rule, option
from riskgrad.training.algorithm import Algorithm, Circumstances, Info, State
from riskgrad.training.normalization import policy_after
from riskgrad.training.problem import Problem
from riskgrad.types import FloatArray, Gradient
from riskgrad.weights import MOST_HALVINGS, log_ratios, ratios_from_logs, worth, worth_at


def check_behavior(name: str, behavior: Any) -> "str | tuple[Policy, ArrayLike]":
    """Refuse what is neither "current" nor a pair of a policy and its parameters."""
    if isinstance(behavior, str) and behavior == "current":
        return behavior
    if isinstance(behavior, tuple):
        pair = cast("tuple[Any, ...]", behavior)
        if len(pair) == 2 and isinstance(pair[0], Policy):
            check_theta(pair[1], pair[0].dim)
            return pair
    advice = "a log is given as the environment"
    raise InputError(name, 'be "current" or a pair (policy, theta)', cast("object", behavior), advice)


def find_floor(case: Circumstances, own: Algorithm) -> float:
    """Give the default floor of the effective sample size: 0.9 for fresh batches of the current policy, else 0.1."""
    return 0.9 if own.behavior == "current" and not own.reuse_batch and not case.is_log else 0.1


@dataclass(frozen=True)
class Point:
    """A theta at which a gradient is wanted.

    Attributes:
        number: which step on the batch, from 0.
        rho: the measure that this iteration optimizes.
        theta: the parameters [d].
        weights: psi at theta [m]; None where the policy at theta acted.
        size: how many episodes the weighted batch is worth (see `riskgrad.weights`).
    """

    number: int
    rho: RiskMeasure
    theta: FloatArray
    weights: FloatArray | None
    size: float


@dataclass(frozen=True)
class Reweighting(Algorithm):
    """An algorithm that climbs on reweighted batches, with the options that all such algorithms share.

    Attributes:
        behavior: who acts: "current", or a pair (policy, theta).
        reuse_batch: draw one batch for the whole run; the guarantee does not cover this.
        steps_per_batch: most ascent steps on one batch; the paper takes 1.
        ess_floor: least effective sample size, as a part of m, for a batch to be used; 0 switches the guards off.
    """

    _: KW_ONLY
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


@checks_calls
class Climb:
    """The steps of one iteration on its batch.

    Args:
        problem: what is maximized.
        state: where the iteration begins.
        own: the options of the algorithm.

    Attributes:
        batch: the episodes.
        events: what happened, in words; an algorithm may add to it.
    """

    def __init__(self, problem: Problem, state: State, own: Reweighting) -> None:
        self.batch, self._sampled = problem.batches.draw(state)
        self._problem, self._start, self._now = problem, state, state
        self._most, self._floor = own.steps_per_batch, own.ess_floor
        self._least = own.ess_floor * len(self.batch.values)
        self._line: dict[str, Any] = {}
        self.events: list[str] = []

    def points(self) -> Iterator[Point]:
        """Give the points at which a gradient is wanted, until all steps are taken or the batch is worth too little.

        The caller must call `ascend` after each point.
        """
        m = len(self.batch.values)
        for number in range(self._most):
            theta, weights, size = self._now.theta, None, float(m)
            if number > 0 or not self._problem.batches.on_current:
                logs = log_ratios(self._start.policy, theta[np.newaxis], self.batch)
                weights, size = ratios_from_logs(logs)[0], float(worth(logs)[0])
            if number == 0:
                self._line = self._describe(weights, size)
            if size < self._least:
                if number == 0:
                    self.events.append(f"no step taken: the batch is worth {size:.1f} of {m} episodes")
                return
            yield Point(number, self._problem.path.measure(self._line["path"]), theta, weights, size)

    def ascend(self, gradient: Gradient, size: float) -> None:
        """Take a step along a gradient from a batch that is worth `size` episodes."""
        state, problem = self._now, self._problem
        uphill = gradient.vector + problem.bonus(self._start, state.theta, self.batch)
        theta, moments = problem.ascent.step(state.theta, uphill, state.moments)
        if not problem.batches.on_current:
            theta, event = shorten_step(
                lambda there: worth_at(self._start.policy, there, self.batch), state.theta, theta, self._least
            )
            self.events += [] if event is None else [event]
        self._now = replace(state, theta=theta, moments=moments)
        if self._line["steps"] == 0:
            self._line |= {"gradient_norm": gradient.norm, "gradient_error": gradient.standard_error, "ess": size}
        self._line["steps"] += 1

    def end(self) -> tuple[State, Info]:
        """Give the state after the iteration, and its record."""
        start, problem = self._start, self._problem
        moves = problem.moves_statistics(start) and problem.batches.renewed
        policy = policy_after(start.policy, self.batch) if moves else start.policy
        state = replace(self._now, iteration=start.iteration + 1, policy=policy)
        return state, Info({**self._line, "events": self.events}, self._sampled, self.batch.values)

    def _describe(self, psi: FloatArray | None, size: float) -> dict[str, Any]:
        """Give the record of the theta where the iteration begins, from weights psi [m] worth `size` episodes."""
        values, risk, path = self.batch.values, self._problem.risk, self._problem.path_weight(self._start)
        weights = np.ones(len(values)) if psi is None else psi
        return {
            "risk": float(risk.estimate(values, psi)),
            "mean": float(np.sum(weights * values) / np.sum(weights)),
            "mean_error": error_of_mean(values, psi),
            "risk_error": risk.standard_error(values, psi),
            "path": path,
            "gradient_norm": None,
            "gradient_error": None,
            "ess": size,
            "steps": 0,
        }


def shorten_step(
    worth_of: Callable[[FloatArray], float], theta: FloatArray, moved: FloatArray, least: float
) -> tuple[FloatArray, str | None]:
    """Halve a step until the batch is worth enough where it leads; give theta itself if no length will do.

    Args:
        worth_of: theta [d] -> how many episodes the batch is worth there.
        theta: where the step begins [d].
        moved: where the whole step leads [d].
        least: the worth that is enough; 0 for any.

    Returns:
        where the shortened step leads [d], and what happened in words, or None if the whole step was taken.
    """
    if least == 0.0:
        return moved, None
    part = 1.0
    for _ in range(MOST_HALVINGS):
        there = theta + part * (moved - theta)
        if worth_of(there) >= least:
            return there, None if part == 1.0 else f"step shortened to {part:g} of its length"
        part /= 2.0
    return theta, "step refused: there the batch would be worth too little"

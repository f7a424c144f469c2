"""What OffP-SF and the score algorithm share: ascent steps on one batch that is reweighted for where theta is.

One step per batch is the paper's. On a batch of the current policy more steps are taken, each reweighted to the theta
that it starts from, while the effective sample size stays above the floor.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskgrad.algorithms.behavior import Acting
from riskgrad.algorithms.guards import ratios, short_enough, worth, worth_at
from riskgrad.algorithms.loop import Course, Iteration
from riskgrad.algorithms.noise import estimate_errors
from riskgrad.algorithms.observing import after
from riskgrad.algorithms.problem import Problem, looks
from riskgrad.ascent import Ascent, Memory
from riskgrad.policy import Policy
from riskgrad.risk import RiskMeasure
from riskgrad.types import Episodes, FloatArray, Gradient
from riskgrad.weights import log_ratios


@dataclass(frozen=True)
class Point:
    """Where a gradient is wanted.

    Attributes:
        k: the iteration.
        step: which step on the batch, from 0.
        rho: the measure that this iteration optimizes.
        policy: what theta is for, with the statistics in force where observations are normalized.
        theta: where [d].
        batch: the episodes.
        weights: psi at theta [m]; None where this policy acted.
        size: how many episodes they are worth.
        events: what happened; to be added to.
    """

    k: int
    step: int
    rho: RiskMeasure
    policy: Policy
    theta: FloatArray
    batch: Episodes
    weights: FloatArray | None
    size: float
    events: list[str]


GradientAt = Callable[[Point], tuple[Gradient, float]]


@dataclass(frozen=True)
class Reweighted:
    """An off-policy algorithm, but for its gradient.

    Attributes:
        problem: what is maximized.
        who: where batches come from.
        ascent: how theta moves.
        steps_per_batch: most steps on one batch.
        floor: least effective sample size, as a part of m.
        gradient_at: the gradient at a point, and how many episodes are behind it.
    """

    problem: Problem
    who: Acting
    ascent: Ascent
    steps_per_batch: int
    floor: float
    gradient_at: GradientAt

    def iterate(self, k: int, policy: Policy, theta: FloatArray, memory: Memory) -> Iteration:
        """Draw a batch and climb on it."""
        batch, sampled = self.who.batch(k, policy, theta)
        events: list[str] = []
        line: dict[str, Any] = {}
        for step in range(self.steps_per_batch):
            point = self._point(k, step, policy, theta, batch, events)
            if step == 0:
                line = self._where(point)
            if point.size < self.floor * len(batch.values):
                if step == 0:
                    events.append(f"no step taken: the batch is worth {point.size:.1f} of {len(batch.values)} episodes")
                break
            gradient, size = self.gradient_at(point)
            uphill = gradient.vector + self.problem.bonus(k, policy, theta, batch)
            moved, remembered = self.ascent.step(theta, uphill, memory)
            if not self.who.on_current:
                moved = self._shortened(policy, theta, moved, batch, events)
            theta, memory = moved, remembered
            if step == 0:
                line |= {"gradient_norm": gradient.norm, "gradient_error": gradient.standard_error, "ess": size}
            line["steps"] = step + 1
        following = after(policy, batch, self.problem.moves(k) and self.who.renewed)
        return Iteration(following, theta, memory, {**line, "events": events}, sampled, batch.values)

    def course(self, settings: dict[str, Any]) -> Course:
        """The whole run."""
        problem = self.problem
        return Course(
            iterate=self.iterate,
            judge=self.who.judge,
            looks=looks(problem.iterations),
            theta=problem.theta,
            memory=self.ascent.start(problem.policy.dim),
            iterations=problem.iterations,
            seed=problem.seed,
            policy=problem.policy,
            begin=self.who.begin,
            settings=settings,
            notes=(*problem.notes(), *self.who.notes),
        )

    def _point(self, k: int, step: int, policy: Policy, theta: FloatArray, batch: Episodes, events: list[str]) -> Point:
        weights, size = None, float(len(batch.values))
        if step > 0 or not self.who.on_current:
            logs = log_ratios(policy, theta[np.newaxis], batch)
            weights, size = ratios(logs)[0], float(worth(logs)[0])
        return Point(k, step, self.problem.measure(k), policy, theta, batch, weights, size, events)

    def _where(self, point: Point) -> dict[str, Any]:
        weights = np.ones(len(point.batch.values)) if point.weights is None else point.weights
        return {
            "risk": float(self.problem.risk.estimate(point.batch.values, point.weights)),
            "mean": float(np.sum(weights * point.batch.values) / np.sum(weights)),
            **estimate_errors(self.problem.risk, point.batch.values, point.weights),
            "path": self.problem.path_weight(point.k),
            "gradient_norm": None,
            "gradient_error": None,
            "ess": point.size,
            "steps": 0,
        }

    def _shortened(
        self, policy: Policy, theta: FloatArray, moved: FloatArray, batch: Episodes, events: list[str]
    ) -> FloatArray:
        least = self.floor * len(batch.values)
        there, event = short_enough(lambda at: worth_at(policy, at, batch), theta, moved, least)
        if event is not None:
            events.append(event)
        return there

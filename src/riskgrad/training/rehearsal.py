"""One iteration with a critic of quantiles: play a batch, weigh its steps, let the policy climb, fit the critic.

A batch of whole episodes of the current policy is played. The gain of step t is the rise of the value, under the
measure's utility, in that step and in the steps after it, each weighted 0.8 times the one before:

    A_t = sum over j of 0.8^j (V(x_{t+j+1}) - V(x_{t+j})),        where the last value is the utility of the return

The policy climbs the clipped surrogate of these gains (as in PPO), minibatch after minibatch, in several passes over
the batch, until it has moved as far as `trust` allows. The critic is fitted to the same batch only after that: a value
that was fitted to an episode would already contain what its steps gained.

For the mean, the utility is the return, and these are the gains of an ordinary actor-critic (GAE with lambda = 0.8).
"""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from riskgrad.critic.quantiles import QuantileCritic, view_steps
from riskgrad.critic.utility import Utility
from riskgrad.errors import LearningError
from riskgrad.kernels.formulas import exp_of
from riskgrad.kernels.quantile_fit import sum_differences
from riskgrad.policy import ObservationStatistics
from riskgrad.random import Purpose, Stream
from riskgrad.risk.base import error_of_mean
from riskgrad.training.algorithm import Info, State
from riskgrad.training.problem import Problem
from riskgrad.types import FloatArray, IntArray, Steps

MINIBATCH: Final = 256
MOST_EPOCHS: Final = 10
LEAST_EPOCHS: Final = 3
MINIBATCHES: Final = 80  # of all epochs together, about: larger batches get fewer epochs
DECAY: Final = 0.8  # the weight of each step's rise in a gain, relative to the step before
CLIP: Final = 0.2  # a gain no longer counts once the ratio of probabilities is this far from 1, in its direction
MOST_SPREADS: Final = (
    4.0  # larger gains are clipped to this: unexpected ends of episodes would outweigh all other steps
)
FURTHEST: Final = 20.0  # largest size of the logarithm of a ratio
MOST_BONUS: Final = 0.3  # largest unit of the bonus for random actions, in standard deviations of a gain
LARGEST: Final = 1e100  # largest size of a return
ADVICE: Final = "scale rewards and observations down"
CRITIC_STEP: Final = 2e-3


class Rehearsal:
    """One iteration with a critic of quantiles.

    Args:
        problem: what is maximized.
        state: where the iteration begins.
        episodes: m.
    """

    def __init__(self, problem: Problem, state: State, episodes: int) -> None:
        self._problem, self._start, self._now = problem, state, state
        stream = Stream(problem.seed, Purpose.TRAINING, state.iteration)
        self.batch: Steps = problem.source.record_steps(state.policy, state.theta, episodes, stream)
        largest = float(np.max(np.abs(self.batch.values)))
        if largest > LARGEST:
            raise LearningError(f"a return of size {largest:.3g} is too large for the critic's squares: {ADVICE}")
        # the policy without its normalization, and observations as that policy reads them
        inner = None if state.policy.statistics is None else state.policy.inner
        self._acting = state.policy if inner is None else inner
        self._shown = state.policy.rescale(self.batch.observations)
        horizon, discount = problem.source.horizon or 1, problem.source.discount or 1.0
        self._visits = view_steps(self.batch, self._shown, horizon, discount)
        critic = state.critic or QuantileCritic.start(self._shown.shape[1], problem.seed)
        self._critic = critic.rescale(self._visits)
        self._quantiles = self._critic.quantiles(self._visits.inputs)
        self._generator = Stream(problem.seed, Purpose.REHEARSING, state.iteration).generator()
        self._epochs = int(np.clip(MINIBATCHES * MINIBATCH / len(self._shown), LEAST_EPOCHS, MOST_EPOCHS))
        self._left = 1.0 - state.iteration / problem.iterations
        self._steps, self._divergence, self._spread, self._loss, self._bonus_unit = 0, 0.0, 0.0, 0.0, 0.0

    @property
    def utility(self) -> Utility:
        """The utility that stands for this iteration's measure at the law of the return."""
        starts = self._quantiles[self.batch.offsets[:-1]]
        return self._critic.utility(self._problem.measure(self._start), self.batch.values, starts)

    def weigh_steps(self, decay: float = DECAY) -> FloatArray:
        """Give what each step gained [N], less the mean, in units of the spread, and clipped.

        Args:
            decay: the weight of each later step; with 1 a gain is the utility of the return less the value of the step.
        """
        if np.ptp(self.batch.values) == 0.0:  # equal returns do not distinguish one step from another
            return np.zeros(len(self._shown))
        utility = self.utility
        values = self._critic.values(self._visits, utility, self._quantiles)
        gains = np.empty(len(values))
        sum_differences(values, utility.at(self.batch.values), self.batch.offsets, decay, gains)
        self._spread = float(np.std(gains))
        if self._spread > 0.0:  # the utility's spread per step, in units of the spread of gains
            steps = len(gains) / len(self.batch.values)
            self._bonus_unit = min(utility.spread / (steps * self._spread), MOST_BONUS)
        for _ in range(2):
            spread = float(np.std(gains))
            if not spread > 0.0:
                return np.zeros(len(gains))
            gains = np.clip((gains - np.mean(gains)) / spread, -MOST_SPREADS, MOST_SPREADS)
        return gains

    def climb(self, gains: FloatArray, trust: float) -> None:
        """Climb the clipped surrogate of the gains [N], until the policy has moved as far as `trust` allows."""
        problem, acting, actions = self._problem, self._acting, self.batch.actions
        theta, moments = self._start.theta, self._start.moments
        ascent = problem.ascent.scale_step(self._left)
        before = acting.linearize(theta, self._shown, actions).log_probs
        bonus = problem.bonus_share(self._start) * self._bonus_unit
        for _ in range(self._epochs):
            for rows in self._deal(len(gains)):
                found = acting.linearize(theta, self._shown[rows], actions[rows])
                logs = np.clip(found.log_probs - before[rows], -FURTHEST, FURTHEST)
                ratios, gain = exp_of(logs), gains[rows]
                self._divergence = float(np.mean(ratios - 1.0 - logs))
                if not self._divergence <= trust:
                    break
                counted = np.where(gain > 0.0, ratios < 1.0 + CLIP, ratios > 1.0 - CLIP)
                weights = np.where(counted, gain * ratios, 0.0) / len(rows)
                theta, moments = ascent.step(theta, found.pull(weights, np.full(len(rows), bonus / len(rows))), moments)
                self._steps += 1
            if not self._divergence <= trust:
                break
        self._now = replace(self._start, theta=theta, moments=moments)

    def _deal(self, count: int) -> list[IntArray]:
        """Give the indices of steps in a random order, in minibatches of about equal size."""
        order = self._generator.permutation(count)
        return np.array_split(order, max(1, round(count / MINIBATCH)))

    def fit(self) -> None:
        """Fit the critic to the batch."""
        self._critic, self._loss = self._critic.fit(
            self._visits, self._epochs, CRITIC_STEP * self._left, self._generator
        )

    def end(self) -> tuple[State, Info]:
        """Give the state after the iteration, and its record."""
        problem, start, values = self._problem, self._start, self.batch.values
        if not (np.isfinite(self._loss) and np.all(np.isfinite(self._now.theta))):
            raise LearningError(f"at iteration {start.iteration} the critic's loss was {self._loss:g}: {ADVICE}")
        policy = start.policy
        if policy.statistics is not None and problem.moves_statistics(start):
            policy = policy.with_statistics(policy.statistics.merge(ObservationStatistics.of(self.batch.observations)))
        state = replace(self._now, iteration=start.iteration + 1, policy=policy, critic=self._critic)
        line: dict[str, Any] = {
            "risk": float(problem.risk.estimate(values)),
            "mean": float(np.mean(values)),
            "mean_error": error_of_mean(values, None),
            "risk_error": problem.risk.standard_error(values),
            "path": problem.path_weight(start),
            "gradient_norm": None,
            "gradient_error": None,
            "gain_spread": self._spread,
            "critic_loss": self._loss,
            "divergence": self._divergence,
            "ess": float(len(values)),
            "steps": self._steps,
            "events": [],
        }
        return state, Info(line, len(values), values)

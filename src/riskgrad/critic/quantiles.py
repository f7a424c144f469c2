"""A critic for any observations: a network that predicts the distribution of the reward still to come.

    Z_1(x) .. Z_32(x)        quantiles of what is still to come, from x = (observation, share of time left)
    V(x) = mean_i u(y + discount^t Z_i(x))        the value under a utility u, y being the return so far

One critic serves every utility, so that the law of the return, and with it u, may change from one batch to the next.
For the mean, V is the value of an ordinary actor-critic. The target of a step is what a random number of steps from it
on earned, plus a random one of the quantiles that the critic predicts after them. Outputs are relative to the center
and in units of the spread of what was still to come in past batches; when these units change, the last layer is
corrected, so that predictions do not change.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from riskgrad.critic.utility import Utility, find_utility
from riskgrad.kernels.quantile_fit import FitState, fit_quantiles, sum_rewards
from riskgrad.policy.network import Network
from riskgrad.random import Purpose, Stream
from riskgrad.risk import RiskMeasure
from riskgrad.types import FloatArray, IntArray, Steps

QUANTILES: Final = 32
HIDDEN: Final = (64, 64)
MINIBATCH: Final = 256
JUMP: Final = 0.05  # the chance that a target ends after each step
TARGETS: Final = 2  # for each step
LONGEST: Final = 1.0  # largest norm of a gradient
BEND: Final = 0.1  # the loss is quadratic for errors up to this, in units of the outputs
FORGETTING: Final = 0.1  # least weight of a new batch in the center and the spread


@dataclass(frozen=True)
class CriticSteps:
    """The steps of a batch in the form that the critic reads.

    Attributes:
        inputs: observations as the policy's network sees them, and the share of time left [N, k + 1].
        so_far: the return before each step, y [N].
        scale: discount ** t [N].
        ends: for each step, the index after the last step of its episode [N].
        returns: for each step, the return of its episode [N].
    """

    inputs: FloatArray
    so_far: FloatArray
    scale: FloatArray
    ends: IntArray
    returns: FloatArray


def view_steps(batch: Steps, observations: FloatArray, horizon: int, discount: float) -> CriticSteps:
    """Give the steps of a batch in the form that the critic reads.

    Args:
        batch: the episodes.
        observations: the batch's observations as vectors [N, k], normalized where the policy's are.
        horizon: T.
        discount: of the returns.
    """
    lengths = np.diff(batch.offsets)
    so_far, scale = np.empty(len(batch.rewards)), np.empty(len(batch.rewards))
    sum_rewards(batch.rewards, batch.offsets, discount, so_far, scale)
    times = np.arange(len(so_far)) - np.repeat(batch.offsets[:-1], lengths)
    left = 1.0 - times / horizon
    return CriticSteps(
        inputs=np.ascontiguousarray(np.column_stack([observations, left])),
        so_far=so_far,
        scale=scale,
        ends=np.repeat(batch.offsets[1:], lengths),
        returns=np.repeat(batch.values, lengths),
    )


@dataclass(frozen=True)
class QuantileCritic:
    """A network of quantiles, with the state of the optimizer that fits it.

    Attributes:
        network: from inputs x [k + 1] to 32 quantiles.
        theta: its parameters [d].
        mean: running mean of the gradient [d].
        square: running mean of its square [d].
        powers: the decays of these two means, to the power of the steps taken [2].
        units: center and spread of the reward still to come, in which the outputs are expressed, and the number of
            batches that they were estimated from [3].
    """

    network: Network
    theta: FloatArray
    mean: FloatArray
    square: FloatArray
    powers: FloatArray
    units: FloatArray

    @classmethod
    def start(cls, inputs: int, seed: int) -> "QuantileCritic":
        """Give the critic before its first fit, for observations of `inputs` numbers and the seed of a run."""
        network = Network(inputs + 1, HIDDEN, QUANTILES)
        theta = network.draw_start(Stream(seed, Purpose.INITIAL).generator(1), last=0.01)
        none = np.zeros(network.dim)
        return cls(network, theta, none, none, np.ones(2), np.array([0.0, 1.0, 0.0]))

    def utility(self, risk: RiskMeasure, returns: FloatArray, starts: FloatArray) -> Utility:
        """Give the utility that stands for a measure at the law of the return.

        That law is a mixture of the batch's returns and of the quantiles predicted at the first steps of its episodes,
        which together count as much as 32 episodes: a small batch says little about a tail, and earlier batches come
        from policies that were worse.

        Args:
            risk: the measure.
            returns: returns of the batch [m].
            starts: quantiles at the first steps of its episodes [m, 32].
        """
        m, expected = len(returns), starts.ravel()
        share = m / (m + float(QUANTILES))
        weights = np.concatenate([np.full(m, share / m), np.full(len(expected), (1.0 - share) / len(expected))])
        knots, where = np.unique(np.concatenate([returns, expected]), return_inverse=True)
        law: FloatArray = np.bincount(where, weights=weights).astype(np.float64, copy=False)
        return find_utility(risk, knots, law)

    def quantiles(self, inputs: FloatArray) -> FloatArray:
        """Give the quantiles of what is still to come [N, 32] at inputs [N, k + 1]."""
        center, spread = self.units[:2]
        return center + spread * self.network.apply_all(self.theta[None], inputs)[0]

    def values(self, visits: CriticSteps, utility: Utility, quantiles: FloatArray) -> FloatArray:
        """Give V(x) [N] under a utility, from the quantiles [N, 32]."""
        return np.mean(utility.at(visits.so_far[:, None] + visits.scale[:, None] * quantiles), axis=1)

    def rescale(self, visits: CriticSteps) -> "QuantileCritic":
        """Give the critic with units updated by a batch; from the second batch on its predictions do not change."""
        to_come = (visits.returns - visits.so_far) / visits.scale
        mean = float(np.mean(to_come))
        square = float(np.mean((to_come - mean) ** 2))
        center, spread, seen = self.units
        if seen == 0.0:  # no prediction was used yet, so none has to be kept
            return replace(self, units=np.array([mean, _width_of(square), 1.0]))
        rate = max(FORGETTING, 1.0 / (seen + 1.0))
        moved = center + rate * (mean - center)
        variance = (1.0 - rate) * (spread**2 + (center - moved) ** 2) + rate * (square + (mean - moved) ** 2)
        wide, theta = _width_of(variance), self.theta.copy()
        theta[self.network.last_layer] *= spread / wide
        theta[-QUANTILES:] += (center - moved) / wide
        return replace(self, theta=theta, units=np.array([moved, wide, seen + 1.0]))

    def fit(
        self, visits: CriticSteps, epochs: int, step: float, generator: np.random.Generator
    ) -> tuple["QuantileCritic", float]:
        """Fit the quantiles to a batch; give the fitted critic, and the loss of the last epoch."""
        state = FitState(self.theta.copy(), self.mean.copy(), self.square.copy(), self.powers.copy())
        center, spread = self.units[:2]
        loss = 0.0
        for _ in range(epochs):
            now = replace(self, theta=state.theta)
            targets = (self._draw_targets(visits, now.quantiles(visits.inputs), generator) - center) / spread
            order = generator.permutation(len(targets))
            net = self.network
            loss = fit_quantiles(
                state, visits.inputs, targets, order, MINIBATCH, net.sizes, net.relu, step, LONGEST, BEND
            )
        return replace(self, theta=state.theta, mean=state.mean, square=state.square, powers=state.powers), loss

    @staticmethod
    def _draw_targets(visits: CriticSteps, quantiles: FloatArray, generator: np.random.Generator) -> FloatArray:
        """Give 2 targets for each step [N, 2]: what a random number of steps earned, plus a random quantile there."""
        size = len(visits.so_far)
        ahead = np.searchsorted(JUMPED, generator.random((size, TARGETS)), side="right") + 1
        places = np.arange(size)[:, None] + ahead
        over = places >= visits.ends[:, None]
        there = np.where(over, 0, places)
        picked = quantiles[there, generator.integers(0, QUANTILES, (size, TARGETS))]
        earned = visits.so_far[there] + visits.scale[there] * picked
        earned = np.where(over, visits.returns[:, None], earned)
        return (earned - visits.so_far[:, None]) / visits.scale[:, None]

    def arrays(self) -> dict[str, FloatArray]:
        """Give the arrays that a checkpoint holds, by name."""
        return {name: getattr(self, name) for name in ("theta", "mean", "square", "powers", "units")}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> "QuantileCritic":
        """Build the critic from what `arrays` gave."""
        # every further input adds one weight for each unit of the first layer
        inputs = 1 + (len(arrays["theta"]) - Network(1, HIDDEN, QUANTILES).dim) // HIDDEN[0]
        return cls(Network(inputs, HIDDEN, QUANTILES), **{name: np.asarray(one) for name, one in arrays.items()})


def _width_of(variance: float) -> float:
    """Give the standard deviation of numbers with this variance, or 1 where they are all the same."""
    return float(np.sqrt(variance)) if variance > 0.0 else 1.0


JUMPED: Final = 1.0 - np.cumprod(np.full(1000, 1.0 - JUMP))  # the chance that a target ended within n steps

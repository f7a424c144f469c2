"""What an algorithm is given: episodes, the measure of each iteration, the bonus, and a step uphill.

Two things change along a run, both off in the paper's algorithms:

- The path: at iteration k the measure (1 - w) start + w risk is optimized, w rising to 1; see `riskgrad.paths`.
- The bonus: entropy * (1 - k / N) * std(returns) times the policy's mean entropy at the visited states. The standard
  deviation makes it independent of the scale of rewards; at the end of the run it is gone.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from riskgrad.ascent import Ascent
from riskgrad.paths import Way
from riskgrad.policy import Policy
from riskgrad.random import Purpose, Stream
from riskgrad.risk import RiskMeasure
from riskgrad.run.result import Look
from riskgrad.sources import Source
from riskgrad.training.algorithm import State
from riskgrad.training.batches import Batches
from riskgrad.training.normalization import play_and_observe, statistics_move
from riskgrad.types import Episodes, FloatArray, IntArray

MOST_OBSERVATIONS: Final = 4096  # of a batch, at which the entropy is taken


@dataclass(frozen=True)
class Problem:
    """A problem with all that is settled about it.

    Attributes:
        source: where episodes come from.
        policy: what is trained, as it was given.
        way: the measure, and the path to it.
        ways: the ways to it that an algorithm with a race tries side by side.
        look_size: episodes by which an iterate is judged; 0 judges none.
        looks: how often that is done in the whole run; once for the last iterate where the run is short.
        start: theta_0 [d].
        ascent: how theta moves.
        iterations: N.
        seed: the run's seed.
        threads: how many may work at once; None for one on each core. None of them changes a digit.
        entropy: the bonus at the start of the run, as a part of the return's standard deviation.
        normalize: whether observations are normalized; see `normalization`.
        batches: where the batch of each iteration comes from.
    """

    source: Source
    policy: Policy
    way: Way
    ways: tuple[Way, ...]
    look_size: int
    looks: int
    start: FloatArray
    ascent: Ascent
    iterations: int
    seed: int
    threads: int | None
    entropy: float
    normalize: bool
    batches: Batches

    @property
    def dim(self) -> int:
        """Number of parameters d."""
        return self.policy.dim

    @property
    def risk(self) -> RiskMeasure:
        """The named measure."""
        return self.way.risk

    def path_weight(self, state: State) -> float:
        """Give how far on the path the measure is, in [0, 1]."""
        return self.way.weight(state.iteration, self.iterations)

    def measure(self, state: State) -> RiskMeasure:
        """Give the measure that this iteration optimizes."""
        return self.way.measure(self.path_weight(state))

    def moves_statistics(self, state: State) -> bool:
        """Say whether what this iteration sees moves the statistics of observations."""
        return self.normalize and statistics_move(state.iteration, self.iterations)

    def play(self, state: State, thetas: FloatArray, episodes: int, pairs: IntArray) -> tuple[FloatArray, Policy]:
        """Play m episodes of each of P policies.

        Args:
            state: where the ascent is.
            thetas: parameters [P, d].
            episodes: m.
            pairs: which random numbers each row uses [P].

        Returns:
            their returns [P, m], and the policy by the statistics of what they observed.
        """
        stream = Stream(self.seed, Purpose.TRAINING, state.iteration)
        return play_and_observe(
            self.source, state.policy, thetas, episodes, stream, pairs, self.moves_statistics(state)
        )

    def play_held_out(self, policy: Policy, theta: FloatArray) -> FloatArray:
        """Give returns [look_size] of episodes that no step uses, the same random numbers for every policy."""
        stream = Stream(self.seed, Purpose.HELD_OUT)
        return self.source.returns(policy, theta[np.newaxis], self.look_size, stream).values[0]

    def look_at(self, values: FloatArray) -> Look:
        """Give what the returns of its own held-out episodes [m] say of an iterate."""
        return Look(float(self.way.risk.estimate(values[np.newaxis])[0]), float(np.mean(values)), values)

    def bonus_share(self, state: State) -> float:
        """Give the bonus of this iteration, as a part of the standard deviation; it falls to 0 at the end."""
        return self.entropy * (1.0 - state.iteration / self.iterations)

    def bonus(self, state: State, theta: FloatArray, batch: Episodes) -> FloatArray | float:
        """Give the gradient of the entropy bonus at theta [d], or 0 without one."""
        if self.entropy == 0.0:
            return 0.0
        scale = self.bonus_share(state) * float(np.std(batch.values))
        return scale * entropy_gradient(state.policy, theta, batch)

    def play_bonus(self, state: State, episodes: int) -> tuple[FloatArray | float, int]:
        """Give the gradient of the bonus from a batch of its own, and how many episodes that took."""
        if self.entropy == 0.0:
            return 0.0, 0
        batch = self.source.record(
            state.policy, state.theta, episodes, Stream(self.seed, Purpose.TRAINING, state.iteration)
        )
        return self.bonus(state, state.theta, batch), episodes

    def ascend(self, state: State, uphill: FloatArray, policy: Policy) -> State:
        """Take one step uphill [d] to the next iteration; the policy is what acts from there."""
        theta, moments = self.ascent.step(state.theta, uphill, state.moments)
        return replace(state, iteration=state.iteration + 1, policy=policy, theta=theta, moments=moments)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the result must know: what else than the named measure was optimized on the way."""
        notes: list[str] = []
        if self.way.meaning and len(self.ways) == 1:
            notes.append(self.way.meaning)
        if self.entropy > 0.0:
            notes.append(
                f"an entropy bonus of {self.entropy:g} standard deviations of the return was added, "
                f"falling to 0 at the end of the run"
            )
        if self.normalize:
            notes.append("observations were normalized; each theta goes with the statistics in force at it")
        if self.policy.memory is not None:
            notes.append(f"the policy has a {self.policy.memory}")
        return (*notes, *self.batches.notes, *self.source.notes)


def entropy_gradient(policy: Policy, theta: FloatArray, batch: Episodes) -> FloatArray:
    """Give the gradient [d] of the policy's entropy, averaged over the visits of a batch.

    It is exact at each state (`Policy.entropy_sum`), so that the bonus adds no noise of its own. Visits to the same
    integer state are counted together; of other observations at most 4096, evenly spread over the batch, are used.

    Args:
        policy: what acts; it must have a density.
        theta: its parameters [d].
        batch: the visits.

    Returns:
        the gradient [d].
    """
    observations, shares = _count_visits(batch)
    return policy.entropy_sum(theta, observations, shares)


def _count_visits(batch: Episodes) -> tuple[NDArray[Any], FloatArray]:
    """Give the observations of a batch and the share of visits that each stands for."""
    observations = batch.observations
    counts = batch.counts.astype(np.float64)
    if observations.ndim == 1 and observations.dtype.kind in "iu":
        totals = np.bincount(observations, weights=counts)  # of states, which are indices: no sort is needed
        observations = np.flatnonzero(totals)
        counts = totals[observations]
    elif len(observations) > MOST_OBSERVATIONS:
        rows = np.linspace(0, len(observations) - 1, MOST_OBSERVATIONS).astype(np.int64)
        observations, counts = observations[rows], counts[rows]
    return observations, counts / np.sum(counts)

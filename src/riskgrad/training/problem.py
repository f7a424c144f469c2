"""What an algorithm is given: episodes, the measure of each iteration, the entropy bonus, and a step uphill.

Two things change along a run, both off in the paper's algorithms:

- The path: at iteration k the measure (1 - w) start + w risk is optimized, w rising to 1; see `riskgrad.paths`.
- The bonus: entropy * (1 - k / N) * std(returns) times the policy's mean entropy at the visited states. The standard
  deviation makes it independent of the scale of rewards; at the end of the run it is gone.

Who acts, and where the batch of each iteration of an off-policy algorithm comes from:

    "current"          a fresh batch of the current policy in each iteration: ratios near 1, and the proof holds
    (policy, theta)    a fresh batch of a given policy in each iteration
    reuse_batch=True   one batch, drawn at the first iteration, for the whole run
    a log              one given batch for the whole run

With one batch for the whole run theta_k depends on the batch, and the estimates at theta_k are no longer those of a
fixed theta that `as:mse` assumes: such a run is outside the guarantee, and a note says so.

Where the current policy does not act, iterates are judged by reweighted held-out episodes of the policy that does. Of a
log every fifth episode is set apart for that.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from riskgrad.ascent import Ascent
from riskgrad.checks import check_theta
from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls
from riskgrad.paths import MeasurePath
from riskgrad.policy import Policy
from riskgrad.random import Purpose, Stream
from riskgrad.risk import RiskMeasure
from riskgrad.run.result import Judgment
from riskgrad.sources import Source
from riskgrad.training.algorithm import Algorithm, State
from riskgrad.training.normalization import play_and_observe, statistics_move
from riskgrad.types import Episodes, FloatArray, IntArray

MOST_OBSERVATIONS: Final = 4096  # of a batch, at which the entropy is computed, at most
HELD_OUT_EVERY: Final = 5  # of a log, every fifth episode judges iterates
OUTSIDE: Final = "one batch served the whole run: the guarantee does not cover this"


@dataclass(frozen=True)
class Batches:
    """Where batches come from.

    Attributes:
        draw: state -> the batch of its iteration, and how many episodes were sampled for it.
        apart: policy -> held-out episodes that are reweighted to judge iterates; None where the current policy acts,
            and each iterate is judged by episodes of its own.
        logged: the logged episodes that are trained on; None without a log.
        renewed: whether each iteration has a batch of its own.
        notes: what a reader of the result must know.
    """

    draw: Callable[[State], tuple[Episodes, int]]
    apart: Callable[[Policy], Episodes] | None = None
    logged: Episodes | None = None
    renewed: bool = True
    notes: tuple[str, ...] = ()

    @property
    def on_current(self) -> bool:
        """Whether the current policy acts, so that ratios begin at 1."""
        return self.apart is None


def choose_batches(
    source: Source, trained: Policy, algorithm: Algorithm, theta: FloatArray, seed: int, judges: int
) -> Batches:
    """Give the batches that an algorithm asks for.

    Args:
        source: where episodes come from.
        trained: the policy that is trained.
        algorithm: says who acts and how many episodes a batch has.
        theta: theta_0 [d].
        seed: the run's seed.
        judges: how many episodes judge an iterate; with 0 all episodes of a log are trained on.
    """
    log = source.logged if trained.memory is None else source.log_for(trained)
    if log is not None:
        return _split_log(log, judges)
    m = algorithm.episodes

    def draw_current(state: State) -> tuple[Episodes, int]:
        return source.record(state.policy, state.theta, m, Stream(seed, Purpose.TRAINING, state.iteration)), m

    if algorithm.behavior == "current" and not algorithm.reuse_batch:
        return Batches(draw_current)
    # where no behavior policy is given, the policy that is trained acts with theta_0
    given, start = (None, theta) if algorithm.behavior == "current" else algorithm.behavior
    if given is not None and given.memory != trained.memory:
        rule = "have the memory of the policy that is trained, since both are shown the same"
        raise InputError("behavior", rule, given.memory or "a policy without memory")
    acting: FloatArray = check_theta(start, len(theta) if given is None else given.dim)
    kept: list[Episodes] = []

    def draw(state: State) -> tuple[Episodes, int]:
        policy, k = given or state.policy, state.iteration
        if not algorithm.reuse_batch:
            return source.record(policy, acting, m, Stream(seed, Purpose.TRAINING, k)), m
        # the batch is a function of the seed: a resumed run draws it again, and its episodes are counted once
        if not kept:
            kept.append(source.record(policy, acting, m, Stream(seed, Purpose.TRAINING)))
        return kept[0], m if k == 0 else 0

    def draw_apart(policy: Policy) -> Episodes:
        return source.record(given or policy, acting, judges, Stream(seed, Purpose.HELD_OUT))

    notes = (OUTSIDE,) if algorithm.reuse_batch else ()
    return Batches(draw, draw_apart, renewed=not algorithm.reuse_batch, notes=notes)


def _split_log(log: Episodes, judges: int) -> Batches:
    m = len(log.values)
    if m < 2 * HELD_OUT_EVERY:
        raise InputError("env", f"hold at least {2 * HELD_OUT_EVERY} logged episodes", m)
    apart = np.arange(m) % HELD_OUT_EVERY == HELD_OUT_EVERY - 1
    trained = log if judges == 0 else select_episodes(log, np.flatnonzero(~apart))
    return Batches(
        draw=lambda _: (trained, 0),
        apart=lambda _: select_episodes(log, np.flatnonzero(apart)),
        logged=trained,
        renewed=False,
        notes=(OUTSIDE, "no episode was sampled; episodes_used counts sampled ones only"),
    )


def select_episodes(batch: Episodes, rows: IntArray) -> Episodes:
    """Give the episodes of a batch whose indices are `rows` as a batch of their own."""
    sizes = np.diff(batch.offsets)[rows]
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    offsets[1:] = np.cumsum(sizes)
    shift: IntArray = np.repeat(batch.offsets[:-1][rows] - offsets[:-1], sizes)
    visits = shift + np.arange(len(shift))
    return Episodes(
        values=batch.values[rows],
        lengths=batch.lengths[rows],
        offsets=offsets,
        observations=batch.observations[visits],
        actions=batch.actions[visits],
        counts=batch.counts[visits],
        log_behavior=batch.log_behavior[visits],
    )


@checks_calls
@dataclass(frozen=True)
class Problem:
    """The problem that an algorithm works on, with every option filled in.

    Attributes:
        source: where episodes come from.
        policy: the policy that is trained, as it was given.
        path: the path to the named measure.
        paths: those that a race tries side by side; `path` alone without a race.
        judging_episodes: episodes by which an iterate is judged; with 0 none is judged.
        judgments: how many times iterates are judged in the whole run.
        start: theta_0 [d].
        ascent: the rule by which theta moves along a gradient.
        iterations: N.
        seed: the run's seed.
        threads: how many threads may work at once; None for one on each core. Their number does not change a digit.
        entropy: the bonus at the start of the run, as a part of the return's standard deviation.
        normalize: whether observations are normalized; see `normalization`.
        batches: where the batch of each iteration comes from.
    """

    source: Source
    policy: Policy
    path: MeasurePath
    paths: tuple[MeasurePath, ...]
    judging_episodes: int
    judgments: int
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
        return self.path.risk

    def path_weight(self, state: State) -> float:
        """Give how far on the path the measure is, in [0, 1]."""
        return self.path.weight(state.iteration, self.iterations)

    def measure(self, state: State) -> RiskMeasure:
        """Give the measure that this iteration optimizes."""
        return self.path.measure(self.path_weight(state))

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
            their returns [P, m], and the policy with its statistics updated by what was observed.
        """
        stream = Stream(self.seed, Purpose.TRAINING, state.iteration)
        return play_and_observe(
            self.source, state.policy, thetas, episodes, stream, pairs, self.moves_statistics(state)
        )

    def play_held_out(self, policy: Policy, theta: FloatArray) -> FloatArray:
        """Give returns [judging_episodes] of episodes that no step uses; all policies get the same random numbers."""
        stream = Stream(self.seed, Purpose.HELD_OUT)
        return self.source.returns(policy, theta[np.newaxis], self.judging_episodes, stream).values[0]

    def judge_returns(self, values: FloatArray) -> Judgment:
        """Give the judgment of an iterate from the returns [m] of its own held-out episodes."""
        return Judgment(float(self.path.risk.estimate(values[np.newaxis])[0]), float(np.mean(values)), values)

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
        """Take one step along `uphill` [d]; give the state of the next iteration, in which `policy` acts."""
        theta, moments = self.ascent.step(state.theta, uphill, state.moments)
        return replace(state, iteration=state.iteration + 1, policy=policy, theta=theta, moments=moments)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the result must know: what was optimized besides the named measure."""
        notes: list[str] = []
        if self.path.meaning and len(self.paths) == 1:
            notes.append(self.path.meaning)
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

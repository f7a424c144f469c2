"""Who acts: where the batch of each iteration of an off-policy algorithm comes from.

    "current"          a fresh batch of the current policy in each iteration: ratios near 1, and the proof stands
    (policy, theta)    a fresh batch of a given policy in each iteration
    reuse_batch=True   one batch, drawn at the first iteration, for the whole run
    a log              one given batch for the whole run

With one batch for the whole run theta_k depends on the batch, and the estimates at theta_k are no longer those of a
fixed theta that `as:mse` speaks of: such a run is outside the guarantee, and says so.

Where the current policy does not act, iterates are judged by held-out episodes of the policy that does, reweighted: of
a log every fifth episode is set apart for that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from riskgrad.checks import check_theta
from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.random import Purpose, Stream
from riskgrad.sources import Source
from riskgrad.training.algorithm import Algorithm, Circumstances, State
from riskgrad.types import Episodes, FloatArray, IntArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

HELD_OUT_EVERY: Final = 5
OUTSIDE: Final = "one batch served the whole run: the guarantee does not cover this"


@dataclass(frozen=True)
class Batches:
    """Where batches come from.

    Attributes:
        draw: state -> the batch of its iteration, and how many episodes were sampled for it.
        apart: policy at theta_0 -> episodes to judge iterates by, by their weights; None where the current policy acts,
            which is judged by episodes of its own.
        logged: the logged episodes that are trained on, where there are some.
        renewed: whether each iteration has a batch of its own.
        notes: what a reader must know.
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
        judges: how many episodes judge an iterate; 0 sets none of a log apart.
    """
    log = source.logged if trained.memory is None else source.logged_for(trained)
    if log is not None:
        return _split_log(log, judges)
    m = algorithm.episodes

    def draw_current(state: State) -> tuple[Episodes, int]:
        return source.record(state.policy, state.theta, m, Stream(seed, Purpose.TRAINING, state.iteration)), m

    if algorithm.behavior == "current" and not algorithm.reuse_batch:
        return Batches(draw_current)
    # no policy is given: the one that is trained acts by theta_0
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
        # the batch is a function of its key: a run that goes on draws it again, and it is counted once
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
    """Give some episodes of a batch as a batch."""
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
    """Give the default floor of the effective sample size: lower where no fresh batch of the current policy comes."""
    return 0.9 if own.behavior == "current" and not own.reuse_batch and not case.is_log else 0.1

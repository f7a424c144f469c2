"""Who acts: where the batch of each iteration of an off-policy algorithm comes from.

    "current"          a fresh batch of the current policy in each iteration: ratios near 1, and the proof stands
    (policy, theta)    a fresh batch of a given policy in each iteration
    logged episodes    one given batch for the whole run
    reuse_batch=True   one batch, drawn at the first iteration, for the whole run

With one batch for the whole run theta_k depends on the batch, and the estimates at theta_k are no longer those of a
fixed theta that `as:mse` speaks of: such a run is outside the guarantee, and says so.

Where the current policy does not act, iterates are judged by held-out episodes of the policy that does, reweighted: of
a log every fifth episode is set apart for that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.algorithms.guards import ratios, worth
from riskgrad.algorithms.loop import Judge
from riskgrad.algorithms.observing import Begin, begun, begun_with_log
from riskgrad.algorithms.problem import Problem, judge_by_source
from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.policy.base import checked_theta
from riskgrad.random import Purpose
from riskgrad.run.recipes import describe
from riskgrad.sources.base import Source
from riskgrad.sources.logged.episodes import LoggedEpisodes
from riskgrad.types import Episodes, FloatArray, IntArray
from riskgrad.weights import log_ratios

HELD_OUT_EVERY: Final = 5
OUTSIDE: Final = "one batch served the whole run: the guarantee does not cover this"

Behavior = Literal["current"] | tuple[Policy, ArrayLike] | Episodes | LoggedEpisodes


@dataclass(frozen=True)
class Acting:
    """Where batches come from, and how iterates are judged.

    Attributes:
        batch: (k, policy_k, theta_k) -> the batch and how many episodes were sampled for it.
        begin: gives the policy that acts by theta_0, and how many episodes it took to find its statistics.
        judge: how iterates are compared.
        renewed: whether each iteration has a batch of its own.
        on_current: whether the current policy acts, so that ratios begin at 1.
        text: who acts, in words.
        notes: what a reader must know.
    """

    batch: Callable[[int, Policy, FloatArray], tuple[Episodes, int]]
    begin: Begin
    judge: Judge | None
    renewed: bool
    on_current: bool
    text: str
    notes: tuple[str, ...] = ()


def acting(
    problem: Problem,
    source: Source | None,
    behavior: Behavior,
    reuse_batch: bool,
    episodes: int,
    held_out: int,
    floor: float,
) -> Acting:
    """Settle who acts."""
    if isinstance(behavior, Episodes | LoggedEpisodes):
        return _logged(problem, behavior if isinstance(behavior, Episodes) else behavior.batch, held_out, floor)
    if source is None:
        raise InputError("source", "be given unless the behavior is logged episodes", None)
    if isinstance(behavior, str) and behavior == "current" and not reuse_batch:
        return _current(problem, source, episodes, held_out)
    policy, theta = _given(problem, behavior)
    return _other(problem, source, policy, theta, reuse_batch, episodes, held_out, floor)


def _given(problem: Problem, behavior: Behavior) -> tuple[Policy | None, FloatArray]:
    """Give who acts; no policy for the one that is trained, which acts by theta_0."""
    if isinstance(behavior, str) and behavior == "current":
        return None, problem.theta
    if isinstance(behavior, tuple) and len(behavior) == 2 and isinstance(behavior[0], Policy):
        return behavior[0], checked_theta(behavior[1], behavior[0].dim)
    raise InputError("behavior", 'be "current", a pair (policy, theta), or logged episodes', behavior)


def _current(problem: Problem, source: Source, episodes: int, held_out: int) -> Acting:
    def batch(k: int, policy: Policy, theta: FloatArray) -> tuple[Episodes, int]:
        return source.record(policy, theta, episodes, problem.stream(Purpose.TRAINING, k)), episodes

    return Acting(
        batch=batch,
        begin=begun(problem, source),
        judge=judge_by_source(problem, source, held_out),
        renewed=True,
        on_current=True,
        text="current",
    )


def _other(
    problem: Problem,
    source: Source,
    given: Policy | None,
    theta: FloatArray,
    reuse_batch: bool,
    episodes: int,
    held_out: int,
    floor: float,
) -> Acting:
    kept: dict[int, Episodes] = {}

    def batch(k: int, policy: Policy, _: FloatArray) -> tuple[Episodes, int]:
        if not reuse_batch:
            return source.record(given or policy, theta, episodes, problem.stream(Purpose.TRAINING, k)), episodes
        # the batch is a function of its key: a run that goes on draws it again, and it is counted once
        if 0 not in kept:
            kept[0] = source.record(given or policy, theta, episodes, problem.stream(Purpose.TRAINING))
        return kept[0], episodes if k == 0 else 0

    def apart(policy: Policy) -> Episodes:
        return source.record(given or policy, theta, held_out, problem.stream(Purpose.HELD_OUT))

    judge = judge_by_weights(problem, apart, held_out, floor) if held_out else None
    return Acting(
        batch=batch,
        begin=begun(problem, source),
        judge=judge,
        renewed=not reuse_batch,
        on_current=False,
        text=describe(given or problem.policy),
        notes=(OUTSIDE,) if reuse_batch else (),
    )


def _logged(problem: Problem, log: Episodes, held_out: int, floor: float) -> Acting:
    m = len(log.values)
    if m < 2 * HELD_OUT_EVERY:
        raise InputError("behavior", f"hold at least {2 * HELD_OUT_EVERY} logged episodes", m)
    apart = np.arange(m) % HELD_OUT_EVERY == HELD_OUT_EVERY - 1
    train = log if held_out == 0 else taken(log, np.flatnonzero(~apart))
    judge = None if held_out == 0 else judge_by_weights(problem, lambda _: taken(log, np.flatnonzero(apart)), 0, floor)

    def batch(k: int, policy: Policy, theta: FloatArray) -> tuple[Episodes, int]:
        del k, policy, theta
        return train, 0

    notes = (OUTSIDE, "no episode was sampled; episodes_used counts sampled ones only")
    return Acting(
        batch=batch,
        begin=begun_with_log(problem, train),
        judge=judge,
        renewed=False,
        on_current=False,
        text=f"{m} logged episodes",
        notes=notes,
    )


def judge_by_weights(problem: Problem, draw: Callable[[Policy], Episodes], cost: int, floor: float) -> Judge:
    """Judge iterates by reweighting one held-out batch of the policy that acts, drawn when first needed."""
    drawn: list[Episodes] = []

    def value(policy: Policy, theta: FloatArray) -> float:
        if not drawn:
            drawn.append(draw(policy))
        logs = log_ratios(policy, theta[np.newaxis], drawn[0])
        if worth(logs)[0] < floor * len(drawn[0].values):
            return float("nan")
        return float(problem.risk.estimate(drawn[0].values, ratios(logs)[0]))

    return Judge(value, cost, 0)


def taken(batch: Episodes, rows: IntArray) -> Episodes:
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

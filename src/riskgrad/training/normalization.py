"""Normalized observations along a run: where the statistics come from, and when they move.

    theta_k acts by the statistics s_k     s_{k+1} = s_k and what iteration k saw, for k < N / 2;  s_{k+1} = s_k after

Whether observations are normalized is an option; unless it is given, the algorithm decides (`Algorithm.defaults_for`):
the critic normalizes vectors unless they are a soft one-hot, since its network should not depend on their units. The
rules, and why:

- The first statistics are of 20 episodes of theta_0, which count in the cost. Without them the first step would be
  computed on raw observations and applied to normalized ones.
- Within an iteration the statistics are fixed. All perturbed policies, the batch and the policies that it is reweighted
  for see the same ones, so that a ratio at theta_k is exactly 1.
- The statistics are sums over all that was seen, so that iteration k changes them by a part of about 1 / k. In the
  second half of a run they do not change at all. New statistics change the policy that theta stands for: only with
  fixed ones is the objective a function of theta, as the guarantee assumes. It covers the run from there on.
- Every episode adds sums of its own, in the order of the episodes, so that the number of threads and processes does not
  change a digit.
- A policy that comes with statistics (`run.policy` of an earlier run) begins with them, and needs no first episodes.
- Held-out episodes are left out of the statistics: judging an iterate does not change it.
- A compiled environment's observations are not clipped, since its loop folds the statistics into the policy's weights.
- With one batch for the whole run, such as a log, there is one set of statistics: that of the log, or of theta_0.
"""

from typing import TYPE_CHECKING, Final

import numpy as np

from riskgrad.errors import InputError
from riskgrad.policy import Normalized, ObservationStatistics, Policy
from riskgrad.random import Purpose, Stream
from riskgrad.sources import Source
from riskgrad.sources.base import kind_shown_to
from riskgrad.types import Episodes, FloatArray, IntArray, States, Vectors

if TYPE_CHECKING:
    from riskgrad.training.problem import Problem

MOVING_PART: Final = 0.5  # the part of the run over which the statistics move
FIRST_EPISODES: Final = 20  # from which the first statistics are taken


def statistics_move(k: int, iterations: int) -> bool:
    """Say whether what iteration k of N sees moves the statistics."""
    return k < MOVING_PART * iterations


def first_policy(problem: "Problem", theta: FloatArray) -> tuple[Policy, int]:
    """Give the policy at theta_0 [d] with its first statistics, and how many episodes were played for them."""
    source, policy = problem.source, problem.policy
    if not problem.normalize or policy.statistics is not None:
        return policy, 0
    logged = problem.batches.logged
    if logged is not None:
        return Normalized(policy, batch_statistics(logged)), 0
    stream, m = Stream(problem.seed, Purpose.OBSERVING), FIRST_EPISODES
    shown = kind_shown_to(policy, source)
    if source.observes and isinstance(shown, Vectors):
        none = ObservationStatistics.none(shown.size)
        _, seen = source.returns_and_statistics(policy, theta[np.newaxis], m, stream, None, none)
    else:
        seen = batch_statistics(source.record(policy, theta, m, stream))
    return Normalized(policy, seen, source.observation_limit), m


def check_normalizable(source: Source, policy: Policy, records: bool) -> None:
    """Refuse to normalize observations that are not vectors, or whose statistics cannot be collected.

    Args:
        source: where episodes come from.
        policy: what acts.
        records: whether the algorithm records batches; otherwise the source must report what it observed.
    """
    if isinstance(source.gives, States) or (policy.reads and all(isinstance(one, States) for one in policy.reads)):
        raise InputError("normalize", "be False where observations are states", True)
    if not records and not source.observes:
        rule = "be False for an algorithm that plays returns only, on a source without `returns_and_statistics`"
        raise InputError("normalize", rule, True)


def first_cost(normalize: bool, policy: Policy) -> int:
    """Give how many episodes the first statistics cost."""
    return FIRST_EPISODES if normalize and policy.statistics is None else 0


def play_and_observe(
    source: Source, policy: Policy, thetas: FloatArray, episodes: int, stream: Stream, pairs: IntArray, moves: bool
) -> tuple[FloatArray, Policy]:
    """Play m episodes of each of P policies; give their returns [P, m], and the policy with the new statistics.

    Args:
        source: where episodes come from.
        policy: what acts.
        thetas: parameters [P, d].
        episodes: m.
        stream: where the random numbers come from.
        pairs: which random numbers each row uses [P].
        moves: whether the statistics move.
    """
    before = policy.statistics
    if not moves or before is None or not source.observes:
        return source.returns(policy, thetas, episodes, stream, pairs).values, policy
    returns, seen = source.returns_and_statistics(policy, thetas, episodes, stream, pairs, before)
    return returns.values, policy.with_statistics(seen)


def policy_after(policy: Policy, batch: Episodes) -> Policy:
    """Give the policy with its statistics updated by a recorded batch."""
    before = policy.statistics
    return policy if before is None else policy.with_statistics(before.merge(batch_statistics(batch)))


def batch_statistics(batch: Episodes) -> ObservationStatistics:
    """Give the statistics of a recorded batch."""
    if batch.observations.ndim != 2:
        raise InputError("normalize", "be False where observations are no vectors", True)
    return ObservationStatistics.of_visits(np.asarray(batch.observations), batch.counts)

"""Normalized observations along a run: where their statistics come from, and when they move.

    theta_k acts by the statistics s_k     s_{k+1} = s_k and what iteration k saw, for k < N / 2;  s_{k+1} = s_k after

What is decided here, and why:

- The first statistics are of 20 episodes of theta_0, which count in the cost. Without them the first step would be
  taken in the coordinates of raw observations and used in others.
- Within an iteration the statistics are fixed. All perturbed policies, the batch and the policies that it is reweighted
  for see the same ones, so that a ratio at theta_k is exactly 1.
- They are sums over all that was seen, so that iteration k changes them by a part of about 1 / k, and in the second
  half of a run they do not change at all. New statistics change the policy that theta means: only with fixed ones is
  the objective a function of theta, which is what the guarantee speaks of; it covers the run from there on.
- Every episode adds sums of its own, in the order of the episodes, so that threads and processes cannot change a digit.
- A policy that comes with statistics (`run.policy` of an earlier run) begins with them, and needs no first episodes.
- Held-out episodes do not count: what judges an iterate does not change it.
- A compiled environment's observations are not clipped, since its loop takes the normalization into the weights.
- One batch for the whole run, a log among them, has one set of statistics: that of the log, or of theta_0.
"""

from collections.abc import Callable

import numpy as np

from riskgrad.algorithms.practical import PRACTICAL
from riskgrad.algorithms.problem import Problem
from riskgrad.errors import InputError
from riskgrad.policy import Normalized, ObservationStatistics, Policy
from riskgrad.random import Purpose, Stream
from riskgrad.sources.base import Source
from riskgrad.types import Episodes, FloatArray, IntArray, States, Vectors

Begin = Callable[[], tuple[Policy, int]]


def begun(problem: Problem, source: Source, on_policy: bool = False) -> Begin:
    """Settle which policy acts by theta_0, and refuse where observations cannot be normalized.

    Args:
        problem: what is maximized.
        source: where episodes come from.
        on_policy: whether returns are all that is asked of the source, and never a recorded batch.
    """
    if not problem.normalize:
        return lambda: (problem.policy, 0)
    states = isinstance(source.gives, States)
    if states:
        raise InputError("normalize", "be False where observations are states", problem.normalize)
    if on_policy and not source.observes:
        rule = "be False for OnP-SF on a source without `returns_and_statistics`"
        raise InputError("normalize", rule, problem.normalize)
    if problem.policy.statistics is not None:
        return lambda: (problem.policy, 0)

    def begin() -> tuple[Policy, int]:
        policy, stream, m = problem.policy, problem.stream(Purpose.OBSERVING), PRACTICAL.first_look
        if source.observes and isinstance(source.gives, Vectors):
            none = ObservationStatistics.none(source.gives.size)
            _, seen = source.returns_and_statistics(policy, problem.theta[np.newaxis], m, stream, None, none)
        else:
            seen = of_batch(source.record(policy, problem.theta, m, stream))
        return Normalized(policy, seen, source.observation_limit), m

    return begin


def begun_with_log(problem: Problem, log: Episodes) -> Begin:
    """The same for logged episodes, whose statistics serve the whole run."""
    if not problem.normalize or problem.policy.statistics is not None:
        return lambda: (problem.policy, 0)
    if log.observations.ndim != 2:
        raise InputError("normalize", "be False where observations are no vectors", problem.normalize)
    return lambda: (Normalized(problem.policy, of_batch(log)), 0)


def first_cost(normalize: bool, policy: Policy) -> int:
    """How many episodes the first statistics cost."""
    return PRACTICAL.first_look if normalize and policy.statistics is None else 0


def observed(
    source: Source, policy: Policy, thetas: FloatArray, episodes: int, stream: Stream, pairs: IntArray, moves: bool
) -> tuple[FloatArray, Policy]:
    """Play m episodes of each of P policies; give their returns [P, m], and the policy by the new statistics.

    Args:
        source: where episodes come from.
        policy: what acts.
        thetas: parameters [P, d].
        episodes: m.
        stream: where the random numbers come from.
        pairs: which random numbers each row uses [P].
        moves: whether the statistics move.
    """
    if not moves or policy.statistics is None or not source.observes:
        return source.returns(policy, thetas, episodes, stream, pairs).values, policy
    returns, seen = source.returns_and_statistics(policy, thetas, episodes, stream, pairs, policy.statistics)
    return returns.values, policy.by(seen)


def after(policy: Policy, batch: Episodes, moves: bool) -> Policy:
    """Give the policy by the statistics that it has once a recorded batch was seen."""
    if not moves or policy.statistics is None:
        return policy
    return policy.by(policy.statistics.merge(of_batch(batch)))


def of_batch(batch: Episodes) -> ObservationStatistics:
    """Give the statistics of a recorded batch."""
    return ObservationStatistics.of_visits(np.asarray(batch.observations), batch.counts)

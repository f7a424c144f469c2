"""Log importance ratios of recorded episodes: how much more likely a target policy makes what the behavior policy did.

    log psi_i = sum over the visits v of episode i of counts[v] * (log pi(a_v | o_v) - log b(a_v | o_v))   `eq:is_ratio`

    P target policies   m episodes   V visits   U different pairs (observation, action)

What is decided here, and why:

- Everything stays in logs: a product of 100 ratios leaves the range of doubles soon, its log never does.
- The difference is taken visit by visit, so that a target equal to the behavior policy gives exactly 0.
- Where observations and actions are integers, a policy is asked once for each different pair; only the sum over visits
  is done for each episode, and it is compiled. Log-probabilities are held for 64 policies at a time, so that they take
  little memory next to the result.
- The target gives an action no chance: the ratio is -inf, the weight 0, and nothing is wrong. The behavior policy
  gave it no chance, though it happened: the ratio is +inf, and `Diagnostics` counts it. Both: -inf.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import check_actions, check_states, check_theta_rows
from riskgrad.errors import InputError
from riskgrad.kernels.compile import cores, in_blocks, plain
from riskgrad.kernels.ratio_sums import add_up
from riskgrad.policy import Policy
from riskgrad.policy.softmax import log_softmax
from riskgrad.types import Episodes, FloatArray, IntArray

POLICIES_TOGETHER = 64
LARGEST_TEMPORARY = 1 << 20  # numbers that a policy is asked for at once


def log_ratios(policy: Policy, thetas: ArrayLike, batch: Episodes) -> FloatArray:
    """Give log psi_i of every episode for P target policies, [P, m].

    Args:
        policy: the target policy.
        thetas: its parameters [P, d].
        batch: m recorded episodes.
    """
    rows = check_theta_rows(thetas, policy.dim)
    base, impossible = _checked_behavior(batch)
    index, observations, actions = _distinct_pairs(batch)
    ratios = np.empty((len(rows), len(batch.values)))
    width = int(np.max(actions, initial=0)) + 1 if actions.dtype.kind in "iu" else 1
    step = max(1, min(POLICIES_TOGETHER, LARGEST_TEMPORARY // (max(1, len(observations)) * width)))
    for first in range(0, len(rows), step):
        part = slice(first, first + step)
        table = plain(_log_prob(policy, rows[part], observations, actions).T, np.float64)
        _add_up(batch, index, base, table, ratios[part])
    ratios[:, impossible] = np.where(ratios[:, impossible] > -np.inf, np.inf, -np.inf)
    return ratios


def _log_prob(
    policy: Policy, thetas: FloatArray, observations: NDArray[np.generic], actions: NDArray[np.generic]
) -> FloatArray:
    """Give log pi(a_u | o_u) [P, U]; each state of a tabular policy is normalized once, not once for each action."""
    preferences = policy.preference_table(thetas)
    if preferences is None:
        return policy.log_prob(thetas, observations, actions)
    states, _ = check_states(observations, preferences.shape[1])
    chosen = check_actions(actions, len(states), preferences.shape[2])
    return log_softmax(preferences)[:, states, chosen]


def _add_up(batch: Episodes, index: IntArray, base: FloatArray, table: FloatArray, ratios: FloatArray) -> None:
    offsets, counts = plain(batch.offsets, np.int64), plain(batch.counts, np.int64)

    def block(begin: int, end: int) -> None:
        add_up(begin, end, offsets, index, counts, base, table, ratios)

    in_blocks(block, len(batch.values), cores())


def _checked_behavior(batch: Episodes) -> tuple[FloatArray, IntArray]:
    """Give log b of each visit, 0 where b is 0, and the episodes in which that happened."""
    base = plain(batch.log_behavior, np.float64)
    if np.any(np.isnan(base)) or np.any(base == np.inf):
        bad = base[np.isnan(base) | (base == np.inf)]
        raise InputError("log_behavior", "be the log of a probability or a density", float(bad[0]))
    bad = np.flatnonzero(base == -np.inf)
    if not bad.size:
        return base, bad
    return np.where(base == -np.inf, 0.0, base), np.unique(np.searchsorted(batch.offsets, bad, side="right") - 1)


def _distinct_pairs(batch: Episodes) -> tuple[IntArray, NDArray[np.generic], NDArray[np.generic]]:
    """Give the pair of each visit [V], and the observation and action of each different pair [U]."""
    observations, actions = batch.observations, batch.actions
    if (
        observations.ndim > 1
        or actions.ndim > 1
        or observations.dtype.kind not in "iu"
        or actions.dtype.kind not in "iu"
    ):
        return np.arange(len(observations)), observations, actions
    width = int(np.max(actions, initial=0)) + 1
    codes = observations.astype(np.int64) * width + actions
    largest, smallest = int(np.max(codes, initial=0)), int(np.min(codes, initial=0))
    if smallest < 0 or largest > 4 * len(codes) + 4096:
        distinct, index = np.unique(codes, return_inverse=True)
    else:
        met = np.bincount(codes, minlength=largest + 1) > 0
        distinct, index = np.flatnonzero(met), (np.cumsum(met) - 1)[codes]
    return index, distinct // width, distinct % width

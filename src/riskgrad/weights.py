"""Importance weights of recorded episodes: log ratios, the weights behind them, and what they are worth.

    log psi_i = sum over the visits v of episode i of
                counts[v] * (log pi(a_v | o_v) - log b(a_v | o_v))           `eq:is_ratio`
    psi_i = exp(log psi_i)     w_i = psi_i / sum_j psi_j
    effective sample size = (sum psi)^2 / sum psi^2

    P target policies   m episodes   V visits   U different pairs (observation, action)

What is decided here, and why:

- Everything stays in logs until the last moment: a product of 100 ratios leaves the range of doubles soon, its log
  never does.
- The difference is taken visit by visit, so that a target equal to the behavior policy gives exactly 0.
- Where observations and actions are integers, a policy is asked once for each different pair; only the sum over visits
  is done for each episode, and it is compiled. Log-probabilities are held for 64 policies at a time, so that they take
  little memory next to the result.
- If the target policy gives an action probability 0, the log ratio is -inf and the weight 0, which is right. If the
  behavior policy gives probability 0 to an action that happened, the log ratio is +inf, and `Diagnostics` counts the
  episode. If both do, the log ratio is -inf.
- There are two scales, for two kinds of estimator. Self-normalized ones use only the proportions of the weights, so the
  largest is made 1 before the exponential and nothing overflows. The "unbiased" and "paper" ones need psi itself, whose
  mean is 1.
- The mean weight is a test of support: its expectation is 1 when the behavior policy gives a chance to whatever the
  target does, and less by the mass that the target puts elsewhere. Episodes cannot show that mass, since they never
  went there; a mean weight many standard errors below 1 is the only trace that it leaves. Heavy tails leave the same
  trace: when the effective sample size is small, the two cannot be told apart. So a batch is worth
  min((sum psi)^2 / sum psi^2, sum psi) episodes: if every psi is tiny it holds hardly anything of what the target does,
  however equal they are.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import as_reals, check_actions, check_states, check_thetas
from riskgrad.errors import InputError
from riskgrad.kernels.compile import as_contiguous, cores, in_blocks
from riskgrad.kernels.episode_sums import add_log_ratios
from riskgrad.kernels.formulas import exp_of, log_softmax
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.policy import Policy
from riskgrad.types import Episodes, FloatArray, IntArray

# beyond e^600 only the shares of the weights still mean something; below it weights are left as they are
LARGEST_LOG: Final = 600.0
MOST_HALVINGS: Final = 8
POLICIES_TOGETHER = 64
LARGEST_TEMPORARY = 1 << 20  # numbers that a policy is asked for at once


@checks_kinds
def log_ratios(policy: Policy, thetas: ArrayLike, batch: Episodes) -> FloatArray:
    """Give log psi_i of every episode for P target policies, [P, m].

    Args:
        policy: the target policy.
        thetas: its parameters [P, d].
        batch: m recorded episodes.
    """
    rows, flat = check_thetas(thetas, policy.dim)
    if flat:
        raise InputError("thetas", f"have shape (P, {policy.dim})", f"shape ({policy.dim},)", "use thetas[None]")
    base, impossible = _check_behavior(batch)
    index, observations, actions = _distinct_pairs(batch)
    ratios = np.empty((len(rows), len(batch.values)))
    width = int(np.max(actions, initial=0)) + 1 if actions.dtype.kind in "iu" else 1
    step = max(1, min(POLICIES_TOGETHER, LARGEST_TEMPORARY // (max(1, len(observations)) * width)))
    for first in range(0, len(rows), step):
        part = slice(first, first + step)
        table = as_contiguous(_log_prob(policy, rows[part], observations, actions).T, np.float64)
        _add_up(batch, index, base, table, ratios[part])
    ratios[:, impossible] = np.where(ratios[:, impossible] > -np.inf, np.inf, -np.inf)
    return ratios


def _log_prob(
    policy: Policy, thetas: FloatArray, observations: NDArray[np.generic], actions: NDArray[np.generic]
) -> FloatArray:
    """Give log pi(a_u | o_u) [P, U]; each state of a tabular policy is normalized once, not once for each action."""
    if policy.table_shape is None:
        return policy.log_prob(thetas, observations, actions)
    n_states, n_actions = policy.table_shape
    states, _ = check_states(observations, n_states)
    taken = check_actions(actions, len(states), n_actions)
    return log_softmax(thetas.reshape(-1, n_states, n_actions))[:, states, taken]


def _add_up(batch: Episodes, index: IntArray, base: FloatArray, table: FloatArray, ratios: FloatArray) -> None:
    offsets, counts = as_contiguous(batch.offsets, np.int64), as_contiguous(batch.counts, np.int64)

    def block(begin: int, end: int) -> None:
        add_log_ratios(begin, end, offsets, index, counts, base, table, ratios)

    in_blocks(block, len(batch.values), cores())


def _check_behavior(batch: Episodes) -> tuple[FloatArray, IntArray]:
    """Give log b of each visit, 0 where b is 0, and the episodes in which that happened."""
    base = as_contiguous(batch.log_behavior, np.float64)
    if np.any(np.isnan(base)) or np.any(base == np.inf):
        bad = base[np.isnan(base) | (base == np.inf)]
        raise InputError("log_behavior", "be the log of a probability or a density", float(bad[0]))
    bad = np.flatnonzero(base == -np.inf)
    if not bad.size:
        return base, bad
    return np.where(base == -np.inf, 0.0, base), np.unique(np.searchsorted(batch.offsets, bad, side="right") - 1)


def _distinct_pairs(batch: Episodes) -> tuple[IntArray, NDArray[np.generic], NDArray[np.generic]]:
    """Give the index of each visit's pair [V], and the observation and action of each different pair [U]."""
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


@checks_calls
@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What the weights of m episodes are worth, for each of P target policies.

    Attributes:
        effective_sample_size: (sum psi)^2 / sum psi^2, between 1 and m; 0 when every weight is 0 [P].
        largest_weight: share of the largest weight in their sum, between 1/m and 1; NaN when every weight is 0 [P].
        mean_weight: mean of psi, whose expectation is 1 where the supports agree [P].
        mean_weight_error: its standard error; NaN for one episode [P].
        support_violations: episodes that the behavior policy, by its own log-probabilities, could not have
            played but the target could (log ratio +inf); they are left out of the other figures [P].
    """

    effective_sample_size: FloatArray
    largest_weight: FloatArray
    mean_weight: FloatArray
    mean_weight_error: FloatArray
    support_violations: IntArray


@checks_kinds
def diagnose(log_ratios: ArrayLike) -> Diagnostics:
    """Say what the weights behind log ratios [P, m] are worth; [m] counts as one policy."""
    logs = np.atleast_2d(_check_log_ratios(log_ratios))
    violations = np.sum(logs == np.inf, axis=-1)
    logs = np.where(logs == np.inf, -np.inf, logs)
    kept = logs.shape[-1] - violations
    scaled, top = _scale_rows(logs)
    total, squares = np.sum(scaled, axis=-1), np.sum(scaled * scaled, axis=-1)
    dead = total == 0.0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        mean = total / kept * exp_of(top)
        spread = np.sqrt(np.maximum(squares - total * total / kept, 0.0) / (kept - 1) / kept)
        return Diagnostics(
            effective_sample_size=np.where(dead, 0.0, total * total / np.where(dead, 1.0, squares)),
            largest_weight=np.where(dead, np.nan, 1.0 / total),
            mean_weight=np.where(dead & (kept > 0), 0.0, mean),
            mean_weight_error=np.where(kept > 1, np.where(dead, 0.0, spread * exp_of(top)), np.nan),
            support_violations=violations,
        )


@checks_kinds
def raw_weights(log_ratios: ArrayLike) -> FloatArray:
    """Give the weights psi themselves [..., m], for estimators that need their scale; what overflows is inf."""
    with np.errstate(over="ignore"):
        return exp_of(_check_log_ratios(log_ratios))


@checks_kinds
def normalized_weights(log_ratios: ArrayLike) -> FloatArray:
    """Give weights in the proportions of psi that sum to 1 [..., m], for self-normalized estimators; none overflows.

    A row without any weight, or with an infinite one, has no proportions and is refused.
    """
    logs = _check_log_ratios(log_ratios)
    if np.any(logs == np.inf):
        advice = "the log-probabilities of the behavior policy say that an episode was impossible"
        raise InputError("log_ratios", "be below infinity", f"{int(np.sum(logs == np.inf))} infinite ones", advice)
    scaled, top = _scale_rows(logs)
    if np.any(top == -np.inf):
        advice = "no recorded episode is possible under the target policy"
        raise InputError("log_ratios", "leave some weight to every row", "a row of -inf", advice)
    return scaled / np.sum(scaled, axis=-1, keepdims=True)


def _check_log_ratios(log_ratios: ArrayLike) -> FloatArray:
    logs = as_reals("log_ratios", log_ratios)
    if logs.ndim == 0 or logs.shape[-1] == 0:
        raise InputError("log_ratios", "have shape [..., m] with m of at least 1", f"shape {logs.shape}")
    if np.any(np.isnan(logs)):
        raise InputError("log_ratios", "not be NaN", f"{int(np.sum(np.isnan(logs)))} NaNs")
    return logs


def _scale_rows(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give exp(logs - their row's largest) and that largest, -inf for a row of -inf, whose weights are 0."""
    top = np.max(logs, axis=-1)
    shift = np.where(np.isfinite(top), top, 0.0)
    return exp_of(logs - shift[..., None]), top


@checks_kinds
def ratios_from_logs(logs: FloatArray) -> FloatArray:
    """Give psi from log psi [P, m], scaled down per row only where it would overflow."""
    return exp_of(logs - np.maximum(np.max(logs, axis=-1, keepdims=True) - LARGEST_LOG, 0.0))


@checks_kinds
def worth(logs: FloatArray) -> FloatArray:
    """Give how many episodes the weights with these logarithms [P, m] are worth [P]."""
    found = diagnose(logs)
    return np.minimum(found.effective_sample_size, logs.shape[-1] * found.mean_weight)


@checks_kinds
def worth_at(policy: Policy, theta: FloatArray, batch: Episodes) -> float:
    """Give how many episodes of the policy at theta [d] a batch is worth."""
    return float(worth(log_ratios(policy, theta[np.newaxis], batch))[0])


@checks_kinds
def weigh_around(
    policy: Policy,
    theta: FloatArray,
    batch: Episodes,
    directions: FloatArray,
    smoothing: float,
    least: float,
    events: list[str],
) -> tuple[float, FloatArray, float]:
    """Weigh a batch for perturbed policies, closer to theta where it would be worth too little for them.

    Args:
        policy: the policy whose parameters theta are.
        theta: the center [d].
        batch: m recorded episodes.
        directions: unit vectors [n, d].
        smoothing: mu; halved until the median worth for the perturbed policies reaches `least`.
        least: the worth that is enough; 0 for any.
        events: a list to which a line is added if the smoothing was shortened.

    Returns:
        the smoothing; psi of the perturbed policies [2n, m]; and how many episodes the batch is worth for the one
        of them for which it is worth least.
    """

    def logs_at(mu: float) -> FloatArray:
        return log_ratios(policy, np.concatenate([theta + mu * directions, theta - mu * directions]), batch)

    mu, logs = smoothing, logs_at(smoothing)
    worths = worth(logs)
    for _ in range(MOST_HALVINGS):
        if float(np.median(worths)) >= least:
            break
        mu /= 2.0
        logs = logs_at(mu)
        worths = worth(logs)
    if mu != smoothing:
        events.append(f"smoothing shortened from {smoothing:g} to {mu:g}")
    return mu, ratios_from_logs(logs), float(np.min(worths))

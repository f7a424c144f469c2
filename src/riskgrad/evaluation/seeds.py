"""Statistics over seeds: the unit is the seed, and a score is what one training reached.

Scores are a matrix [n, tasks]: n seeds, and a column for each task; an experiment on one environment has one. The
aggregates are those of Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice" (2021),
as their library rliable computes them:

    interquartile mean           the mean of the middle half of all scores: a quarter is cut off at each end, rounded
                                 down to whole scores, so that one lucky or lost seed decides nothing
    probability of improvement   P(X > Y) + P(X = Y) / 2 for a seed of each, averaged over the tasks
    interval                     percentiles of the aggregate over resamples: seeds are drawn with replacement within
                                 each task (a stratified bootstrap), and for each of two matrices by itself

Few seeds have few distinct resamples: five have 126, in 3,125 equally likely orders. Where they are no more than the
resamples that would be drawn, all are taken, each with its chance, and the interval is exact; drawing can miss it by a
whole step between two values.

Five seeds are few. The interval then says how these five scatter, and is too short for what other seeds may do.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from riskgrad.checks import as_reals, check_count
from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.random import Purpose, Stream
from riskgrad.types import FloatArray, IntArray

RESAMPLES = 50_000
CUT = 0.25  # of the scores, at each end
CHUNK = 1 << 20  # scores held at once
MANY_SEEDS = 20  # which have more than 10^10 distinct resamples
ROUNDING = 1e-12  # of a sum of chances


@checks_calls
@dataclass(frozen=True)
class Aggregate:
    """A statistic over seeds, with its interval.

    Attributes:
        value: the number.
        interval: (low, high) by a stratified bootstrap over seeds; exact for few seeds.
    """

    value: float
    interval: tuple[float, float]


@checks_kinds
def interquartile_mean(scores: FloatArray) -> FloatArray:
    """Give the mean of the middle half of the scores [..., n, tasks] -> [...]."""
    flat = np.sort(scores.reshape(*scores.shape[:-2], -1), axis=-1)
    cut = int(CUT * flat.shape[-1])
    return np.mean(flat[..., cut : flat.shape[-1] - cut], axis=-1)


@checks_kinds
def improvement_probability(scores: FloatArray, other: FloatArray) -> FloatArray:
    """Give how probably a seed of `scores` [..., n, tasks] is above one of `other` [..., k, tasks] -> [...]."""
    first, second = scores[..., :, np.newaxis, :], other[..., np.newaxis, :, :]
    return np.mean((first > second) + 0.5 * (first == second), axis=(-3, -2, -1))


@checks_kinds
def aggregate_seeds(scores: Any, *, confidence: float = 0.95, seed: int = 0, resamples: int = RESAMPLES) -> Aggregate:
    """Give the interquartile mean of scores [n, tasks] or [n] and its interval.

    Args:
        scores: what each seed reached on each task.
        confidence: of the interval, in (0, 1).
        seed: of the resamples, where they are drawn.
        resamples: how many are drawn; all distinct ones are taken where they are no more than this and 50,000.
    """
    return _aggregate(interquartile_mean, [_as_matrix(scores)], confidence, seed, resamples)


@checks_kinds
def compare_seeds(
    scores: Any, other: Any, *, confidence: float = 0.95, seed: int = 0, resamples: int = RESAMPLES
) -> Aggregate:
    """Give the probability that a seed of `scores` [n, tasks] or [n] improves on one of `other`, and its interval.

    Args:
        scores: what each seed reached on each task.
        other: the same of what it is compared with; the number of seeds may differ.
        confidence: of the interval, in (0, 1).
        seed: of the resamples, where they are drawn.
        resamples: how many are drawn; all distinct ones are taken where they are no more than this and 50,000.
    """
    both = [_as_matrix(scores), _as_matrix(other)]
    if both[0].shape[1] != both[1].shape[1]:
        raise InputError("scores", "have as many tasks as those they are compared with", [one.shape for one in both])
    return _aggregate(improvement_probability, both, confidence, seed, resamples)


def _aggregate(
    measure: Callable[..., FloatArray], matrices: list[FloatArray], confidence: float, seed: int, resamples: int
) -> Aggregate:
    if not 0.0 < confidence < 1.0:
        raise InputError("confidence", "be in (0, 1)", confidence, "0.95 is usual")
    count, level = check_count("resamples", resamples), (1.0 - confidence) / 2.0
    strata = [len(one) for one in matrices for _ in range(one.shape[1])]
    if _count_resamples(strata) <= min(count, RESAMPLES):
        interval = _exact_interval(measure, matrices, strata, level)
    else:
        found = _draw_aggregates(measure, matrices, Stream(seed, Purpose.BOOTSTRAP), count)
        low, high = np.quantile(found, [level, 1.0 - level]).tolist()
        interval = (low, high)
    return Aggregate(float(measure(*matrices)), interval)


def _count_resamples(strata: list[int]) -> float:
    """Give the number of distinct resamples of strata of so many seeds each; infinite where it is surely too large."""
    return math.prod(math.comb(2 * n - 1, n) if n < MANY_SEEDS else math.inf for n in strata)


def _exact_interval(
    measure: Callable[..., FloatArray], matrices: list[FloatArray], strata: list[int], level: float
) -> tuple[float, float]:
    """Give the interval over all resamples: each end is the outermost value that has `level` of the chance beyond it.

    The value itself counts as beyond it. Scores of the other sign have the interval of the other sign.
    """
    choices = [np.array(list(combinations_with_replacement(range(n), n))) for n in strata]
    picked = np.unravel_index(np.arange(math.prod(map(len, choices))), [len(one) for one in choices])
    chances = np.prod([_chances(some)[which] for some, which in zip(choices, picked, strict=True)], axis=0)
    drawn, first = list[FloatArray](), 0
    for scores in matrices:
        own = range(first, first + scores.shape[1])
        drawn.append(np.stack([scores[choices[s][picked[s]], s - first] for s in own], axis=-1))
        first += scores.shape[1]
    found = measure(*drawn)
    order = np.argsort(found)
    below, above = np.cumsum(chances[order]), np.cumsum(chances[order[::-1]])
    reached = level - ROUNDING
    return float(found[order[np.argmax(below >= reached)]]), float(found[order[::-1][np.argmax(above >= reached)]])


def _chances(choices: IntArray) -> FloatArray:
    """Give the chance of each multiset of n of n seeds [c, n]: its orders over n^n."""
    n = choices.shape[1]
    rows: list[list[int]] = choices.tolist()
    orders = [math.factorial(n) // math.prod(map(math.factorial, Counter(row).values())) for row in rows]
    return np.array(orders) / n**n


def _draw_aggregates(
    measure: Callable[..., FloatArray], matrices: list[FloatArray], stream: Stream, count: int
) -> FloatArray:
    """Give the aggregates of drawn resamples [count]."""
    rows = max(1, CHUNK // (max(one.size for one in matrices) * max(len(one) for one in matrices)))
    found = np.empty(count)
    for part, start in enumerate(range(0, count, rows)):
        some = min(rows, count - start)
        drawn = [_resample(one, some, stream.generator(part, which)) for which, one in enumerate(matrices)]
        found[start : start + some] = measure(*drawn)
    return found


def _resample(scores: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """Draw seeds with replacement within each task: `count` matrices [count, n, tasks]."""
    drawn = rng.integers(len(scores), size=(count, *scores.shape))
    return scores[drawn, np.arange(scores.shape[1])]


def _as_matrix(scores: Any) -> FloatArray:
    found = as_reals("scores", scores)
    matrix = found[:, np.newaxis] if found.ndim == 1 else found
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError("scores", "be a matrix [seeds, tasks] with at least one of each", found.shape)
    if not np.isfinite(matrix).all():
        raise InputError("scores", "be finite", "NaN or infinity among them", "leave out what was not reached")
    return matrix

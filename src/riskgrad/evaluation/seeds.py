"""Statistics over seeds: the unit is the seed, and a score is what one training reached.

Scores are a matrix [n, tasks]: n seeds, and a column for each task; an experiment on one environment has one. The
aggregates are those of Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice" (2021),
as their library rliable computes them:

    interquartile mean           the mean of the middle half of all scores: a quarter is cut off at each end, rounded
                                 down to whole scores, so that one lucky or lost seed decides nothing
    probability of improvement   P(X > Y) + P(X = Y) / 2 for a seed of each, averaged over the tasks
    interval                     percentiles of the aggregate over resamples: seeds are drawn with replacement within
                                 each task (a stratified bootstrap), and for each of two matrices by itself

Five seeds are few. The interval then says how these five scatter, and is too short for what other seeds may do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskgrad.checks import as_reals, check_count
from riskgrad.errors import InputError
from riskgrad.kinds import checks_kinds
from riskgrad.random import Purpose, Stream
from riskgrad.types import FloatArray

RESAMPLES = 50_000
CUT = 0.25  # of the scores, at each end
CHUNK = 1 << 20  # scores held at once


@dataclass(frozen=True)
class Aggregate:
    """A number over seeds.

    Attributes:
        value: the number.
        interval: (low, high) by a stratified bootstrap over seeds.
    """

    value: float
    interval: tuple[float, float]


def interquartile_mean(scores: FloatArray) -> FloatArray:
    """Give the mean of the middle half of the scores [..., n, tasks] -> [...]."""
    flat = np.sort(scores.reshape(*scores.shape[:-2], -1), axis=-1)
    cut = int(CUT * flat.shape[-1])
    return np.mean(flat[..., cut : flat.shape[-1] - cut], axis=-1)


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
        seed: of the resamples.
        resamples: how many.
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
        seed: of the resamples.
        resamples: how many.
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
    count, stream = check_count("resamples", resamples), Stream(seed, Purpose.BOOTSTRAP)
    rows = max(1, CHUNK // (max(one.size for one in matrices) * max(len(one) for one in matrices)))
    found = np.empty(count)
    for part, start in enumerate(range(0, count, rows)):
        some = min(rows, count - start)
        drawn = [_resample(one, some, stream.generator(part, which)) for which, one in enumerate(matrices)]
        found[start : start + some] = measure(*drawn)
    low, high = np.quantile(found, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0]).tolist()
    return Aggregate(float(measure(*matrices)), (low, high))


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

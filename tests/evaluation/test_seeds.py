"""Aggregates over seeds: known answers, plain NumPy, and rliable where it is installed (extra rliable)."""

import itertools

import numpy as np
import pytest
from support.peers import import_rliable

from riskgrad.errors import InputError
from riskgrad.evaluation import aggregate_seeds, compare_seeds, improvement_probability, interquartile_mean

MATRICES = {
    "five-seeds": (5, 1),
    "ten-seeds": (10, 1),
    "three-tasks": (7, 3),
}


def scores_of(name, which=0):
    """Scores with ties, as policies that learned the same have, and one seed that is lost."""
    shape = MATRICES[name]
    scores = np.random.default_rng([sum(shape), which]).normal(which, 3.0, shape).round(1)
    scores[0] -= 40.0
    scores[1] = scores[2]
    return scores


def test_the_middle_half_by_hand():
    assert interquartile_mean(np.array([[-100.0], [1.0], [2.0], [3.0], [90.0]])) == 2.0
    assert interquartile_mean(np.array([[4.0, 0.0], [8.0, 1.0]])) == 2.5
    assert interquartile_mean(np.array([[7.0], [9.0]])) == 8.0
    np.testing.assert_array_equal(interquartile_mean(np.zeros((3, 4, 1))), np.zeros(3))


def test_improvement_by_hand():
    """Of nine pairs six are above and one is equal."""
    x, y = np.array([[3.0], [5.0], [1.0]]), np.array([[0.0], [3.0], [2.0]])
    assert improvement_probability(x, y) == pytest.approx(6.5 / 9.0, abs=1e-15)
    assert improvement_probability(x, x) == 0.5
    assert improvement_probability(x, y) + improvement_probability(y, x) == pytest.approx(1.0, abs=1e-15)
    two = np.hstack([x, y]), np.hstack([y, y])
    assert improvement_probability(*two) == pytest.approx((6.5 / 9.0 + 0.5) / 2.0, abs=1e-15)


def find_ends(values, level):
    """The least value with so much of the values at or below it, and the largest with so much at or above it."""
    ordered = np.sort(values)
    place = int(np.ceil(level * len(ordered) - 1e-9)) - 1
    return ordered[place], ordered[-1 - place]


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.999])
def test_few_seeds_have_the_interval_of_all_resamples(confidence):
    """Four seeds have 256 resamples in all, two tasks of three 729, two matrices of four and three 6,912."""
    level = (1.0 - confidence) / 2.0
    scores = np.array([0.0, 1.0, 3.0, 10.0])
    means = [np.mean(np.sort(drawn)[1:3]) for drawn in itertools.product(scores, repeat=4)]
    np.testing.assert_allclose(aggregate_seeds(scores, confidence=confidence).interval, find_ends(means, level))
    tasks = np.array([[0.0, 7.0], [2.5, -1.0], [4.0, 0.5]])
    columns = [list(itertools.product(column, repeat=3)) for column in tasks.T]
    means = [np.mean(np.sort([*one, *two])[1:5]) for one, two in itertools.product(*columns)]
    np.testing.assert_allclose(aggregate_seeds(tasks, confidence=confidence).interval, find_ends(means, level))
    other = np.array([2.0, 3.0, 0.5])
    drawn = itertools.product(itertools.product(scores, repeat=4), itertools.product(other, repeat=3))
    shares = [np.mean([(a > b) + 0.5 * (a == b) for a in x for b in y]) for x, y in drawn]
    np.testing.assert_allclose(compare_seeds(scores, other, confidence=confidence).interval, find_ends(shares, level))


def test_exact_intervals_do_not_depend_on_the_seed_and_turn_with_the_sign():
    scores = scores_of("five-seeds")
    low, high = aggregate_seeds(scores, confidence=0.5).interval
    assert aggregate_seeds(scores, confidence=0.5, seed=7, resamples=126).interval == (low, high)
    assert aggregate_seeds(-scores, confidence=0.5).interval == (-high, -low)
    assert aggregate_seeds([0.0, 1.0], confidence=0.5).interval == (0.0, 1.0)
    assert aggregate_seeds(np.arange(30_000.0), resamples=2).value == pytest.approx(14_999.5)


def test_fewer_resamples_than_there_are_distinct_ones_are_drawn():
    scores = scores_of("five-seeds")
    assert len({aggregate_seeds(scores, seed=seed, resamples=125).interval for seed in range(5)}) > 1


@pytest.mark.parametrize("name", MATRICES)
def test_plain_numpy_agrees(name):
    """The same aggregates, resample by resample in loops; 1,000 of each, ends apart by 15% of the width at most.

    The ends of two such intervals differ by about 4% of the width at one standard error; the seeds are fixed.
    """
    scores, other = scores_of(name), scores_of(name, 1)
    rng = np.random.default_rng(0)
    means, shares = [], []
    for _ in range(1000):
        drawn = [np.column_stack([rng.choice(column, len(one)) for column in one.T]) for one in (scores, other)]
        ordered = sorted(drawn[0].ravel().tolist())
        cut = len(ordered) // 4
        means.append(sum(ordered[cut : len(ordered) - cut]) / (len(ordered) - 2 * cut))
        pairs = [(a, b) for x, y in zip(*(one.T for one in drawn), strict=True) for a in x for b in y]
        shares.append(sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs))
    for found, expected in ((aggregate_seeds(scores), means), (compare_seeds(scores, other), shares)):
        ends = np.quantile(expected, [0.025, 0.975])
        np.testing.assert_allclose(found.interval, ends, atol=0.15 * (ends[1] - ends[0]))


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MATRICES)
def test_rliable_agrees(name):
    """Values to 1e-9, intervals of 50,000 resamples each to 2% of their width; seeds are fixed."""
    library, metrics = import_rliable()
    scores, other = scores_of(name), scores_of(name, 1)
    np.random.seed(0)  # noqa: NPY002 - rliable draws from the global generator
    # its own functions take minutes for so many resamples: formulas that agree with them go through its bootstrap
    cut = scores.size // 4
    middle = lambda one: np.array([np.mean(np.sort(one, axis=None)[cut:-cut])])  # noqa: E731
    assert middle(scores)[0] == pytest.approx(metrics.aggregate_iqm(scores), abs=1e-12)
    agree(aggregate_seeds(scores), library, scores, middle)
    both, chance = (scores, other), lambda x, y: np.array([np.mean((x[:, None] > y) + 0.5 * (x[:, None] == y))])
    assert chance(*both)[0] == pytest.approx(metrics.probability_of_improvement(*both), abs=1e-12)
    agree(compare_seeds(*both), library, both, chance)


def agree(found, library, scores, measure):
    values, intervals = library.get_interval_estimates({"x": scores}, measure, reps=50_000)
    assert found.value == pytest.approx(values["x"][0], abs=1e-9)
    low, high = intervals["x"][:, 0]
    np.testing.assert_allclose(found.interval, (low, high), atol=0.02 * (high - low))


def test_equal_calls_give_equal_intervals_and_one_seed_has_no_width():
    scores = scores_of("ten-seeds")
    assert aggregate_seeds(scores, seed=3) == aggregate_seeds(scores, seed=3)
    assert aggregate_seeds(scores, seed=3) != aggregate_seeds(scores, seed=4)
    assert aggregate_seeds([2.5]).interval == (2.5, 2.5)


def test_bad_scores_are_refused():
    for call, words in (
        (lambda: aggregate_seeds([]), "scores must be a matrix"),
        (lambda: aggregate_seeds([1.0, np.nan]), "scores must be finite"),
        (lambda: aggregate_seeds([1.0], confidence=1.0), "confidence must be in"),
        (lambda: aggregate_seeds([1.0], resamples=0), "resamples must be an integer of at least 1"),
        (lambda: compare_seeds(np.ones((2, 1)), np.ones((2, 2))), "as many tasks"),
    ):
        with pytest.raises(InputError, match=words):
            call()

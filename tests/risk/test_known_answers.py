"""Estimators against exact rational arithmetic on small samples, to 1e-12."""

from fractions import Fraction as F
from itertools import permutations

import numpy as np
import pytest
from support.enumerate_samples import distorted_sum, literal_sum

import riskgrad as rg

# returns and ratios: ties, negative returns, weights that do not sum to m, one sample, all equal, weights with zeros
SAMPLES = {
    "plain": ([F(3), F(-1), F(2)], [F(1), F(1), F(1)]),
    "ties": ([F(1), F(-2), F(1), F(1), F(-2)], [F(1, 2), F(2), F(1, 3), F(5), F(1, 7)]),
    "negative": ([F(-3), F(-1), F(-7, 2)], [F(2), F(1, 4), F(1)]),
    "heavy": ([F(0), F(1)], [F(5, 2), F(1, 2)]),
    "light": ([F(0), F(1)], [F(1, 2), F(1, 2)]),
    "one": ([F(7, 3)], [F(1, 5)]),
    "equal": ([F(4, 3)] * 4, [F(1), F(2), F(3), F(4)]),
    "zeros": ([F(5), F(-1), F(2), F(9)], [F(0), F(1), F(3), F(0)]),
    "one positive": ([F(5), F(-1), F(2)], [F(0), F(0), F(3)]),
    "far away": ([F(10**6), F(10**6 + 1), F(10**6 - 1)], [F(1), F(2), F(1, 9)]),
}
RATIONAL = {
    "identity": lambda s: s,
    "dual-power:2": lambda s: s**2,
    "dual-power:5": lambda s: s**5,
    "dual-power:2:seeking": lambda s: 1 - (1 - s) ** 2,
    "dual-power:3:seeking": lambda s: 1 - (1 - s) ** 3,
    "quadratic:0.25": lambda s: F(3, 4) * s + F(1, 4) * s**2,
    "quadratic:0.25:seeking": lambda s: F(5, 4) * s - F(1, 4) * s**2,
    "cvar:0.125": lambda s: max(F(0), 8 * (s - F(7, 8))),
    "cvar:0.5": lambda s: max(F(0), 2 * s - 1),
    "cvar:0.5:seeking": lambda s: min(F(1), 2 * s),
}


def floats(numbers):
    return np.array([float(x) for x in numbers])


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("text", RATIONAL)
def test_distortion_estimators(text, name):
    values, weights = SAMPLES[name]
    g, measure = RATIONAL[text], rg.risk.parse(text)
    scale = 1e-12 * max(1.0, *(abs(float(v)) for v in values))
    equal = [F(1)] * len(values)
    assert float(measure.estimate(floats(values))) == pytest.approx(float(distorted_sum(g, values, equal)), abs=scale)
    assert float(measure.estimate(floats(values), floats(weights))) == pytest.approx(
        float(distorted_sum(g, values, weights)), abs=scale
    )
    literal = rg.risk.Distortion(measure.function, estimator="paper")
    assert float(literal.estimate(floats(values), floats(weights))) == pytest.approx(
        float(literal_sum(g, values, weights)), abs=scale
    )
    law = rg.DiscreteLaw(floats(values), floats([w / sum(weights) for w in weights]))
    assert measure.value(law) == pytest.approx(float(distorted_sum(g, values, weights)), abs=scale)


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in ("one", "one positive")])
def test_mean_variance_estimators(name):
    values, weights = SAMPLES[name]
    m, lam = len(values), F(1, 2)
    mean = sum(values) / F(m)
    variance = sum((v - mean) ** 2 for v in values) / F(m - 1)
    pairs = [(i, j) for i in range(m) for j in range(m) if i < j]
    squares = sum((weights[i] * weights[j] * (values[i] - values[j]) ** 2 for i, j in pairs), F(0))
    normalized = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
    products = [w * v for w, v in zip(weights, values, strict=True)]
    raw = sum(products) / F(m)
    expected = {
        "self-normalized": normalized - lam * squares / (2 * sum((weights[i] * weights[j] for i, j in pairs), F(0))),
        "unbiased": raw - lam * squares / F(m * (m - 1)),
        "paper": raw - lam * sum((x - raw) ** 2 for x in products) / F(m - 1),
    }
    for estimator, truth in expected.items():
        measure = rg.risk.MeanVariance(0.5, estimator=estimator)
        assert float(measure.estimate(floats(values))) == pytest.approx(
            float(mean - lam * variance), rel=1e-12, abs=1e-12
        )
        got = float(measure.estimate(floats(values), floats(weights)))
        assert got == pytest.approx(float(truth), rel=1e-12, abs=1e-12), estimator


def test_one_dominant_weight_loses_no_digits():
    """Pairs with the heavy sample make up all of the variance; the naive sums cancel to nothing."""
    values, weights = [F(1), F(2), F(4)], [F(1), F(1, 10**20), F(1, 10**21)]
    squares = sum(weights[i] * weights[j] * (values[i] - values[j]) ** 2 for i in range(3) for j in range(i))
    pairs = 2 * sum(weights[i] * weights[j] for i in range(3) for j in range(i))
    got = rg.risk.MeanVariance(1.0).estimate(floats(values), floats(weights))
    assert float(got) == pytest.approx(float(1 - squares / pairs), rel=1e-12)


def test_scale_of_the_weights_does_not_matter_by_default():
    values, weights = np.array([1.0, -2.0, 5.0, 0.5]), np.array([0.1, 2.0, 0.7, 1.3])
    for text in ("mean", "cvar:0.3", "mean-variance:0.5", "dual-power:2"):
        measure = rg.risk.parse(text)
        for factor in (1e-150, 1e-9, 1e150):
            assert measure.estimate(values, factor * weights) == pytest.approx(
                measure.estimate(values, weights), rel=1e-12
            )


def test_every_permutation_of_tied_samples_agrees():
    values, weights = np.array([1.0, 1.0, 0.0, 1.0]), np.array([0.3, 2.0, 1.0, 0.1])
    for estimator in ("self-normalized", "paper"):
        measure = rg.risk.Distortion(rg.distortion.DualPower(2), estimator=estimator)
        found = [float(measure.estimate(values[list(p)], weights[list(p)])) for p in permutations(range(4))]
        assert np.ptp(found) < 1e-15


def test_mean_equals_its_twins():
    values, weights = np.array([[1.0, -2.0, 5.0], [0.0, 0.0, 1.0]]), np.array([[0.1, 2.0, 0.7], [1.0, 0.0, 3.0]])
    twins = [rg.risk.Mean(), rg.risk.MeanVariance(0.0), rg.risk.Distortion(rg.distortion.Identity())]
    for weight in (None, weights):
        found = [measure.estimate(values, weight) for measure in twins]
        assert np.allclose(found[0], found[1], atol=1e-15)
        assert np.allclose(found[0], found[2], atol=1e-14)


def test_a_row_does_not_depend_on_its_neighbors():
    """Bits of one row are the same alone, in a block, and in any block of any size."""
    rng = np.random.default_rng(1)
    for m in (1, 2, 7, 64, 1000, 40_000):
        values, weights = rng.normal(size=(37, m)), rng.exponential(size=(37, m))
        for text in ("mean", "cvar:0.3", "exponential:2", "mean-variance:0.5" if m > 1 else "mean"):
            measure = rg.risk.parse(text)
            for w in (None, weights):
                together = measure.estimate(values, w)
                part = measure.estimate(values[5:8], None if w is None else w[5:8])
                assert np.array_equal(together[5:8], part), (m, text)
            shared = measure.estimate(values[0], weights)
            assert np.array_equal(shared[11:12], measure.estimate(values[0], weights[11:12]))

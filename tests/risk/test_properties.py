"""What holds for every sample: direction, axioms, duality, exact value against the estimate on the law itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riskgrad as rg

D, R = rg.distortion, rg.risk
PARAMETERS = {
    "dual-power": st.floats(2.0, 60.0),
    "quadratic": st.floats(0.0, 1.0),
    "exponential": st.floats(1e-6, 300.0),
    "square-root": st.floats(1e-6, 1e5),
    "logarithmic": st.floats(1e-6, 1e5),
    "cvar": st.floats(0.01, 0.5),
    "smooth-cvar": st.floats(0.01, 0.5),
}
RETURNS = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))
everywhere = settings(max_examples=150, deadline=None)


@st.composite
def measures(draw, attitude="averse"):
    name = draw(st.sampled_from(sorted(PARAMETERS)))
    return R.parse(f"{name}:{draw(PARAMETERS[name])!r}:{attitude}")


@st.composite
def weighted_samples(draw):
    size = draw(st.integers(1, 12))
    values = np.array(draw(st.lists(RETURNS, min_size=size, max_size=size)))
    if draw(st.booleans()):
        return values, None
    weights = np.array(draw(st.lists(st.sampled_from([0.0, 1e-6, 0.3, 1.0, 7.0]), min_size=size, max_size=size)))
    weights[draw(st.integers(0, size - 1))] = 1.0
    return values, weights


def close(left, right, values, slack=1.0):
    return abs(float(left) - float(right)) <= 1e-11 * slack * (1.0 + np.abs(values).max())


@everywhere
@given(measures(), weighted_samples())
def test_averse_below_mean_below_seeking(measure, sample):
    values, weights = sample
    mean = R.Mean().estimate(values, weights)
    seeking = R.parse(f"{measure}:seeking")
    slack = 1e-11 * (1.0 + np.abs(values).max())
    assert measure.attitude == "averse"
    assert seeking.attitude == "seeking"
    assert measure.estimate(values, weights) <= mean + slack
    assert seeking.estimate(values, weights) >= mean - slack


@everywhere
@given(measures(), weighted_samples())
def test_duality(measure, sample):
    values, weights = sample
    mirrored = R.Distortion(measure.function.dual())
    assert close(measure.estimate(-values, weights), -mirrored.estimate(values, weights), values, 10)


@everywhere
@given(measures(), weighted_samples(), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_translation_and_positive_homogeneity(measure, sample, shift, factor):
    values, weights = sample
    estimate = measure.estimate(values, weights)
    assert close(measure.estimate(values + shift, weights), estimate + shift, values, 1e3)
    assert close(measure.estimate(factor * values, weights), factor * estimate, values, 10 * factor + 1)


@everywhere
@given(measures(), weighted_samples(), st.lists(st.floats(0.0, 100.0), min_size=12, max_size=12))
def test_monotonicity(measure, sample, rises):
    values, weights = sample
    higher = measure.estimate(values + np.array(rises[: len(values)]), weights)
    assert higher >= measure.estimate(values, weights) - 1e-11 * (101.0 + np.abs(values).max())


@everywhere
@given(measures(), weighted_samples(), st.lists(RETURNS, min_size=12, max_size=12))
def test_comonotone_additivity(measure, sample, more):
    values, weights = sample
    other = np.sort(np.array(more[: len(values)]))[np.argsort(np.argsort(values, kind="stable"))]
    together = measure.estimate(values + other, weights)
    assert close(together, measure.estimate(values, weights) + measure.estimate(other, weights), [1e3], 10)


@everywhere
@given(measures(), weighted_samples())
def test_estimate_is_the_value_of_the_weighted_law(measure, sample):
    values, weights = sample
    masses = np.full(len(values), 1 / len(values)) if weights is None else weights / weights.sum()
    assert close(measure.estimate(values, weights), measure.value(rg.DiscreteLaw(values, masses)), values, 10)


@everywhere
@given(weighted_samples(), st.floats(0.0, 5.0), st.floats(-100, 100))
def test_mean_variance_keeps_translation_and_direction(sample, lam, shift):
    values, weights = sample
    if len(values) < 2 or (weights is not None and np.count_nonzero(weights) < 2):
        return
    averse, seeking = R.MeanVariance(lam), R.MeanVariance(lam, attitude="seeking")
    estimate, mean = averse.estimate(values, weights), R.Mean().estimate(values, weights)
    size = (1.0 + np.abs(values).max()) ** 2 * (1 + lam)
    assert abs(averse.estimate(values + shift, weights) - estimate - shift) <= 1e-9 * size
    assert estimate <= mean + 1e-12 * size
    assert seeking.estimate(values, weights) >= mean - 1e-12 * size


def test_mean_variance_breaks_homogeneity_and_monotonicity():
    measure, values = R.MeanVariance(1.0), np.array([0.0, 1.0])
    assert measure.estimate(3 * values) != pytest.approx(3 * measure.estimate(values))
    better = np.array([0.0, 9.0])
    assert measure.estimate(better) < measure.estimate(values)


@everywhere
@given(weighted_samples(), st.floats(0.0, 1.0))
def test_a_path_goes_from_the_mean_to_the_measure(sample, weight):
    values, weights = sample
    for text in ("cvar:0.2", "exponential:2"):
        measure = R.parse(text)
        mixed = measure.along(weight).estimate(values, weights)
        ends = R.Mean().estimate(values, weights), measure.estimate(values, weights)
        assert close(mixed, (1 - weight) * ends[0] + weight * ends[1], values, 10)


@everywhere
@given(measures(), st.integers(2, 9), st.integers(0, 2**32))
def test_influence_is_the_derivative_in_the_weights(measure, size, seed):
    rng = np.random.default_rng(seed)
    values, weights, direction = rng.normal(size=size), rng.exponential(size=size) + 0.1, rng.normal(size=size)
    share = weights / weights.sum()
    kink = measure.function.curvature_bound
    levels = np.cumsum(share[np.argsort(values)])
    if kink == np.inf and np.min(np.abs(levels - measure.alpha)) < 1e-3:
        return  # at the kink there is no derivative
    step = 1e-7
    ahead, behind = (measure.estimate(values, weights * (1 + sign * step * direction)) for sign in (1, -1))
    influence = measure.influence(values, weights)
    slope = np.sum(share * direction * (influence - np.sum(share * influence)))
    tolerance = 1e-5 * (1 + min(kink, 1e5) * 1e-2) * (1 + measure.function.slope_bound)
    assert abs((ahead - behind) / (2 * step) - slope) <= tolerance * (1 + abs(slope))

"""exp, log, sine and cosine against the C library, alone and several at a time."""

import subprocess
import sys

import numpy as np
import pytest

from riskgrad.kernels import formulas
from riskgrad.kernels.compile import fresh_kernel, kernel
from riskgrad.kernels.elementary import (
    TANHS_AT_ONCE,
    exp,
    fma,
    rough_exp,
    round_to_single,
    sin_cos,
    sin_cos_near,
    sin_cos_small,
    trailing_zeros,
    write_tanhs,
)
from riskgrad.kernels.formulas import exp_of, expm1_of, log1p_of, log_of, power_of, tanh_of


@kernel
def many(x, exps, sines, cosines):
    for i in range(len(x)):
        exps[i] = exp(x[i])
    for i in range(len(x)):
        sines[i], cosines[i] = sin_cos(x[i])


@kernel
def small(x, exps, sines, cosines):
    for i in range(len(x)):
        exps[i] = rough_exp(x[i])
    for i in range(len(x)):
        sines[i], cosines[i] = sin_cos_small(x[i])


def units_off(found, wide):
    """Distance from the answer in extended precision, in units of the last place."""
    return np.max(np.abs(found - wide) / np.spacing(np.abs(wide).astype(np.float64)))


def answers(x, kernel=many):
    found = np.empty((3, len(x)))
    kernel(x, *found)
    return found


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="needs a longer double to compare with")
@pytest.mark.parametrize("scale", [1e-9, 0.2, 1.0, 30.0, 700.0])
def test_they_are_right_to_the_last_places(scale):
    x = np.random.default_rng(0).uniform(-scale, scale, size=20_000)
    wide = x.astype(np.longdouble)
    exps, sines, cosines = answers(x)
    assert units_off(exps, np.exp(wide)) < 1.1
    assert units_off(sines, np.sin(wide)) < 1.5
    assert units_off(cosines, np.cos(wide)) < 1.5


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="needs a longer double to compare with")
@pytest.mark.parametrize("scale", [1e-9, 0.05, 0.22])
def test_small_angles_need_fewer_terms(scale):
    x = np.append(np.random.default_rng(3).uniform(-scale, scale, size=100_000), [-scale, 0.0, scale])
    _, sines, cosines = answers(x, small)
    wide = x[x != 0.0].astype(np.longdouble)
    assert units_off(sines[x != 0.0], np.sin(wide)) < 0.7
    assert units_off(cosines[x != 0.0], np.cos(wide)) < 0.7
    assert (sines[-2], cosines[-2]) == (0.0, 1.0)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="needs a longer double to compare with")
@pytest.mark.parametrize(("low", "high"), [(-700.0, 700.0), (-1.0, 1.0), (-0.35, 0.35), (-1e-3, 1e-3), (-1e-9, 1e-9)])
def test_logarithms_are_right_to_the_last_place(low, high):
    x = np.exp(np.random.default_rng(4).uniform(low, high, size=100_000))
    x = x[x != 1.0]
    assert units_off(log_of(x), np.log(x.astype(np.longdouble))) < 1.0
    assert log_of(1.0) == 0.0
    np.testing.assert_allclose(log_of(2.0 ** np.arange(-1022, 1024)), np.arange(-1022, 1024) * np.log(2.0), rtol=3e-16)


@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value|overflow|underflow):RuntimeWarning")
def test_arrays_of_any_shape_and_what_leaves_the_range():
    odd = np.array([[np.inf, -np.inf, np.nan, 0.0], [5e-324, 1e-310, 2.3e-308, 1.7e308]])
    np.testing.assert_allclose(log_of(odd), np.log(odd), rtol=3e-16)
    x = np.array([[-np.inf, np.inf, np.nan, -746.0, -744.0], [-720.0, -700.0, 700.0, 709.7, 709.8]])
    np.testing.assert_allclose(exp_of(x), np.exp(x), rtol=1e-15, atol=5e-324)
    assert exp_of(x[:, ::2]).shape == (2, 3)
    assert exp_of(1.5).shape == ()
    assert log_of(np.zeros((0, 3))).shape == (0, 3)
    angles = np.append(np.linspace(-30.0, 30.0, 10_001), [np.inf, -np.inf, np.nan])
    np.testing.assert_allclose(tanh_of(angles), np.tanh(angles), rtol=0.0, atol=3.5e-16)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 30.0, 700.0])
def test_a_rough_exponential_has_the_error_that_it_states(scale):
    x = np.random.default_rng(4).uniform(-scale, scale, size=100_000)
    assert np.max(np.abs(answers(x, small)[0] / np.exp(x) - 1.0)) < 7.5e-5
    low, lowest, high, highest = answers(np.array([-1e9, -708.0, 1e9, 709.0]), small)[0]
    assert low == lowest > 0.0
    assert high == highest < np.inf


def test_large_angles_and_ends():
    x = np.random.default_rng(1).uniform(-1e5, 1e5, size=20_000)
    _, sines, cosines = answers(x)
    assert np.max(np.abs(sines - np.sin(x))) < 3e-16
    assert np.max(np.abs(cosines - np.cos(x))) < 3e-16
    exps = answers(np.array([0.0, -1e9, -708.0, 709.0, 1e9]))[0]
    assert exps[0] == 1.0
    assert exps[1] == exps[2] > 0.0
    assert exps[3] == exps[4] < np.inf


def test_an_element_has_the_same_bits_alone_and_in_company():
    x = np.random.default_rng(2).uniform(-20.0, 20.0, size=101)
    for functions in (many, small):
        together = answers(x, functions)
        for i in range(len(x)):
            assert np.array_equal(answers(x[i : i + 1], functions)[:, 0], together[:, i])


def test_near_angles_take_the_short_way():
    for x in np.linspace(-np.pi / 4, np.pi / 4, 201):
        assert sin_cos_near(x) == sin_cos(x)


@pytest.mark.parametrize("scale", [1e-37, 1e-5, 1.0, 7.0, 1e37])
def test_single_precision_is_that_of_the_processor(scale):
    """Any numbers, those in the middle between two of single precision, and the ends."""

    @kernel
    def round_all(x, rounded):
        for i in range(len(x)):
            rounded[i] = round_to_single(x[i])

    near = (scale * np.random.default_rng(5).uniform(0.2, 1.0, size=50_000)).astype(np.float32)
    middles = 0.5 * (near.astype(np.float64) + np.nextafter(near, np.float32(np.inf)))
    ends = np.array([0.0, -0.0, np.inf, np.nan, np.finfo(np.float32).tiny, np.finfo(np.float32).max])
    x = np.concatenate([middles, -middles, np.nextafter(middles, 0.0), np.nextafter(middles, np.inf), ends])
    rounded = np.empty(len(x))
    round_all(x, rounded)
    assert np.array_equal(rounded, x.astype(np.float32).astype(np.float64), equal_nan=True)


def test_a_sum_with_a_product_is_rounded_once():
    @kernel
    def fused(a, b, c):
        return fma(a, b, c)

    tiny = 2.0**-30
    assert fused(1.0 + tiny, 1.0 - tiny, -1.0) == -(tiny**2)
    assert (1.0 + tiny) * (1.0 - tiny) - 1.0 == 0.0


def test_trailing_zeros():
    @kernel
    def zeros(word):
        return trailing_zeros(word)

    assert [zeros(np.uint64(1) << np.uint64(i)) for i in range(64)] == list(range(64))
    assert zeros(np.uint64(0b1011000)) == 3


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="needs a longer double to compare with")
@pytest.mark.parametrize("scale", [1e-300, 1e-9, 0.01, 1.0, 30.0, 700.0])
def test_what_is_close_to_0_or_1_keeps_its_digits(scale):
    x = np.random.default_rng(6).uniform(-scale, scale, size=50_000)
    assert units_off(expm1_of(x), np.expm1(x.astype(np.longdouble))) < 2.5
    x = np.where(x <= -1.0, -x, x)
    assert units_off(log1p_of(x), np.log1p(x.astype(np.longdouble))) < 2.0
    assert log1p_of(-1.0) == -np.inf
    assert expm1_of(-np.inf) == -1.0
    assert expm1_of(0.0) == log1p_of(0.0) == 0.0


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0, 3.0, 7.0, 2.5, 64.0, 65.0, 1000.0])
def test_powers(exponent):
    x = np.append(np.random.default_rng(7).uniform(size=1000), [0.0, 1.0])
    np.testing.assert_allclose(power_of(x, exponent), x**exponent, rtol=3e-13, atol=1e-300)
    assert power_of(0.25, exponent).shape == ()


@pytest.mark.parametrize("scale", [1e-9, 0.3, 5.0, 700.0, 1e6])
def test_numpy_and_compiled_loops_give_the_same_bits(monkeypatch, scale):
    x = np.append(np.random.default_rng(8).uniform(-scale, scale, size=50_000), [0.0, 5e-324, 1e-310, 700.0, -745.0])
    positive = np.append(np.abs(x), [np.inf, np.nan])
    whole = np.append(x, [np.inf, -np.inf, np.nan])
    cases = [(exp_of, whole), (tanh_of, whole[:-1]), (log_of, positive), (expm1_of, x), (log1p_of, np.maximum(x, -1.0))]
    compiled = [function(numbers) for function, numbers in cases]
    monkeypatch.delitem(formulas.sys.modules, "riskgrad.kernels.elementary")
    for (function, numbers), expected in zip(cases, compiled, strict=True):
        assert np.array_equal(function(numbers), expected, equal_nan=True)


@fresh_kernel
def tanhs(x, answer):
    write_tanhs(x, len(x), answer, np.empty(TANHS_AT_ONCE), np.empty(TANHS_AT_ONCE))


def test_tangents_of_many_numbers_are_those_of_each():
    """More than are done at once, signs and ends among them; the answer may take the place of the numbers."""
    x = np.append(np.random.default_rng(9).normal(scale=5.0, size=1_200), [0.0, -0.0, 1e-300, -20.5, np.inf, -np.inf])
    answer = np.empty_like(x)
    tanhs(x, answer)
    expected = np.copysign(formulas.tanh_within(-np.minimum(np.abs(x), 20.0)), x)
    assert answer.tobytes() == expected.tobytes()
    tanhs(x, x)
    assert x.tobytes() == expected.tobytes()


def test_many_numbers_run_compiled_once_numba_is_loaded():
    """In a process of its own: before numba is loaded nothing loads it, and few numbers do not load the loops."""
    script = """
import sys, numpy as np
from riskgrad.kernels.formulas import MANY, log1p_of
name, many = "riskgrad.kernels.elementary", np.linspace(-1.0, 9.0, MANY)
found = [log1p_of(many), name in sys.modules or "numba" in sys.modules]
import riskgrad.kernels.compile
log1p_of(many[:-1])
found.append(name in sys.modules)
found += [log1p_of(many), name in sys.modules]
assert found[1:3] == [False, False] and found[4], found
assert found[0].tobytes() == found[3].tobytes() and found[0][0] == -np.inf
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

"""Small loops over arrays against NumPy's own."""

import numpy as np
import pytest

from riskgrad.kernels import arrays
from riskgrad.kernels.compile import fresh_kernel


@fresh_kernel
def call_all(values, begin, end, numbers):
    arrays.sort_part(values, begin, end)
    return arrays.full_array(3, 2.5), arrays.largest(numbers), arrays.lengthen(values), arrays.lengthen(numbers)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 64, 1001])
def test_each_is_what_numpy_gives(size):
    rng = np.random.default_rng(size)
    values = np.round(rng.normal(size=size + 4), 1)  # some are equal
    numbers, given = rng.integers(-9, 9, 5), values.copy()
    constant, most, twice, whole = call_all(values, 2, size + 2, numbers)
    given[2 : size + 2] = np.sort(given[2 : size + 2])
    assert np.array_equal(values, given)
    assert np.array_equal(constant, np.full(3, 2.5))
    assert most == np.max(numbers)
    assert np.array_equal(twice[: size + 4], values)
    assert len(twice) == 2 * (size + 4)
    assert whole.dtype == np.int64
    assert np.array_equal(whole[:5], numbers)


@fresh_kernel
def aligned(size):
    return arrays.aligned_zeros(size)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1001])
def test_aligned_zeros_begin_with_a_line_of_the_cache(size):
    for found in [aligned(size) for _ in range(5)]:
        assert np.array_equal(found, np.zeros(size))
        assert found.ctypes.data % 64 == 0

"""Small loops over arrays against NumPy's own."""

import numpy as np
import pytest

from riskgrad.kernels import arrays
from riskgrad.kernels.compile import fresh_kernel


@fresh_kernel
def call_all(values, begin, end, numbers):
    arrays.sort_part(values, begin, end)
    whole, words = arrays.full_integers(4, -7), arrays.full_words(2, np.uint64(9))
    longer, shorter = arrays.resize(values, 2 * len(values)), arrays.resize(numbers, 3)
    return arrays.full_array(3, 2.5), whole, words, arrays.largest(numbers), longer, shorter


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 64, 1001])
def test_each_is_what_numpy_gives(size):
    rng = np.random.default_rng(size)
    values = np.round(rng.normal(size=size + 4), 1)  # some are equal
    numbers, given = rng.integers(-9, 9, 5), values.copy()
    constant, whole, words, most, longer, shorter = call_all(values, 2, size + 2, numbers)
    given[2 : size + 2] = np.sort(given[2 : size + 2])
    assert np.array_equal(values, given)
    assert np.array_equal(constant, np.full(3, 2.5))
    assert whole.dtype == np.int64
    assert np.array_equal(whole, [-7] * 4)
    assert words.dtype == np.uint64
    assert np.array_equal(words, [9] * 2)
    assert most == np.max(numbers)
    assert np.array_equal(longer[: size + 4], values)
    assert len(longer) == 2 * (size + 4)
    assert shorter.dtype == np.int64
    assert np.array_equal(shorter, numbers[:3])


@fresh_kernel
def aligned(size):
    return arrays.aligned_zeros(size)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1001])
def test_aligned_zeros_begin_with_a_line_of_the_cache(size):
    for found in [aligned(size) for _ in range(5)]:
        assert np.array_equal(found, np.zeros(size))
        assert found.ctypes.data % 64 == 0

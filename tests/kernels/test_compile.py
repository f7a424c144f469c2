"""Work in blocks and the layout of arrays."""

import numpy as np
import pytest

from riskgrad.kernels import compile as compiling


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("size", [0, 1, 2, 63, 1000])
def test_blocks_cover_the_work_once_and_in_order(monkeypatch, threads, size):
    for worth in (0.0, 1e9):
        monkeypatch.setattr(compiling, "WORTH_THREADS", worth)
        blocks = compiling.in_blocks(lambda begin, end: list(range(begin, end)), size, threads)
        assert [item for block in blocks for item in block] == list(range(size))


def test_a_failure_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setattr(compiling, "WORTH_THREADS", 0.0)

    def work(begin, end):
        if begin <= 500 < end:
            raise ArithmeticError("block of 500")

    with pytest.raises(ArithmeticError, match="block of 500"):
        compiling.in_blocks(work, 1000, 3)


def test_kernels_get_contiguous_writable_arrays():
    frozen = np.arange(6.0)
    frozen.flags.writeable = False
    for given in (frozen, np.arange(12.0)[::2], np.arange(6)):
        found = compiling.contiguous(given, np.float64)
        assert found.flags.carray
        assert np.array_equal(found, given)
    good = np.arange(6.0)
    assert compiling.contiguous(good, np.float64) is good

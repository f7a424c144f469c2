"""Work in blocks, the layout of arrays, and what is compiled when."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core import event

from riskgrad.kernels import compile as compiling
from riskgrad.kernels.compiling import watch_compiling


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
        found = compiling.as_contiguous(given, np.float64)
        assert found.flags.carray
        assert np.array_equal(found, given)
    good = np.arange(6.0)
    assert compiling.as_contiguous(good, np.float64) is good


def test_no_garbage_is_sought_while_a_function_is_compiled_and_it_is_sought_again_after():
    seen = []
    with watch_compiling(lambda: seen.append(gc.isenabled())):
        assert compiling.fresh_kernel(lambda x: x + 4)(1) == 5
    assert seen == [False]
    assert gc.isenabled()
    gc.disable()
    try:
        assert compiling.fresh_kernel(lambda x: x + 5)(1) == 6
        assert not gc.isenabled(), "who has turned it off finds it off"
    finally:
        gc.enable()


def test_a_helper_becomes_machine_code_within_the_kernel_that_calls_it_and_not_before():
    helper = compiling.helper(lambda x: 3.0 * x + 1.0)
    kernel = compiling.fresh_kernel(lambda x: helper(helper(x)))
    assert kernel(2.0) == 22.0
    (code,) = [found.library for found in helper.overloads.values()]
    assert code.get_pointer_to_function("any") == 0
    with pytest.raises(ValueError, match="object caching not enabled"):
        code._get_compiled_object()
    (code,) = [found.library for found in kernel.overloads.values()]
    assert code._get_compiled_object()


def test_kernels_and_helpers_share_what_numba_compiles_for_them():
    names = []

    class Names(event.Listener):
        def on_start(self, event):
            names.append(event.data["dispatcher"].py_func.__qualname__)

        def on_end(self, event):
            pass

    helper = compiling.helper(lambda x: min(x, 2.0 * x, -x))
    kernel = compiling.kernel(lambda x: min(3.0 * x, x, -x) + helper(x))
    with event.install_listener("numba:compile", Names()):
        assert kernel(1.0) == -2.0
    assert sum("ol_min" in name for name in names) == 1


SCRIPT = """
import sys
from riskgrad.kernels import helper_code, layers
from riskgrad.kernels.network_passes import forward
import numpy as np
if sys.argv[1] == "later":
    helper_code.stamp_of_kernels = lambda: (1, 1)
from riskgrad.kernels.compile import kernel
twice = kernel(layers.largest.py_func)
sizes, out = np.array([2, 3]), np.zeros((1, 3))
forward(np.zeros((1, 9)), np.array([0]), np.ones((1, 2)), sizes, False, out)
twice(sizes)
print(sum(forward.stats.cache_hits.values()), sum(twice.stats.cache_hits.values()))
"""


def test_kernels_are_compiled_anew_once_a_file_of_helpers_has_changed(tmp_path):
    def run(when):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", SCRIPT, when]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    assert run("now") == ["0", "0"]
    assert run("now") == ["1", "1"]
    assert run("later")[1] == "0"

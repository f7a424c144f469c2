"""The one door to numba: compiled kernels, cached on disk, free of the GIL, with their Python types kept.

Kernels let go of the GIL, so threads run them side by side: `in_blocks` cuts work into blocks which threads take as
they become free. Importing this module imports numba (about half a second); only modules that hold kernels import it.
"""

import os
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
Answer = TypeVar("Answer")
Scalar = TypeVar("Scalar", bound=np.generic)

SMALLEST_SHARE = 64  # of a thread's part of the work, which the last blocks have
PROBE = 64  # the part of the work that is done first, to see how long the rest takes
WORTH_THREADS = 1.5e-3  # seconds of work from which threads pay for their start


def kernel(function: Kernel) -> Kernel:
    """Compile a function for the machine's types on first call; later processes read it from the disk."""
    return cast("Kernel", numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def inlined(function: Kernel) -> Kernel:
    """Compile a small function that is pasted into the kernels which call it."""
    return cast("Kernel", numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")(function))


def helper(function: Kernel) -> Kernel:
    """Compile a function that kernels call and Python never does: in half the time, as it has no door for Python."""
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast("Kernel", numba.njit(nogil=True, error_model="numpy", **options)(function))


def woven(function: Kernel) -> Kernel:
    """Compile a helper whose machine code goes where it is called: nothing is handed over, no reference is counted."""
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True}
    return cast("Kernel", numba.njit(nogil=True, error_model="numpy", **options)(function))


def plain(array: NDArray[Any], dtype: type[Scalar]) -> NDArray[Scalar]:
    """Give the array in the one layout that kernels are compiled for: contiguous, writable, of this type.

    A frozen or strided array is copied: for numba it is another type, and would cost seconds of compilation.
    """
    return np.require(array, dtype=dtype, requirements=["C", "W"])


def cores() -> int:
    """Give the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_blocks(work: Callable[[int, int], Answer], size: int, threads: int) -> list[Answer]:
    """Do work(begin, end) on blocks of 0:size and give the answers in order.

    A small first block tells whether threads would pay. They live as long as the call, so that nothing is left behind
    for a fork to trip over. How the blocks are cut must not matter to the work.

    Args:
        work: does one block; blocks must not depend on each other.
        size: number of items.
        threads: how many threads may work at once.
    """
    if threads == 1 or size < 2:
        return [work(0, size)]
    probe = -(-size // PROBE)
    begin = time.perf_counter()
    first = work(0, probe)
    if (time.perf_counter() - begin) * size / probe < WORTH_THREADS:
        return [first, work(probe, size)]
    ends = _guided(probe, size, threads)
    blocks = list(zip([probe, *ends[:-1]], ends, strict=True))
    answers: list[Answer] = [first] * len(blocks)
    todo, lock, failures = iter(range(len(blocks))), threading.Lock(), list[BaseException]()

    def take() -> None:
        try:
            while not failures:
                with lock:
                    index = next(todo, None)
                if index is None:
                    return
                answers[index] = work(*blocks[index])
        except BaseException as failure:  # raised again where the work was asked for
            failures.append(failure)

    others = [threading.Thread(target=take) for _ in range(min(threads, len(blocks)) - 1)]
    for other in others:
        other.start()
    take()
    for other in others:
        other.join()
    if failures:
        raise failures[0]
    return [first, *answers]


def _guided(begin: int, size: int, threads: int) -> list[int]:
    """Give the ends of blocks that shrink towards the end of the work, so that threads finish together."""
    least, ends = max(1, size // (threads * SMALLEST_SHARE)), list[int]()
    while begin < size:
        begin = min(size, begin + max(least, (size - begin) // (2 * threads)))
        ends.append(begin)
    return ends


def uncached(function: Kernel) -> Kernel:
    """Compile a function for this process only: a closure, which has no name that a later process would know."""
    return cast("Kernel", numba.njit(nogil=True, error_model="numpy")(function))

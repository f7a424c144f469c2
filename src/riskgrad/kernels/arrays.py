"""Small loops over arrays for kernels, each compiled in a tenth of the time of numba's own version.

`np.sort`, `np.full`, `np.append`, `np.where` and assigning a slice to a slice cost a first run seconds of compilation:
numba's versions of them handle every shape and layout, and format their error messages in compiled code.
"""

from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from riskgrad.kernels.compile import helper
from riskgrad.types import FloatArray, IntArray

Number = TypeVar("Number", bound=np.generic)

CACHE_LINE = 8  # numbers that a processor fetches at once
ZERO = cast("int", np.int64(0))  # a plain 0 is of another type for numba, for which functions would be compiled again


@helper
def full_array(size: int, value: float) -> FloatArray:
    """Give an array [size] of one value, as `np.full` does."""
    array = np.empty(size)
    for i in range(size):
        array[i] = value
    return array


@helper
def aligned_zeros(size: int | np.uint64) -> FloatArray:
    """Give zeros [size] that begin with a cache line, so that eight numbers at once are one line, not parts of two."""
    room = np.zeros(size + CACHE_LINE)
    begin = -(room.ctypes.data // room.itemsize) % CACHE_LINE
    return room[begin : begin + size]


@helper
def largest(array: IntArray) -> int:
    """Give the largest number, as `np.max` does."""
    found = array[0]
    for i in range(len(array)):
        found = max(found, array[i])
    return found


@helper
def lengthen(array: NDArray[Number]) -> NDArray[Number]:
    """Give an array of twice the length that begins with this one; its second half is not set."""
    longer = np.empty(2 * len(array), dtype=array.dtype)
    for i in range(len(array)):
        longer[i] = array[i]
    return longer


@helper
def sort_part(array: FloatArray, begin: int, end: int) -> None:
    """Sort array[begin:end] in place by heapsort."""
    size = end - begin
    for turn in range(size // 2 + size):
        # first build the heap from its middle down, then move its largest number to the end again and again
        if turn < size // 2:
            place, last = size // 2 - 1 - turn, size
        else:
            place, last = ZERO, size - 1 - (turn - size // 2)
            array[begin], array[begin + last] = array[begin + last], array[begin]
        value = array[begin + place]
        child = 2 * place + 1
        while child < last:
            if child + 1 < last and array[begin + child] < array[begin + child + 1]:
                child += 1
            if not value < array[begin + child]:
                break
            array[begin + place] = array[begin + child]
            place = child
            child = 2 * place + 1
        array[begin + place] = value

"""Small loops over arrays for kernels, each compiled in a tenth of the time of numba's own version.

`np.sort`, `np.full`, `np.append`, `np.where` and assigning a slice to a slice cost a first run seconds of compilation:
numba's versions of them handle every shape and layout, and format their error messages in compiled code.

Numba compiles `np.empty` again for each spelling of its arguments, and for each size that is a literal. So kernels
write `np.empty(size, FLOAT)`, and sizes that are known are given as a `np.int64`.
"""

from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from riskgrad.kernels.compile import helper
from riskgrad.types import FloatArray, IntArray

Number = TypeVar("Number", bound=np.generic)
Size = int | np.int64

CACHE_LINE = 8  # numbers that a processor fetches at once
# a plain 0 is of another type for numba, for which functions would be compiled again
ZERO, ONE = cast("int", np.int64(0)), cast("int", np.int64(1))
FLOAT, INTEGER, WORD = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.uint64)


@helper
def full_array(size: Size, value: float) -> FloatArray:
    """Give an array [size] of one value, as `np.full` does."""
    array = np.empty(size, FLOAT)
    for i in range(size):
        array[i] = value
    return array


@helper
def full_integers(size: Size, value: Size) -> IntArray:
    """Give an array [size] of one integer."""
    array = np.empty(size, INTEGER)
    for i in range(size):
        array[i] = value
    return array


@helper
def full_words(size: Size, value: np.uint64) -> NDArray[np.uint64]:
    """Give an array [size] of one word of 64 bits."""
    array = np.empty(size, WORD)
    for i in range(size):
        array[i] = value
    return array


@helper
def aligned_zeros(size: Size) -> FloatArray:
    """Give zeros [size] that begin with a cache line, so that eight numbers at once are one line, not parts of two."""
    room = full_array(size + CACHE_LINE, 0.0)
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
def resize(array: NDArray[Number], size: Size) -> NDArray[Number]:
    """Give a new array [size] that begins as this one does; what is beyond its end is not set."""
    other = np.empty(size, array.dtype)
    for i in range(min(size, len(array))):
        other[i] = array[i]
    return other


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

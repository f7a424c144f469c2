"""The one door to numba: compiled kernels, cached on disk, free of the GIL, with their Python types kept.

Importing this module imports numba (about half a second); only modules that hold kernels import it.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def kernel(function: Kernel) -> Kernel:
    """Compile a function for the machine's types on first call; later processes read it from the disk."""
    return cast("Kernel", numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def inlined(function: Kernel) -> Kernel:
    """Compile a small function that is pasted into the kernels which call it."""
    return cast("Kernel", numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")(function))

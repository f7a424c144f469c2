"""From what a caller passes to an array of real numbers; what NumPy would quietly turn into other numbers is refused.

NumPy reads "12" as 12, a date as a count of days, a complex number as its real part, and forgets what is masked. A
return that comes in as one of these is a mistake, and an estimate from it would be wrong without a word.

Returns may be large, but not so large that their squares or sums overflow: an estimate of such would be infinite
although every return is finite.
"""

from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from riskgrad.errors import InputError

LARGEST_RETURN: Final = 1e140  # squares of more than 10^27 of them can be added up


def as_reals(name: str, given: object) -> NDArray[np.float64]:
    """Give an array of float64, of the shape of what was given; refuse what does not hold real numbers alone.

    Args:
        name: the argument, in the user's words.
        given: numbers, booleans, or sequences or arrays of these; numbers of Python may be of any size.
    """
    if type(given) is np.ndarray and given.dtype == np.float64:  # what most calls bring
        return given
    found = as_array(name, given)
    if found.dtype.kind in "fiub":
        with np.errstate(over="ignore"):  # a long double beyond the largest double is infinite, and refused as such
            return found.astype(np.float64, copy=False)
    if found.dtype.kind != "O":
        got = f"{found.dtype} such as {found.flat[0]!r}" if found.size else str(found.dtype)
        raise InputError(name, "be real numbers", got)
    return np.array([_as_real(name, one) for one in found.flat], dtype=np.float64).reshape(found.shape)


def as_array(name: str, given: object) -> NDArray[Any]:
    """Give an array of whatever kind; refuse what is no array, and masked entries."""
    refuse_masked(name, given)
    try:
        return np.asarray(given)
    except Exception as error:  # whatever `__array__` of a stranger's type raises
        words = "rows of different lengths" if "inhomogeneous" in str(error) else f"{type(error).__name__}: {error}"
        raise InputError(name, "be an array of one shape", words) from error


def are_usable(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say of each return whether it is finite, and small enough for sums of squares."""
    return np.abs(values) <= LARGEST_RETURN


def return_rule(bad: float) -> str:
    """Give the rule that a return breaks."""
    return f"be at most {LARGEST_RETURN:g} in size" if np.isfinite(bad) else "be finite"


def refuse_masked(name: str, given: object) -> None:
    """Refuse masked entries, which NumPy would take as if they were not masked."""
    if isinstance(given, list | tuple):
        for part in cast("Sequence[object]", given):
            refuse_masked(name, part)
    elif isinstance(given, np.ma.MaskedArray):
        masked = int(np.sum(np.ma.getmaskarray(cast("Any", given))))
        if masked:
            advice = "leave those entries out, as values.compressed() does, or fill them"
            raise InputError(name, "have no masked entries", f"{masked} masked", advice)


def _as_real(name: str, one: object) -> float:
    if not isinstance(one, Real | Decimal):
        raise InputError(name, "be real numbers", one)
    try:
        return float(one)
    except (OverflowError, ValueError) as error:
        got = f"an integer of about 2**{one.bit_length()}" if isinstance(one, int) else one
        raise InputError(name, "fit into 64 bits", got) from error

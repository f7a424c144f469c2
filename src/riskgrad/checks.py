"""Rules for arguments that many parts share, each written once; a refusal is one line.

A check returns the value, as the plain type that the code works with.

Conversions to arrays of real numbers refuse what NumPy would silently change: it reads "12" as 12, a date as a number
of days, a complex number as its real part, and ignores masks. A return of such a type is a mistake, and an estimate
from it would be silently wrong. Returns may be large, but not so large that their squares or sums overflow: the
estimate would be infinite although every return is finite.
"""

import inspect
import itertools
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.errors import InputError, UnknownNameError

MemoryKind = Literal["time", "return", "both"]

DEEPEST: Final = 64  # axes that an array of NumPy can have
SCALARS: Final[tuple[type[Any], ...]] = (int, float, np.generic)
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
    """Refuse masked entries, which NumPy would take as if they were not masked; lists are searched level by level."""
    if type(given) is np.ndarray or isinstance(given, SCALARS):  # what most calls bring
        return
    nested: list[Any] = [[given]]
    for _ in range(DEEPEST):
        found: set[type[Any]] = set(map(type, itertools.chain.from_iterable(nested)))
        kinds = {kind for kind in found if not issubclass(kind, SCALARS)}
        if not kinds:
            return
        level = list(itertools.chain.from_iterable(nested))
        if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
            arrays: list[Any] = [one for one in level if isinstance(one, np.ma.MaskedArray)]
            masked = sum(int(np.sum(np.ma.getmaskarray(one))) for one in arrays)
            if masked:
                advice = "leave those entries out, as values.compressed() does, or fill them"
                raise InputError(name, "have no masked entries", f"{masked} masked", advice)
        nested = level if found <= {list, tuple} else [one for one in level if isinstance(one, list | tuple)]


def _as_real(name: str, one: object) -> float:
    if isinstance(one, np.bool_):  # no number to Python
        return 1.0 if one else 0.0
    if not isinstance(one, Real | Decimal):
        raise InputError(name, "be real numbers", one)
    try:
        return float(one)
    except (OverflowError, ValueError) as error:
        got = f"an integer of about 2**{one.bit_length()}" if isinstance(one, int) else one
        raise InputError(name, "fit into 64 bits", got) from error


LARGEST_COUNT = 2**63 - 1


def check_count(name: str, value: object, least: int = 1, most: int = LARGEST_COUNT) -> int:
    """Refuse what is not an integer from `least` to `most`."""
    number: Any = value
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or number < least:
        raise InputError(name, f"be an integer of at least {least}", cast("object", value))
    if number > most:
        raise InputError(name, "fit into 64 bits" if most == LARGEST_COUNT else f"be at most {most:g}", number)
    return int(number)


def check_integer(name: str, value: object) -> int:
    """Refuse what is not an integer."""
    number: Any = value
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(name, "be an integer", cast("object", value))
    return int(number)


def check_number(name: str, value: object) -> float:
    """Refuse what is not a real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(name, "be a number", value)
    try:
        return float(value)
    except OverflowError:
        raise InputError(name, "fit into 64 bits", value) from None


def check_share(name: str, value: object) -> float:
    """Refuse what is not a number in [0, 1]."""
    share = check_number(name, value)
    if not 0.0 <= share <= 1.0:
        raise InputError(name, "be in [0, 1]", value)
    return share


def check_positive(name: str, value: object) -> float:
    """Refuse what is not a positive, finite number."""
    if not 0.0 < check_number(name, value) < math.inf:
        raise InputError(name, "be positive and finite", value)
    return float(value)  # pyright: ignore[reportArgumentType]


def check_not_negative(name: str, value: object) -> float:
    """Refuse what is not a finite number of at least 0."""
    if not 0.0 <= check_number(name, value) < math.inf:
        raise InputError(name, "be finite and not negative", value)
    return float(value)  # pyright: ignore[reportArgumentType]


def check_memory(name: str, value: object) -> MemoryKind:
    """Refuse what is no kind of memory."""
    kinds: tuple[MemoryKind, ...] = get_args(MemoryKind)
    for kind in kinds:
        if isinstance(value, str) and value == kind:
            return kind
    raise UnknownNameError(name, str(value), kinds, "leave it out for a policy without memory")


def check_word(name: str, value: object, words: Sequence[str]) -> None:
    """Refuse what is not one of some words."""
    if not isinstance(value, str) or value not in words:
        raise UnknownNameError(name, value, words)


def plain_number(value: Any) -> Any:
    """Turn a NumPy scalar into a plain number; give anything else as it is."""
    scalar: Any = value
    return scalar.item() if isinstance(value, np.generic) else value


def check_switch(name: str, value: object) -> object:
    """Refuse what is neither True, False nor "auto"."""
    if isinstance(value, bool) or (isinstance(value, str) and value == "auto"):
        return value
    raise InputError(name, "be True, False or 'auto'", value)


def check_flag(name: str, value: object) -> bool:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(name, "be True or False", value)
    return bool(cast("bool", value))


def check_discount(name: str, value: object) -> float:
    """Refuse what is not a number in (0, 1]."""
    number: Any = value
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 < number <= 1.0:
        raise InputError(name, "be in (0, 1]", cast("object", value))
    return float(number)


def check_env_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Give an environment's options by name; an empty dictionary for None."""
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise InputError("env_options", "be a dictionary from names to values, or None", options)
    return dict(options)


def check_pairs(pairs: ArrayLike | None, rows: int) -> NDArray[np.int64]:
    """Give the pair of each row [P]; by default all differ."""
    if pairs is None:
        return np.arange(rows)
    found = as_array("pairs", pairs)
    if found.shape != (rows,) or found.dtype.kind not in "iu" or np.any(found < 0):
        raise InputError("pairs", f"be {rows} integers of at least 0, one per row of thetas", pairs)
    return found.astype(np.int64)


def check_thetas(theta: ArrayLike, dim: int) -> tuple[NDArray[np.float64], bool]:
    """Give thetas [P, d], and whether the caller gave one flat vector; refuse a wrong shape or NaN."""
    thetas = as_reals("theta", theta)
    if thetas.ndim not in (1, 2) or thetas.shape[-1] != dim:
        raise InputError("theta", f"have shape ({dim},) or (P, {dim})", f"shape {thetas.shape}")
    if not np.all(np.isfinite(thetas)):
        raise InputError("theta", "be finite", float(thetas[~np.isfinite(thetas)][0]))
    return np.atleast_2d(thetas), thetas.ndim == 1


def check_theta_rows(thetas: ArrayLike, dim: int) -> NDArray[np.float64]:
    """Give parameters [P, d]; refuse one flat vector."""
    rows, flat = check_thetas(thetas, dim)
    if flat:
        raise InputError("thetas", f"have shape (P, {dim})", f"shape ({dim},)", "use thetas[None]")
    return rows


def check_theta(theta: ArrayLike, dim: int) -> NDArray[np.float64]:
    """Give one flat vector of parameters [d]."""
    thetas, flat = check_thetas(theta, dim)
    if not flat:
        raise InputError("theta", f"be one vector of shape ({dim},)", f"shape {thetas.shape}")
    return thetas[0]


def check_batch(observations: ArrayLike, ndim: int) -> tuple[NDArray[Any], bool]:
    """Give observations with the batch axis in front, and whether the caller gave a single one.

    Args:
        observations: one observation, or B of them.
        ndim: number of axes of one observation: 0 for a state, 1 for a vector.
    """
    batch = as_array("observations", observations)
    if batch.ndim not in (ndim, ndim + 1):
        raise InputError("observations", f"have {ndim} axes each, or one more for a batch", f"shape {batch.shape}")
    return (batch[None], True) if batch.ndim == ndim else (batch, False)


def check_states(observations: ArrayLike, n_states: int) -> tuple[NDArray[np.intp], bool]:
    """Give states [B], and whether the caller gave a single one; refuse what is not a state."""
    batch, single = check_batch(observations, 0)
    if batch.dtype.kind not in "iu":
        raise InputError("observations", "be integer states", batch.dtype)
    if batch.size and (int(batch.min()) < 0 or int(batch.max()) >= n_states):
        bad = batch[(batch < 0) | (batch >= n_states)]
        raise InputError("observations", f"be states in 0..{n_states - 1}", int(bad[0]))
    return batch.astype(np.intp, copy=False), single


def check_actions(actions: ArrayLike, size: int, n_actions: int) -> NDArray[np.intp]:
    """Give action indices [B]; refuse another number of them, or what is not an action."""
    given = np.atleast_1d(as_array("actions", actions))
    if given.shape != (size,) or given.dtype.kind not in "iu":
        raise InputError("actions", f"be integers of shape ({size},)", f"{given.dtype} of shape {given.shape}")
    if given.size and (int(given.min()) < 0 or int(given.max()) >= n_actions):
        bad = given[(given < 0) | (given >= n_actions)]
        raise InputError("actions", f"be in 0..{n_actions - 1}", int(bad[0]))
    return given.astype(np.intp, copy=False)


def check_coefficients(coefficients: ArrayLike, size: int) -> NDArray[np.float64]:
    """Give the coefficients [B] of a sum of scores."""
    weights = np.atleast_1d(as_reals("coefficients", coefficients))
    if weights.shape != (size,):
        raise InputError("coefficients", f"have shape ({size},)", f"shape {weights.shape}")
    return weights


def check_path(name: str, value: object) -> Path:
    """Give the path that a string or a path-like value stands for."""
    try:
        text = os.fspath(value)  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownVariableType]
    except TypeError:
        text = None
    if not isinstance(text, str) or not text or "\0" in text or not _is_encodable(text):
        raise InputError(name, "be a path", value)
    return Path(text)


def _is_encodable(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:  # half of a surrogate pair, which no file name can hold
        return False
    return True


def check_callback(name: str, value: object) -> object:
    """Refuse what is neither a function nor several functions."""
    several: Iterable[object] = [value]
    if isinstance(value, Iterable) and not callable(cast("object", value)):
        several = cast("Iterable[object]", value)
    for one in several:
        if not callable(one):
            raise InputError(name, "be a function of (line, theta), or several", one)
        try:
            inspect.signature(one).bind({}, None)
        except TypeError as problem:
            raise InputError(name, "take two arguments, (line, theta)", one, str(problem)) from problem
        except ValueError:  # some functions written in C have no signature
            continue
    return cast("object", value)


def check_range(name: str, given: object) -> tuple[float, float]:
    """Give two finite numbers (low, high) with low <= high."""
    ends = as_reals(name, given)
    if ends.shape != (2,) or not np.all(are_usable(ends)) or ends[0] > ends[1]:
        raise InputError(name, "be two finite numbers (low, high)", given)
    return float(ends[0]), float(ends[1])


def check_smoothing(name: str, mu: float) -> float:
    """Refuse a mu outside (0, 1] (`eq:rho_mu`)."""
    if not 0.0 < check_number(name, mu) <= 1.0:
        raise InputError(name, "be in (0, 1]", mu)
    return float(mu)

"""Rules for arguments that many parts share, each written once; a refusal is one line.

A check gives the value back, as the plain type that the code goes on with.
"""

import math
import os
from collections.abc import Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.errors import InputError, UnknownNameError
from riskgrad.reals import are_usable, as_array, as_reals
from riskgrad.types import FloatArray, IntArray, MemoryKind


def check_count(name: str, value: object, least: int = 1) -> int:
    """Refuse what is not an integer of at least `least`."""
    number: Any = value
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or number < least:
        raise InputError(name, f"be an integer of at least {least}", cast("object", value))
    return int(number)


def check_number(name: str, value: object) -> float:
    """Refuse what is not a real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(name, "be a number", value)
    return float(value)


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
    raise UnknownNameError(name, str(value), kinds, "or None for a policy without memory")


def check_switch(name: str, value: object) -> object:
    """Refuse what is neither True, False nor "auto"."""
    if isinstance(value, bool) or (isinstance(value, str) and value == "auto"):
        return value
    raise InputError(name, "be True, False or 'auto'", value)


def check_discount(discount: float) -> float:
    """Give the discount, a number in (0, 1]."""
    if isinstance(discount, bool) or not isinstance(discount, int | float | np.number) or not 0.0 < discount <= 1.0:
        raise InputError("discount", "be in (0, 1]", discount)
    return float(discount)


def check_env_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Give an environment's options by name; none for None."""
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise InputError("env_options", "be a dictionary from names to values, or None", options)
    return dict(options)


def check_pairs(pairs: ArrayLike | None, rows: int) -> IntArray:
    """Give the pair of each row [P]; by default all differ."""
    if pairs is None:
        return np.arange(rows)
    found = as_array("pairs", pairs)
    if found.shape != (rows,) or found.dtype.kind not in "iu" or np.any(found < 0):
        raise InputError("pairs", f"be {rows} integers of at least 0, one per row of thetas", pairs)
    return found.astype(np.int64)


def check_thetas(theta: ArrayLike, dim: int) -> tuple[FloatArray, bool]:
    """Give thetas [P, d], and whether the caller gave one flat vector; refuse a wrong shape or NaN."""
    thetas = as_reals("theta", theta)
    if thetas.ndim not in (1, 2) or thetas.shape[-1] != dim:
        raise InputError("theta", f"have shape ({dim},) or (P, {dim})", f"shape {thetas.shape}")
    if not np.all(np.isfinite(thetas)):
        raise InputError("theta", "be finite", float(thetas[~np.isfinite(thetas)][0]))
    return np.atleast_2d(thetas), thetas.ndim == 1


def check_theta_rows(thetas: ArrayLike, dim: int) -> FloatArray:
    """Give parameters [P, d]; refuse one flat vector."""
    rows, flat = check_thetas(thetas, dim)
    if flat:
        raise InputError("thetas", f"have shape (P, {dim})", f"shape ({dim},)", "use thetas[None]")
    return rows


def check_theta(theta: ArrayLike, dim: int) -> FloatArray:
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


def check_coefficients(coefficients: ArrayLike, size: int) -> FloatArray:
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
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(name, "be a path", value)
    return Path(text)


def check_callback(name: str, value: object) -> object:
    """Refuse what cannot be called after an iteration, nor is several that can."""
    several: Iterable[object] = [value]
    if isinstance(value, Iterable) and not callable(cast("object", value)):
        several = cast("Iterable[object]", value)
    for one in several:
        if not callable(one):
            raise InputError(name, "be a function of (line, theta), or several", one)
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

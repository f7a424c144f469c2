"""Conversion of the numbers, arrays and parts that environments give; one that is not of its space is refused."""

from typing import Any, Final

import numpy as np
from gymnasium import Space, spaces

from riskgrad.types import FloatArray

WRONG_SPACE: Final = "gymnasium.wrappers.TransformObservation gives it a space that holds all of them"


def as_number(value: Any) -> float | int:
    """Give a plain number from a Python or NumPy number, or from an array of one number."""
    if isinstance(value, float | int):
        return value
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "iufb":
        raise TypeError(f"a number was expected, got {value!r}")
    return array.item()


def as_reward(value: Any) -> float:
    """Give a reward as a float; refuse several numbers, naming wrappers that weigh them, and one too large."""
    if np.size(value) > 1:
        advice = "weigh them by mo_gymnasium.wrappers.LinearReward or gymnasium.wrappers.TransformReward"
        raise TypeError(f"the reward has {np.size(value)} numbers, and a return has one: {advice}")
    return float(as_number(value))


def is_over(terminated: Any, truncated: Any) -> bool:
    """Say whether a step ended the episode; refuse a flag that is not True, False, 1 or 0, such as "False" or NaN."""
    return _as_flag("terminated", terminated) | _as_flag("truncated", truncated)


def _as_flag(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "biu" or array.item() not in (0, 1):
        raise TypeError(f"{name} has to be True or False, got {value!r}")
    return bool(array.item())


def as_numbers(values: list[Any]) -> FloatArray | None:
    """Give B values that `as_number` takes as one array [B]; None where they have to be converted one by one."""
    try:
        array = np.array(values)
    except (ValueError, OverflowError):
        return None
    if array.ndim == 1 and array.dtype.char == "d":  # what most environments give
        return array
    plain = array.size == len(values) and array.dtype.kind in "iufb"
    return array.astype(np.float64).reshape(-1) if plain else None


def read_state(found: Any, n: int, start: int) -> int:
    """Give an observation as a state, from 0; refuse one that is not among the n integers from `start`."""
    value = as_number(found)
    state = int(value) - start
    if state != value - start or not 0 <= state < n:
        raise ValueError(f"the observation {value} is not among the {n} states from {start}; {WRONG_SPACE}")
    return state


def ravel(found: Any, shape: tuple[int, ...]) -> FloatArray:
    """Give an array of numbers as one vector; refuse one of another shape."""
    array = np.asarray(found)
    if array.shape != shape or array.dtype.kind not in "iufb":
        raise ValueError(f"the observation is {array.dtype} of shape {array.shape}, its space has shape {shape}")
    return array.astype(np.float64).ravel()


def has_parts(space: Space[Any]) -> bool:
    """Say whether a space is made of others, as a Tuple or a Dict is."""
    return isinstance(space, spaces.Tuple | spaces.Dict)


def parts_of(space: Space[Any]) -> list[Space[Any]]:
    """Give the spaces of a Tuple or a Dict."""
    inner: Any = space
    return list(inner.spaces if isinstance(space, spaces.Tuple) else inner.spaces.values())


def split(space: Space[Any], found: Any) -> list[tuple[Space[Any], Any]]:
    """Give the parts of a Tuple's or Dict's observation, each with its space; refuse one with other parts."""
    inner: Any = space
    if isinstance(space, spaces.Tuple):
        if len(found) != len(inner.spaces):
            raise ValueError(f"the observation has {len(found)} parts, its space has {len(inner.spaces)}")
        return list(zip(inner.spaces, found, strict=True))
    if set(found) != set(inner.spaces):
        raise ValueError(f"the observation has the keys {sorted(found)}, its space has {sorted(inner.spaces)}")
    return [(part, found[key]) for key, part in inner.spaces.items()]

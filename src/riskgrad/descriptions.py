"""Spaces as JSON, so that a run can read observations and write actions without its environment.

    Discrete        {"kind": "Discrete", "n": 4, "start": 0}
    MultiDiscrete   {"kind": "MultiDiscrete", "nvec": [3, 2], "start": [0, 0], "dtype": "int64"}
    MultiBinary     {"kind": "MultiBinary", "shape": [4]}
    Box             {"kind": "Box", "low": -1.0, "high": null, "shape": [3], "dtype": "float32"}
    Tuple           {"kind": "Tuple", "parts": [...]}
    Dict            {"kind": "Dict", "parts": [["key", ...], ...]}, in the order of the space

A bound is one number where all are the same, and null where there is none, since JSON has no infinity. What policies
read and how they act is described in the same words (`States.description` and so on, in `riskgrad.types`).
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final

import numpy as np
from gymnasium import Space, spaces
from numpy.typing import NDArray

from riskgrad.errors import InputError

MOST_NUMBERS: Final = 1 << 26  # most numbers of a Box; a file that asks for more was not written by riskgrad


def describe_space(space: Space[Any]) -> dict[str, Any] | None:
    """Describe a space; None where it is of a kind that has no description."""
    inner: Any = space  # spaces are only partly typed
    facts: dict[str, Any] | None = None
    if isinstance(space, spaces.Discrete):
        facts = {"n": int(space.n), "start": int(space.start)}
    elif isinstance(space, spaces.MultiDiscrete):
        facts = {"nvec": inner.nvec.tolist(), "start": inner.start.tolist(), "dtype": str(inner.dtype)}
    elif isinstance(space, spaces.MultiBinary):
        facts = {"shape": list(space.shape)}
    elif isinstance(space, spaces.Box):
        bounds = {"low": _describe_bound(inner.low), "high": _describe_bound(inner.high)}
        facts = {**bounds, "shape": list(inner.shape), "dtype": str(inner.dtype)}
    elif isinstance(space, spaces.Tuple):
        parts = [describe_space(part) for part in inner.spaces]
        facts = None if None in parts else {"parts": parts}
    elif isinstance(space, spaces.Dict):
        named = [[key, describe_space(part)] for key, part in inner.spaces.items()]
        held = all(isinstance(key, str) and part is not None for key, part in named)
        facts = {"parts": named} if held else None
    kind = next((name for name in _MAKERS if isinstance(space, getattr(spaces, name))), "")
    return None if facts is None else {"kind": kind, **facts}


def read_space(facts: Mapping[str, Any]) -> Space[Any]:
    """Make the space of a description; refuse what describes none."""
    try:
        return _MAKERS[facts["kind"]](facts)
    except (KeyError, TypeError, ValueError, AssertionError, OverflowError, RecursionError) as error:
        raise InputError("spaces", "describe spaces of an environment", facts, f"{error}") from error


def describe_spaces(seen: Space[Any], taken: Space[Any]) -> dict[str, Any] | None:
    """Describe what an environment shows and takes; None where one of them has no description."""
    facts = {"observation": describe_space(seen), "action": describe_space(taken)}
    return None if None in facts.values() else facts


def _describe_bound(bound: NDArray[Any]) -> Any:
    """Give a bound as one number where all are the same, otherwise as nested lists."""
    values: NDArray[Any] = bound.astype(object)
    values[~np.isfinite(bound)] = None
    numbers: list[Any] = values.ravel().tolist()
    return numbers[0] if numbers and all(number == numbers[0] for number in numbers) else values.tolist()


def _read_box(facts: Mapping[str, Any]) -> Space[Any]:
    shape = tuple(int(size) for size in facts["shape"])
    if prod(shape) > MOST_NUMBERS:
        raise ValueError(f"a Box of shape {shape} is too large")
    kind, sides = np.dtype(facts["dtype"]), list[NDArray[Any]]()
    whole = kind.kind in "iub"
    for name, missing in (("low", -np.inf), ("high", np.inf)):
        given = np.array(facts[name], dtype=object)
        numbers = np.where(given == None, missing, given)  # noqa: E711 - elementwise
        # not by way of floats, which do not hold all 64-bit integers
        sides.append(np.full(shape, numbers.astype(kind if whole else np.float64)).astype(kind))
    return spaces.Box(sides[0], sides[1], shape, kind.type)  # pyright: ignore[reportArgumentType]


_MAKERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Space[Any]]]] = {
    "Discrete": lambda facts: spaces.Discrete(int(facts["n"]), start=int(facts["start"])),
    "MultiDiscrete": lambda facts: spaces.MultiDiscrete(
        np.array(facts["nvec"]), np.dtype(facts["dtype"]).type, start=np.array(facts["start"])
    ),
    "MultiBinary": lambda facts: spaces.MultiBinary([int(size) for size in facts["shape"]]),
    "Box": _read_box,
    "Tuple": lambda facts: spaces.Tuple([read_space(part) for part in facts["parts"]]),
    "Dict": lambda facts: spaces.Dict(OrderedDict((str(key), read_space(part)) for key, part in facts["parts"])),
}

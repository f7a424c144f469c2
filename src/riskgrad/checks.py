"""Rules for arguments that many parts share, each written once; a refusal is one line.

A check gives the value back, as the plain type that the code goes on with.
"""

import math
from numbers import Real
from typing import Any, cast

import numpy as np

from riskgrad.errors import InputError


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

"""What a file says of the parts of a run, in words or in bits, never by code."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from riskgrad.types import FloatArray


def describe(thing: object) -> str:
    """Describe a thing in words, without the address that a bare object prints and that differs between processes."""
    words = str(thing)
    return type(thing).__name__ if " at 0x" in words else words


def describe_env_options(options: Mapping[str, Any] | None) -> tuple[dict[str, Any] | None, str | None]:
    """Give an environment's options as they are where a file can hold them, otherwise in words."""
    if options is None:
        return None, None
    plain = {name: plain_number(value) for name, value in options.items()}
    try:
        if json.loads(json.dumps(plain, allow_nan=False)) == plain:
            return plain, None
    except (TypeError, ValueError):
        pass
    return None, ", ".join(f"{name}={describe(value)}" for name, value in options.items())


def plain_number(value: Any) -> Any:
    """Give the plain number that a numpy scalar is; anything else as it is."""
    scalar: Any = value
    return scalar.item() if isinstance(value, np.generic) else value


def digest(theta: FloatArray) -> str:
    """Name a vector of parameters by its bits."""
    return hashlib.sha256(np.ascontiguousarray(theta).tobytes()).hexdigest()[:16]

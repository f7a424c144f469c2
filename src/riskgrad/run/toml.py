"""Writing TOML; Python's own `tomllib` reads it and has no writer.

Strings, whole numbers, floats, truth values, lists and tables, which is what a configuration holds. A float is written
so that it reads back as the same float.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from riskgrad.errors import InputError

BARE = re.compile(r"[A-Za-z0-9_-]+")


def dumps(values: Mapping[str, Any]) -> str:
    """Write a document: plain values first, then each table under its name."""
    plain = {name: value for name, value in values.items() if not isinstance(value, Mapping)}
    tables: dict[str, Mapping[str, Any]] = {name: value for name, value in values.items() if name not in plain}
    parts = [_lines(plain), *(f"[{_key(name)}]\n{_lines(table)}" for name, table in tables.items())]
    return "\n".join(part for part in parts if part)


def _lines(values: Mapping[str, Any]) -> str:
    return "".join(f"{_key(name)} = {value_text(value)}\n" for name, value in values.items())


def value_text(value: Any) -> str:
    """Write one value, a table in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, Any]", value).items()
        return "{" + ", ".join(f"{_key(name)} = {value_text(one)}" for name, one in pairs) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(value_text(one) for one in cast("Sequence[Any]", value)) + "]"
    raise InputError("value", "be what TOML can hold", value)


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """Quote a string; what TOML does not allow between quotes is written as its number."""
    shown = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", shown) + '"'

"""Flags from a file: `--config run.toml` has keys with the names of flags; flags on the command line win.

A value in the file becomes the default of its flag, so that both mean the same. Environment options are a table,
`[env-option]`, or a list of name=value as on the command line; those of the file and of the command line are joined.
"""

import json
import tomllib
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from riskgrad.errors import InputError, UnknownNameError

ENV_OPTION: Final = "env-option"
NUMBER_OR_TEXT: Final = ("step-size", "risk-path")
WORDS: Final = {int: "a whole number", float: "a number", str: "a string", bool: "true or false", Path: "a string"}


def read_config(path: Path, flags: Mapping[str, type]) -> dict[str, Any]:
    """Read a file and give its values by the names of the command's arguments.

    Args:
        path: the file.
        flags: the flags that it may set, and the type of each value.
    """
    from riskgrad.run.config import CANNOT, was_changed  # noqa: PLC0415 - brings numpy
    from riskgrad.run.files import read_file, refuse  # noqa: PLC0415

    try:
        text = read_file(path).decode("utf-8")
        values = tomllib.loads(text)
    except OSError as error:
        refuse("read", path, error)
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or a number with too many digits
        raise InputError(str(path), "be TOML", str(error)) from error
    if was_changed(text):
        words = f"{path} was changed since its run wrote it, and may be damaged; if that was you, delete its last line"
        warnings.warn(words, RuntimeWarning, stacklevel=2)
    if CANNOT in values:
        rule = "hold all that is needed to repeat its run"
        advice = "repeat the run from Python, or give these as flags and delete the line"
        raise InputError(str(path), rule, f"{CANNOT} = {values[CANNOT]}", advice)
    for key in values:
        if key not in flags:
            raise UnknownNameError(f"a key of {path}", key, flags)
    return {key.replace("-", "_"): _check_value(path, key, value, flags[key]) for key, value in values.items()}


def _check_value(path: Path, key: str, value: Any, kind: type) -> Any:
    where = f"{key} in {path}"
    if key == ENV_OPTION:
        return _option_pairs(where, value)
    fits = isinstance(value, str if kind is Path else kind) or (kind is float and isinstance(value, int))
    if key in NUMBER_OR_TEXT and isinstance(value, int | float | str):
        fits, value = True, str(value)
    if not fits or (isinstance(value, bool) and kind is not bool):
        also = " or a number" if key in NUMBER_OR_TEXT else ""
        raise InputError(where, f"be {WORDS[kind]}{also}", value)
    if kind is Path and not value:
        raise InputError(where, "be a path", value, "name a folder")
    return value


def _option_pairs(where: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"{name}={json.dumps(one, default=str)}" for name, one in cast("dict[str, Any]", value).items()]
    words: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [None]
    if not all(isinstance(one, str) for one in words):
        raise InputError(where, "be a table, or a list of strings such as 'name=value'", cast("object", value))
    return words

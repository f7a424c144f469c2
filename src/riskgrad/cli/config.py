"""A file that gives flags: `--config run.toml`, one key for each flag, of the same name; flags win over the file.

Whatever the file says goes the way of a flag's default, so that both mean the same thing. Environment options are a
table, `[env-option]`, or a list of name=value as on the command line; those of the file and of the flags add up.
"""

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, cast, get_args, get_origin, get_type_hints

import typer

from riskgrad.errors import InputError, UnknownNameError

OPTIONS: Final = "env-option"
NUMBER_OR_TEXT: Final = ("step-size", "risk-path")
WORDS: Final = {int: "a whole number", float: "a number", str: "a string", bool: "true or false", Path: "a string"}


def of_file(command: Callable[..., Any]) -> Callable[[typer.Context, Path | None], Path | None]:
    """Give the callback of `--config` for a command."""

    def use(context: typer.Context, path: Path | None) -> Path | None:
        if path is not None and not context.resilient_parsing:
            values = read(path, flags_of(command))
            context.meta[OPTIONS] = values.pop("env_option", [])
            context.default_map = values
        return path

    return use


def flags_of(command: Callable[..., Any]) -> dict[str, tuple[str, type]]:
    """Give what a file may set, flag -> (name of the argument, kind of its value)."""
    found: dict[str, tuple[str, type]] = {}
    for name, hint in get_type_hints(command, include_extras=True).items():
        if get_origin(hint) is not Annotated:
            continue
        kind, *notes = get_args(hint)
        # beside Annotated the first word of typer.Option stands where its default would
        words: list[Any] = [word for note in notes for word in (note.default, *(note.param_decls or ()))]
        declared = [word for word in words if isinstance(word, str) and word.startswith("-")]
        flag = declared[0].split("/")[0].lstrip("-") if declared else name.replace("_", "-")
        found[flag] = (name, _plain(kind))
    return {flag: what for flag, what in found.items() if flag != "config"}


def read(path: Path, flags: Mapping[str, tuple[str, type]]) -> dict[str, Any]:
    """Read a file: name of the argument -> value.

    Args:
        path: the file.
        flags: what it may set; see `flags_of`.
    """
    from riskgrad.run.config import CANNOT  # noqa: PLC0415 - brings numpy
    from riskgrad.run.container import refuse  # noqa: PLC0415

    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        refuse("read", path, error)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise InputError(str(path), "be TOML", str(problem)) from problem
    if CANNOT in values:
        rule = "hold all that repeats its run"
        advice = "repeat the run from Python, or give these as flags and delete the line"
        raise InputError(str(path), rule, f"{CANNOT} = {values[CANNOT]}", advice)
    for key in values:
        if key not in flags:
            raise UnknownNameError(f"a key of {path}", key, flags)
    return {flags[key][0]: _checked(path, key, value, flags[key][1]) for key, value in values.items()}


def _checked(path: Path, key: str, value: Any, kind: type) -> Any:
    where = f"{key} in {path}"
    if key == OPTIONS:
        return _options(where, value)
    fits = isinstance(value, str if kind is Path else kind) or (kind is float and isinstance(value, int))
    if key in NUMBER_OR_TEXT and isinstance(value, int | float | str):
        fits, value = True, str(value)
    if not fits or (isinstance(value, bool) and kind is not bool):
        also = " or a number" if key in NUMBER_OR_TEXT else ""
        raise InputError(where, f"be {WORDS[kind]}{also}", value)
    return value


def _options(where: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"{name}={json.dumps(one, default=str)}" for name, one in cast("dict[str, Any]", value).items()]
    words: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [None]
    if not all(isinstance(one, str) for one in words):
        raise InputError(where, "be a table, or a list of strings such as 'name=value'", cast("object", value))
    return words


def _plain(hint: Any) -> type:
    """The kind behind `int | None`; `list` for a flag that may be repeated."""
    found = next(one for one in get_args(hint) if one is not type(None)) if isinstance(hint, UnionType) else hint
    return get_origin(found) or found

"""The file that repeats a run: TOML for `riskgrad train --config`, every option by the name of its flag.

Defaults are spelled out, so that a later version with other defaults repeats the run as well. What a file cannot hold
(an environment, a measure or a policy made of a user's own code, parameters to start from) is listed under the key
`cannot-repeat`; the command refuses a file with this key rather than train something else.

Python's own `tomllib` reads TOML and has no writer: `write_toml` writes strings, numbers, booleans, lists and tables.
A float is written so that it reads back as the same float.
"""

import json
import math
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from riskgrad.ascent import parse_ascent
from riskgrad.errors import InputError
from riskgrad.risk import parse
from riskgrad.settings import Options, Settings, facts_of

CONFIG: Final = "config.toml"
CANNOT: Final = "cannot-repeat"
OPTIONS: Final = "env-option"
HEAD: Final = """\
# What this run was asked to do, every default spelled out. To do it again, to the bit on the same versions:
#   riskgrad train --config config.toml --out another-folder
"""
CHECKED: Final = "# checksum of what is above: "
BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def flag_values(settings: Settings) -> dict[str, Any]:
    """Give the options that repeat a run, by the names of their flags: those of training, then the algorithm's own."""
    named: dict[str, Any] = {"env": settings.env, "risk": settings.risk}
    named |= {name: getattr(settings, name) for name, facts in facts_of(Options).items() if facts.flag is not None}
    named |= {name: value for name, value in settings.own.items() if name != "behavior"}
    found = {name.replace("_", "-"): value for name, value in named.items() if value is not None}
    more: Mapping[str, Any] = found.pop("env-options", {})
    if more:
        # TOML has no null: where a value has one, options are written as on the command line, name=value
        texts = {name: json.dumps(value) for name, value in more.items()}
        found[OPTIONS] = [f"{n}={t}" for n, t in texts.items()] if _has_null(more) else dict(more)
    return found


def find_obstacles(settings: Settings) -> list[str]:
    """Give in words what the options of a run cannot express; empty if they repeat the run."""
    found: list[str] = []
    if settings.env is None:
        found.append(f"env: {settings.source or 'not known'}")
    if settings.env_options_text:
        found.append(f"{OPTIONS}: {settings.env_options_text}")
    if not _reads_back(parse, settings.risk):
        found.append(f"risk: {settings.risk}")
    if settings.estimator not in (None, "self-normalized"):
        found.append(f"risk with estimator={settings.estimator!r}")
    if settings.policy is None:
        found.append(f"policy: {settings.policy_facts.get('text', 'not known')}")
    if settings.own_start:
        found.append("theta: parameters of your own to start from")
    if settings.own.get("behavior", "current") != "current":
        found.append(f"behavior: {settings.own['behavior']}")
    if not _reads_back(parse_ascent, settings.step_size):
        found.append(f"step-size: {settings.step_size}")
    return found


def split_options(settings: Settings) -> tuple[dict[str, Any], list[str]]:
    """Give the options that repeat a run, by the names of their flags, and in words what they cannot express."""
    values, obstacles = flag_values(settings), find_obstacles(settings)
    if obstacles:
        values = {
            flag: value
            for flag, value in values.items()
            if not any(text.startswith((f"{flag}:", f"{flag} ")) for text in obstacles)
        }
    return values, obstacles


def write_config(settings: Settings) -> str:
    """Write the configuration of a run from its settings."""
    kept, obstacles = split_options(settings)
    head = HEAD
    if obstacles:
        head += "# A file cannot hold what is listed here: repeat the run from Python, with rg.train.\n"
        kept = {CANNOT: obstacles, **kept}
    text = f"{head}\n{write_toml(kept)}"
    return f"{text}{CHECKED}{zlib.crc32(text.encode()):08x}\n"


def was_changed(text: str) -> bool:
    """Say whether a configuration was changed after a run wrote it; False without a checksum, as no run wrote it."""
    body, mark, check = text.rpartition(CHECKED)
    return bool(mark) and check.strip() != f"{zlib.crc32(body.encode()):08x}"


def write_toml(values: Mapping[str, Any]) -> str:
    """Write a document: plain values first, then each table under its name."""
    plain = {name: value for name, value in values.items() if not isinstance(value, Mapping)}
    tables: dict[str, Mapping[str, Any]] = {name: value for name, value in values.items() if name not in plain}
    parts = [_lines(plain), *(f"[{_key(name)}]\n{_lines(table)}" for name, table in tables.items())]
    return "\n".join(part for part in parts if part)


def toml_value(value: Any) -> str:
    """Write one value, a table in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, Any]", value).items()
        return "{" + ", ".join(f"{_key(name)} = {toml_value(one)}" for name, one in pairs) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(toml_value(one) for one in cast("Sequence[Any]", value)) + "]"
    raise InputError("value", "be what TOML can hold", value)


def _lines(values: Mapping[str, Any]) -> str:
    return "".join(f"{_key(name)} = {toml_value(value)}\n" for name, value in values.items())


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _quote(name)


def _quote(text: str) -> str:
    """Quote a string; characters that TOML does not allow between quotes are written as escapes."""
    shown = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", shown) + '"'


def _reads_back(read: Callable[[Any], object], text: object) -> bool:
    """Say whether `read` accepts a text."""
    try:
        read(text)
    except InputError:
        return False
    return True


def _has_null(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_null(one) for one in cast("Mapping[str, Any]", value).values())
    return value is None or (isinstance(value, list) and any(_has_null(one) for one in cast("list[Any]", value)))

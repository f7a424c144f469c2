"""What repeats a run, as the TOML that `riskgrad train --config` reads: every option by the name of its flag.

Defaults are spelled out, so that a later version with other defaults repeats the run as well. What a file cannot hold
(an environment, a measure or a policy made of a user's own code, parameters to start from) is listed under the key
`cannot-repeat`, for which the command refuses the file rather than train something else.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from riskgrad.errors import InputError
from riskgrad.risk import parse
from riskgrad.run.toml import dumps

CONFIG: Final = "config.toml"
CANNOT: Final = "cannot-repeat"
OPTIONS: Final = "env-option"

# flag -> the setting that holds its value, where it is written as it is
PLAIN: Final = {
    "env": "env",
    "horizon": "horizon",
    "discount": "discount",
    "risk": "risk",
    "algorithm": "algorithm",
    "policy": "policy_name",
    "iterations": "iterations",
    "seed": "seed",
    "schedule": "schedule",
    "step-size": "ascent",
    "smoothing": "smoothing",
    "directions": "directions",
    "episodes": "episodes",
    "steps-per-batch": "steps_per_batch",
    "entropy": "entropy",
    "held-out": "held_out",
}
HEAD: Final = """\
# What this run was asked to do, every default spelled out. To do it again, to the bit on the same versions:
#   riskgrad train --config config.toml --out another-folder
"""


def options_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Give the options that repeat a run, by the names of their flags, from its settings."""
    found = {flag: settings[name] for flag, name in PLAIN.items() if settings.get(name) is not None}
    part, start = settings.get("risk_path"), settings.get("risk_path_start", "mean")
    found["risk-path"] = "none" if part is None else part if start == "mean" else f"square:{part!r}"
    found["normalize"] = settings.get("normalize") is not None
    more: Mapping[str, Any] = settings.get("env_options") or {}
    if more:
        # TOML has no null: then options are written as their flags are
        texts = {name: json.dumps(value) for name, value in more.items()}
        found[OPTIONS] = [f"{n}={t}" for n, t in texts.items()] if _has_null(more) else dict(more)
    return found


def obstacles(settings: Mapping[str, Any]) -> list[str]:
    """Say what of a run its options cannot express; empty if they repeat it."""
    found: list[str] = []
    if settings.get("env") is None:
        found.append(f"env: {settings.get('env_text') or 'not known'}")
    if settings.get("env_options_text"):
        found.append(f"{OPTIONS}: {settings['env_options_text']}")
    if not _parses(settings.get("risk", "")):
        found.append(f"risk: {settings.get('risk')}")
    if settings.get("estimator") not in (None, "self-normalized"):
        found.append(f"risk with estimator={settings['estimator']!r}")
    if settings.get("policy_name") is None:
        found.append(f"policy: {settings.get('policy', {}).get('text', 'not known')}")
    if settings.get("own_start"):
        found.append("theta: parameters of your own to start from")
    if not str(settings.get("ascent", "")).startswith(("adam:", "constant:")):
        found.append(f"step-size: {settings.get('ascent', 'not known')}")
    if settings.get("schedule") is None:
        found.append("schedule: the run was begun by a function of its own, not by rg.train")
    return found


def configuration(settings: Mapping[str, Any]) -> str:
    """Write the configuration of a run from its settings."""
    hindered = obstacles(settings)
    kept = {flag: value for flag, value in options_of(settings).items() if not _hinders(flag, hindered)}
    head = HEAD
    if hindered:
        head += "# A file cannot hold what is listed here: repeat the run from Python, with rg.train.\n"
        kept = {CANNOT: hindered, **kept}
    return f"{head}\n{dumps(kept)}"


def _hinders(flag: str, hindered: list[str]) -> bool:
    return any(words.startswith((f"{flag}:", f"{flag} ")) for words in hindered)


def _parses(risk: str) -> bool:
    try:
        parse(risk)
    except InputError:
        return False
    return True


def _has_null(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_null(one) for one in cast("Mapping[str, Any]", value).values())
    return value is None or (isinstance(value, list) and any(_has_null(one) for one in cast("list[Any]", value)))

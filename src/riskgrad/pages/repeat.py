"""How to repeat a run: the command that trains it again.

The command names the options that were given; all others get the same values again by their rules. If a command cannot
express an option (a user's own environment, measure or policy, parameters to start from), a call from Python is given,
with such options in words.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from riskgrad.run import Run
from riskgrad.run.config import OPTIONS, split_options

ALWAYS = ("env", "risk", "algorithm", "iterations", "seed", OPTIONS)


@dataclass(frozen=True)
class Repetition:
    """How to repeat a run.

    Attributes:
        text: the command, or the Python code.
        language: "sh" or "python".
        missing: what else has to be given, in words.
    """

    text: str
    language: str
    missing: tuple[str, ...]


def say_how_to_repeat(run: Run, name: str) -> Repetition:
    """Say how to repeat a run.

    Args:
        run: the run.
        name: the folder for the repetition.
    """
    settings = run.settings
    values, missing = split_options(settings)
    named = (*ALWAYS, *(option.replace("_", "-") for option in settings.given))
    # a budget in episodes decides m as well as N, so m is named too
    named = (*named, "episodes") if "max_episodes" in settings.given else named
    kept = {flag: value for flag, value in values.items() if flag in named}
    if missing:
        return Repetition(_python(kept, settings.own), "python", tuple(missing))
    return Repetition(_command(kept, name), "sh", ())


def _command(options: Mapping[str, Any], name: str) -> str:
    words = ["riskgrad", "train", str(options["env"])]
    for flag, value in options.items():
        if flag == OPTIONS:
            words += [word for pair in _pairs(value) for word in (f"--{OPTIONS}", pair)]
        elif isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        elif flag != "env":
            words += [f"--{flag}", str(value)]
    return shlex.join([*words, "--out", name])


def _pairs(options: Mapping[str, Any] | list[str]) -> list[str]:
    return options if isinstance(options, list) else [f"{name}={json.dumps(one)}" for name, one in options.items()]


def _python(options: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    words = [repr(options["env"]) if "env" in options else "env"]
    words.append(repr(options["risk"]) if "risk" in options else "risk")
    own_words = [
        f"{flag.replace('-', '_')}={value}" for flag, value in options.items() if flag.replace("-", "_") in own
    ]
    for flag, value in options.items():
        name = flag.replace("-", "_")
        if flag == "algorithm":
            text = ":".join([value, *([",".join(own_words).lower()] if own_words else [])])
            words.append(f"algorithm={text!r}")
        elif flag == OPTIONS:
            pairs = (pair.split("=", 1) for pair in _pairs(value))
            words.append(f"env_options={ {key: json.loads(text) for key, text in pairs}!r}")
        elif flag not in ("env", "risk") and name not in own:
            words.append(f"{name}={value!r}")
    arguments = ",\n    ".join(words)
    return f"import riskgrad as rg\n\nrg.train(\n    {arguments},\n)"

"""How to repeat a run: the command that does what was done.

The command names what differs from the defaults. What no command can hold (an environment, a measure or a policy of the
user's own, parameters to start from) is said in words beside a call from Python.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from riskgrad.algorithms import PRACTICAL
from riskgrad.algorithms.path import SquarePath, settled
from riskgrad.algorithms.problem import held_out_size
from riskgrad.algorithms.schedule import default_numbers
from riskgrad.risk import Distortion, parse
from riskgrad.run import Run
from riskgrad.run.config import OPTIONS, obstacles, options_of
from riskgrad.run.recipes import describe

ALWAYS = ("env", "risk", "algorithm", "iterations", "seed", "horizon", "discount", OPTIONS)


@dataclass(frozen=True)
class Recipe:
    """How to repeat a run.

    Attributes:
        text: the command, or the Python code.
        language: "sh" or "python".
        missing: what has to be given besides, in words.
    """

    text: str
    language: str
    missing: tuple[str, ...]


def recipe(run: Run, name: str) -> Recipe | None:
    """Say how to repeat a run; None if it was not begun by `rg.train`, which alone keeps all that is needed."""
    settings = run.settings
    if settings.get("schedule") is None:
        return None
    missing = tuple(obstacles(settings))
    given = options_of(settings)
    usual = {} if any(words.startswith(("risk", "policy")) for words in missing) else defaults(run)
    other = {flag: value for flag, value in given.items() if flag in ALWAYS or value != usual.get(flag)}
    if missing:
        kept = {flag: value for flag, value in other.items() if not any(w.startswith(flag) for w in missing)}
        return Recipe(_python(kept), "python", missing)
    return Recipe(_command(other, name), "sh", ())


def defaults(run: Run) -> dict[str, Any]:
    """What the command line would have chosen for this run, by the names of its flags."""
    settings = run.settings
    algorithm, risk, policy = settings["algorithm"], parse(settings["risk"]), run.policy
    numbers = default_numbers(policy, risk, off_policy=algorithm != "onp_sf")
    entropy = PRACTICAL.entropy if policy.has_density else 0.0
    cost = numbers.episodes
    if algorithm == "onp_sf":
        cost = 2 * numbers.directions * numbers.episodes + (numbers.episodes if entropy > 0.0 else 0)
    part, start = settled(None if risk.attitude == "neutral" else SquarePath(PRACTICAL.risk_path), risk)
    usual = {
        **numbers.settings(),
        "policy_name": "table",  # where a table is possible it is what a run gets
        "schedule": "practical",
        "risk_path": part,
        "risk_path_start": "mean" if start is None else describe(Distortion(start)),
        "entropy": entropy,
        "steps_per_batch": PRACTICAL.steps_per_batch,
        "held_out": held_out_size(None, settings["iterations"], cost),
    }
    return options_of(usual)


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


def _python(options: Mapping[str, Any]) -> str:
    words = [repr(options["env"]) if "env" in options else "env"]
    words += [_argument(flag, value) for flag, value in options.items() if flag != "env"]
    arguments = ",\n    ".join(words)
    also = "import riskgrad.algorithms\n" if "riskgrad.algorithms." in arguments else ""
    return f"{also}import riskgrad as rg\n\nrg.train(\n    {arguments},\n)"


def _argument(flag: str, value: Any) -> str:
    """One argument of the call; what a flag says in words is written as the code that makes it."""
    name = flag.replace("-", "_")
    if flag == OPTIONS:
        pairs = (pair.split("=", 1) for pair in _pairs(value))
        return f"env_options={ {option: json.loads(text) for option, text in pairs}!r}"
    if flag == "risk-path" and isinstance(value, str):
        part = value.removeprefix("square:")
        return "risk_path=None" if value == "none" else f"risk_path=riskgrad.algorithms.SquarePath({part})"
    return f"{name}={value!r}"

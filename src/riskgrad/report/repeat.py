"""How to repeat a run: the command that does what was done, and the versions at hand.

A run that was begun with the defaults of the command line is one command. Any other is a call from Python that names
what differs; what such a call cannot hold (a policy or a start of the user's own) is said in words.
"""

import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

from riskgrad._train import ALGORITHMS
from riskgrad.algorithms import PRACTICAL
from riskgrad.algorithms.loop import digest
from riskgrad.algorithms.path import SquarePath, settled
from riskgrad.algorithms.problem import held_out_size
from riskgrad.algorithms.schedule import default_numbers
from riskgrad.random import Purpose, Stream
from riskgrad.risk import Distortion, parse
from riskgrad.run import Run
from riskgrad.run.recipes import describe

PACKAGES: Final = ("riskgrad", "numpy", "scipy", "numba", "gymnasium")
DEFAULT_POLICIES: Final = ("TabularGibbs", "LinearSoftmax")
# what a run says of itself that is not an option: it follows from the others
FACTS: Final = ("algorithm", "risk", "policy", "iterations", "seed", "start", "source", "risk_path_start")
WHERE: Final = ("env", "horizon", "discount", "env_options")


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


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that decide the numbers."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def recipe(run: Run, name: str) -> Recipe | None:
    """Say how to repeat a run; None if it does not know what it was trained on."""
    settings = run.settings
    if settings.get("env") is None or settings.get("algorithm") not in ALGORITHMS:
        return None
    usual = defaults(run)
    other = {
        option: value
        for option, value in settings.items()
        if option not in (*FACTS, *WHERE) and value != usual.get(option, value)
    }
    if settings.get("risk_path_start", usual["risk_path_start"]) != usual["risk_path_start"]:
        other["risk_path"] = settings["risk_path"]
    missing = _missing(run)
    return Recipe(_python(settings, other), "python", missing) if other or missing else _command(settings, name)


def defaults(run: Run) -> dict[str, Any]:
    """What the command line would have chosen for this run, by the names of its settings."""
    settings = run.settings
    algorithm, risk = settings["algorithm"], parse(settings["risk"])
    numbers = default_numbers(run.policy, risk, off_policy=algorithm != "onp_sf")
    cost = numbers.episodes
    if algorithm == "onp_sf":
        cost = 2 * numbers.directions * numbers.episodes + (numbers.episodes if PRACTICAL.entropy > 0.0 else 0)
    part, start = settled(None if risk.attitude == "neutral" else SquarePath(PRACTICAL.risk_path), risk)
    return {
        **numbers.settings(),
        "risk_path": part,
        "risk_path_start": "mean" if start is None else describe(Distortion(start)),
        "entropy": PRACTICAL.entropy,
        "behaviour": "current",
        "reuse_batch": False,
        "steps_per_batch": PRACTICAL.steps_per_batch,
        "ess_floor": PRACTICAL.ess_floor,
        "held_out": held_out_size(None, settings["iterations"], cost),
        "common_random_numbers": True,
    }


def _missing(run: Run) -> tuple[str, ...]:
    kind: Mapping[str, Any] = run.settings.get("policy", {})
    words: list[str] = []
    if kind.get("kind") not in DEFAULT_POLICIES:
        words.append(f"policy={kind.get('text')}")
    elif run.settings.get("start") != digest(
        run.policy.initial_theta(Stream(run.settings["seed"], Purpose.INITIAL).generator())
    ):
        words.append("theta=, the parameters that the run began from")
    return tuple(words)


def _command(settings: Mapping[str, Any], name: str) -> Recipe:
    words = ["riskgrad", "train", str(settings["env"]), "--risk", settings["risk"]]
    for option in ("algorithm", "iterations", "seed", "horizon", "discount"):
        if settings.get(option) is not None:
            words += [f"--{option}", str(settings[option])]
    more: Mapping[str, Any] = settings.get("env_options") or {}
    for option, value in more.items():
        words += ["--env-option", f"{option}={value}"]
    return Recipe(shlex.join([*words, "--out", name]), "sh", ())


def _python(settings: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    named = {option: settings.get(option) for option in ("risk", "algorithm", "iterations", "seed", *WHERE[1:])}
    given = {option: value for option, value in named.items() if value is not None}
    words = [repr(settings["env"]), *(f"{option}={value!r}" for option, value in given.items())]
    for option, value in other.items():
        words.append(_argument(option, value, settings))
    arguments = ",\n    ".join(words)
    also = "import riskgrad.algorithms\n" if "riskgrad.algorithms." in arguments else ""
    return f"{also}import riskgrad as rg\n\nrg.train(\n    {arguments},\n)"


def _argument(option: str, value: Any, settings: Mapping[str, Any]) -> str:
    """One argument of the call; what a setting says in words is written as the code that makes it."""
    if option == "ascent":
        return f"step_size=rg.ascent.{value}"
    if option == "risk_path" and value is not None and settings.get("risk_path_start", "mean") != "mean":
        return f"risk_path=riskgrad.algorithms.SquarePath({value!r})"
    return f"{option}={value!r}"

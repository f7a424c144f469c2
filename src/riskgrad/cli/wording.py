"""In a shell, messages speak of flags: the arguments of Python that they name are written as flags of the command."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import typer.main

from riskgrad.cli.shared import app
from riskgrad.errors import InputError

# arguments of Python whose flags have other names; of several, the first that the command has
OTHERWISE: Final = {
    "folder": ("out",),
    "env_options": ("env_option",),
    "risks": ("risk",),
    "path": ("plot", "page", "video", "out"),
}


def flags_of(name: str) -> dict[str, str]:
    """Give the flags of a command by the arguments of Python that they stand for."""
    flags: dict[str, str] = {option.name: option.opts[0] for option in _options(name)}
    more = {own: next((flags[one] for one in others if one in flags), None) for own, others in OTHERWISE.items()}
    return {**{own: flag for own, flag in more.items() if flag is not None}, **flags}


def _options(name: str) -> list[Any]:
    every: Any = typer.main.get_command(app)
    context = every.make_context("riskgrad", [], resilient_parsing=True)
    return [one for one in every.commands[name].get_params(context) if one.opts[0].startswith("--")]


def name_flags(words: str, name: str) -> str:
    """Write arguments of Python, such as `horizon=5`, `horizon=` and `bootstrap=False`, as the flags of a command."""
    if "=" not in words:  # as in most of them; to list the flags takes as long as all else that a command prints
        return words
    flags = flags_of(name)

    def write(found: re.Match[str]) -> str:
        argument, value = found[1] or found[3], (found[2] or found[4] or "").strip("()").replace(", ", " ")
        flag = flags.get(argument)
        if flag is None:
            return found[0]
        return f"--no-{flag[2:]}" if value == "False" else f"{flag} {value}".removesuffix(" True").strip()

    words = re.sub(r", or an algorithm such as rg\.\w+\([^)]*\)", "", words)  # which only Python can give
    # an option of an algorithm, rg.Critic(bootstrap=False), is a flag as well; score:episodes=9 is a value
    return re.sub(r"rg\.\w+\((\w+)=(\w+)\)|(?<![:\w])(\w+)=(\([^)]*\)|[\w\"'.-]*)", write, words)


def in_flags(error: BaseException, name: str | None) -> str:
    """Give the message of an error as a command says it.

    Args:
        error: what was raised.
        name: the command; None where it is not known.
    """
    if name is None:
        return str(error)
    if not isinstance(error, InputError):
        return name_flags(str(error), name)
    flags = flags_of(name)
    subject, rule, got, advice = cast("tuple[str, str, object, str]", error.args)
    named = [flags.get(word, word) for word in subject.split()]
    if all(word.startswith("--") or word == "and" for word in named):
        switches = {option.opts[0] for option in _options(name) if option.secondary_opts}
        subject = " ".join(dict.fromkeys(named))
        if subject in switches and isinstance(got, bool):
            if got and rule.startswith("be False"):
                rule = rule.replace("be False", "not be given", 1)
                advice = advice or f"leave it out, or pass --no-{subject[2:]}"
            got = subject if got else f"--no-{subject[2:]}"
    listed = advice.removeprefix("it has ").split(", ")
    if advice.startswith("it has ") and all(word in flags for word in listed):
        advice = f"it has {', '.join(flags[word] for word in listed)}"
    advice = re.sub(r"(?<=did you mean )'(\w+)'", lambda found: flags.get(found[1], found[0]), advice)
    return str(InputError(subject, name_flags(rule, name), _as_typed(got), name_flags(advice, name)))


def _as_typed(got: object) -> object:
    """Give a value as it was typed in the shell, where that is known."""
    if isinstance(got, Path):
        return str(got)
    if isinstance(got, list):
        several = cast("list[object]", got)
        return ", ".join(map(str, several))
    if isinstance(got, Mapping):
        pairs = cast("Mapping[str, Any]", got).items()
        return ", ".join(f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in pairs)
    return got

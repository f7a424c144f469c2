"""The flags of commands that train, made from the options that are declared once, in `settings` and in algorithms.

The flags of the algorithms are added when a command is used or its help is asked for, so that `riskgrad --help` stays
quick.
"""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, cast

import typer
import typer.main

from riskgrad.cli.shared import Command, parse_env_options
from riskgrad.settings import HOW, OptionFacts, Rule, TrainOptions, facts_of

OWN = "own"  # the key under which the context keeps the values of the algorithms' flags
WORKERS = ("threads", "backend")  # the first flags of who does the work


class TrainingCommand(Command):
    """A command with the flags of all algorithms, which are made when they are needed."""

    own_flags: list[Any] | None = None

    def get_params(self, ctx: Any) -> list[Any]:
        """Give the flags of the command, with those of the algorithms before the flags of who does the work."""
        if self.own_flags is None:
            self.own_flags = _flags(make_parameters(own_facts(), HOW))
        params: list[Any] = super().get_params(ctx)
        first = next((i for i, one in enumerate(params) if one.name in WORKERS), len(params))
        return [*params[:first], *self.own_flags, *params[first:]]

    def invoke(self, ctx: Any) -> Any:
        """Move the algorithms' flags, which the command's signature lacks, to the context, and run the command."""
        ctx.meta[OWN] = {flag.name: ctx.params.pop(flag.name, None) for flag in self.own_flags or ()}
        return super().invoke(ctx)


def own_facts() -> dict[str, OptionFacts]:
    """Give the options of all algorithms; an option of several algorithms is given once, with the defaults of each."""
    from riskgrad.algorithms import ALGORITHMS  # noqa: PLC0415

    found: dict[str, OptionFacts] = {}
    defaults: dict[str, dict[str, list[str]]] = {}
    for algorithm, kind in ALGORITHMS.by_name().items():
        for name, facts in facts_of(kind).items():
            if facts.flag is not None:
                found.setdefault(name, facts)
                defaults.setdefault(name, {}).setdefault(facts.default_text(), []).append(algorithm)
    return {name: replace(facts, help=f"{facts.help} {_say_defaults(defaults[name])}") for name, facts in found.items()}


def _say_defaults(defaults: dict[str, list[str]]) -> str:
    """Write the defaults of an option, each with the algorithms that have it."""
    return "Default: " + "; ".join(f"{text} ({', '.join(names)})" for text, names in defaults.items()) + "."


def make_parameters(options: dict[str, OptionFacts], panel: str | None = None) -> list[inspect.Parameter]:
    """Give a parameter of the command for each option that a flag can give."""
    found: list[inspect.Parameter] = []
    for name, facts in options.items():
        kind: Any = facts.flag
        flag = f"--{name.replace('_', '-')}"
        flags = ("--env-option",) if kind is list else (f"{flag}/--no-{flag[2:]}",) if kind is bool else (flag,)
        hint: Any = list[str] | None if kind is list else kind | None
        by_rule = panel is None and isinstance(facts.default, Rule)
        text = f"{facts.help} Default: {facts.default_text()}." if by_rule else facts.help
        told = typer.Option(*flags, help=text, rich_help_panel=panel or facts.panel or None)
        default = facts.default if isinstance(facts.default, str) and kind is str and panel is None else None
        where = "env_option" if kind is list else name
        annotation = Annotated[hint, told]
        found.append(inspect.Parameter(where, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
    return found


def list_parameters(hints: Mapping[str, tuple[Any, Any]]) -> list[inspect.Parameter]:
    """Give the parameters of a command from their defaults and annotations."""
    told = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(name, told, default=first, annotation=hint) for name, (first, hint) in hints.items()]


def flagged(kind: Any) -> dict[str, OptionFacts]:
    """Give the options of a dataclass that a flag can give."""
    return {name: facts for name, facts in facts_of(kind).items() if facts.flag is not None}


def _flags(parameters: Iterable[inspect.Parameter]) -> list[Any]:
    """Turn parameters into flags, as typer does for the application."""

    def command(**_: Any) -> None:
        """Take the flags."""

    give_signature(command, parameters)
    alone = typer.Typer(add_completion=False)
    alone.command()(command)
    return cast("Any", typer.main.get_command(alone)).params


def give_signature(command: Any, parameters: Iterable[inspect.Parameter]) -> None:
    """Give a function the signature of these parameters."""
    listed = list(parameters)
    command.__signature__ = inspect.Signature(listed)
    command.__annotations__ = {one.name: one.annotation for one in listed}


def read_training(context: typer.Context, flags: dict[str, Any], pairs: Iterable[str] = ()) -> dict[str, Any]:
    """Take the options of `rg.train` that were given out of the flags of a command.

    Args:
        context: the context of the command, which has the flags of the algorithms.
        flags: the values of the other flags; those of options of `rg.train` are removed.
        pairs: name=value of further options for the environment, which come first.
    """
    given = {name: flags.pop(name) for name in [*flags] if name in facts_of(TrainOptions)}
    options = {name: value for name, value in given.items() if value is not None}
    own = {name: value for name, value in context.meta[OWN].items() if value is not None}
    options["algorithm"] = _with_options(str(options["algorithm"]), own)
    env_options = parse_env_options([*pairs, *(flags.pop("env_option") or [])])
    return options if env_options is None else {**options, "env_options": env_options}


def _with_options(algorithm: str, own: dict[str, Any]) -> str:
    """Write an algorithm and its own options as the string that `rg.train` reads."""
    words = [f"{name}={str(value).lower()}" for name, value in own.items()]
    joint = "," if ":" in algorithm else ":"
    return f"{algorithm}{joint}{','.join(words)}" if words else algorithm

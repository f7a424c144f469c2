"""What the commands share: the application, where it prints, and the options that many of them take."""

import inspect
import json
import math
from pathlib import Path
from types import FunctionType
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from typer.core import TyperGroup

from riskgrad.errors import InputError
from riskgrad.registry import PartList

# as a newcomer meets them, not as files are imported
ORDER = (
    "demo",
    "train",
    "evaluate",
    "compare",
    "frontier",
    "report",
    "bounds",
    "risks",
    "policies",
    "algorithms",
    "envs",
    "parts",
)


class InOrder(TyperGroup):
    """The commands in the order of `ORDER`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Give the names in order; those that it does not know come last."""
        del ctx
        return sorted(self.commands, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


app = typer.Typer(
    cls=InOrder,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Train policies on the risk of the return that you care about, not only on its mean.",
)
console = Console(highlight=False)


class CommandList(PartList[Any]):
    """The commands of the application: functions, called by their names with hyphens."""

    def __init__(self) -> None:
        super().__init__("command", FunctionType, "riskgrad.cli")

    def named(self) -> dict[str, Any]:
        """Give the commands by their names."""
        known = [(one.name, cast("Any", one.callback)) for one in app.registered_commands]
        return {name or _command_name(callback): callback for name, callback in known}

    def parts(self) -> list[Any]:
        """Give all commands."""
        return list(self.named().values())

    def register(self, part: Any) -> Any:
        """Add a command from outside; refuse a name that is taken."""
        name = _command_name(part)
        if self.named().get(name, part) is not part:
            raise InputError("name", "be new among the names of command", name)
        if name not in self.named():
            app.command(name)(part)
        return part

    def forget(self, part: Any) -> None:
        """Take a registered command off the list."""
        app.registered_commands[:] = [one for one in app.registered_commands if one.callback is not part]

    def holds(self, part: object) -> bool:
        """Say whether a part is a function."""
        return inspect.isfunction(part)


def _command_name(function: Any) -> str:
    return function.__name__.replace("_", "-")


COMMANDS = CommandList()

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
EnvName = Annotated[str, typer.Argument(help="A Gymnasium id or a shipped model, such as two-roads.")]
Horizon = Annotated[int | None, typer.Option(help="Most steps of an episode; by default the environment's own limit.")]
Discount = Annotated[float | None, typer.Option(help="Discount in (0, 1]; 1 by default.")]
EnvOption = Annotated[
    list[str] | None, typer.Option("--env-option", help="Option for the environment, name=value; may be repeated.")
]
Seed = Annotated[int, typer.Option(help="Seed; the same seed gives the same result.")]
RunPaths = Annotated[list[Path], typer.Argument(help="Folders or files of runs, of one environment.")]
Where = Annotated[str | None, typer.Option("--env", help="Where to play; by default what the runs were trained on.")]
FreshEpisodes = Annotated[int, typer.Option(help="Fresh episodes for each policy.")]
Confidence = Annotated[float, typer.Option(help="Confidence of the intervals.")]


@app.callback()
def read_shared_options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options that every command takes."""
    del debug  # read by main, which also catches the errors of the options themselves


def print_json(data: Any) -> None:
    """Print strict JSON; a number that is not finite, such as a bound that overflows, becomes null."""
    console.print_json(json.dumps(_without_infinity(data), allow_nan=False))


def _without_infinity(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {name: _without_infinity(value) for name, value in cast("dict[str, Any]", data).items()}
    if isinstance(data, list | tuple):
        return [_without_infinity(value) for value in cast("list[Any]", data)]
    return data


def parse_env_options(given: list[str] | None) -> dict[str, Any] | None:
    """Read name=value pairs; a value is JSON where it can be, otherwise a string."""
    found: dict[str, Any] = {}
    for pair in given or []:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise InputError("--env-option", "look like name=value", pair)
        try:
            found[name] = json.loads(value.lower() if value in ("True", "False") else value)
        except json.JSONDecodeError:
            found[name] = value
    return found or None

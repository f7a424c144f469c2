"""What the commands share: the application, where it prints, and the options that many of them take."""

import json
import math
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from typer.core import TyperGroup

from riskgrad.errors import InputError

# as a newcomer meets them, not as files are imported
ORDER = ("demo", "train", "evaluate", "compare", "frontier", "report", "bounds", "risks", "policies", "envs")


class InOrder(TyperGroup):
    """The commands in the order of `ORDER`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Give the names in order."""
        del ctx
        return sorted(self.commands, key=ORDER.index)


app = typer.Typer(
    cls=InOrder,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Train policies on the risk of the return that you care about, not only on its mean.",
)
console = Console(highlight=False)

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Environment = Annotated[str, typer.Argument(help="A Gymnasium id or a shipped model, such as two-roads.")]
Horizon = Annotated[int | None, typer.Option(help="Most steps of an episode; by default the environment's own limit.")]
Discount = Annotated[float | None, typer.Option(help="Discount in (0, 1]; 1 by default.")]
Options = Annotated[
    list[str] | None, typer.Option("--env-option", help="Option for the environment, name=value; may be repeated.")
]
Seed = Annotated[int, typer.Option(help="Seed; the same seed gives the same result.")]


@app.callback()
def options(debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False) -> None:
    """Options that every command takes."""
    del debug  # read by main, which also catches the errors of the options themselves


def show_json(data: Any) -> None:
    """Print strict JSON; a number that is not finite, such as a bound that overflows, becomes null."""
    console.print_json(json.dumps(_finite(data), allow_nan=False))


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in cast("dict[str, Any]", data).items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in cast("list[Any]", data)]
    return data


def env_options(given: list[str] | None) -> dict[str, Any] | None:
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

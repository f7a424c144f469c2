"""The application, and the options that several commands take."""

import inspect
import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from types import FunctionType
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

import riskgrad
from riskgrad.cli.printing import has_room, print_help
from riskgrad.errors import InputError, RiskgradError, Stopped
from riskgrad.registry import PartList
from riskgrad.settings import KEPT

# the commands in the order of help, the first ones for newcomers
ORDER = (
    "demo",
    "train",
    "evaluate",
    "compare",
    "frontier",
    "experiment",
    "report",
    "bounds",
    "risks",
    "policies",
    "algorithms",
    "envs",
    "parts",
)


UNREADABLE = cast("type[Exception]", typer.BadParameter.__mro__[1])  # UsageError, any mistake in a command


class Command(TyperCommand):
    """A command whose help can be read on a narrow terminal; it refuses empty paths."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of the command; an empty path would stand for the current folder, which nobody named."""
        words = [*args]
        try:
            rest = super().parse_args(ctx, args)
        except UNREADABLE as error:
            found: Any = error
            found.ctx = found.ctx or ctx  # the reader of flags does not say whose flag it was
            raise
        for option in self.get_params(ctx):
            value = ctx.params.get(option.name)
            paths: list[object] = [*value] if isinstance(value, list | tuple) else [value]  # pyright: ignore[reportUnknownVariableType]
            if Path() in paths and _is_empty(option, words):
                raise InputError(option.opts[0], "be a path", "", "name a file or a folder")
        return rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help: in frames where there is room for them."""
        if has_room(self, ctx):
            super().format_help(ctx, formatter)
        else:
            print_help(self, ctx)


def _is_empty(option: Any, words: list[str]) -> bool:
    """Say whether words give an option or an argument no letter."""
    if option.param_type_name == "argument":
        return "" in words
    pairs = itertools.pairwise(words)
    return any(flag in option.opts and word == "" for flag, word in pairs) or any(
        f"{flag}=" in words for flag in option.opts
    )


class Interrupted(Exception):  # noqa: N818 - not an error
    """A signal ended a command. It is not a KeyboardInterrupt, to which typer gives the exit code of Ctrl-C only.

    Attributes:
        signal: the name of the signal.
    """

    def __init__(self, words: str, signal: str) -> None:
        super().__init__(words)
        self.signal = signal


class InOrder(TyperGroup):
    """The group of commands, in the order of `ORDER`; it refuses words that cannot be read in one line."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the words before the command; without any words help is printed."""
        given = bool(args)
        try:
            return super().make_context(info_name, args, parent, **extra)
        except UNREADABLE as error:
            if not given:
                raise
            raise _in_one_line(error) from error

    def invoke(self, ctx: Any) -> Any:
        """Run a command; errors in its words and signals are raised as errors of riskgrad."""
        try:
            return super().invoke(ctx)
        except UNREADABLE as error:
            raise _in_one_line(error) from error
        except Stopped as stopped:
            raise Interrupted(str(stopped), stopped.signal) from stopped
        except KeyboardInterrupt as pressed:
            raise Interrupted("interrupted", "SIGINT") from pressed

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help: in frames where there is room for them."""
        if has_room(self, ctx):
            super().format_help(ctx, formatter)
        else:
            print_help(self, ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        """Give the names in order; commands that are not in `ORDER` come last."""
        del ctx
        return sorted(self.commands, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def _in_one_line(error: Any) -> RiskgradError:
    """Give an error of one line about a word that could not be read; for a value it has the flag and the rule."""
    reasons: Any = getattr(error.__cause__, "errors", None)  # from pydantic, which typer uses to read values
    if reasons is not None:
        found = reasons()[0]
        rule = str(found["msg"]).removeprefix("Input should ").split(", ")[0]
        return InputError(error.param.opts[0], rule, found["input"])
    words = error.format_message().rstrip(".")
    path = "riskgrad" if error.ctx is None else error.ctx.command_path
    joint = " " if words.endswith("?") else "; "
    return RiskgradError(f"{words[:1].lower()}{words[1:]}{joint}see {path} --help")


class Application(typer.Typer):
    """The application; its commands are of class `Command` unless another is given."""

    def command(self, name: str | None = None, *, cls: type[TyperCommand] | None = Command, **options: Any) -> Any:
        """Add a command."""
        return super().command(name, cls=cls, **options)


app = Application(
    cls=InOrder,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Train policies on the risk of the return that you care about, not only on its mean.",
)


class CommandList(PartList[Any]):
    """The commands of the application: functions, whose names have hyphens on the command line."""

    def __init__(self) -> None:
        super().__init__("command", FunctionType, "riskgrad.cli")

    def by_name(self) -> dict[str, Any]:
        """Give the commands by their names."""
        known = [(one.name, cast("Any", one.callback)) for one in app.registered_commands]
        return {name or _command_name(callback): callback for name, callback in known}

    def parts(self) -> list[Any]:
        """Give all commands."""
        return list(self.by_name().values())

    def register(self, part: Any) -> Any:
        """Add a command from outside; refuse a name that is taken."""
        name = _command_name(part)
        if self.by_name().get(name, part) is not part:
            raise InputError("name", "be new among the names of command", name)
        if name not in self.by_name():
            app.command(name)(part)
        return part

    def forget(self, part: Any) -> None:
        """Remove a registered command."""
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
_fresh = "Fresh episodes for each policy; 10,000 by default."
Episodes = Annotated[int, typer.Option(help=_fresh, show_default=False)]
# of commands that train: there --episodes is an option of the algorithms, as in `train`
FreshEpisodes = Annotated[int, typer.Option(help=_fresh, show_default=False, rich_help_panel=KEPT)]
Trainers = Annotated[
    str, typer.Option("--backend", help="Who trains: processes, one for each core; processes:4; ray; serial.")
]
Confidence = Annotated[float, typer.Option(help="Confidence of the intervals.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"riskgrad {riskgrad.__version__}")
        raise typer.Exit


@app.callback()
def read_shared_options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Read the options that every command takes."""
    del debug, version  # main looks for --debug itself, as it also catches errors of reading; --version has a callback


def parse_env_options(given: Iterable[str] | None) -> dict[str, Any] | None:
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

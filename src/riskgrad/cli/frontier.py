"""The command `frontier`: trains a family of policies from neutral to averse."""

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from riskgrad.cli import shared
from riskgrad.cli.flags import (
    TrainingCommand,
    flagged,
    give_signature,
    list_parameters,
    make_parameters,
    read_training,
)
from riskgrad.cli.printing import console, print_json, print_table, say
from riskgrad.errors import InputError
from riskgrad.settings import KEPT, Options

if TYPE_CHECKING:
    from riskgrad.pages.family import Frontier


def frontier(context: typer.Context, env: str, risk: str, levels: str, **flags: Any) -> None:
    """Train a family of policies from neutral to averse and show what less risk costs in mean.

    Example: riskgrad frontier risky-safe --risk mean-variance --levels 0.01,0.1 --iterations 40 --plot frontier.svg
    """
    from riskgrad.checks import check_count  # noqa: PLC0415
    from riskgrad.pages.family import train_frontier  # noqa: PLC0415
    from riskgrad.pages.plots import plot_frontier  # noqa: PLC0415
    from riskgrad.pages.style import FORMATS  # noqa: PLC0415
    from riskgrad.run.files import check_target  # noqa: PLC0415
    from riskgrad.run.live_crew import LiveCrew  # noqa: PLC0415

    how = {name: flags.pop(name) for name in ("backend", "against", "confidence")}
    out, plot, as_json = (flags.pop(name) for name in ("out", "plot", "as_json"))
    episodes, resume = check_count("--fresh-episodes", flags.pop("fresh_episodes"), 2), flags.pop("resume")
    options = read_training(context, flags)
    if resume and out is None:
        raise InputError("--resume", "come with --out, the folder of the frontier", "no folder")
    if plot is not None:
        check_target("--plot", plot, FORMATS)
    kept: dict[str, Any] = {} if out is None else {"resume" if resume else "folder": out}
    shown = Console(stderr=True, highlight=False) if as_json else console
    found = train_frontier(
        lambda count: LiveCrew(shown, count, options),
        env,
        risk,
        _numbers(levels),
        episodes=episodes,
        **how,
        **kept,
        **options,
    )
    if plot is not None:
        plot_frontier(found, plot)
    if as_json:
        print_json(found.as_dict())
        return
    _print_family(found, f"From neutral to averse on {env} ({episodes:,} fresh episodes each)")
    for text, place in (("The picture is in", plot), ("The runs are in", out)):
        if place is not None:
            say(f"{text} {place}.")


def _print_family(found: "Frontier", title: str) -> None:
    from riskgrad.pages.prose import write, write_interval  # noqa: PLC0415

    columns = ("trained on", "mean", "interval of mean", found.against, "its interval")
    rows = [
        (
            f"{point.risk}{' *' if point.efficient else ''}",
            *(
                text
                for row in (point.mean, point.against)
                for text in (write(row.value, row.bootstrap[1] - row.bootstrap[0]), write_interval(row.bootstrap))
            ),
        )
        for point in found.points
    ]
    print_table(title, columns, rows, numbers=columns[1:])
    say("* no other policy is surely better in one and at least as good in the other")


def _numbers(levels: str) -> list[float]:
    try:
        return [float(word) for word in levels.split(",")]
    except ValueError as error:
        raise InputError("--levels", "be numbers separated by commas, such as 0.5,0.1", levels) from error


def _frontier_flags() -> list[inspect.Parameter]:
    """Give the parameters of the command: what to train, all options of training, and what is kept and shown."""
    risk = typer.Option(help="A measure with one number: cvar, mean-variance, dual-power ...")
    levels = typer.Option(help="Its numbers, comma-separated, mild to averse.")
    against = typer.Option(help="Measure to show against the mean; by default the last.", rich_help_panel=KEPT)
    words = "Folder that keeps the trainings, and the best run of each measure; riskgrad report reads them."
    out = typer.Option(help=words, rich_help_panel=KEPT)
    resume = typer.Option("--resume", help="Go on with what is in --out.", rich_help_panel=KEPT)
    plot = typer.Option(help="Draw mean against risk (.svg, .png or .pdf).", rich_help_panel=KEPT)
    none = inspect.Parameter.empty
    before: dict[str, tuple[Any, Any]] = {
        "context": (none, typer.Context),
        "env": (none, shared.EnvName),
        "risk": ("cvar", Annotated[str, risk]),
        "levels": ("0.5,0.2,0.1,0.05", Annotated[str, levels]),
    }
    after: dict[str, tuple[Any, Any]] = {
        "backend": ("processes", shared.Trainers),
        "out": (None, Annotated[Path | None, out]),
        "resume": (False, Annotated[bool, resume]),
        "plot": (None, Annotated[Path | None, plot]),
        "against": (None, Annotated[str | None, against]),
        "fresh_episodes": (10_000, shared.FreshEpisodes),
        "confidence": (0.95, shared.Confidence),
        "as_json": (False, shared.AsJson),
    }
    return [*list_parameters(before), *make_parameters(flagged(Options)), *list_parameters(after)]


give_signature(frontier, _frontier_flags())
shared.app.command(cls=TrainingCommand)(frontier)

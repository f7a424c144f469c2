"""The command `frontier`: trains a family of policies from neutral to averse."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from riskgrad.cli import shared
from riskgrad.cli.printing import console, print_json, print_table, say
from riskgrad.errors import InputError

if TYPE_CHECKING:
    from riskgrad.pages.family import Frontier


@shared.app.command()
def frontier(
    env: shared.EnvName,
    risk: Annotated[str, typer.Option(help="A measure with one number: cvar, mean-variance, dual-power ...")] = "cvar",
    levels: Annotated[str, typer.Option(help="Its numbers, comma-separated, mild to averse.")] = "0.5,0.2,0.1,0.05",
    against: Annotated[str | None, typer.Option(help="Measure to show against the mean; by default the last.")] = None,
    iterations: Annotated[int, typer.Option(help="Iterations of each training.")] = 100,
    episodes: shared.FreshEpisodes = 10_000,
    confidence: shared.Confidence = 0.95,
    out: Annotated[Path | None, typer.Option(help="Folder to keep the runs in; riskgrad report reads them.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw mean against risk (.svg, .png or .pdf).")] = None,
    horizon: shared.Horizon = None,
    discount: shared.Discount = None,
    env_option: shared.EnvOption = None,
    backend: shared.Trainers = "processes",
    seed: shared.Seed = 0,
    as_json: shared.AsJson = False,
) -> None:
    """Train a family of policies from neutral to averse and show what less risk costs in mean.

    Example: riskgrad frontier risky-safe --risk mean-variance --levels 0.01,0.1 --iterations 40 --plot frontier.svg
    """
    from riskgrad.pages.family import frontier as family  # noqa: PLC0415
    from riskgrad.pages.plots import plot_frontier  # noqa: PLC0415
    from riskgrad.run.live import LiveCrew  # noqa: PLC0415

    where: dict[str, Any] = {
        "horizon": horizon,
        "discount": discount,
        "env_options": shared.parse_env_options(env_option),
    }
    settings: dict[str, Any] = {"episodes": episodes, "confidence": confidence, "seed": seed, "iterations": iterations}
    numbers = _numbers(levels)
    shown = Console(stderr=True, highlight=False) if as_json else console
    with LiveCrew(shown, 1 + 3 * len(numbers), iterations) as live:
        found = family(env, risk, numbers, against=against, backend=backend, progress=live, **settings, **where)
    if out is not None:
        found.save_runs(out)
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

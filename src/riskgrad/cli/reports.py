"""The commands that show what training bought: `report`, `compare`, `frontier`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from riskgrad.cli.app import Discount, Environment, Horizon, Json, Options, Seed, app, console, env_options, show_json
from riskgrad.errors import InputError

Runs = Annotated[list[Path], typer.Argument(help="Folders or files of runs, of one environment.")]
Where = Annotated[str | None, typer.Option("--env", help="Where to play; by default what the runs were trained on.")]
Episodes = Annotated[int, typer.Option(help="Fresh episodes for each policy.")]
Confidence = Annotated[float, typer.Option(help="Confidence of the intervals.")]


@app.command()
def report(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    env: Where = None,
    episodes: Episodes = 10_000,
    confidence: Confidence = 0.95,
    title: Annotated[str, typer.Option(help="Title of the page; by default the environment.")] = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Write one page that shows what runs learned and what risk-sensitivity bought; open it in any browser.

    Example: riskgrad report runs/pass runs/valley --out report.html
    """
    from riskgrad.pages.page import report as write_report  # noqa: PLC0415
    from riskgrad.pages.played import load_runs  # noqa: PLC0415

    found = load_runs(runs)
    page = write_report(found, out, env, episodes=episodes, confidence=confidence, seed=seed, title=title)
    if as_json:
        show_json({"page": str(page), "bytes": page.stat().st_size, "runs": list(found)})
        return
    console.print(f"The report is in {page} ({page.stat().st_size / 1000:.0f} kB).", soft_wrap=True, markup=False)


@app.command()
def compare(
    runs: Runs,
    env: Where = None,
    risk: Annotated[list[str] | None, typer.Option(help="Measure to compare by; may be repeated.")] = None,
    episodes: Episodes = 10_000,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Compare runs with the first one on the same episodes: how much better, and how surely.

    Example: riskgrad compare runs/pass runs/valley --risk mean --risk cvar:0.1
    """
    from riskgrad.evaluation.bootstrap import RESAMPLES  # noqa: PLC0415
    from riskgrad.pages.comparison import compare as compare_runs  # noqa: PLC0415
    from riskgrad.pages.played import load_runs  # noqa: PLC0415
    from riskgrad.pages.prose import certainty, percent, write, write_interval  # noqa: PLC0415

    found = compare_runs(load_runs(runs), env, risk or None, episodes, confidence, seed=seed)
    if as_json:
        show_json(found.as_dict())
        return
    console.print(
        f"{episodes:,} episodes, the same for all runs; larger is better; intervals at {percent(confidence)}."
    )
    for second in dict.fromkeys(row.second for row in found.rows):
        table = Table(title=f"{second} against {found.rows[0].first}", title_justify="left")
        table.add_column("measure")
        for column in ("first", "this", "difference", "interval", "better?"):
            table.add_column(column, justify="right", no_wrap=True)
        for row in found.rows:
            if row.second == second:
                numbers = (write(value) for value in (row.first_value, row.second_value, row.difference))
                table.add_row(row.risk, *numbers, write_interval(row.interval), certainty(row.better, RESAMPLES))
        console.print(table)


@app.command()
def frontier(
    env: Environment,
    risk: Annotated[str, typer.Option(help="A measure with one number: cvar, mean-variance, dual-power ...")] = "cvar",
    levels: Annotated[str, typer.Option(help="Its numbers from mild to averse, apart by commas.")] = "0.5,0.2,0.1,0.05",
    against: Annotated[str | None, typer.Option(help="Measure to lay against the mean; the last level.")] = None,
    iterations: Annotated[int, typer.Option(help="Iterations of each training.")] = 100,
    episodes: Episodes = 10_000,
    confidence: Confidence = 0.95,
    out: Annotated[Path | None, typer.Option(help="Folder to keep the runs in; riskgrad report reads them.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw mean against risk (.svg, .png or .pdf).")] = None,
    horizon: Horizon = None,
    discount: Discount = None,
    env_option: Options = None,
    processes: Annotated[int | None, typer.Option(help="Trainings at once; as many as there are cores.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Train a family of policies from neutral to averse and show what less risk costs in mean.

    Example: riskgrad frontier risky-safe --risk mean-variance --levels 0.01,0.1 --iterations 40 --plot frontier.svg
    """
    from riskgrad.kernels.compile import cores  # noqa: PLC0415
    from riskgrad.pages.family import frontier as family  # noqa: PLC0415
    from riskgrad.pages.live import LiveFamily  # noqa: PLC0415
    from riskgrad.pages.plots import plot_frontier  # noqa: PLC0415
    from riskgrad.pages.prose import write, write_interval  # noqa: PLC0415

    where: dict[str, Any] = {"horizon": horizon, "discount": discount, "env_options": env_options(env_option)}
    settings: dict[str, Any] = {"episodes": episodes, "confidence": confidence, "seed": seed, "iterations": iterations}
    numbers = _numbers(levels)
    shown = Console(stderr=True, highlight=False) if as_json else console
    with LiveFamily(shown, 1 + 3 * len(numbers), iterations) as live:
        count = cores() if processes is None else processes
        found = family(env, risk, numbers, against=against, processes=count, progress=live, **settings, **where)
    if out is not None:
        found.save_runs(out)
    if plot is not None:
        plot_frontier(found, plot)
    if as_json:
        show_json(found.as_dict())
        return
    table = Table(title=f"From neutral to averse on {env} ({episodes:,} fresh episodes each)", title_justify="left")
    table.add_column("trained on", no_wrap=True)
    for column in ("mean", "interval", found.against, "interval"):
        table.add_column(column, justify="right", no_wrap=True)
    for point in found.points:
        cells = [
            text for row in (point.mean, point.against) for text in (write(row.value), write_interval(row.bootstrap))
        ]
        table.add_row(f"{point.risk}{' *' if point.efficient else ''}", *cells)
    console.print(table)
    console.print("* no other policy is better both in the mean and in the risk")
    for text, place in (("The picture is in", plot), ("The runs are in", out)):
        if place is not None:
            console.print(f"{text} {place}.", soft_wrap=True, markup=False)


def _numbers(levels: str) -> list[float]:
    try:
        return [float(word) for word in levels.split(",")]
    except ValueError as problem:
        raise InputError("--levels", "be numbers apart by commas, such as 0.5,0.1", levels) from problem

"""The command `compare`: runs on the same episodes."""

from typing import Annotated

import typer
from rich.table import Table

from riskgrad.cli.shared import AsJson, Confidence, FreshEpisodes, RunPaths, Seed, Where, app, console, print_json


@app.command()
def compare(
    runs: RunPaths,
    env: Where = None,
    risk: Annotated[list[str] | None, typer.Option(help="Measure to compare by; may be repeated.")] = None,
    episodes: FreshEpisodes = 10_000,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    as_json: AsJson = False,
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
        print_json(found.as_dict())
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

"""The command `compare`: compares runs on the same episodes."""

from typing import Annotated

import typer

from riskgrad.cli.printing import print_json, print_table, say
from riskgrad.cli.shared import AsJson, Confidence, Episodes, RunPaths, Seed, Where, app


@app.command()
def compare(
    runs: RunPaths,
    env: Where = None,
    risk: Annotated[list[str] | None, typer.Option(help="Measure to compare by; may be repeated.")] = None,
    episodes: Episodes = 10_000,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare runs with the first one on the same episodes: how much better, and how surely.

    Example: riskgrad compare runs/pass runs/valley --risk mean --risk cvar:0.1
    """
    from riskgrad.evaluation.bootstrap import RESAMPLES  # noqa: PLC0415
    from riskgrad.pages.comparison import compare as compare_runs  # noqa: PLC0415
    from riskgrad.pages.played import name_paths  # noqa: PLC0415
    from riskgrad.pages.prose import certainty, percent, write, write_interval  # noqa: PLC0415

    found = compare_runs(name_paths(runs), env, risk or None, episodes, confidence, seed=seed)
    if as_json:
        print_json(found.as_dict())
        return
    say(f"{episodes:,} episodes, the same for all runs; larger is better; intervals at {percent(confidence)}.")
    columns = ("measure", "first", "this", "difference", "interval", "better?")
    for second in dict.fromkeys(row.second for row in found.rows):
        rows = [
            (
                row.risk,
                *(write(value, row.interval[1] - row.interval[0]) for value in (row.first_value, row.second_value)),
                write(row.difference, row.interval[1] - row.interval[0]),
                write_interval(row.interval) + (" *" if row.flag else ""),
                certainty(row.better, RESAMPLES),
            )
            for row in found.rows
            if row.second == second
        ]
        print_table(f"{second} against {found.rows[0].first}", columns, rows, numbers=columns[1:])
    for note in found.footnotes():
        say(note)

"""The command `demo`: trains two policies on a maze, one on its mean return and one on its worst returns."""

from pathlib import Path
from typing import Annotated

import typer

from riskgrad.cli.printing import console, say
from riskgrad.cli.shared import Seed, app


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report and the picture.")] = Path("riskgrad-demo"),
    seed: Seed = 0,
) -> None:
    """Train a risk-neutral and a risk-averse policy on a maze, and show how they differ.

    Example: riskgrad demo --out riskgrad-demo
    """
    from riskgrad.pages import demo as demonstration  # noqa: PLC0415 - brings matplotlib and numba
    from riskgrad.run.files import refuse_unwritable  # noqa: PLC0415
    from riskgrad.run.live import Live  # noqa: PLC0415

    report, picture = out / "report.html", out / "maze.svg"
    for place in (report, picture):
        refuse_unwritable(place)
    say(
        "A maze with two ways to the goal: a short one past a guard, who is seldom there but then costs a lot, and a "
        "long one around.\nTwo policies learn it: one for the mean return, one for its worst days (the worst 1 in 20). "
        "The first time, code is compiled too."
    )
    runs = demonstration.train_both(seed, lambda name: Live(console, None, f"{name:7}"))
    say("Both play the same fresh episodes, and the report is written.")
    walkers = demonstration.walk_both(runs, seed)
    page = demonstration.write_page(walkers, report, seed)
    demonstration.draw_both(walkers, picture)
    for line in ("", *demonstration.tell_lesson(walkers), f"The report is in {page}: open it in any browser."):
        say(line)

"""The command `report`: writes one page about some runs."""

from pathlib import Path
from typing import Annotated

import typer

from riskgrad.cli.printing import print_json, say
from riskgrad.cli.shared import AsJson, Confidence, Episodes, RunPaths, Seed, Where, app


@app.command()
def report(
    runs: RunPaths,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    env: Where = None,
    episodes: Episodes = 10_000,
    confidence: Confidence = 0.95,
    title: Annotated[str, typer.Option(help="Title of the page; by default the environment.")] = "",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Write one page that shows what runs learned and how their risks differ; open it in any browser.

    Example: riskgrad report runs/pass runs/valley --out report.html
    """
    from riskgrad.pages.page import report as write_report  # noqa: PLC0415
    from riskgrad.pages.played import name_paths  # noqa: PLC0415

    named = name_paths(runs)
    page = write_report(named, out, env, episodes=episodes, confidence=confidence, seed=seed, title=title)
    if as_json:
        print_json({"page": str(page), "bytes": page.stat().st_size, "runs": list(named)})
        return
    say(f"The report is in {page} ({page.stat().st_size / 1000:.0f} kB).")

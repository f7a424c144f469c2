"""The command `experiment`: trains measures with many seeds; `train --seeds` does the same for one measure."""

import inspect
from pathlib import Path
from typing import Annotated, Any

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


def experiment(context: typer.Context, env: str, **flags: Any) -> None:
    """Train measures with many seeds and say what the seeds reach together.

    Example: riskgrad experiment two-roads --risk mean --risk cvar:0.1 --seeds 5 --iterations 40 --page seeds.html
    """
    backend = flags.pop("backend")
    options = {**read_training(context, flags), "backend": backend}
    risks, seeds = flags.pop("risk") or ["mean", "cvar:0.1"], flags.pop("seeds")
    run_experiment(env, risks, seeds, **flags, **options)


def run_experiment(
    env: str,
    risks: list[str],
    seeds: int,
    *,
    seed: int = 0,
    out: Path | None = None,
    resume: bool = False,
    page: Path | None = None,
    fresh_episodes: int = 10_000,
    fresh_seed: int = 0,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Run an experiment, show it while it runs, and say what it found.

    Args:
        env: the environment's name.
        risks: the measures to train on.
        seeds: how many seeds.
        seed: the first of them.
        out: the folder that keeps the experiment.
        resume: whether to go on with the experiment in that folder.
        page: the page to write; None writes none.
        fresh_episodes: how many fresh episodes each policy plays.
        fresh_seed: the seed of the fresh episodes and of resampling.
        as_json: whether to print JSON.
        options: further keywords for `rg.experiment`.
    """
    from riskgrad.checks import check_count  # noqa: PLC0415
    from riskgrad.experiments.study import train_experiment  # noqa: PLC0415
    from riskgrad.run.files import PAGES, check_target  # noqa: PLC0415
    from riskgrad.run.live_crew import LiveCrew  # noqa: PLC0415

    if resume and out is None:
        raise InputError("--resume", "come with --out, the folder of the experiment", "no folder")
    first = check_count("--seed", seed, 0)
    numbers = list(range(first, first + check_count("--seeds", seeds)))
    fresh = {
        "episodes": check_count("--fresh-episodes", fresh_episodes, 2),
        "seed": check_count("--fresh-seed", fresh_seed, 0),
    }
    if page is not None:
        check_target("--page", page, PAGES)
    kept: dict[str, Any] = {} if out is None else {"resume" if resume else "folder": out}
    shown = Console(stderr=True, highlight=False) if as_json else console
    found = train_experiment(
        lambda count: LiveCrew(shown, count, options), env, risks, numbers, **fresh, **kept, **options
    )
    if page is not None:
        found.report(page)
    if as_json:
        print_json(found.as_dict())
        return
    for table in found.texts():
        print_table(table.title, table.header, table.rows, numbers=table.header[2:])
    for text, place in (("The page is in", page), ("The runs are in", out)):
        if place is not None:
            say(f"{text} {place}.")


def _experiment_flags() -> list[inspect.Parameter]:
    """Give the parameters of the command: what to train, all options of training, and what is kept and shown."""
    risk = typer.Option(help="What to train on; repeatable. Default: mean and cvar:0.1.")
    seeds = typer.Option(help="How many seeds of each measure, from --seed on.")
    out = typer.Option(help="Folder that keeps the experiment, with one for each run.", rich_help_panel=KEPT)
    resume = typer.Option("--resume", help="Go on with what is in --out.", rich_help_panel=KEPT)
    page = typer.Option(help="Write a page, with bands over seeds (.html).", rich_help_panel=KEPT)
    seed = typer.Option(help="Seed of the fresh episodes and of resampling.", rich_help_panel=KEPT)
    none = inspect.Parameter.empty
    before: dict[str, tuple[Any, Any]] = {
        "context": (none, typer.Context),
        "env": (none, shared.EnvName),
        "risk": (None, Annotated[list[str] | None, risk]),
        "seeds": (5, Annotated[int, seeds]),
    }
    after: dict[str, tuple[Any, Any]] = {
        "backend": ("processes", shared.Trainers),
        "out": (None, Annotated[Path | None, out]),
        "resume": (False, Annotated[bool, resume]),
        "page": (None, Annotated[Path | None, page]),
        "fresh_episodes": (10_000, shared.FreshEpisodes),
        "fresh_seed": (0, Annotated[int, seed]),
        "confidence": (0.95, shared.Confidence),
        "as_json": (False, shared.AsJson),
    }
    return [*list_parameters(before), *make_parameters(flagged(Options)), *list_parameters(after)]


give_signature(experiment, _experiment_flags())
shared.app.command(cls=TrainingCommand)(experiment)

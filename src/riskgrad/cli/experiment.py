"""The command `experiment`: trains measures with many seeds; `train --seeds` does the same for one measure."""

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from riskgrad.cli import shared
from riskgrad.cli.printing import console, print_json, print_table, say
from riskgrad.cli.train import give_signature, make_parameters
from riskgrad.errors import InputError
from riskgrad.settings import KEPT, Options, default_of, facts_of


def experiment(env: str, **flags: Any) -> None:
    """Train measures with many seeds and say what the seeds reach together.

    Example: riskgrad experiment two-roads --risk mean --risk cvar:0.1 --seeds 5 --iterations 40 --page seeds.html
    """
    first, env_options = flags.pop("seed"), shared.parse_env_options(flags.pop("env_option"))
    given = {**flags, "env_options": env_options}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    risks, seeds, resume = options.pop("risk", ["mean", "cvar:0.1"]), options.pop("seeds"), options.pop("resume")
    run_experiment(env, risks, seeds, first or 0, options.pop("out", None), resume, **options)


def run_experiment(
    env: str,
    risks: list[str],
    seeds: int,
    first: int,
    out: Path | None,
    resume: bool,
    *,
    page: Path | None = None,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Run an experiment, show it while it runs, and say what it found.

    Args:
        env: the environment's name.
        risks: the measures to train on.
        seeds: how many seeds.
        first: the first seed; also the seed of the fresh episodes.
        out: the folder that keeps the experiment.
        resume: whether to go on with the experiment in that folder.
        page: the page to write; None writes none.
        as_json: whether to print JSON.
        options: further keywords for `rg.experiment`.
    """
    from riskgrad.checks import check_count  # noqa: PLC0415
    from riskgrad.experiments.study import experiment as study  # noqa: PLC0415
    from riskgrad.run.live import LiveCrew  # noqa: PLC0415

    if resume and out is None:
        raise InputError("--resume", "come with --out, the folder of the experiment", "no folder")
    numbers = list(range(first, first + check_count("--seeds", seeds)))
    kept: dict[str, Any] = {} if out is None else {"resume" if resume else "folder": out}
    shown = Console(stderr=True, highlight=False) if as_json else console
    usual = default_of(facts_of(Options)["iterations"], "practical")
    with LiveCrew(shown, len(risks) * len(numbers), options.get("iterations") or usual) as live:
        found = study(env, risks, numbers, seed=first, progress=live, **kept, **options)
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


def _make_flags() -> list[inspect.Parameter]:
    """Give the parameters of the command: what to train, all options of training, and what is kept and shown."""
    risk = Annotated[list[str] | None, typer.Option(help="What to train on; repeatable. Default: mean and cvar:0.1.")]
    out = Annotated[
        Path | None, typer.Option(help="Folder that keeps the experiment, with one for each run.", rich_help_panel=KEPT)
    ]
    resume = Annotated[bool, typer.Option("--resume", help="Go on with what is in --out.", rich_help_panel=KEPT)]
    page = Annotated[Path | None, typer.Option(help="Write a page, with bands over seeds.", rich_help_panel=KEPT)]
    before: dict[str, tuple[Any, Any]] = {
        "env": (inspect.Parameter.empty, shared.EnvName),
        "risk": (None, risk),
        "seeds": (5, Annotated[int, typer.Option(help="How many seeds of each measure, from --seed on.")]),
    }
    after: dict[str, tuple[Any, Any]] = {
        "backend": ("processes", shared.Trainers),
        "out": (None, out),
        "resume": (False, resume),
        "page": (None, page),
        "episodes": (10_000, shared.FreshEpisodes),
        "confidence": (0.95, shared.Confidence),
        "as_json": (False, shared.AsJson),
    }
    told = inspect.Parameter.KEYWORD_ONLY
    ours, theirs = (
        [inspect.Parameter(name, told, default=first, annotation=hint) for name, (first, hint) in some.items()]
        for some in (before, after)
    )
    trained = {name: facts for name, facts in facts_of(Options).items() if facts.flag is not None}
    return [*ours, *make_parameters(trained), *theirs]


give_signature(experiment, _make_flags())
shared.app.command()(experiment)

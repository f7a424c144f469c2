"""The command `train`. Each of its flags is an option of `rg.train` or of an algorithm, and a key of `--config`."""

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from riskgrad.cli.config import ENV_OPTION, read_config
from riskgrad.cli.flags import (
    TrainingCommand,
    flagged,
    give_signature,
    list_parameters,
    make_parameters,
    own_facts,
    read_training,
)
from riskgrad.cli.printing import console, print_json, say
from riskgrad.cli.shared import AsJson, EnvName, app
from riskgrad.cli.wording import name_flags
from riskgrad.errors import InputError, Stopped
from riskgrad.settings import KEPT, TrainOptions, facts_of

if TYPE_CHECKING:
    from riskgrad.run import Run


def config_keys() -> dict[str, type]:
    """Give the flags that a file may set, and the type of each value."""
    options = {**facts_of(TrainOptions), **own_facts()}
    found = {name.replace("_", "-"): facts.flag for name, facts in options.items() if facts.flag is not None}
    del found["env-options"]
    kept: dict[str, type] = {
        "out": Path,
        "resume": bool,
        "seeds": int,
        "tensorboard": Path,
        "json": bool,
        ENV_OPTION: list,
    }
    return {"env": str, "risk": str, **found, **kept}


def _use_config(context: typer.Context, path: Path | None) -> Path | None:
    if path is not None and not context.resilient_parsing:
        values = read_config(path, config_keys())
        context.meta[ENV_OPTION] = values.pop("env_option", [])
        if "json" in values:
            values["as_json"] = values.pop("json")
        context.default_map = values
    return path


def train_command(context: typer.Context, env: str, risk: str, **flags: Any) -> None:
    """Train a policy on a risk measure and say what was reached.

    Example: riskgrad train two-roads --risk cvar:0.1 --iterations 50 --out runs/valley
    """
    from contextlib import ExitStack  # noqa: PLC0415

    from riskgrad._train import train  # noqa: PLC0415
    from riskgrad.run.live import Live  # noqa: PLC0415

    out, resume, tensorboard = (flags.pop(name) for name in ("out", "resume", "tensorboard"))
    as_json, seeds, _ = flags.pop("as_json"), flags.pop("seeds"), flags.pop("config")
    if resume and out is None:
        raise InputError("--resume", "come with --out, the folder of the run", "no folder")
    _refuse_import_by_config(context, env)
    _choose_budget(context, flags)
    options = read_training(context, flags, context.meta.get(ENV_OPTION, []))
    if seeds is not None:
        _train_seeds(env, risk, seeds, out, resume=resume, as_json=as_json, tensorboard=tensorboard, options=options)
        return
    if out is not None:
        options["resume" if resume else "folder"] = out
    shown = Console(stderr=True, highlight=False) if as_json else console
    with ExitStack() as stack:
        live = Live(shown, options.get("iterations"), risk, options.get("max_episodes"))
        callbacks: list[Any] = [stack.enter_context(live)]
        if tensorboard is not None:
            from riskgrad.run import TensorBoard  # noqa: PLC0415

            callbacks.append(stack.enter_context(TensorBoard(tensorboard)))
        try:
            run, stopped = train(env, risk, callback=callbacks, progress=False, **options), None
        except Stopped as early:
            run, stopped = early.run, early
    if run is not None:
        _show_json(run) if as_json else _show_run(run, risk, out)
    if stopped is not None:
        raise stopped


def _show_json(run: "Run") -> None:
    names = ("held_out_risk", "held_out_interval", "held_out_reliable", "held_out_flag")
    judged = {name: getattr(run, name) for name in names}
    facts = {"settings": run.settings.as_dict(), "episodes": run.episodes_used, **judged}
    print_json({**facts, "finished": run.finished, "notes": list(run.notes), "versions": run.versions})


def _show_run(run: "Run", risk: str, out: Path | None) -> None:
    """Print what was reached, and what can be done next."""
    say(f"{run!r}".strip("<>"))
    for note in run.notes:
        say(f"  note: {name_flags(note, 'train')}")
    if run.held_out_interval is not None:
        low, high = run.held_out_interval
        doubt = f"; not reliable: {run.held_out_flag}" if run.held_out_flag else ""
        words = f"{run.held_out_risk:.4g}, 95% from {low:.4g} to {high:.4g}{doubt}"
        say(f"{risk} by held-out episodes: {words}")
    if out is not None:
        advice = f"look closer with: riskgrad evaluate {out}"
        say(f"Kept in {out}; {advice if run.finished else f'go on with the same command and --resume, or {advice}'}")


def _train_seeds(
    env: str,
    risk: str,
    seeds: int,
    out: Path | None,
    *,
    resume: bool,
    as_json: bool,
    tensorboard: Path | None,
    options: dict[str, Any],
) -> None:
    """Train one measure with many seeds, from --seed on, as an experiment."""
    from riskgrad.cli.experiment import run_experiment  # noqa: PLC0415

    if tensorboard is not None:
        raise InputError("--tensorboard", "not come with --seeds", tensorboard, "train a single seed")
    options.pop("threads", None)  # the processes share the cores
    options.setdefault("backend", "processes")
    run_experiment(env, [risk], seeds, out=out, resume=resume, as_json=as_json, **options)


def _refuse_import_by_config(context: typer.Context, env: str) -> None:
    """Refuse an environment that the file names, not the command line, if its module would have to be imported."""
    from riskgrad.making import refuse_import  # noqa: PLC0415

    source = context.get_parameter_source("env")
    if source is not None and source.name == "DEFAULT_MAP":
        refuse_import(env, f"if you trust it, name it yourself: riskgrad train {env} --config ...")


def _choose_budget(context: typer.Context, flags: dict[str, Any]) -> None:
    """Drop the budget of the file if the other kind of budget was given as a flag."""
    both = ("iterations", "max_episodes")
    sources = {name: context.get_parameter_source(name) for name in both}
    given = [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    if len(given) == 1:
        flags[both[1 - both.index(given[0])]] = None


def _positional() -> list[inspect.Parameter]:
    """Give the parameters for the context, the environment and the measure."""
    risk = Annotated[str, typer.Option(help="What to maximize, such as mean, cvar:0.1, dual-power:3.")]
    none = inspect.Parameter.empty
    return list_parameters({"context": (none, typer.Context), "env": (none, EnvName), "risk": ("cvar:0.1", risk)})


def _kept_parameters() -> list[inspect.Parameter]:
    """Give the parameters for `--config` and for what is kept and shown."""
    words = "TOML file with a key for each flag, of the same name; flags win. Every kept run has one, config.toml."
    config = typer.Option(callback=_use_config, is_eager=True, help=words, rich_help_panel=KEPT)
    out = typer.Option(help="Folder that keeps the run.", rich_help_panel=KEPT)
    resume = typer.Option("--resume", help="Go on with the run in --out.", rich_help_panel=KEPT)
    seeds = typer.Option(help="Train this many seeds, from --seed on, at once: an experiment.", rich_help_panel=KEPT)
    events = typer.Option(help="Folder for TensorBoard's event files.", rich_help_panel=KEPT)
    return list_parameters(
        {
            "config": (None, Annotated[Path | None, config]),
            "out": (None, Annotated[Path | None, out]),
            "resume": (False, Annotated[bool, resume]),
            "seeds": (None, Annotated[int | None, seeds]),
            "tensorboard": (None, Annotated[Path | None, events]),
            "as_json": (False, AsJson),
        }
    )


give_signature(train_command, [*_positional(), *make_parameters(flagged(TrainOptions)), *_kept_parameters()])
app.command("train", cls=TrainingCommand)(train_command)

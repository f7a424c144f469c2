"""The command `train`. Each of its flags is an option of `rg.train` or of an algorithm, and a key of `--config`.

The flags are made from the facts beside each option (`riskgrad.settings`). Those of the algorithms are added when the
command is used or its help is asked for, so that `riskgrad --help` stays quick.
"""

import inspect
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
import typer.main
from rich.console import Console

from riskgrad.cli.config import ENV_OPTION, read_config
from riskgrad.cli.printing import console, print_json, say
from riskgrad.cli.shared import Command, app, name_flags, parse_env_options
from riskgrad.errors import InputError, Stopped
from riskgrad.settings import HOW, KEPT, OptionFacts, Rule, TrainOptions, facts_of

if TYPE_CHECKING:
    from riskgrad.run import Run

OWN = "own"  # the key under which the context keeps the values of the algorithms' flags


class TrainCommand(Command):
    """The command with the flags of all algorithms, which are made when they are needed."""

    own_flags: list[Any] | None = None

    def get_params(self, ctx: Any) -> list[Any]:
        """Give the flags of training, with those of the algorithms before `--threads` and the flags after it."""
        if self.own_flags is None:
            self.own_flags = _flags(make_parameters(_own_facts(), HOW))
        params: list[Any] = super().get_params(ctx)
        first = next((i for i, one in enumerate(params) if one.name == "threads"), len(params))
        return [*params[:first], *self.own_flags, *params[first:]]

    def invoke(self, ctx: Any) -> Any:
        """Move the algorithms' flags, which the command's signature lacks, to the context, and run the command."""
        ctx.meta[OWN] = {flag.name: ctx.params.pop(flag.name, None) for flag in self.own_flags or ()}
        return super().invoke(ctx)


def _own_facts() -> dict[str, OptionFacts]:
    """Give the options of all algorithms; an option of several algorithms is given once, with the defaults of each."""
    from riskgrad.algorithms import ALGORITHMS  # noqa: PLC0415

    found: dict[str, OptionFacts] = {}
    defaults: dict[str, dict[str, list[str]]] = {}
    for algorithm, kind in ALGORITHMS.by_name().items():
        for name, facts in facts_of(kind).items():
            if facts.flag is not None:
                found.setdefault(name, facts)
                defaults.setdefault(name, {}).setdefault(facts.default_text(), []).append(algorithm)
    return {name: replace(facts, help=f"{facts.help} {_say_defaults(defaults[name])}") for name, facts in found.items()}


def _say_defaults(defaults: dict[str, list[str]]) -> str:
    """Write the defaults of an option, each with the algorithms that have it."""
    return "Default: " + "; ".join(f"{text} ({', '.join(names)})" for text, names in defaults.items()) + "."


def make_parameters(options: dict[str, OptionFacts], panel: str | None = None) -> list[inspect.Parameter]:
    """Give a parameter of the command for each option that a flag can give."""
    found: list[inspect.Parameter] = []
    for name, facts in options.items():
        kind: Any = facts.flag
        flag = f"--{name.replace('_', '-')}"
        flags = ("--env-option",) if kind is list else (f"{flag}/--no-{flag[2:]}",) if kind is bool else (flag,)
        hint: Any = list[str] | None if kind is list else kind | None
        by_rule = panel is None and isinstance(facts.default, Rule)
        text = f"{facts.help} Default: {facts.default_text()}." if by_rule else facts.help
        told = typer.Option(*flags, help=text, rich_help_panel=panel or facts.panel or None)
        default = facts.default if isinstance(facts.default, str) and kind is str and panel is None else None
        where = "env_option" if kind is list else name
        annotation = Annotated[hint, told]
        found.append(inspect.Parameter(where, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
    return found


def _flags(parameters: Iterable[inspect.Parameter]) -> list[Any]:
    """Turn parameters into flags, as typer does for the application."""

    def command(**_: Any) -> None:
        """Take the flags."""

    give_signature(command, parameters)
    alone = typer.Typer(add_completion=False)
    alone.command()(command)
    return cast("Any", typer.main.get_command(alone)).params


def give_signature(command: Any, parameters: Iterable[inspect.Parameter]) -> None:
    """Give a function the signature of these parameters."""
    listed = list(parameters)
    command.__signature__ = inspect.Signature(listed)
    command.__annotations__ = {one.name: one.annotation for one in listed}


def config_keys() -> dict[str, type]:
    """Give the flags that a file may set, and the type of each value."""
    options = {**facts_of(TrainOptions), **_own_facts()}
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
    options = {name: value for name, value in flags.items() if name in facts_of(TrainOptions) and value is not None}
    own = {name: value for name, value in context.meta[OWN].items() if value is not None}
    options["algorithm"] = _with_options(str(options["algorithm"]), own)
    pairs: list[str] = [*context.meta.get(ENV_OPTION, []), *(flags.get("env_option") or [])]
    options["env_options"] = parse_env_options(pairs)
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
    first = int(options.pop("seed", 0))
    options.pop("threads", None)  # the processes share the cores
    backend = str(options.pop("backend", "processes"))
    run_experiment(env, [risk], seeds, first, out, resume, as_json=as_json, backend=backend, **options)


def _with_options(algorithm: str, own: dict[str, Any]) -> str:
    """Write an algorithm and its own options as the string that `rg.train` reads."""
    words = [f"{name}={str(value).lower()}" for name, value in own.items()]
    joint = "," if ":" in algorithm else ":"
    return f"{algorithm}{joint}{','.join(words)}" if words else algorithm


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
    told = inspect.Parameter.KEYWORD_ONLY
    env = Annotated[str, typer.Argument(help="A Gymnasium id or a shipped model, such as two-roads.")]
    risk = Annotated[str, typer.Option(help="What to maximize, such as mean, cvar:0.1, dual-power:3.")]
    return [
        inspect.Parameter("context", told, annotation=typer.Context),
        inspect.Parameter("env", told, annotation=env),
        inspect.Parameter("risk", told, default="cvar:0.1", annotation=risk),
    ]


def _kept_parameters() -> list[inspect.Parameter]:
    """Give the parameters for `--config` and for what is kept and shown."""
    config = "TOML file with a key for each flag, of the same name; flags win. Every kept run has one, config.toml."
    hints: dict[str, tuple[Any, Any]] = {
        "config": (
            None,
            Annotated[
                Path | None, typer.Option(callback=_use_config, is_eager=True, help=config, rich_help_panel=KEPT)
            ],
        ),
        "out": (None, Annotated[Path | None, typer.Option(help="Folder that keeps the run.", rich_help_panel=KEPT)]),
        "resume": (
            False,
            Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.", rich_help_panel=KEPT)],
        ),
        "seeds": (
            None,
            Annotated[
                int | None,
                typer.Option(
                    help="Train this many seeds, from --seed on, at once: an experiment.", rich_help_panel=KEPT
                ),
            ],
        ),
        "tensorboard": (
            None,
            Annotated[Path | None, typer.Option(help="Folder for TensorBoard's event files.", rich_help_panel=KEPT)],
        ),
        "as_json": (False, Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]),
    }
    told = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(name, told, default=first, annotation=hint) for name, (first, hint) in hints.items()]


_flagged = {name: facts for name, facts in facts_of(TrainOptions).items() if facts.flag is not None}
give_signature(train_command, [*_positional(), *make_parameters(_flagged), *_kept_parameters()])
app.command("train", cls=TrainCommand)(train_command)

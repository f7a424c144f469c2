"""The command that trains: `train`. Each of its flags is an argument of `rg.train`, and a key of `--config`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from riskgrad.cli.app import Discount, Horizon, Json, Options, Seed, app, console, env_options, show_json
from riskgrad.cli.config import OPTIONS, of_file
from riskgrad.errors import InputError

HOW = "How it is trained"
KEPT = "What is kept and shown"
WORK = "Who does the work"


def _path_of(text: str) -> Any:
    """Read `--risk-path`: auto, none, a part of the run, or square: and a part."""
    from riskgrad.algorithms import SquarePath  # noqa: PLC0415

    word = text.strip().lower()
    if word in ("auto", "none"):
        return "auto" if word == "auto" else None
    start, _, part = word.rpartition(":")
    try:
        length = float(part)
    except ValueError as problem:
        raise InputError("--risk-path", "be auto, none, a part of the run, or square: and a part", text) from problem
    if start not in ("", "square"):
        raise InputError("--risk-path", "be auto, none, a part of the run, or square: and a part", text)
    return SquarePath(length) if start else length


def _configured(context: typer.Context, path: Path | None) -> Path | None:
    return of_file(train)(context, path)


@app.command()
def train(
    context: typer.Context,
    env: Annotated[str, typer.Argument(help="A Gymnasium id or a shipped model, such as two-roads.")],
    risk: Annotated[str, typer.Option(help="What to maximize, such as mean, cvar:0.1, dual-power:3.")] = "cvar:0.1",
    algorithm: Annotated[str, typer.Option(help="auto, onp_sf, offp_sf or score.")] = "auto",
    iterations: Annotated[int | None, typer.Option(help="Budget in iterations (200 if no budget is given).")] = None,
    max_episodes: Annotated[int | None, typer.Option(help="Budget in episodes instead.")] = None,
    policy: Annotated[
        str | None, typer.Option(help="table, linear, mlp or deterministic; by default what fits the environment.")
    ] = None,
    horizon: Horizon = None,
    discount: Discount = None,
    env_option: Options = None,
    seed: Seed = 0,
    normalize: Annotated[
        bool, typer.Option("--normalize/--no-normalize", help="Normalize observations.", rich_help_panel=HOW)
    ] = False,
    schedule: Annotated[str, typer.Option(help="practical, or paper for its theorem's.", rich_help_panel=HOW)] = (
        "practical"
    ),
    step_size: Annotated[
        str | None, typer.Option(help="adam:0.1, or a number for a constant step.", rich_help_panel=HOW)
    ] = None,
    smoothing: Annotated[float | None, typer.Option(help="mu, of onp_sf and offp_sf.", rich_help_panel=HOW)] = None,
    directions: Annotated[int | None, typer.Option(help="n, of onp_sf and offp_sf.", rich_help_panel=HOW)] = None,
    episodes: Annotated[int | None, typer.Option(help="m, of each estimate or batch.", rich_help_panel=HOW)] = None,
    steps_per_batch: Annotated[
        int | None, typer.Option(help="Most steps on one batch, of offp_sf and score.", rich_help_panel=HOW)
    ] = None,
    risk_path: Annotated[
        str,
        typer.Option(
            help="Part of the run on the way to the measure, such as 0.5 (from the mean) or square:0.5 (from the worse "
            "of two episodes); none; auto.",
            rich_help_panel=HOW,
        ),
    ] = "auto",
    entropy: Annotated[
        float | None, typer.Option(help="Entropy bonus, in standard deviations of the return.", rich_help_panel=HOW)
    ] = None,
    held_out: Annotated[
        int | None, typer.Option(help="Episodes of each look at an iterate; 0 for none.", rich_help_panel=HOW)
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="For models and compiled environments; all cores.", rich_help_panel=WORK)
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(help="To play a Gymnasium environment in; all cores if it pays.", rich_help_panel=WORK),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            callback=_configured,
            is_eager=True,
            help="TOML with a key for each flag, of its name; flags win. Every kept run has one, config.toml.",
            rich_help_panel=KEPT,
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder that keeps the run.", rich_help_panel=KEPT)] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out.", rich_help_panel=KEPT)
    ] = False,
    tensorboard: Annotated[
        Path | None, typer.Option(help="Folder for TensorBoard's event files.", rich_help_panel=KEPT)
    ] = None,
    as_json: Json = False,
) -> None:
    """Train a policy on a risk measure and say what was reached.

    Example: riskgrad train two-roads --risk cvar:0.1 --iterations 50 --out runs/valley
    """
    from contextlib import ExitStack  # noqa: PLC0415

    from riskgrad._train import train as train_policy  # noqa: PLC0415
    from riskgrad.pages.live import Live  # noqa: PLC0415

    del config  # has been read: its values are those of the flags that were not given
    if resume and out is None:
        raise InputError("--resume", "come with --out, the folder of the run", "no folder")
    iterations, max_episodes = _budget(context, iterations, max_episodes)
    keeping: dict[str, Any] = {"resume" if resume else "folder": out} if out else {}
    shown = Console(stderr=True, highlight=False) if as_json else console
    with ExitStack() as stack:
        callbacks: list[Any] = [stack.enter_context(Live(shown, iterations, risk, max_episodes))]
        if tensorboard is not None:
            from riskgrad.run import TensorBoard  # noqa: PLC0415

            callbacks.append(stack.enter_context(TensorBoard(tensorboard)))
        run = train_policy(
            env,
            risk=risk,
            algorithm=algorithm,
            iterations=iterations,
            max_episodes=max_episodes,
            policy=policy,
            horizon=horizon,
            discount=discount,
            env_options=env_options([*context.meta.get(OPTIONS, []), *(env_option or [])]),
            threads=threads,
            processes=processes,
            normalize=normalize,
            schedule=schedule,  # pyright: ignore[reportArgumentType]
            step_size=step_size,
            smoothing=smoothing,
            directions=directions,
            episodes=episodes,
            steps_per_batch=steps_per_batch,
            risk_path=_path_of(risk_path),
            entropy=entropy,
            held_out=held_out,
            seed=seed,
            callback=callbacks,
            **keeping,
        )
    if as_json:
        facts = {"settings": run.settings, "episodes": run.episodes_used, "held_out_risk": run.held_out_risk}
        show_json({**facts, "finished": run.finished, "notes": list(run.notes), "versions": run.versions})
        return
    console.print(f"{run!r}".strip("<>"), soft_wrap=True, markup=False)
    for note in run.notes:
        console.print(f"  note: {note}", soft_wrap=True, markup=False)
    if run.held_out_risk is not None:
        console.print(f"{risk} by held-out episodes: {run.held_out_risk:.4g}")
    if out is not None:
        console.print(f"Kept in {out}; look closer with: riskgrad evaluate {out} {env}", soft_wrap=True)


def _budget(context: typer.Context, iterations: int | None, max_episodes: int | None) -> tuple[int | None, int | None]:
    """Let the budget that was given as a flag win over the other kind of budget in a file."""
    flags = {name: context.get_parameter_source(name) for name in ("iterations", "max_episodes")}
    given = [name for name, source in flags.items() if source is not None and source.name == "COMMANDLINE"]
    if given == ["max_episodes"]:
        return None, max_episodes
    return (iterations, None) if given == ["iterations"] else (iterations, max_episodes)

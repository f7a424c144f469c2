"""The command line: `riskgrad demo, train, evaluate, bounds, risks, envs`.

Every mistake of the user ends in one clear line on stderr and exit code 2; `--debug` shows the traceback instead. Heavy
imports are inside the commands, so that `--help` is quick.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from riskgrad.errors import InputError, RiskgradError

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Train policies on the risk of the return that you care about, not only on its mean.",
)
console = Console(highlight=False)

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Environment = Annotated[str, typer.Argument(help="A Gymnasium id or a shipped model, such as two-roads.")]
Horizon = Annotated[int | None, typer.Option(help="Most steps of an episode; by default the environment's own limit.")]
Discount = Annotated[float | None, typer.Option(help="Discount in (0, 1]; 1 by default.")]
Options = Annotated[
    list[str] | None, typer.Option("--env-option", help="Option for the environment, name=value; may be repeated.")
]
Seed = Annotated[int, typer.Option(help="Seed; the same seed gives the same result.")]


@app.callback()
def options(debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False) -> None:
    """Options that every command takes."""
    del debug  # read by main, which also catches the errors of the options themselves


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("riskgrad-demo"), seed: Seed = 0
) -> None:
    """Train a neutral and an averse commuter, and show what risk-sensitivity bought.

    Example: riskgrad demo --out riskgrad-demo
    """
    from contextlib import ExitStack  # noqa: PLC0415

    from riskgrad.report import demo as story  # noqa: PLC0415 - brings matplotlib and numba
    from riskgrad.report.live import Live  # noqa: PLC0415

    console.print("A commuter drives over a pass (short, a rare rockfall) or through a valley (long, safe).")
    with ExitStack() as stack:
        outcomes = story.trained(seed, lambda name, count: stack.enter_context(Live(console, count, f"{name:8}")))
    out.mkdir(parents=True, exist_ok=True)
    picture = story.draw(outcomes, out / "two-roads.svg")
    table = Table(title="Exact risk of the two policies (minutes; larger is better)")
    table.add_column("risk measure")
    for name, risk in story.RISKS.items():
        table.add_column(f"trained on {risk}\n({name})", justify="right")
    for text, *values in story.risk_table(outcomes):
        table.add_row(text, *(f"{value:.2f}" for value in values))
    console.print(table)
    neutral, averse = outcomes["neutral"], outcomes["averse"]
    console.print(
        f"Trained on the mean the commuter takes the pass ({1 - neutral.valley:.0%} of the time): "
        f"{-neutral.law.mean:.1f} minutes on average.\n"
        f"Trained on cvar:0.1 it takes the valley ({averse.valley:.0%}): {-averse.law.mean:.1f} minutes on average, "
        f"but its worst tenth of days takes {-_cvar(averse.law):.0f} minutes instead of {-_cvar(neutral.law):.0f}.\n"
        f"The picture is in {picture}.",
        soft_wrap=True,
    )


@app.command()
def train(
    env: Environment,
    risk: Annotated[str, typer.Option(help="What to maximise, such as mean, cvar:0.1, dual-power:3.")] = "cvar:0.1",
    algorithm: Annotated[str, typer.Option(help="auto, onp_sf, offp_sf or score.")] = "auto",
    iterations: Annotated[int | None, typer.Option(help="Budget in iterations (200 if no budget is given).")] = None,
    max_episodes: Annotated[int | None, typer.Option(help="Budget in episodes instead.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder that keeps the run; it can be resumed.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    horizon: Horizon = None,
    discount: Discount = None,
    env_option: Options = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Train a policy on a risk measure and say what was reached.

    Example: riskgrad train two-roads --risk cvar:0.1 --iterations 50 --out runs/valley
    """
    from riskgrad._train import train as train_policy  # noqa: PLC0415
    from riskgrad.report.live import Live  # noqa: PLC0415

    if resume and out is None:
        raise InputError("--resume", "come with --out, the folder of the run", "no folder")
    keeping: dict[str, Any] = {"resume" if resume else "folder": out} if out else {}
    expected = iterations or 200
    with Live(Console(stderr=True, highlight=False) if as_json else console, expected, risk) as live:
        run = train_policy(
            env,
            risk=risk,
            algorithm=algorithm,
            iterations=iterations,
            max_episodes=max_episodes,
            horizon=horizon,
            discount=discount,
            env_options=_env_options(env_option),
            seed=seed,
            callback=live,
            **keeping,
        )
    if as_json:
        facts = {"settings": run.settings, "episodes": run.episodes_used, "held_out_risk": run.held_out_risk}
        console.print_json(json.dumps({**facts, "finished": run.finished, "notes": list(run.notes)}))
        return
    console.print(f"{run!r}".strip("<>"), soft_wrap=True, markup=False)
    for note in run.notes:
        console.print(f"  note: {note}", soft_wrap=True, markup=False)
    if run.held_out_risk is not None:
        console.print(f"{risk} by held-out episodes: {run.held_out_risk:.4g}")
    if out is not None:
        console.print(f"Kept in {out}; look closer with: riskgrad evaluate {out} {env}", soft_wrap=True)


@app.command()
def evaluate(
    run: Annotated[Path, typer.Argument(help="Folder or file of a run.")],
    env: Environment,
    risk: Annotated[list[str] | None, typer.Option(help="Measure to report; may be repeated.")] = None,
    episodes: Annotated[int, typer.Option(help="Fresh episodes.")] = 10_000,
    confidence: Annotated[float, typer.Option(help="Confidence of the intervals.")] = 0.95,
    horizon: Horizon = None,
    discount: Discount = None,
    env_option: Options = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Evaluate a trained policy on fresh episodes, with certified and bootstrap intervals.

    Example: riskgrad evaluate runs/valley two-roads --risk mean --risk cvar:0.1
    """
    from riskgrad.evaluation import evaluate as evaluate_run  # noqa: PLC0415
    from riskgrad.run import load  # noqa: PLC0415

    table = evaluate_run(
        load(run),
        env,
        risk or None,
        episodes,
        confidence,
        horizon=horizon,
        discount=discount,
        env_options=_env_options(env_option),
        seed=seed,
    )
    if as_json:
        console.print_json(json.dumps(table.as_dict()))
    else:
        console.print(str(table), soft_wrap=True, markup=False)


@app.command()
def bounds(
    env: Environment,
    risk: Annotated[
        str, typer.Option(help="A smooth measure, such as dual-power:2 or smooth-cvar:0.1.")
    ] = "dual-power:2",
    iterations: Annotated[int, typer.Option(help="N, at the schedule of the theorem.")] = 1000,
    off_policy: Annotated[bool, typer.Option("--off-policy", help="OffP-SF instead of OnP-SF.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw bound against measured (.svg, .png or .pdf).")] = None,
    horizon: Horizon = None,
    discount: Discount = None,
    env_option: Options = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Put every constant and bound of the theory beside what the model does: literal, sharp, measured.

    Example: riskgrad bounds two-roads --risk dual-power:2 --iterations 1000
    """
    from dataclasses import asdict  # noqa: PLC0415

    from riskgrad.episodes import TabularSource, resolve_source  # noqa: PLC0415
    from riskgrad.policy import TabularGibbs  # noqa: PLC0415
    from riskgrad.theory import bounds_table  # noqa: PLC0415

    source = resolve_source(env, horizon, discount, env_options=_env_options(env_option))
    if not isinstance(source, TabularSource):
        raise InputError("env", "be a finite model for its constants to be known", env)
    mdp = source.mdp
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    rows = bounds_table(mdp, policy, risk, iterations, off_policy=off_policy, seed=seed)
    if plot is not None:
        from riskgrad.report.bounds import plot_bounds  # noqa: PLC0415

        plot_bounds(rows, plot)
    if as_json:
        console.print_json(json.dumps([asdict(row) for row in rows]))
        return
    name = "OffP-SF" if off_policy else "OnP-SF"
    table = Table(title=f"{name} on {env}, {risk}, N = {iterations}", show_lines=True)
    table.add_column("")
    for column in ("literal", "sharp", "measured"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("how to read it")
    for row in rows:
        numbers = (_figure(value) for value in (row.literal, row.sharp, row.measured))
        table.add_row(f"{row.meaning}\n{row.symbol}", *numbers, row.reading)
    console.print(table)


@app.command()
def risks(as_json: Json = False) -> None:
    """List the risk measures that a string can name.

    Example: riskgrad risks --json
    """
    from riskgrad.risk import builders, parse  # noqa: PLC0415

    rows = [(name, example, parse(example).attitude) for name, (_, example) in sorted(builders().items())]
    if as_json:
        console.print_json(json.dumps([{"name": n, "example": e, "attitude": a} for n, e, a in rows]))
        return
    table = Table(title="Risk measures (:seeking turns one over)")
    for column in ("name", "example", "attitude"):
        table.add_column(column)
    for row in rows:
        table.add_row(*row)
    console.print(table)


@app.command()
def envs(as_json: Json = False) -> None:
    """List the shipped models in which risk matters.

    Example: riskgrad envs
    """
    from riskgrad.mdp.models import MODELS  # noqa: PLC0415

    rows = [(name, (build.__doc__ or "").strip().splitlines()[0]) for name, build in sorted(MODELS.items())]
    if as_json:
        console.print_json(json.dumps([{"name": name, "about": about} for name, about in rows]))
        return
    table = Table(title="Shipped finite models; any Gymnasium id works too")
    for column in ("name", "about"):
        table.add_column(column)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; the entry point of the `riskgrad` script."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        app(args=words, prog_name="riskgrad")
    except (RiskgradError, OSError) as problem:
        if "--debug" in words:
            raise
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"riskgrad: {problem}", markup=False)
        raise SystemExit(2) from None


def _env_options(given: list[str] | None) -> dict[str, Any] | None:
    """Read name=value pairs; a value is JSON where it can be, otherwise a string."""
    found: dict[str, Any] = {}
    for pair in given or []:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise InputError("--env-option", "look like name=value", pair)
        try:
            found[name] = json.loads(value.lower() if value in ("True", "False") else value)
        except json.JSONDecodeError:
            found[name] = value
    return found or None


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _cvar(law: Any) -> float:
    from riskgrad.risk import CVaR  # noqa: PLC0415

    return CVaR(0.1).value(law)


if __name__ == "__main__":
    main()

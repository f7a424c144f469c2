"""The command `bounds`: the constants and bounds of the theory for a model."""

from pathlib import Path
from typing import Annotated

import typer

from riskgrad.cli import shared
from riskgrad.cli.printing import print_json, print_table
from riskgrad.errors import InputError


@shared.app.command()
def bounds(
    env: shared.EnvName,
    risk: Annotated[
        str, typer.Option(help="A smooth measure, such as dual-power:2 or smooth-cvar:0.1.")
    ] = "dual-power:2",
    iterations: Annotated[int, typer.Option(help="N, at the schedule of the theorem.")] = 1000,
    off_policy: Annotated[bool, typer.Option("--off-policy", help="OffP-SF instead of OnP-SF.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw bound against measured (.svg, .png or .pdf).")] = None,
    horizon: shared.Horizon = None,
    discount: shared.Discount = None,
    env_option: shared.EnvOption = None,
    seed: shared.Seed = 0,
    as_json: shared.AsJson = False,
) -> None:
    """Put every constant and bound of the theory beside what the model does: literal, sharp, measured.

    Example: riskgrad bounds two-roads --risk dual-power:2 --iterations 1000
    """
    from dataclasses import asdict  # noqa: PLC0415

    from riskgrad.policy import TabularGibbs  # noqa: PLC0415
    from riskgrad.sources import resolve_source  # noqa: PLC0415
    from riskgrad.theory import bounds_table  # noqa: PLC0415

    if plot is not None:
        from riskgrad.pages.style import FORMATS  # noqa: PLC0415
        from riskgrad.run.files import check_target  # noqa: PLC0415

        check_target("--plot", plot, FORMATS)
    source = resolve_source(env, horizon, discount, env_options=shared.parse_env_options(env_option))
    mdp = source.mdp
    if mdp is None:
        raise InputError("env", "be a finite model for its constants to be known", env)
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    rows = bounds_table(mdp, policy, risk, iterations, off_policy=off_policy, seed=seed)
    if plot is not None:
        from riskgrad.pages.plots import plot_bounds  # noqa: PLC0415

        plot_bounds(rows, plot)
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    name = "OffP-SF" if off_policy else "OnP-SF"
    columns = ("constant or bound", "literal", "sharp", "measured", "how to read it")
    cells = [
        (
            f"{row.meaning}, {row.symbol}",
            *(_figure(value) for value in (row.literal, row.sharp, row.measured)),
            row.reading,
        )
        for row in rows
    ]
    title = f"{name} on {env}, {risk}, N = {iterations:,}"
    print_table(title, columns, cells, numbers=columns[1:4], prose=(columns[0], columns[4]))


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"

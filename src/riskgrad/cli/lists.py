"""The commands that list what can be named: `risks`, `policies`, `envs`."""

from rich.table import Table

from riskgrad.cli.app import Json, app, console, show_json


@app.command()
def risks(as_json: Json = False) -> None:
    """List the risk measures that a string can name.

    Example: riskgrad risks --json
    """
    from riskgrad.risk import builders, parse  # noqa: PLC0415

    rows = [(name, example, parse(example).attitude) for name, (_, example) in sorted(builders().items())]
    if as_json:
        show_json([{"name": n, "example": e, "attitude": a} for n, e, a in rows])
        return
    table = Table(title="Risk measures (:seeking turns one over)")
    for column in ("name", "example", "attitude"):
        table.add_column(column)
    for row in rows:
        table.add_row(*row)
    console.print(table)


@app.command()
def policies(as_json: Json = False) -> None:
    """List the policies that can be trained.

    Example: riskgrad policies
    """
    from riskgrad.policy import POLICIES  # noqa: PLC0415

    rows = [(kind.__name__, (kind.__doc__ or "").strip().splitlines()[0]) for kind in POLICIES.parts()]
    if as_json:
        show_json([{"name": name, "about": about} for name, about in rows])
        return
    table = Table(title="Policies, in riskgrad.policy; rg.train takes one as policy=")
    for column in ("name", "about"):
        table.add_column(column)
    for row in rows:
        table.add_row(*row)
    console.print(table)


@app.command()
def envs(as_json: Json = False) -> None:
    """List the shipped models and compiled environments; any other Gymnasium id is played as it is.

    Example: riskgrad envs
    """
    from riskgrad.envs.twins import TWINS  # noqa: PLC0415
    from riskgrad.mdp.models import MODELS  # noqa: PLC0415

    shipped = [(name, "finite model", build) for name, build in sorted(MODELS.items())]
    shipped += [(name, "compiled", build) for name, build in sorted(TWINS.items())]
    rows = [(name, kind, (build.__doc__ or "").strip().splitlines()[0]) for name, kind, build in shipped]
    if as_json:
        show_json([{"name": name, "kind": kind, "about": about} for name, kind, about in rows])
        return
    table = Table(title="Shipped environments; any Gymnasium id works too")
    for column in ("name", "kind", "about"):
        table.add_column(column)
    for row in rows:
        table.add_row(*row)
    console.print(table)

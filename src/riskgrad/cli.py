"""The command line: `riskgrad demo`, `riskgrad risks`.

Every mistake of the user ends in one clear line on stderr and exit code 2; `--debug` shows the traceback instead.
"""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from riskgrad.errors import RiskgradError

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Train policies on the risk of the return that you care about, not only on its mean.",
)
console = Console(highlight=False)

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@app.callback()
def options(debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False) -> None:
    """Options that every command takes."""
    del debug  # read by main, which also catches the errors of the options themselves


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("riskgrad-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
) -> None:
    """Show what an average hides: two policies with the same mean and very different bad days.

    Example: riskgrad demo --out riskgrad-demo
    """
    from riskgrad.report.demo import draw, risk_table, samples  # noqa: PLC0415 - brings matplotlib

    drawn = samples(seed)
    out.mkdir(parents=True, exist_ok=True)
    picture = draw(drawn, out / "risk.svg")
    table = Table(title="Two policies with the same mean return")
    table.add_column("risk measure")
    table.add_column("safe", justify="right")
    table.add_column("skewed", justify="right")
    table.add_column("prefers")
    for name, safe, skewed in risk_table(drawn):
        better = "-" if abs(safe - skewed) < 1e-9 else "safe" if safe > skewed else "skewed"
        table.add_row(name, f"{safe:.2f}", f"{skewed:.2f}", better)
    console.print(table)
    worst = {name: (safe, skewed) for name, safe, skewed in risk_table(drawn)}["cvar:0.1"]
    console.print(
        f"The mean cannot tell them apart. On its worst 10% of days the safe one still earns {worst[0]:.1f}, "
        f"the skewed one {worst[1]:.1f}.\nThe picture is in {picture}."
    )


@app.command()
def risks(as_json: Json = False) -> None:
    """List the risk measures that a string can name.

    Example: riskgrad risks --json
    """
    from riskgrad.risk import builders, parse  # noqa: PLC0415 - keeps --help quick

    rows = [(name, example, parse(example).attitude) for name, (_, example) in sorted(builders().items())]
    if as_json:
        console.print_json(json.dumps([{"name": n, "example": e, "attitude": a} for n, e, a in rows]))
        return
    table = Table(title="Risk measures (append :seeking for the other attitude)")
    for column in ("name", "example", "attitude"):
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


if __name__ == "__main__":
    main()

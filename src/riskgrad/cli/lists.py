"""The commands that list what can be named: `risks`, `policies`, `algorithms`, `envs`, and `parts` for all kinds."""

from collections.abc import Sequence

from riskgrad.cli.printing import print_json, print_table
from riskgrad.cli.shared import AsJson, app


@app.command()
def risks(as_json: AsJson = False) -> None:
    """List the risk measures that a string can name.

    Example: riskgrad risks --json
    """
    from riskgrad.risk import builders, parse  # noqa: PLC0415

    rows = [(name, example, parse(example).attitude) for name, (_, example) in sorted(builders().items())]
    _show("Risk measures; :seeking after one turns averse into seeking", ("name", "example", "attitude"), rows, as_json)


@app.command()
def policies(as_json: AsJson = False) -> None:
    """List the policies that --policy takes, and those that only Python can give.

    Example: riskgrad policies
    """
    from riskgrad.policy import POLICIES  # noqa: PLC0415

    names = {part: name for name, part in POLICIES.by_name().items()}
    found = sorted(POLICIES.parts(), key=lambda kind: kind not in names)
    rows = [(names.get(kind, "-"), kind.__name__, _first_line(kind)) for kind in found]
    title = "Policies; --policy takes a name, also mlp:64,64 or mlp:64,64,std=1; the others are given in Python"
    _show(title, ("name", "class", "about"), rows, as_json)


@app.command()
def algorithms(as_json: AsJson = False) -> None:
    """List the algorithms with their own options.

    Example: riskgrad algorithms
    """
    from riskgrad.algorithms import ALGORITHMS  # noqa: PLC0415
    from riskgrad.settings import facts_of  # noqa: PLC0415

    rows = [
        (name, option.replace("_", "-"), facts.default_text(), facts.default_text("paper"), facts.help)
        for name, kind in ALGORITHMS.by_name().items()
        for option, facts in facts_of(kind).items()
    ]
    title = 'Algorithms; rg.train takes one as algorithm=, such as "score" or rg.Score(episodes=200)'
    _show(title, ("algorithm", "option", "default", "paper", "about"), rows, as_json)


@app.command()
def envs(as_json: AsJson = False) -> None:
    """List the shipped models and compiled environments; any other Gymnasium id is played as it is.

    Example: riskgrad envs
    """
    from riskgrad.envs.twins import TWINS  # noqa: PLC0415
    from riskgrad.mdp.models import MODELS  # noqa: PLC0415

    shipped = [(name, "finite model", build) for name, build in sorted(MODELS.items())]
    shipped += [(name, "compiled", build) for name, build in sorted(TWINS.items())]
    rows = [(name, kind, _describe_env(build)) for name, kind, build in shipped]
    _show("Shipped environments; any Gymnasium id works too", ("name", "kind", "about"), rows, as_json)


@app.command()
def parts(as_json: AsJson = False) -> None:
    """List every part by its kind: measures, policies, sources, algorithms, backends and so on.

    Example: riskgrad parts
    """
    from riskgrad.registry import part_lists  # noqa: PLC0415

    rows: list[Sequence[str]] = []
    for listed in part_lists():
        names = {part: name for name, part in listed.by_name().items()}
        rows += [(listed.kind, names.get(part, ""), part.__name__, _first_line(part)) for part in listed.parts()]
    title = "Parts; a file in the folder of its kind, or rg.register, adds one"
    _show(title, ("kind", "name", "part", "about"), rows, as_json)


def _first_line(thing: object) -> str:
    return (thing.__doc__ or "").strip().splitlines()[0]


def _describe_env(build: object) -> str:
    """Give the words after "the model of" or a colon in the first line of an environment's docstring, or the line."""
    line = _first_line(build)
    words = line.partition("the model of ")[2] or line.partition(": ")[2] or line
    return words[:1].upper() + words[1:]


def _show(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], as_json: bool) -> None:
    """Print a table, or the same as JSON."""
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(title, columns, rows, prose=("about", "default", "paper"))

"""Prepare the pages of the site: `python docs/prepare.py [FOLDER]` writes them to build/docs, whence the site is built.

The Markdown files also stand on their own. What the site adds to them is put into copies, so that any builder of
Markdown pages can follow:

- The pages of `benchmarks` and `examples` become pages of the site, with figures and scripts, from the one place where
  they are kept; links between them are turned to their new places.
- A picture of docs/pictures, an image in the Markdown, is put into the page, so that its colors follow the page's
  scheme and its text is the page's own; the image's alternative text becomes its label.
- The reference follows the code: `<!-- names: riskgrad.policy -->` becomes an entry for each public name of that
  folder, the registered parts included; `<!-- options -->` the tables of all options; `<!-- commands -->` the commands.
- Pages that are wide, or alone in their section, go without a side bar.

The tests read from this file what the reference lists.
"""

import html
import importlib
import inspect
import re
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PREPARED = ROOT / "build" / "docs"
PICTURE = re.compile(r"!\[(?P<words>[^\]]*)\]\((?:\.\./)?pictures/(?P<name>[\w-]+)\.svg\)")
COMMANDS, OPTIONS = "<!-- commands -->", "<!-- options -->"
NAMES = re.compile(r"<!-- names: (?P<home>[\w.]+)(?: (?P<chosen>[\w, ]+))? -->")
HIDDEN = {  # wide tables and code, or no other page in the section
    "theory.md": ["toc"],
    "practical.md": ["toc"],
    "benchmarks/best_policies.md": ["toc"],
    "benchmarks/learning.md": ["toc"],
    "benchmarks/sampler.md": ["toc"],
    "benchmarks/README.md": ["toc"],
    "examples/README.md": ["toc"],
    "which-risk-measure.md": ["navigation"],
}


def prepare(folder: Path) -> None:
    """Write the pages of the site, and what they show, to a folder, which is emptied before."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.py", "__pycache__", "README.md"))
    for other in ("benchmarks", "examples"):
        (folder / other).mkdir()
        for place in [*(ROOT / other).glob("*.md"), *(ROOT / other).glob("*.svg")]:
            shutil.copy(place, folder / other / place.name)
    for page in folder.rglob("*.md"):
        page.write_text(fill_page(page.relative_to(folder).as_posix(), page.read_text("utf-8")), encoding="utf-8")


def fill_page(name: str, markdown: str) -> str:
    """Turn links that hold in the repository into links that hold in the site, and fill in pictures and reference.

    Args:
        name: of the page, such as "how-to/policy.md".
        markdown: its text.
    """
    if name == "examples/README.md":
        markdown = with_scripts(markdown)
    if name.startswith(("benchmarks/", "examples/")):
        markdown = markdown.replace("](../docs/", "](../")
    else:
        if COMMANDS in markdown:
            markdown = markdown.replace(COMMANDS, describe_commands())
        if OPTIONS in markdown:
            markdown = markdown.replace(OPTIONS, describe_options())
        markdown = NAMES.sub(
            lambda found: "\n".join(map(_directive, names_of(found["home"], found["chosen"]))), markdown
        )
        markdown = re.sub(r"\]\(\.\./((?:\.\./)?(?:benchmarks|examples)/)", r"](\1", markdown)
        markdown = PICTURE.sub(_draw, markdown)
    hidden = "".join(f"  - {part}\n" for part in HIDDEN.get(name, ()))
    return f"---\nhide:\n{hidden}---\n\n{markdown}" if hidden else markdown


def _draw(found: re.Match[str]) -> str:
    text = (ROOT / "docs" / "pictures" / f"{found['name']}.svg").read_text(encoding="utf-8")
    text = re.sub(r"<style>.*?</style>\s*|<desc>.*?</desc>\s*", "", text[text.index("<svg") :], flags=re.S)
    text = re.sub(r"<svg [^>]*?(viewBox=\"[^\"]*\")[^>]*>", r'<svg \1 aria-hidden="true">', text, count=1)
    inside = "\n".join(line for line in text.splitlines() if line.strip())
    return f'<figure class="picture" role="img" aria-label="{html.escape(found["words"])}">{inside}</figure>'


def with_scripts(markdown: str) -> str:
    """Put the scripts below the list of examples, and point the list there."""
    for place in sorted((ROOT / "examples").glob("*.py")):
        markdown = markdown.replace(f"]({place.name})", f"](#{place.stem})")
        source = place.read_text(encoding="utf-8")
        markdown += f"\n## {place.name} {{#{place.stem}}}\n\n```python\n{source}```\n"
    return markdown


class Name(NamedTuple):
    """A public name of the reference.

    Attributes:
        home: where the code is, such as "riskgrad.policy.gibbs.TabularGibbs".
        public: how a user writes it, such as "rg.policy.TabularGibbs".
        thing: the class or function.
    """

    home: str
    public: str
    thing: Any


def names_of(home: str, chosen: str | None = None) -> list[Name]:
    """Give the public classes and functions of a module or folder: base classes, functions, then all others.

    Args:
        home: the module, such as "riskgrad.policy".
        chosen: the names to give, apart by commas, or "classes" for these alone; None for all.
    """
    module = importlib.import_module(home)
    listed = getattr(module, "__all__", None) or dir(module)
    some = chosen is not None and chosen != "classes"
    wanted = chosen.split(",") if chosen and some else [name for name in listed if not name.startswith("_")]
    things = {name.strip(): getattr(module, name.strip()) for name in wanted}
    found = [
        Name(f"{thing.__module__}.{thing.__qualname__}", _public(name, thing, home), thing)
        for name, thing in things.items()
        if inspect.isclass(thing) or (inspect.isfunction(thing) and chosen != "classes")
    ]
    return found if some else sorted((one for one in found if _belongs(one.thing, module)), key=_rank)


def _public(name: str, thing: Any, home: str) -> str:
    """Give how a user writes a name: the short way where there is one."""
    import riskgrad  # noqa: PLC0415

    short = name in dir(riskgrad) and getattr(riskgrad, name) is thing
    return f"rg.{name}" if short else f"rg.{home.removeprefix('riskgrad.')}.{name}"


def _belongs(thing: Any, module: Any) -> bool:
    """Say whether a thing is shown here: a file's own; in a folder, all that no other folder shows."""
    if not hasattr(module, "__path__"):
        return thing.__module__ == module.__name__
    if not thing.__module__.startswith("riskgrad."):
        return False
    folder = ".".join(thing.__module__.split(".")[:2])
    elsewhere = folder != ".".join(module.__name__.split(".")[:2])
    return not (elsewhere and hasattr(importlib.import_module(folder), thing.__name__))


def _rank(name: Name) -> tuple[int, str]:
    if inspect.isfunction(name.thing):
        return 1, name.public
    return (0 if inspect.isabstract(name.thing) else 2), name.public


def _directive(name: Name) -> str:
    """Give the words by which mkdocstrings describes a name."""
    from riskgrad.settings import facts_of  # noqa: PLC0415

    options = [f'heading: "{name.public}"', f'toc_label: "{name.public.rpartition(".")[2]}"']
    options += ["show_root_heading: true", "show_root_toc_entry: true"]
    # the signature of options is the table of options
    if hasattr(name.thing, "__dataclass_fields__") and facts_of(name.thing):
        options.append("show_signature: false")
    return f"::: {name.home}\n    options:\n" + "".join(f"      {option}\n" for option in options)


def describe_options() -> str:
    """Give a table of the options of `rg.train`, and one of each algorithm."""
    from riskgrad.algorithms import ALGORITHMS  # noqa: PLC0415
    from riskgrad.settings import TrainOptions  # noqa: PLC0415

    parts = [f"## rg.train\n\n{_option_table(TrainOptions)}\n"]
    parts += [f"## rg.{kind.__name__}\n\n`algorithm=\"{name}\"`, or a value.\n\n{_option_table(kind)}\n"
              for name, kind in ALGORITHMS.by_name().items()]  # fmt: skip
    return "\n".join(parts)


def _option_table(kind: Any) -> str:
    """Give the facts beside each option: its name, its default, the paper's value where that differs, and its help."""
    from riskgrad.settings import facts_of  # noqa: PLC0415

    rows = [
        '<div class="options" markdown>\n',
        '| option | default | with `schedule="paper"` | what it is |',
        "|---|---|---|---|",
    ]
    for name, facts in facts_of(kind).items():
        default, paper = facts.default_text(), facts.default_text("paper")
        shown = ("" if default == "None" else default, "" if paper == default else paper, facts.help)
        cells = (f"`{name}`", *map(_cell, shown))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*rows, "\n</div>"])


def _cell(text: str) -> str:
    return html.escape(text, quote=False).replace("|", "\\|").replace("_", "\\_").replace("*", "\\*")


def describe_commands() -> str:
    """Describe every command: what it does, its example, its arguments and options."""
    import typer.main  # noqa: PLC0415 - only this page needs it

    from riskgrad.cli import app  # noqa: PLC0415

    group: Any = typer.main.get_command(app)
    parts: list[str] = []
    for name in group.list_commands(None):
        command = group.commands[name]
        about, _, example = (command.help or "").partition("Example:")
        kept = re.sub(r"(--\S+) (?!-)", r"\1\0", " ".join(example.split()))  # an option stays with its value
        usage = " \\\n    ".join(textwrap.wrap(kept, 90, break_on_hyphens=False)).replace("\0", " ")
        parameters = command.get_params(command.context_class(command, info_name=name))
        rows = [_row(parameter) for parameter in parameters if parameter.name != "help"]
        table = "\n".join(["| argument or option | by default | what it is |", "|---|---|---|", *rows])
        parts.append(f"## {name}\n\n{about.strip()}\n\n```sh\n{usage}\n```\n\n{table}\n")
    return "\n".join(parts)


def _row(parameter: Any) -> str:
    option = parameter.param_type_name == "option"
    name = ", ".join(parameter.opts) if option else parameter.name.upper()
    plain = parameter.default is None or isinstance(parameter.default, bool) or callable(parameter.default)
    default = "" if plain or parameter.required or parameter.default == "" else f"`{parameter.default}`"
    about = html.escape(getattr(parameter, "help", None) or "").replace("|", "\\|")
    return f"| `{name}` | {default} | {about} |"


if __name__ == "__main__":
    prepare(Path(sys.argv[1]) if len(sys.argv) > 1 else PREPARED)

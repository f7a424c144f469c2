"""What the site adds to the Markdown files, which also stand on their own: a few small hooks of mkdocs.

- The pages of `benchmarks` and `examples` become pages of the site, with figures and scripts, from the one place where
  they are kept.
- A picture of docs/pictures, an image in the Markdown, is put into the page, so that its colors follow the page's
  scheme and its text is the page's own; the image's alternative text becomes its label.
- The page of the command line is filled from the commands themselves.
- Pages that are wide, or alone in their section, go without a side bar.
"""

import html
import re
from pathlib import Path
from typing import Any

import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PICTURE = re.compile(
    r'(?:<p>\s*)?<img alt="(?P<words>[^"]*)" src="[^"]*?pictures/(?P<name>[\w-]+)\.svg"\s*/?>(?:\s*</p>)?'
)
COMMANDS = "<!-- commands -->"
HIDDEN = {  # wide tables and code, or no other page in the section
    "theory.md": ["toc"],
    "practical.md": ["toc"],
    "benchmarks/README.md": ["toc"],
    "examples/README.md": ["toc"],
    "which-risk-measure.md": ["navigation"],
}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the benchmarks, their figures and the examples."""
    for folder in ("benchmarks", "examples"):
        for place in sorted(place for kind in ("*.md", "*.svg") for place in (ROOT / folder).glob(kind)):
            files.append(File.generated(config, f"{folder}/{place.name}", abs_src_path=str(place)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links that hold in the repository into links that hold in the site, and list the commands."""
    del config, files
    page.meta.setdefault("hide", HIDDEN.get(page.file.src_uri, []))
    if page.file.src_uri == "examples/README.md":
        markdown = with_scripts(markdown)
    if page.file.src_uri.startswith(("benchmarks/", "examples/")):
        return markdown.replace("](../docs/", "](../")
    if COMMANDS in markdown:
        markdown = markdown.replace(COMMANDS, commands())
    return re.sub(r"\]\(\.\./((?:\.\./)?(?:benchmarks|examples)/)", r"](\1", markdown)


def on_page_content(content: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put pictures into the page."""
    del page, config, files
    return PICTURE.sub(_drawn, content)


def _drawn(found: re.Match[str]) -> str:
    text = (ROOT / "docs" / "pictures" / f"{found['name']}.svg").read_text(encoding="utf-8")
    text = re.sub(r"<style>.*?</style>\s*|<desc>.*?</desc>\s*", "", text[text.index("<svg") :], flags=re.S)
    text = re.sub(r"<svg [^>]*?(viewBox=\"[^\"]*\")[^>]*>", r'<svg \1 aria-hidden="true">', text, count=1)
    return f'<figure class="picture" role="img" aria-label="{found["words"]}">{text}</figure>'


def with_scripts(markdown: str) -> str:
    """Put the scripts below the list of examples, and point the list there."""
    for place in sorted((ROOT / "examples").glob("*.py")):
        markdown = markdown.replace(f"]({place.name})", f"](#{place.stem})")
        source = place.read_text(encoding="utf-8")
        markdown += f"\n## {place.name} {{#{place.stem}}}\n\n```python\n{source}```\n"
    return markdown


def commands() -> str:
    """Describe every command: what it does, its example, its arguments and options."""
    from riskgrad.cli import app  # noqa: PLC0415 - only this page needs it

    group: Any = typer.main.get_command(app)
    parts: list[str] = []
    for name in group.list_commands(None):
        command = group.commands[name]
        about, _, example = (command.help or "").partition("Example:")
        usage = " ".join(example.split())
        rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
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

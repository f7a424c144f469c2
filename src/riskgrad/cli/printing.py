"""How the commands print: sentences that break between words, tables that fit the terminal, and JSON.

A table whose columns do not fit is printed as a list, a row after the other, so that even on a terminal of 40 columns
nothing is cut off and no word is broken. Piped output is not wrapped.
"""

import json
import math
import textwrap
from collections.abc import Collection, Sequence
from typing import Any, cast

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from riskgrad.errors import as_printable
from riskgrad.markup import as_plain

console = Console(highlight=False)

BESIDE = 52  # columns that framed help needs beside the longest option
LEAST_PROSE = 24  # fewest columns of a cell of words


def say(words: str, where: Console = console, indent: int = 0, style: str = "") -> None:
    """Print sentences; on a terminal lines are broken at blanks only, so that a path stays whole.

    Args:
        words: a line or several.
        where: the console to print to.
        indent: blanks before every line; where a line is broken, the rest is indented like its beginning.
        style: the style of the letters, such as "bold".
    """
    for line in words.split("\n"):
        first = " " * (indent + len(line) - len(line.lstrip()))
        wide = where.width if where.is_terminal else len(first) + len(line) + 1
        parts = textwrap.wrap(
            as_plain(as_printable(line.strip())),
            wide,
            initial_indent=first,
            subsequent_indent=first,
            break_long_words=False,
            break_on_hyphens=False,
        )
        where.print(Text("\n".join(parts), style=style), soft_wrap=True)


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[str] = (),
    prose: Collection[str] = (),
) -> None:
    """Print a table, or a list where the terminal is too narrow for it.

    Args:
        title: the title.
        columns: the headings of the columns.
        rows: the cells of each row; the first one names the row.
        numbers: the columns that are aligned on the right.
        prose: the columns whose words may take several lines; in a list, the last column has no heading if it is one.
    """
    table = Table(title=Text(as_printable(title), style="table.title"), title_justify="left")
    cells = [[Text(as_plain(as_printable(cell))) for cell in row] for row in rows]
    for place, column in enumerate(columns):
        wide, side = column in prose, "right" if column in numbers else "left"
        whole = max([cell_len(column), *(row[place].cell_len for row in cells)])  # else rich cuts cells off
        table.add_column(column, justify=side, no_wrap=not wide, min_width=LEAST_PROSE if wide else whole)
    for row in cells:
        table.add_row(*row)
    if Measurement.get(console, console.options.update(max_width=10_000), table).minimum <= console.width:
        console.print(table)
        return
    say(f"{title}:")
    told = columns[-1] if columns[-1] in prose else ""  # a last column of sentences needs no heading
    named = [column for column in columns[1:] if column != told]
    width = max(map(len, named), default=0)
    for row in rows:
        say(row[0], style="bold")
        for column, cell in zip(columns[1:], row[1:], strict=True):
            if cell:
                say(f"{column:{width}}  {cell}" if column in named else cell, indent=2)


def has_room(command: Any, context: Any) -> bool:
    """Say whether the terminal has room for the help of a command in frames, with no option cut off."""
    names = [" ".join((*option.opts, *option.secondary_opts)) for option in command.get_params(context)]
    return console.width >= BESIDE + max(map(len, names), default=0)


def print_help(command: Any, context: Any) -> None:
    """Print the help of a command for a narrow terminal: each option on its own line, with its meaning below."""
    for line in (*command.get_usage(context).splitlines(), "", command.help or "", ""):
        say(line)
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if record is not None:
            say(record[0], style="bold")
            say(record[1], indent=2)
    names = command.list_commands(context) if hasattr(command, "list_commands") else ()
    for name in names:
        say(name, style="bold")
        say(command.get_command(context, name).get_short_help_str(limit=400), indent=2)


def print_json(data: Any) -> None:
    """Print strict JSON; a number that is not finite, such as a bound that overflows, becomes null."""
    console.print_json(json.dumps(_without_infinity(data), allow_nan=False))


def _without_infinity(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {name: _without_infinity(value) for name, value in cast("dict[str, Any]", data).items()}
    if isinstance(data, list | tuple):
        return [_without_infinity(value) for value in cast("list[Any]", data)]
    return data

"""What notebooks and `print` show of a value: small tables, in HTML with everything escaped and in plain text."""

import html
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TableOfText:
    """A table whose cells are text.

    Attributes:
        title: what it shows.
        header: names of the columns.
        rows: a cell for each column; the first one names the row.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def html_table(
    rows: Sequence[Sequence[str]], *, title: str = "", header: Sequence[str] = (), notes: Sequence[str] = ()
) -> str:
    """Give a table as HTML.

    Args:
        rows: rows of text; the first cell of a row is its name.
        title: above the table.
        header: names of the columns.
        notes: below the table, a line each.
    """
    caption = f"<caption>{html.escape(title)}</caption>" if title else ""
    head = "<thead><tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in header) + "</tr></thead>"
    cells = ["".join(f"<td>{html.escape(text)}</td>" for text in row[1:]) for row in rows]
    body = "".join(f"<tr><th>{html.escape(row[0])}</th>{rest}</tr>" for row, rest in zip(rows, cells, strict=True))
    below = "".join(f"<div>{html.escape(note)}</div>" for note in notes)
    return f"<table>{caption}{head if header else ''}<tbody>{body}</tbody></table>{below}"


def text_table(rows: Sequence[Sequence[str]], *, title: str, header: Sequence[str]) -> str:
    """Give a table as text, its columns separated by two blanks.

    Args:
        rows: rows of text.
        title: above the table.
        header: names of the columns.
    """
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    written = ["  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines]
    return as_plain("\n".join([title, "", *(line.rstrip() for line in written)]))


def as_plain(text: str) -> str:
    """Give a text with the minus signs of the keyboard, so that its numbers can be copied into a program."""
    return text.replace("\N{MINUS SIGN}", "-")

"""What notebooks show of a value: small tables of text, in which everything is escaped."""

import html
from collections.abc import Sequence


def html_table(
    rows: Sequence[Sequence[str]], *, title: str = "", header: Sequence[str] = (), notes: Sequence[str] = ()
) -> str:
    """Give a table as HTML.

    Args:
        rows: of text; the first cell of a row is its name.
        title: above the table.
        header: names of the columns.
        notes: below the table, a line each.
    """
    caption = f"<caption>{html.escape(title)}</caption>" if title else ""
    head = "<thead><tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in header) + "</tr></thead>"
    body = "".join(f"<tr><th>{html.escape(row[0])}</th>{_cells(row[1:])}</tr>" for row in rows)
    below = "".join(f"<div>{html.escape(note)}</div>" for note in notes)
    return f"<table>{caption}{head if header else ''}<tbody>{body}</tbody></table>{below}"


def _cells(texts: Sequence[str]) -> str:
    return "".join(f"<td>{html.escape(text)}</td>" for text in texts)

"""The table of an evaluation: one row per risk measure, for reading in a terminal and for JSON."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import check_count, check_range
from riskgrad.errors import InputError, UnknownNameError
from riskgrad.evaluation.bootstrap import RESAMPLES, bootstrap_intervals
from riskgrad.evaluation.certified import certified_intervals
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.markup import html_table
from riskgrad.risk import RiskMeasure, parse
from riskgrad.risk.sample import check_sample

HEADER = ("risk", "  value", "  certified", "", "  bootstrap", "")
ALIGNED = "<>><><"
MOST_DECIMALS = 8
MOST_DIGITS_OF_VALUE = 6


@checks_calls
@dataclass(frozen=True)
class Row:
    """What an evaluation says about one risk measure.

    Attributes:
        risk: the measure, as `rg.risk.parse` reads it.
        value: the estimate from all episodes.
        certified: (low, high) that holds for any law of the return, or None.
        reason: why there is no certified interval; None where there is one.
        bootstrap: (low, high) by resampling, right for many episodes.
        flag: why the bootstrap interval should not be relied on; None where it may be.
    """

    risk: str
    value: float
    certified: tuple[float, float] | None
    reason: str | None
    bootstrap: tuple[float, float]
    flag: str | None


@checks_calls
@dataclass(frozen=True)
class Table:
    """The rows of an evaluation, and what they rest on.

    All certified intervals of a table come from one band around the law: they hold together with the confidence.

    Attributes:
        rows: one per risk measure, in the order asked for.
        episodes: how many fresh episodes were sampled.
        confidence: of each interval.
        return_range: bounds of every possible return that were used, or None.
        seed: of the episodes and of the resamples.
    """

    rows: tuple[Row, ...]
    episodes: int
    confidence: float
    return_range: tuple[float, float] | None
    seed: int

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: int | str) -> Row:
        """Give the row of an index, or of a risk measure's name."""
        if isinstance(key, str):
            found = [row for row in self.rows if row.risk == key]
            if not found:
                raise UnknownNameError("row", key, [row.risk for row in self.rows])
            return found[0]
        return self.rows[key]

    def as_dict(self) -> dict[str, Any]:
        """Give everything as plain lists, numbers and strings, ready for JSON."""
        plain = asdict(self)
        for row in plain["rows"]:
            row["certified"] = None if row["certified"] is None else list(row["certified"])
            row["bootstrap"] = list(row["bootstrap"])
        plain["rows"] = list(plain["rows"])
        plain["return_range"] = None if self.return_range is None else list(self.return_range)
        return plain

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """Write the table for a terminal; where it is wider than `width`, as a list, a measure after the other."""
        notes: list[str] = []
        cells = [HEADER, *(_cells(row, notes) for row in self.rows)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(HEADER))]
        # marks stand in columns of their own, so that intervals end in line
        lines = [
            "".join(f"{cell:{side}{width}}" for cell, side, width in zip(line, ALIGNED, widths, strict=True)).rstrip()
            for line in cells
        ]
        if width is not None and max(map(len, lines)) > width:
            lines = [line for row in cells[1:] for line in _list_cells(row)]
        title = f"{self.episodes:,} episodes, intervals at {100.0 * self.confidence:g}% confidence"
        footnotes = [f"({number}) {note}" for number, note in enumerate(notes, start=1)]
        return "\n".join([title, "", *lines, *([""] if footnotes else []), *footnotes])

    def _repr_html_(self) -> str:
        notes: list[str] = []
        cells = [[cell.strip() for cell in _cells(row, notes)] for row in self.rows]
        rows = [(risk, value, f"{sure} {one}", f"{likely} {two}") for risk, value, sure, one, likely, two in cells]
        title = f"{self.episodes:,} episodes, intervals at {100.0 * self.confidence:g}% confidence"
        footnotes = [f"({number}) {note}" for number, note in enumerate(notes, start=1)]
        return html_table(rows, title=title, header=("risk", "value", "certified", "bootstrap"), notes=footnotes)


def _cells(row: Row, notes: list[str]) -> tuple[str, ...]:
    decimals = _decimals(row)
    return (
        row.risk,
        f"  {row.value:.{decimals}f}",
        "  none" if row.certified is None else f"  {_interval(row.certified, decimals)}",
        _mark(row.reason and f"no certified interval: {row.reason}", notes),
        f"  {_interval(row.bootstrap, decimals)}",
        _mark(row.flag and f"unreliable: {row.flag}", notes),
    )


def _list_cells(cells: tuple[str, ...]) -> list[str]:
    """Write the cells of a row below each other."""
    risk, value, certified, why, bootstrap, flag = cells
    return [f"{risk}{value}", f"  certified{certified}{why}", f"  bootstrap{bootstrap}{flag}"]


def _mark(note: str | None, notes: list[str]) -> str:
    """Give the number of a footnote, which rows with the same note share; add the note where it is new."""
    if not note:
        return ""
    if note not in notes:
        notes.append(note)
    return f" ({notes.index(note) + 1})"


def _decimals(row: Row) -> int:
    """Count decimals: two digits of the shorter interval's width, at most six of the value; three of points."""
    widths = [high - low for low, high in (row.bootstrap, row.certified or row.bootstrap) if high > low]
    scale, digits = (min(widths), 2) if widths else (abs(row.value), 3)
    if scale == 0.0:
        return 1
    most = MOST_DIGITS_OF_VALUE - 1 - math.floor(math.log10(abs(row.value))) if row.value else MOST_DECIMALS
    return max(0, min(digits - 1 - math.floor(math.log10(scale)), most, MOST_DECIMALS))


def _interval(ends: tuple[float, float], decimals: int) -> str:
    return f"[{ends[0]:.{decimals}f}, {ends[1]:.{decimals}f}]"


@checks_kinds
def table_of_returns(
    values: ArrayLike,
    measures: Sequence[RiskMeasure | str],
    return_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Table:
    """Give the table for returns that are at hand.

    Args:
        values: returns of independent episodes [m].
        measures: the risk measures, or their names.
        return_range: bounds (low, high) of every possible return, or None.
        confidence: of each interval, in (0, 1).
        seed: of the resamples.
        resamples: how many resamples the bootstrap draws; with 1,000 an end is uncertain by 3% of the width.
    """
    if not (isinstance(confidence, int | float) and 0.0 < confidence < 1.0):
        raise InputError("confidence", "be in (0, 1)", confidence, "0.95 is usual")
    if isinstance(measures, str) or not isinstance(measures, Iterable):
        raise InputError("measures", "be a list of risk measures", measures)
    found, count = [parse(measure) for measure in measures], check_count("resamples", resamples)
    if not found:
        raise InputError("measures", "be at least one risk measure", measures)
    returns = check_sample(values, None).values
    if returns.ndim != 1:
        raise InputError("values", "be one vector of returns [m]", f"shape {returns.shape}")
    ordered = np.sort(returns)  # once, for all that follows
    bounds = None if return_range is None else check_range("return_range", return_range)
    certified = certified_intervals(ordered, found, bounds, confidence)
    estimates = [float(measure.estimate(ordered)) for measure in found]
    bootstrap = bootstrap_intervals(ordered, found, bounds, confidence, estimates=estimates, seed=seed, resamples=count)
    rows = tuple(
        Row(str(measure), value, exact.interval, exact.reason, resampled.interval, resampled.flag)
        for measure, value, exact, resampled in zip(found, estimates, certified, bootstrap, strict=True)
    )
    return Table(rows, len(returns), float(confidence), bounds, seed)

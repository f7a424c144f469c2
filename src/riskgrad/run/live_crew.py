"""What several trainings show while they run: one bar for all, and one for each that is under way."""

import importlib
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, Self

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from rich.table import Column

from riskgrad.run.live import (
    NARROW,
    ROOMY,
    SECONDS,
    bar_columns,
    find_budget,
    find_console,
    fit_words,
    write_bar,
    write_number,
)
from riskgrad.types import Line

ProgressCallback = Callable[[str, Line | None], None]
Watch = Callable[[int], AbstractContextManager[ProgressCallback | None]]

ALL = "trainings"
LONG = 24  # columns of a label where a terminal has room


class UnderWay(NamedTuple):
    """How far one training is, and numbers with their names."""

    done: int
    words: str


class CrewScreen(Protocol):
    """Where several trainings are shown."""

    def start(self) -> None:
        """Begin to show."""
        ...

    def show(self, rows: Mapping[str, UnderWay], ended: int, last: str | None) -> None:
        """Show the trainings under way, and how many ended; `last` is the label of one that just ended."""
        ...

    def stop(self) -> None:
        """Show the last state."""
        ...


class TerminalBars:
    """Bars that are redrawn in place; see `CrewScreen`.

    Numbers that do not fit beside the longest label are left out, from the right.
    """

    def __init__(self, console: Console, count: int, total: int) -> None:
        self._console, self._width, self._total = console, 2 * len(str(max(count, total))) + 1, total
        roomy, timed = console.width >= ROOMY, console.width >= NARROW
        self._least, self._clock = LONG if roomy else 0, len("0:00:00 ") if timed else 0
        self._bar = Progress(
            TextColumn(f"{{task.description:{self._least or ''}}}", table_column=Column(overflow="fold")),
            *bar_columns(console),
            TextColumn("{task.fields[words]}", table_column=Column(no_wrap=True)),
            *((TimeElapsedColumn(),) if timed else ()),
            console=console,
        )
        self._all = self._bar.add_task(ALL, total=count, words="")
        self._tasks: dict[str, Any] = {}

    def start(self) -> None:
        """Draw them."""
        self._bar.start()

    def show(self, rows: Mapping[str, UnderWay], ended: int, last: str | None) -> None:
        """Redraw them; a longer label takes room from the numbers of every row."""
        del last
        for label in self._tasks.keys() - rows.keys():
            self._bar.remove_task(self._tasks.pop(label))
        taken = max([self._least, *map(len, (ALL, *rows))]) + 1 + self._width + 1 + self._clock
        for label, row in rows.items():
            if label not in self._tasks:
                self._tasks[label] = self._bar.add_task(label, total=self._total, words="")
            words = fit_words(row.words, self._console, taken)
            self._bar.update(self._tasks[label], completed=row.done, words=words)
        self._bar.update(self._all, completed=ended)

    def stop(self) -> None:
        """Draw them for the last time."""
        self._bar.stop()


class NotebookBars:
    """Bars in the output of a notebook's cell, redrawn at most every 0.1 seconds; see `CrewScreen`."""

    def __init__(self, count: int, total: int) -> None:
        self._count, self._total = count, total
        self._rows: dict[str, UnderWay] = {}
        self._ended, self._drawn = 0, 0.0
        self._handle: Any = None

    def start(self) -> None:
        """Draw them in an output of their own, which later calls update."""
        screen: Any = importlib.import_module("IPython.display")  # a notebook has it, and nothing else needs it
        self._handle = screen.display(self, display_id=True)

    def show(self, rows: Mapping[str, UnderWay], ended: int, last: str | None) -> None:
        """Redraw them."""
        del last
        self._rows, self._ended = dict(rows), ended
        if time.monotonic() - self._drawn >= SECONDS:
            self.stop()

    def stop(self) -> None:
        """Draw them."""
        self._drawn = time.monotonic()
        if self._handle is not None:
            self._handle.update(self)

    def _repr_html_(self) -> str:
        each = (write_bar(label, row.done, self._total, row.words) for label, row in self._rows.items())
        return write_bar(ALL, self._ended, self._count, "") + "".join(each)

    def __repr__(self) -> str:
        return f"{ALL} {self._ended:,}/{self._count:,}"


class EndedLines:
    """A line for each training that ended; see `CrewScreen`."""

    def __init__(self, console: Console, count: int) -> None:
        self._console, self._count = console, count

    def start(self) -> None:
        """Write nothing yet."""

    def show(self, rows: Mapping[str, UnderWay], ended: int, last: str | None) -> None:
        """Write a line if a training just ended."""
        del rows
        if last is not None:
            self._console.print(f"trained {last} ({ended}/{self._count})", soft_wrap=True)

    def stop(self) -> None:
        """Write nothing more."""


class LiveCrew:
    """Shows several trainings; use it as a context manager, and call it with news.

    Args:
        console: where to show.
        count: how many trainings there are.
        training: the options of each, as for `rg.train`, of which the budget counts.
    """

    def __init__(self, console: Console, count: int, training: Mapping[str, Any]) -> None:
        total, self._by_episodes = find_budget(training)
        self._ended, self._rows = 0, dict[str, UnderWay]()
        self._screen: CrewScreen
        if console.is_jupyter:
            self._screen = NotebookBars(count, total)
        else:
            self._screen = TerminalBars(console, count, total) if console.is_terminal else EndedLines(console, count)

    def __enter__(self) -> Self:
        self._screen.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._screen.stop()

    def __call__(self, label: str, line: dict[str, Any] | None) -> None:
        """Show a line of the record of one training; None says that this training ended."""
        if line is None:
            self._ended += 1
            self._rows.pop(label, None)
        else:
            words = f"risk {write_number(line.get('risk'))}  mean {write_number(line.get('mean'))}"
            done = int(line["episodes"]) if self._by_episodes else int(line["iteration"]) + 1
            self._rows[label] = UnderWay(done, words)
        self._screen.show(self._rows, self._ended, label if line is None else None)


def watch_crew(wanted: bool | Literal["auto"], training: Mapping[str, Any]) -> Watch:
    """Give a function of the number of trainings, whose context shows them, as `rg.train` shows a single one.

    Args:
        wanted: True, False or "auto", as `progress` of `rg.train`.
        training: the options of each, as for `rg.train`.
    """

    def watch(count: int) -> AbstractContextManager[ProgressCallback | None]:
        console = find_console(wanted)
        return nullcontext() if console is None else LiveCrew(console, count, training)

    return watch

"""What training shows while it runs: a bar on a terminal or in a notebook, plain lines when piped.

`rg.train(..., progress=...)` and the command line show the same. While kernels are compiled, the display says so: the
first run on a machine compiles for seconds, later ones read the compiled kernels from the disk.
"""

import contextlib
import html
import importlib
import multiprocessing
import sys
import threading
import time
from collections.abc import Generator, Mapping
from types import TracebackType
from typing import Any, Final, Literal, Protocol, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from riskgrad.run.callbacks import Callback
from riskgrad.settings import Options, TrainOptions, default_of, facts_of
from riskgrad.types import FloatArray

LINES: Final = 10  # plain lines of a piped run, at most
SECONDS: Final = 0.1  # between two updates in a notebook, at least
COMPILING: Final = "compiling, once per machine"
ROOMY: Final = 100  # columns from which on a terminal has room for all numbers beside a long bar
NARROW: Final = 50  # columns below which a terminal has no room for a bar


class Screen(Protocol):
    """Where a training is shown."""

    def start(self) -> None:
        """Begin to show."""
        ...

    def show(self, done: int, words: str) -> None:
        """Show how many units are done, and numbers with their names."""
        ...

    def wait(self) -> None:
        """Show that a kernel is being compiled; called once for each."""
        ...

    def stop(self, *, whole: bool) -> None:
        """Show the last state; `whole` says that the training came to its end without an error."""
        ...


class TerminalBar:
    """A bar that is redrawn in place; see `Screen`.

    On a narrow terminal the bar is shortened first; then numbers that do not fit are left out, from the right.
    """

    def __init__(self, console: Console, label: str, total: int) -> None:
        self._bar = Progress(
            SpinnerColumn(finished_text=""),
            TextColumn("{task.description}"),
            *bar_columns(console),
            TextColumn("{task.fields[words]}", table_column=Column(no_wrap=True)),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            console=console,
        )
        self._task = self._bar.add_task(label, total=total, words="")
        self._console, self._taken = console, len(f"* {label} {total}/{total} 0:00:00 ")
        self._compiled = 0

    def start(self) -> None:
        """Draw it."""
        self._bar.start()

    def show(self, done: int, words: str) -> None:
        """Redraw it."""
        self._bar.update(self._task, completed=done, words=fit_words(words, self._console, self._taken))

    def wait(self) -> None:
        """Say what is waited for in the place of numbers, and count."""
        self._compiled += 1
        words = f"{COMPILING}: {self._compiled} functions"
        short = f"compiling {self._compiled}"
        self._bar.update(self._task, words=fit_words(words, self._console, self._taken) or short)

    def stop(self, *, whole: bool) -> None:
        """Draw it for the last time; a bar that never moved, as when the training was refused, is erased.

        A training that came to its end has a full bar, although the last episodes of its budget are in no iteration,
        but judge the policy.
        """
        done = self._bar.tasks[0].completed
        if whole and done:
            self._bar.update(self._task, total=done)
        self._bar.live.transient = not done
        self._bar.stop()


class NotebookBar:
    """A bar in the output of a notebook's cell; see `Screen`."""

    def __init__(self, label: str, total: int) -> None:
        self._label, self._total = label, total
        self._done, self._words, self._drawn, self._compiled = 0, "", 0.0, 0
        self._handle: Any = None

    def start(self) -> None:
        """Draw it in an output of its own, which later calls update."""
        screen: Any = importlib.import_module("IPython.display")  # a notebook has it, and nothing else needs it
        self._handle = screen.display(self, display_id=True)

    def show(self, done: int, words: str) -> None:
        """Redraw it, but at most every 0.1 seconds."""
        self._done, self._words = done, words
        if time.monotonic() - self._drawn >= SECONDS:
            self._draw()

    def wait(self) -> None:
        """Say what is waited for in the place of numbers, and count."""
        self._compiled += 1
        self._words = f"{COMPILING}: {self._compiled} functions"
        self._draw()

    def stop(self, *, whole: bool) -> None:
        """Draw it for the last time."""
        self._total = self._done if whole and self._done else self._total
        self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        if self._handle is not None:
            self._handle.update(self)

    def _repr_html_(self) -> str:
        return write_bar(self._label, self._done, self._total, self._words)

    def __repr__(self) -> str:
        return f"{self._label} {self._done:,}/{self._total:,}  {self._words}"


def write_bar(label: str, done: int, total: int, words: str) -> str:
    """Write a bar of a notebook, with its label and numbers, as HTML."""
    bar = f'<progress max="{total}" value="{min(done, total)}"></progress>'
    text = html.escape(f"{done:,}/{total:,}  {words}")
    return f"<div><code>{html.escape(label)}</code> {bar} <code>{text}</code></div>"


class PlainLines:
    """A few lines of text; see `Screen`."""

    def __init__(self, console: Console, label: str, total: int) -> None:
        self._console, self._label, self._total = console, label, total
        self._shown, self._waited = 0, False

    def start(self) -> None:
        """Write nothing yet."""

    def show(self, done: int, words: str) -> None:
        """Write a line at every tenth of the way."""
        if done * LINES // self._total > self._shown:
            self._shown = done * LINES // self._total
            self._console.print(f"{self._label} {done:,}/{self._total:,}  {words}", soft_wrap=True)

    def wait(self) -> None:
        """Write once that kernels are compiled."""
        if not self._waited:
            self._console.print(f"{self._label} {COMPILING}", soft_wrap=True)
        self._waited = True

    def stop(self, *, whole: bool) -> None:
        """Write nothing more."""
        del whole


class Live:
    """A callback for `rg.train` that shows each iteration; use it as a context manager.

    Args:
        console: where to show.
        iterations: how many iterations are to come; None for as many as `rg.train` takes by default.
        label: what is being trained.
        max_episodes: the budget in episodes, by which progress is then counted; None to count iterations.
    """

    def __init__(self, console: Console, iterations: int | None, label: str, max_episodes: int | None = None) -> None:
        total, self._by_episodes = find_budget({"iterations": iterations, "max_episodes": max_episodes})
        self._piped = not (console.is_jupyter or console.is_terminal)
        self._screen: Screen
        if console.is_jupyter:
            self._screen = NotebookBar(label, total)
        else:
            self._screen = (PlainLines if self._piped else TerminalBar)(console, label, total)
        self._began = time.monotonic()
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self._screen.start()
        from riskgrad.kernels.compiling import watch_compiling  # noqa: PLC0415 - imports numba: show the bar before

        self._open.enter_context(watch_compiling(self._screen.wait))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        self._screen.stop(whole=kind is None)

    def __call__(self, line: dict[str, Any], theta: FloatArray) -> None:
        """Show one line of the record."""
        del theta
        episodes = int(line["episodes"])
        rate = episodes / max(time.monotonic() - self._began, 1e-9)
        risk, mean, norm = (write_number(line.get(name)) for name in ("risk", "mean", "gradient_norm"))
        # piped output shows no speed, so that it is the same whenever the run is repeated
        work = f"episodes {episodes:,}" if self._piped else f"{rate:,.0f} episodes/s"
        words = f"risk {risk}  mean {mean}  |grad| {norm}  {work}"
        self._screen.show(episodes if self._by_episodes else int(line["iteration"]) + 1, words)


def find_budget(options: Mapping[str, Any]) -> tuple[int, bool]:
    """Give how much a training with these options has to do, and whether that is in episodes, not in iterations."""
    episodes, iterations = options.get("max_episodes"), options.get("iterations")
    usual = default_of(facts_of(Options)["iterations"], "practical")
    return episodes or iterations or usual, episodes is not None


@contextlib.contextmanager
def show_progress(options: TrainOptions, label: str) -> Generator[list[Callback]]:
    """Show a training as its options ask; yield the callbacks of each iteration: the user's, and the display.

    With "auto" it is shown on a terminal and in a notebook, but not when piped, in a worker process or in a thread.
    """
    given, console = options.callback, find_console(options.progress)
    callbacks: list[Callback] = [] if given is None else [given] if callable(given) else [*given]
    if console is None:
        yield callbacks
        return
    with Live(console, options.iterations, label, options.max_episodes) as live:
        yield [*callbacks, live]


def find_console(wanted: bool | Literal["auto"]) -> Console | None:
    """Give where progress is shown; None if it is not shown. See `show_progress`."""
    console = Console(stderr=True, highlight=False) if wanted and sys.stderr is not None else None
    return None if console is None or (wanted == "auto" and not _is_watched(console)) else console


def _is_watched(console: Console) -> bool:
    """Say whether the output of this process is shown to a user."""
    alone = multiprocessing.parent_process() is None and threading.current_thread() is threading.main_thread()
    return alone and (console.is_jupyter or console.is_terminal)


def bar_columns(console: Console) -> tuple[ProgressColumn, ...]:
    """Give the columns that show how far a training is: a bar, where there is room for one, and a count."""
    width = bar_width(console)
    return (*((BarColumn(bar_width=width),) if width else ()), MofNCompleteColumn())


def fit_words(words: str, console: Console, taken: int) -> str:
    """Leave out, from the right, the words that do not fit beside the bar and the columns already taken.

    Args:
        words: numbers with their names, separated by two blanks.
        console: where they are shown.
        taken: columns that all but the bar and the words need, blanks between them included.
    """
    width = bar_width(console)
    room = console.width - taken - (width + 1 if width else 0)
    parts = words.split("  ")
    while parts and len("  ".join(parts)) > room:
        parts.pop()
    return "  ".join(parts)


def bar_width(console: Console) -> int:
    """Give how long a bar may be; 0 where there is no room for one."""
    return 24 if console.width >= ROOMY else 8 if console.width >= NARROW else 0


def write_number(value: float | None) -> str:
    """Write a number of the record."""
    return "-" if value is None else f"{value:.4g}"

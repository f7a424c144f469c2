"""What training shows while it runs: a progress bar on a terminal, plain lines when piped."""

import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from riskgrad.settings import Options, default_of, facts_of
from riskgrad.types import FloatArray

LINES = 10  # plain lines of a piped run, about


class Live:
    """A callback for `rg.train` that shows each iteration; use it as a context manager.

    Args:
        console: where to show.
        iterations: how many iterations are to come; None for as many as `rg.train` takes by default.
        label: what is being trained.
        max_episodes: the budget in episodes instead, where that is what was given.
    """

    def __init__(self, console: Console, iterations: int | None, label: str, max_episodes: int | None = None) -> None:
        self._console, self._label = console, label
        self._unit = "iteration" if max_episodes is None else "episodes"
        self._total = max_episodes or iterations or default_of(facts_of(Options)["iterations"], "practical")
        self._shown = 0
        self._began = time.monotonic()
        self._bar: Progress | None = None
        if console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("risk {task.fields[risk]}  mean {task.fields[mean]}  |grad| {task.fields[norm]}"),
                TextColumn("{task.fields[rate]} episodes/s"),
                TimeRemainingColumn(compact=True),
                console=console,
            )
            self._task = self._bar.add_task(label, total=self._total, risk="-", mean="-", norm="-", rate="-")

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, line: dict[str, Any], theta: FloatArray) -> None:
        """Show one line of the record."""
        del theta
        done = int(line["episodes"]) if self._unit == "episodes" else int(line["iteration"]) + 1
        rate = int(line["episodes"]) / max(time.monotonic() - self._began, 1e-9)
        risk, mean, norm = (_number(line.get(name)) for name in ("risk", "mean", "gradient_norm"))
        if self._bar is not None:
            self._bar.update(self._task, completed=done, risk=risk, mean=mean, norm=norm, rate=f"{rate:,.0f}")
        elif done * LINES // self._total > self._shown:
            self._shown = done * LINES // self._total
            words = f"risk {risk}  mean {mean}  |grad| {norm}  episodes {line['episodes']:,}"
            self._console.print(f"{self._label} {done:,}/{self._total:,}  {words}", soft_wrap=True)


class LiveFamily:
    """What a family of trainings shows: a bar for each that is under way, one for all; use it as a context manager.

    Args:
        console: where to show.
        count: how many trainings there are.
        iterations: of each.
    """

    def __init__(self, console: Console, count: int, iterations: int) -> None:
        self._console, self._count, self._iterations = console, count, iterations
        self._done = 0
        self._tasks: dict[str, Any] = {}
        self._bar: Progress | None = None
        if console.is_terminal:
            columns = (TextColumn("{task.description:24}"), BarColumn(bar_width=24), MofNCompleteColumn())
            self._bar = Progress(*columns, TextColumn("{task.fields[words]}"), TimeElapsedColumn(), console=console)
            self._all = self._bar.add_task("trainings", total=count, words="")

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, label: str, line: dict[str, Any] | None) -> None:
        """Show news of one training; None is its end."""
        self._done += line is None
        if self._bar is None:
            if line is None:
                self._console.print(f"trained {label} ({self._done}/{self._count})", soft_wrap=True)
            return
        if label not in self._tasks:
            self._tasks[label] = self._bar.add_task(label, total=self._iterations, words="")
        if line is None:
            self._bar.remove_task(self._tasks[label])
            self._bar.update(self._all, completed=self._done)
            return
        words = f"risk {_number(line.get('risk'))}  mean {_number(line.get('mean'))}"
        self._bar.update(self._tasks[label], completed=int(line["iteration"]) + 1, words=words)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"

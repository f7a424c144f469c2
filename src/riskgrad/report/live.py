"""What training shows while it runs: a progress bar on a terminal, plain lines when piped."""

import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from riskgrad.types import FloatArray

LINES = 10  # plain lines of a piped run, about


class Live:
    """A callback for `rg.train` that shows each iteration; use it as a context manager.

    Args:
        console: where to show.
        iterations: how many iterations are to come, where known.
        label: what is being trained.
    """

    def __init__(self, console: Console, iterations: int, label: str) -> None:
        self._console, self._iterations, self._label = console, iterations, label
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
            self._task = self._bar.add_task(label, total=iterations, risk="-", mean="-", norm="-", rate="-")

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
        done = int(line["iteration"]) + 1
        rate = int(line["episodes"]) / max(time.monotonic() - self._began, 1e-9)
        risk, mean, norm = (_number(line.get(name)) for name in ("risk", "mean", "gradient_norm"))
        if self._bar is not None:
            self._bar.update(self._task, completed=done, risk=risk, mean=mean, norm=norm, rate=f"{rate:,.0f}")
        elif done % max(1, self._iterations // LINES) == 0 or done == self._iterations:
            words = f"risk {risk}  mean {mean}  |grad| {norm}  episodes {line['episodes']:,}"
            self._console.print(f"{self._label} {done}/{self._iterations}  {words}", soft_wrap=True)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"

"""Who is told while a run goes on, and who may stop it.

A callback is called after each iteration with its line of the record and the new theta, and stops the run by returning
True. One that also has a method `returns` is given the returns of the iteration's episodes first, for histograms.

Ctrl-C and SIGTERM are noted, and the run stops after the iteration in progress. A second signal acts at once, as it
would have without riskgrad. Outside the main thread Python allows no handlers, and signals are left alone.
"""

import signal
import threading
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import Any, Protocol, Self, runtime_checkable

from riskgrad.run.store import Line
from riskgrad.types import FloatArray

Callback = Callable[[Line, FloatArray], bool | None]


@runtime_checkable
class Watcher(Protocol):
    """A callback that wants returns as well."""

    def __call__(self, line: Line, theta: FloatArray) -> bool | None:
        """See an iteration's line and the theta [d] that it led to."""
        ...

    def returns(self, values: FloatArray) -> None:
        """See the returns of the episodes of the iteration whose line comes next, as they were played, of any shape."""
        ...


def tell(
    callback: Callback | Sequence[Callback] | None, line: Line, theta: FloatArray, returns: FloatArray | None
) -> bool:
    """Call one callback or several; tell whether one of them asks the run to stop."""
    if callback is None:
        return False
    answers: list[bool] = []
    for one in [callback] if callable(callback) else callback:
        if returns is not None and isinstance(one, Watcher):
            one.returns(returns)
        answers.append(one(line, theta) is True)
    return any(answers)


class StopRequest:
    """A context in which the first Ctrl-C or SIGTERM only sets `name`."""

    def __init__(self) -> None:
        self.name = ""
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.name = signal.Signals(number).name
        self._restore()

    def _restore(self) -> None:
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, handler)

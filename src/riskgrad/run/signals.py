"""Stopping politely: Ctrl-C and SIGTERM are noted, and the run stops after the iteration in progress.

A second signal acts at once, as it would have without riskgrad. Outside the main thread Python allows no handlers, and
signals are left alone.
"""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self


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

"""Listeners to numba's compilations: one can tell the user why a call takes time, one pauses garbage collection.

Reading a kernel that was compiled before from the disk takes milliseconds and is not reported.
"""

import contextlib
import gc
import threading
from collections.abc import Callable, Generator
from typing import Any

from numba.core import event as events

COMPILING = "numba:compile"


class _StartListener(events.Listener):
    """Calls a function whenever a compilation begins."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell

    def on_start(self, event: Any) -> None:
        """Call the function."""
        del event
        self._tell()

    def on_end(self, event: Any) -> None:
        """Do nothing: only the beginning of a compilation is reported."""


class _CollectionPause(events.Listener):
    """Pauses Python's garbage collection while numba compiles.

    Numba creates millions of objects that it keeps, and the collector would traverse all of them again and again: this
    takes a twelfth of the time of a first run.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0  # compilations under way, including nested ones and those of other threads
        self._paused = False

    def on_start(self, event: Any) -> None:
        """Turn garbage collection off, if it is on, when the first of several compilations begins."""
        del event
        with self._lock:
            self._open += 1
            if self._open == 1 and gc.isenabled():
                gc.disable()
                self._paused = True

    def on_end(self, event: Any) -> None:
        """Turn garbage collection on again after the last compilation, if this listener has turned it off."""
        del event
        with self._lock:
            self._open -= 1
            if self._open == 0 and self._paused:
                gc.enable()
                self._paused = False


def pause_collecting() -> None:
    """Pause garbage collection during every compilation of this process from now on."""
    partly_typed: Any = events
    partly_typed.register(COMPILING, _CollectionPause())


@contextlib.contextmanager
def watch_compiling(tell: Callable[[], None]) -> Generator[None]:
    """Call `tell` whenever numba begins to compile something in this process, until the end of the context."""
    partly_typed: Any = events
    with partly_typed.install_listener(COMPILING, _StartListener(tell)):
        yield

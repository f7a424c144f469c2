"""What happens while kernels are compiled: the user is told why it takes time, and garbage collection is paused.

A kernel that was compiled before is read from the disk, which takes milliseconds and is not told.
"""

import contextlib
import gc
import threading
from collections.abc import Callable, Generator
from typing import Any

from numba.core import event as events

COMPILING = "numba:compile"


class _Told(events.Listener):
    """Calls a function whenever a compilation begins."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell

    def on_start(self, event: Any) -> None:
        """Tell it."""
        del event
        self._tell()

    def on_end(self, event: Any) -> None:
        """Say nothing: what was waited for says so."""


class _Collecting(events.Listener):
    """Keeps Python from looking for garbage while something is compiled.

    Numba makes millions of objects that it keeps, and Python would go through all of them again and again: a twelfth of
    the time of a first run.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0  # compilations under way: one function's within its caller's, or another thread's
        self._paused = False

    def on_start(self, event: Any) -> None:
        """Pause it, where it is on."""
        del event
        with self._lock:
            self._open += 1
            if self._open == 1 and gc.isenabled():
                gc.disable()
                self._paused = True

    def on_end(self, event: Any) -> None:
        """Go on with it after the last one."""
        del event
        with self._lock:
            self._open -= 1
            if self._open == 0 and self._paused:
                gc.enable()
                self._paused = False


def pause_collecting() -> None:
    """Look for no garbage while anything is compiled in this process, from now on."""
    partly_typed: Any = events
    partly_typed.register(COMPILING, _Collecting())


@contextlib.contextmanager
def watch_compiling(tell: Callable[[], None]) -> Generator[None]:
    """Call `tell` whenever numba begins to compile something in this process, until the end of the context."""
    partly_typed: Any = events
    with partly_typed.install_listener(COMPILING, _Told(tell)):
        yield

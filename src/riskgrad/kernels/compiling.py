"""Tells when kernels are compiled, so that whoever waits for them can be told why.

A kernel that was compiled before is read from the disk, which takes milliseconds and is not told.
"""

import contextlib
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


@contextlib.contextmanager
def watch_compiling(tell: Callable[[], None]) -> Generator[None]:
    """Call `tell` whenever numba begins to compile something in this process, until the end of the context."""
    partly_typed: Any = events
    with partly_typed.install_listener(COMPILING, _Told(tell)):
        yield

"""Callbacks: they see every iteration of a run, and may end it.

A callback is called after each iteration with its line of the record and the new theta, and ends the run by returning
True. If it also has a method `returns`, that is called first with the returns of the iteration's episodes.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from riskgrad.types import FloatArray, Line

Callback = Callable[[Line, FloatArray], bool | None]


@runtime_checkable
class Watcher(Protocol):
    """A callback that wants returns as well."""

    def __call__(self, line: Line, theta: FloatArray) -> bool | None:
        """See an iteration's line and the theta [d] that it led to."""
        ...

    def returns(self, values: FloatArray) -> None:
        """See the returns, an array of any shape, of the episodes of the iteration whose line comes next."""
        ...

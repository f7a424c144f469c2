"""Who is told while a run goes on, and may end it.

A callback is called after each iteration with its line of the record and the new theta, and ends the run by returning
True. One that also has a method `returns` is given the returns of the iteration's episodes first, for histograms.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

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
    answers: list[bool] = []
    for one in join_callbacks(callback, ()):
        if returns is not None and isinstance(one, Watcher):
            one.returns(returns)
        answers.append(one(line, theta) is True)
    return any(answers)


def join_callbacks(given: Callback | Sequence[Callback] | None, more: Sequence[Callback]) -> list[Callback]:
    """Give one callback, several or none as a list, and more after them."""
    return [*([] if given is None else [given] if callable(given) else given), *more]

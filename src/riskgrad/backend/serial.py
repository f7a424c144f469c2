"""The backend that does everything here, one task after the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Serial:
    """Do all work in this process."""

    @property
    def workers(self) -> int:
        """One task at a time."""
        return 1

    def map(self, work: Callable[[Task], Answer], tasks: Sequence[Task]) -> list[Answer]:
        """Do the work on each task, in order."""
        return [work(task) for task in tasks]

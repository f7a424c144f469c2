"""The backend that does all work in this process, one task after the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from riskgrad.backend.base import Answer, Backend, Task


@final
@dataclass(frozen=True)
class Serial(Backend):
    """Do all work in this process."""

    name = "serial"

    @property
    def workers(self) -> int:
        """How many tasks are done at once: 1."""
        return 1

    def map(self, work: Callable[[Task], Answer], tasks: Sequence[Task]) -> list[Answer]:
        """Do the work on each task in order, and give the answers."""
        return [work(task) for task in tasks]

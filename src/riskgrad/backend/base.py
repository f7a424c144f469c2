"""What a backend is: it does work on tasks, here or elsewhere, and gives the answers in their order.

Work and tasks are picklable, and no answer depends on another: any engine that can call a function elsewhere can be a
backend. A string names one: `serial`, `processes`, `processes:4`, `ray`.

To add one: a file here with a final subclass of `Backend` that says its `name`; a number after the name is `workers`.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self, TypeVar

from riskgrad.errors import InputError
from riskgrad.kernels.compile import cores
from riskgrad.kinds import checks_kinds
from riskgrad.parcels import pickle_plainly
from riskgrad.registry import PartList

Task = TypeVar("Task")
Answer = TypeVar("Answer")


class Backend(ABC):
    """What does the work: this process, others, or a cluster.

    Attributes:
        name: how a string calls it.
        ends_hung: whether it ends work that waits for an environment for too long (see `beacon`).
        elsewhere: whether other processes do all of its work, so that all of it has to be picklable.
        shares_queues: whether its workers can put into a queue of this process, and so send news while they work.
    """

    name: ClassVar[str] = ""
    ends_hung: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = False
    shares_queues: ClassVar[bool] = False

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many tasks are done at once."""

    @abstractmethod
    def map(self, work: Callable[[Task], Answer], tasks: Sequence[Task]) -> list[Answer]:
        """Do the work on each task and give the answers in the order of the tasks; the first error is raised."""

    @property
    def sends_work(self) -> bool:
        """Whether work is sent to other processes now, and has to be picklable."""
        return self.workers > 1 or self.elsewhere

    @property
    def threads(self) -> int:
        """How many threads each of its workers may use."""
        return max(1, cores() // self.workers)

    dumps: Callable[[Any], bytes] = staticmethod(pickle_plainly)  # pickles what is sent to a worker, or raises

    def ask_to_stop(self, number: int) -> None:  # noqa: B027 - most backends have no one to ask
        """Ask workers to stop their trainings after the current iteration, and to begin no other task.

        Args:
            number: the number of the signal that asks for it; 0 takes the request back.
        """

    def close(self) -> None:  # noqa: B027 - most backends start nothing
        """End what was started for the work."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


BACKENDS = PartList("backend", Backend, "riskgrad.backend")


@checks_kinds
def parse_backend(text: str) -> Backend:
    """Make the backend that a string names: `serial`, or `processes:4` for four workers."""
    name, _, count = text.strip().lower().partition(":")
    kind: Any = BACKENDS.find(name, "for example 'processes:4'")
    try:
        numbers = [int(count)] if count else []
        inspect.signature(kind).bind(*numbers)
    except (ValueError, TypeError) as error:
        raise InputError("backend", "look like 'serial' or 'processes:4'", text) from error
    return kind(*numbers)

"""The backend that works in this process at first, and in others as well once the work has taken long enough.

Starting a process and importing what it needs takes a second or two, and most work is done by then. No answer depends
on who does the work, so that other processes can join at any time. They join only where this is safe:

- Work that other processes cannot find by its name, because the running script or a notebook defines it, stays here.
  So other processes need not read that script: unlike with `Processes`, it needs no `if __name__ == "__main__":`.
- If other processes fail, for whatever reason, the work is done again here, and so is all further work; a warning says
  so.
- A process that was itself started to share work starts no others: its siblings have the other cores.
"""

import multiprocessing
import pickle
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, final

from riskgrad.backend.base import Answer, Backend, Task
from riskgrad.backend.processes import Processes
from riskgrad.errors import InputError

PATIENCE = 5.0  # seconds of work after which others join


@final
class Patient(Backend):
    """Work in this process, and in others as well once the work has taken a while.

    Args:
        workers: how many processes join; by default one for each core.
        patience: seconds of work after which they join; 5 by default.
    """

    name = "patient"

    def __init__(self, workers: int | None = None, patience: float | None = None) -> None:
        self._others = Processes(workers, read_script=False)
        self._patience = PATIENCE if patience is None else patience
        if not isinstance(self._patience, float | int) or not self._patience >= 0.0:
            raise InputError("patience", "be a number of seconds, at least 0", patience)
        self._worked, self._alone = 0.0, self._others.workers == 1 or multiprocessing.parent_process() is not None

    @property
    def workers(self) -> int:
        """How many tasks are done at once: 1 until others join."""
        return 1 if self._alone or self._worked < self._patience else self._others.workers

    def map(self, work: Callable[[Task], Answer], tasks: Sequence[Task]) -> list[Answer]:
        """Do the work on each task and give the answers in the order of the tasks; the first error is raised.

        Args:
            work: what does a task, here or elsewhere.
            tasks: what to do.
        """
        self._alone = self._alone or not (self.workers == 1 or _is_portable((work, tasks[:1])))
        failure: Exception | None = None
        if self.workers > 1:
            try:
                return self._others.map(work, tasks)
            except Exception as error:
                failure, self._alone = error, True
                self.close()
        begin = time.perf_counter()
        answers = [work(task) for task in tasks]  # an error of the work itself is raised here again
        self._worked += time.perf_counter() - begin
        if failure is not None:
            warnings.warn(f"other processes failed, this one goes on alone: {failure}", RuntimeWarning, stacklevel=2)
        return answers

    def close(self) -> None:
        """End the other processes."""
        self._others.close()

    def __repr__(self) -> str:
        return f"Patient({self._others.workers})"


def _is_portable(thing: Any) -> bool:
    """Say whether another process can read a thing without the script that runs here."""
    try:
        return b"__main__" not in pickle.dumps(thing)
    except Exception:  # pickling may run the thing's own code, which may raise anything
        return False

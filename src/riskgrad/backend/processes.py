"""The backend that does work in other processes of this machine.

Processes are spawned, not forked: a fork of a program with threads (numba, BLAS, MuJoCo) may hang, and other systems
have no fork. They start with the first task and stay until the backend is closed or this process ends, so that
environments are made once. Signals are left to this process, which ends the others; if it is killed, they end too.

Each worker has its own pipe and does one task at a time; there is no thread or queue in between that could lose a task
or an answer. Work and tasks are pickled here, before a worker sees them. While it waits, this process checks twice a
second that every worker is alive, and that no call of an environment is overdue (see `beacon`). An interrupt
ends the workers that are busy, without waiting for them; where they train, `crew` asks them to stop first.

A script that uses it must be importable: put the code that it runs under `if __name__ == "__main__":`.
"""

import contextlib
import multiprocessing
import pickle
import sys
from collections.abc import Callable, Generator, Sequence
from multiprocessing.connection import wait
from multiprocessing.util import Finalize
from pathlib import Path
from types import ModuleType
from typing import Any, Final, final

from riskgrad.backend.base import Answer, Backend, Task
from riskgrad.backend.worker import NO_ANSWER, CallError, RemoteTraceback, WorkerProcess
from riskgrad.checks import check_count
from riskgrad.errors import WorkerError
from riskgrad.kernels.compile import cores
from riskgrad.parcels import Package, pack

LOOK: Final = 0.5  # seconds between two checks that workers are alive
GRACE: Final = 10.0  # seconds that a worker has to close its environments
DIED: Final = "it ran out of memory, was killed, or its script lacks `if __name__ == '__main__':`"


@final
class Processes(Backend):
    """Do work in other processes.

    Args:
        workers: how many processes; by default one for each core.
        read_script: whether they read the script that runs here, which work that is defined in it needs.
    """

    name = "processes"
    ends_hung = True
    elsewhere = True
    shares_queues = True

    def __init__(self, workers: int | None = None, read_script: bool = True) -> None:
        self._workers = cores() if workers is None else check_count("workers", workers)
        self._read_script = read_script
        self._crew: list[WorkerProcess] = []
        self._asked = 0  # the signal by which workers are asked to stop
        Finalize(self, _end_workers, args=(self._crew,), exitpriority=10)  # before Python waits for its children

    @property
    def workers(self) -> int:
        """How many processes work at once."""
        return self._workers

    def map(self, work: Callable[[Task], Answer], tasks: Sequence[Task]) -> list[Answer]:
        """Do the work on each task and give the answers in the order of the tasks; the first error is raised.

        What cannot be pickled raises here, and no task is begun.

        Args:
            work: a function of a module.
            tasks: what can be pickled.
        """
        packed_work = pack(work)
        packed_tasks = [self.dumps(task) for task in tasks]  # all of them, before the first one is sent
        try:
            self._start(len(packed_tasks))
            return self._share(packed_work, packed_tasks)
        except BaseException:
            for worker in [worker for worker in self._crew if worker.task >= 0 or not worker.ready]:
                self._crew.remove(worker)
                worker.kill()
            raise

    def ask_to_stop(self, number: int) -> None:
        """Ask workers to stop their trainings after the current iteration, and to begin no other task.

        Args:
            number: the number of the signal that asks for it; 0 takes the request back.
        """
        self._asked = number
        for worker in self._crew:
            worker.beacon.ask_to_stop(number)

    def close(self) -> None:
        """End the processes; the next task starts new ones."""
        _end_workers(self._crew)

    def _start(self, tasks: int) -> None:
        """Start workers until each task has one or there are as many as allowed; drop those that died meanwhile."""
        self._crew[:] = [worker for worker in self._crew if worker.process.is_alive()]
        context: Any = multiprocessing.get_context("spawn")
        with contextlib.nullcontext() if self._read_script and _has_script() else unnamed_script():
            while len(self._crew) < min(self._workers, tasks):
                self._crew.append(WorkerProcess(context))

    def _share(self, work: Package, tasks: list[bytes]) -> list[Any]:
        """Hand the tasks out in their order and take the answers in; of several errors raise that of the first task."""
        answers: list[Any] = [None] * len(tasks)
        failed: dict[int, tuple[Exception, str]] = {}
        upcoming = 0
        while upcoming < len(tasks) or any(worker.task >= 0 for worker in self._crew):
            if self._asked:
                upcoming = len(tasks)  # a task that is not begun gets no answer
            for worker in self._crew:
                if worker.ready and worker.task < 0 and upcoming < len(tasks):
                    with self._noticing_death():
                        worker.give(upcoming, work, tasks[upcoming])
                    upcoming += 1
            for worker in self._await_news():
                with self._noticing_death():
                    content = worker.pipe.recv_bytes()
                if not worker.ready:
                    worker.ready = True
                    continue
                index, worker.task = worker.task, -1
                fine, answer, trace = pickle.loads(content)  # noqa: S301 - pickled by a process that was started here
                if fine:
                    answers[index] = answer
                else:
                    failed[index] = (answer, trace)
                    upcoming = len(tasks)  # begin no more; an earlier task in progress may fail too
        if failed:
            error, trace = failed[min(failed)]
            raise error from RemoteTraceback(trace)
        return answers

    def _await_news(self) -> list[WorkerProcess]:
        """Wait a while for workers that have something to say; refuse one that died or whose call is overdue."""
        waiting = [worker for worker in self._crew if worker.task >= 0 or not worker.ready]
        found = wait([worker.pipe for worker in waiting], timeout=LOOK)
        for worker in waiting:
            place = worker.beacon.find_overdue()
            if place is not None and worker.task >= 0 and worker.pipe not in found:
                raise CallError(worker.task, place, NO_ANSWER.format(place.seconds))
            if worker.pipe not in found and not worker.process.is_alive() and not worker.pipe.poll():
                raise WorkerError(f"one of {self._workers} worker processes died; {DIED}")
        return [worker for worker in waiting if worker.pipe in found]

    @contextlib.contextmanager
    def _noticing_death(self) -> Generator[None]:
        try:
            yield
        except (EOFError, OSError) as error:
            raise WorkerError(f"one of {self._workers} worker processes died; {DIED}") from error

    def __repr__(self) -> str:
        return f"Processes({self._workers})"


def _end_workers(crew: list[WorkerProcess]) -> None:
    """Let idle workers close what they made and end; end the others at once."""
    for worker in crew:
        if worker.task >= 0 or not worker.ready:
            worker.kill()
        worker.pipe.close()
    for worker in crew:
        worker.process.join(GRACE)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join(GRACE)
    crew.clear()


def _has_script() -> bool:
    """Say whether what runs here is a module or a file that other processes can read; code from a pipe is not."""
    script = sys.modules["__main__"]
    return getattr(script, "__spec__", None) is not None or Path(getattr(script, "__file__", None) or "").is_file()


@contextlib.contextmanager
def unnamed_script() -> Generator[None]:
    """Hide the script that runs here from processes that are started meanwhile."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script

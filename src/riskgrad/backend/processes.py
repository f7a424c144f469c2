"""The backend that does work in other processes of this machine.

Processes are spawned, not forked: a fork of a program with threads (numba, BLAS, MuJoCo) may hang, and other systems
have no fork. They start with the first task and stay until the backend is closed or this process ends, so that
environments are made once. Ctrl-C is left to this process, which then ends the others; if it is killed, they end too.

Work and tasks are pickled here, before the pool sees them. A pool pickles in a thread of its own, and Python 3.11 waits
for ever at its end for a task that failed there.

A script that uses it must be importable: keep what it does under `if __name__ == "__main__":`.
"""

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import ModuleType
from typing import Any, Final, final

from riskgrad.backend.base import Answer, Backend, Task
from riskgrad.checks import check_count
from riskgrad.errors import WorkerError
from riskgrad.kernels.compile import cores

PROTOCOL: Final = pickle.HIGHEST_PROTOCOL


@final
class Processes(Backend):
    """Do work in other processes.

    Args:
        workers: how many processes; by default one for each core.
        read_script: whether they read the script that runs here, which work that is defined in it needs.
    """

    name = "processes"

    def __init__(self, workers: int | None = None, read_script: bool = True) -> None:
        self._workers = cores() if workers is None else check_count("workers", workers)
        self._read_script = read_script
        self._pool: ProcessPoolExecutor | None = None

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
        packed_work = pickle.dumps(work, PROTOCOL)
        packed_tasks = [pickle.dumps(task, PROTOCOL) for task in tasks]  # all of them, before the first one is sent
        pool = self._open_pool()
        with contextlib.nullcontext() if self._read_script else _unnamed_script():
            pending: list[Future[Answer]] = [pool.submit(_unpack_and_do, packed_work, task) for task in packed_tasks]
        try:
            return [future.result() for future in pending]
        except BrokenProcessPool as error:
            self.close()
            advice = "it ran out of memory, was killed, or its script lacks `if __name__ == '__main__':`"
            raise WorkerError(f"one of {self._workers} worker processes died; {advice}") from error
        except BaseException:
            for future in pending:
                future.cancel()
            raise

    def close(self) -> None:
        """End the processes; the next task starts new ones."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)

    def _open_pool(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context: Any = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._workers, mp_context=context, initializer=_begin_worker)
        return self._pool

    def __repr__(self) -> str:
        return f"Processes({self._workers})"


@contextlib.contextmanager
def _unnamed_script() -> Generator[None]:
    """Hide the script that runs here from processes that are started meanwhile, as a submitted task may do."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def _unpack_and_do(work: bytes, task: bytes) -> Any:
    """Do pickled work on a pickled task, in a worker."""
    try:
        function, argument = pickle.loads(work), pickle.loads(task)  # noqa: S301 - pickled by the process that waits
    except (AttributeError, ImportError) as error:
        advice = "define it in a module, or above the script's `if __name__ == '__main__':`"
        raise WorkerError(f"a worker process cannot find what its task is made of ({error}); {advice}") from error
    return function(argument)


def _begin_worker() -> None:
    """Prepare a worker: it leaves interrupts to the process that started it, and ends when that one does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # a worker waits for tasks on a pipe that it holds open itself, and would wait for ever
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

"""The supervisor of one worker on a cluster: it starts the process that does the tasks, and restarts it when it dies.

The process that waits for answers may be on another machine, where it can read no beacon. So each worker is two
processes: one that does the tasks, and this one, which sees whether a call of an environment is overdue or the other
has died in it, says where it was (see `beacon`), and starts another. If this one dies, the other ends too.
"""

import multiprocessing
import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, Final

from riskgrad.backend.processes import GRACE, LOOK, unnamed_script
from riskgrad.backend.worker import NO_ANSWER, CallError, WorkerProcess, pack_failure
from riskgrad.parcels import Package

BITS: Final = ("riskgrad", "numpy", "numba", "gymnasium")  # packages whose versions decide the bits of a run
MOST_PARCELS: Final = 8  # most parcels that are kept here
LIMITS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def find_versions() -> dict[str, str]:
    """Give the versions of what decides the bits of a run, and of Python."""
    return {"python": ".".join(map(str, sys.version_info[:3])), **{name: version(name) for name in BITS}}


class Supervisor:
    """One worker, on whichever machine the cluster puts it.

    Args:
        paths: where the process that waits for answers finds its modules; those that are here are searched as well.
        threads: how many threads the libraries that a task calls may use.
        fetch: from a reference to the bytes that it stands for.
    """

    def __init__(self, paths: Sequence[str], threads: int, fetch: Callable[[Any], Any]) -> None:
        sys.path += [path for path in paths if path not in sys.path]
        for name in LIMITS:
            os.environ[name] = str(threads)
        self._fetch, self._batch = fetch, -1
        self._package = Package(b"", {})
        self._parcels: OrderedDict[str, bytes] = OrderedDict()
        self._worker: WorkerProcess | None = None

    def begin(self) -> tuple[int, dict[str, str]]:
        """Start the process; once it is ready, give the number of this process and the versions here."""
        worker = self._start()
        while not worker.pipe.poll(LOOK):
            if not worker.process.is_alive():
                raise RuntimeError("the process that plays could not start")
        worker.pipe.recv_bytes()
        worker.ready = True
        return os.getpid(), find_versions()

    def do(self, batch: int, work: Any, parcels: dict[str, Any], task: bytes, fresh: bool) -> bytes:
        """Do a task and give the pickled answer; see `worker`.

        Args:
            batch: the number of the map that the work is of; the work is fetched once for each.
            work: where its content is.
            parcels: where its parcels are, by their keys; each is fetched once.
            task: pickled.
            fresh: whether a new process has to do it, since another one failed.
        """
        try:
            if fresh:
                self._end()
            if self._worker is None:
                self.begin()
            if batch != self._batch:
                contents = {key: self._find_parcel(key, where) for key, where in parcels.items()}
                self._batch, self._package = batch, Package(self._fetch(work[0]), contents)
            return self._await(self._start(), task)
        except Exception as error:
            self._end()
            return pack_failure(error)

    def end(self) -> None:
        """Let the process close what it made, and end."""
        if self._worker is not None:
            self._worker.pipe.close()
            self._worker.process.join(GRACE)
        self._worker = None

    def _find_parcel(self, key: str, where: Any) -> bytes:
        if key not in self._parcels:
            if len(self._parcels) == MOST_PARCELS:
                self._parcels.popitem(last=False)
            self._parcels[key] = self._fetch(where[0])
        self._parcels.move_to_end(key)
        return self._parcels[key]

    def _await(self, worker: WorkerProcess, task: bytes) -> bytes:
        try:
            worker.give(0, self._package, task)
            while not worker.pipe.poll(LOOK):  # true as well if the process died; reading then raises EOFError
                place = worker.beacon.find_overdue()
                if place is not None:
                    raise CallError(0, place, NO_ANSWER.format(place.seconds))
            return worker.pipe.recv_bytes()
        except (EOFError, OSError) as error:
            worker.process.join(GRACE)
            reason = f"its process died (exit code {worker.process.exitcode})"
            raise CallError(0, worker.beacon.find_call(), reason) from error

    def _start(self) -> WorkerProcess:
        if self._worker is None:
            with unnamed_script():
                self._worker = WorkerProcess(multiprocessing.get_context("spawn"), all_calls=True)
        return self._worker

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker.process.join(GRACE)
            self._worker = None

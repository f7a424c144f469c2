"""The backend that does work on a cluster, through Ray.

Each worker is an actor (see `supervisor`), which stays for the run: its environments are made once, and a call costs
less than starting a task. The work of a map, with the parameters in it, goes into the object store once, and each
worker fetches it once; parcels, such as the recipe of an environment or a model, once for the whole run. Tasks are a
few seeds. A worker has at most two tasks, one in progress and one waiting, so that answers do not pile up. Answers are
put in order by their number, and have the same bits as those of one process.

Failed work is done again, by another process, a bounded number of times: tasks of workers or machines that died or
went away, calls of environments that hang or raise. Then the error is raised, with the seed of the episode. Workers
that are gone are requested again, and meanwhile the others continue. An autoscaling cluster grows by these requests.

Work is pickled here, before Ray sees it, by cloudpickle: what a script or a notebook defines is sent by value.
"""

import contextlib
import importlib
import io
import itertools
import os
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Sequence
from multiprocessing.util import Finalize
from typing import Any, Final, final

from riskgrad.backend.base import Answer, Backend, Task
from riskgrad.backend.round import GONE, RemoteActor, Round, import_ray, kill
from riskgrad.backend.supervisor import Supervisor
from riskgrad.backend.worker import LEFT
from riskgrad.checks import check_count
from riskgrad.errors import InputError
from riskgrad.parcels import PROTOCOL, Package, pack

RETRIES: Final = 3
MOST_PARCELS: Final = 8  # kept in the object store
ENDING: Final = 5.0  # seconds that workers have to close their environments
ANSWER: Final = 5.0  # seconds that a machine has to let a connection in
NAMED: Final = "be that of a Ray cluster"


@final
class Ray(Backend):
    """Do work on a Ray cluster.

    Args:
        workers: how many actors; by default one for each processor that the cluster has now. More than it has make a
            cluster that grows on demand grow.
        address: the cluster's, such as "auto" or "10.0.0.1:6379"; "local" starts one on this machine; by default the
            one that `ray.init` finds, and a new one where there is none. Ignored where Ray is connected already.
        retries: how often a task that failed is done again; one whose worker was lost, up to 20 times.

    Attributes:
        lost: workers that died so far.
    """

    name = "ray"
    ends_hung = True
    elsewhere = True

    def __init__(self, workers: int | None = None, address: str | None = None, retries: int = RETRIES) -> None:
        self._asked = None if workers is None else check_count("workers", workers)
        if address is not None and not isinstance(address, str):
            raise InputError("address", "be a string such as 'auto' or '10.0.0.1:6379'", address)
        self._address, self._retries = address, check_count("retries", retries, 0)
        self.lost = 0
        self._actors: list[RemoteActor] = []
        self._parcels: dict[str, Any] = {}
        self._batches = itertools.count()
        self._ours = [False]  # whether the connection was made here
        Finalize(self, _end_all, args=(self._actors, self._ours), exitpriority=10)

    @property
    def workers(self) -> int:
        """How many actors work at once."""
        if self._asked is not None:
            return self._asked
        return max(1, int(self._connect().cluster_resources().get("CPU", 1)))

    @property
    def threads(self) -> int:
        """How many threads each worker may use: it has one processor."""
        return 1

    def dumps(self, thing: Any) -> bytes:
        """Pickle a thing for a worker; what a script or notebook defines is sent by value."""
        file = io.BytesIO()
        _cloudpickle().Pickler(file, PROTOCOL).dump(thing)
        return file.getvalue()

    def map(self, work: Callable[[Task], Answer], tasks: Sequence[Task]) -> list[Answer]:
        """Do the work on each task and give the answers in the order of the tasks; the first error is raised.

        What cannot be pickled raises here, and no task is begun.

        Args:
            work: what can be pickled.
            tasks: what can be pickled.
        """
        package = pack(work, _cloudpickle().Pickler)
        packed = [self.dumps(task) for task in tasks]
        self._connect()
        try:
            where = (next(self._batches), *self._put(package))
            return Round(self._actors, self._start, where, packed, self._retries, self._note_loss).play()
        except BaseException:
            for actor in [actor for actor in self._actors if actor.tasks]:
                self._actors.remove(actor)
                kill(actor)
            raise

    def close(self) -> None:
        """End the workers, and the cluster if it was started here; the next task starts new ones."""
        _end_all(self._actors, self._ours)
        self._parcels.clear()

    def _connect(self) -> Any:
        """Connect to the cluster, unless this process is connected; give the module."""
        ray = import_ray()
        if not ray.is_initialized():
            self._parcels.clear()
            self._actors.clear()
            _refuse_silence(self._address)
            with _own_signals():
                try:
                    ray.init(address=self._address, log_to_driver=False, logging_level="error")
                except (ConnectionError, ValueError, RuntimeError) as error:
                    words = next(iter(str(error).splitlines()), type(error).__name__)
                    advice = f"{words}; see that it runs, and that this process has its token"
                    raise InputError("address", NAMED, self._address, advice) from error
            self._ours[0] = True
        return ray

    def _put(self, package: Package) -> tuple[Any, dict[str, Any]]:
        """Put work and its parcels into the object store; give references, in lists, which Ray does not resolve."""
        ray = import_ray()
        for key, content in package.parcels.items():
            if key not in self._parcels:
                while len(self._parcels) >= MOST_PARCELS:
                    self._parcels.pop(next(iter(self._parcels)))
                self._parcels[key] = ray.put(content)
        return [ray.put(package.content)], {key: [self._parcels[key]] for key in package.parcels}

    def _start(self) -> None:
        """Ask for as many workers as there should be."""
        missing = self.workers - len(self._actors)
        if missing <= 0:  # Ray keeps a class that was made remote for good
            return
        ray = import_ray()
        kind: Any = ray.remote(Supervisor)
        for _ in range(missing):
            options = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0, "scheduling_strategy": "SPREAD"}
            handle = kind.options(**options).remote(list(sys.path), self.threads, ray.get)
            self._actors.append(RemoteActor(handle, handle.begin.remote()))

    def _note_loss(self) -> None:
        if not self.lost:
            text = f"{GONE}: its tasks are done again, which changes no number; further losses are not reported"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        self.lost += 1

    def __repr__(self) -> str:
        return f"Ray({'' if self._asked is None else self._asked})"


def _cloudpickle() -> Any:
    import_ray()  # refuses where either is missing
    return importlib.import_module("cloudpickle")


def _refuse_silence(address: str | None) -> None:
    """Refuse a host and port where nobody listens: Ray would try for minutes."""
    found = os.environ.get("RAY_ADDRESS", "") if address in (None, "auto") else address or ""
    host, colon, port = found.rpartition(":")
    if not colon or "/" in host:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWER).close()
    except (OSError, ValueError, OverflowError) as error:
        advice = f"nobody listens there ({error}); start it with `ray start --head`, or leave the address out"
        raise InputError("address", NAMED, found, advice) from error


@contextlib.contextmanager
def _own_signals() -> Generator[None]:
    """Keep the signal handlers of this process: with those of Ray, a signal would end it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in LEFT}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


def _end_all(actors: list[RemoteActor], ours: list[bool]) -> None:
    """Let idle workers close what they made and end all; end the connection, too, if it was made here."""
    if not (actors or ours[0]):  # nothing was begun; Ray may just be imported by somebody else
        return
    ray: Any = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        actors.clear()
        return
    idle = [actor.handle.end.remote() for actor in actors if actor.ready and not actor.tasks]
    if idle:
        ray.wait(idle, num_returns=len(idle), timeout=ENDING)
    for actor in actors:
        kill(actor)
    actors.clear()
    if ours[0]:
        ours[0] = False
        ray.shutdown()

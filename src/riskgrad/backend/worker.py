"""What a worker process does: it takes a task from its pipe, does it, and sends the answer back, until the pipe ends.

It leaves signals to the process that started it: a signal to the whole group of processes has the same effect as one to
that process. It does not ignore signals, since a program that an environment starts would inherit that; it catches them
and does nothing. It ends when the process that started it does, whatever it is doing.

The work comes with the first of its tasks and is kept for the others; the parcels in it (see `parcels`) come once.
"""

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Generator, Mapping
from types import FrameType
from typing import Any, Final

from riskgrad.backend.beacon import Beacon, EnvCall, use_beacon
from riskgrad.errors import WorkerError
from riskgrad.parcels import PROTOCOL, Package, finding_parts, unpack

LEFT: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

NO_ANSWER: Final = "no answer within {:g} s; its process was ended"


class CallError(WorkerError):
    """A call of an environment did not come back: it hung, or its process died in it.

    Args:
        task: the index of the task among all tasks.
        place: where the worker was; None where that is not known.
        reason: what happened.
    """

    def __init__(self, task: int, place: EnvCall | None, reason: str) -> None:
        super().__init__(task, place, reason)
        self.task, self.place, self.reason = task, place, reason

    def __str__(self) -> str:
        if self.place is None:
            return f"task {self.task}: {self.reason}"
        return f"at step {self.place.step} of the episode with seed {self.place.seed}: {self.reason}"


class RemoteTraceback(Exception):  # noqa: N818 - the cause of an error, in words
    """The traceback of an error in a worker, as text."""


@contextlib.contextmanager
def holding_signals() -> Generator[None]:
    """Block signals while processes are started, which inherit that and unblock them once their handlers are set."""
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover - Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, LEFT)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_to_parent(number: int, frame: FrameType | None) -> None:
    """Handle a signal by doing nothing."""


def depend_on_parent() -> None:
    """Leave signals to the process that started this one, and end when it does."""
    for number in LEFT:
        signal.signal(number, leave_to_parent)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, LEFT)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def serve(pipe: Any, beacon: Beacon, all_calls: bool) -> None:
    """Do tasks until the pipe ends; the beacon shows all calls of environments, or only those with a time limit."""
    depend_on_parent()
    use_beacon(beacon, all_calls)
    desk = _Desk()
    with contextlib.suppress(EOFError, OSError):  # the process at the other end has gone
        pipe.send_bytes(b"ready")
        while True:
            desk.take(pipe.recv_bytes())
            pipe.send_bytes(desk.work_off())


class _Desk:
    """What a worker keeps: the work that it was given last, with its parcels, and a task."""

    def __init__(self) -> None:
        self._parcels: Mapping[str, bytes] = {}
        self._content, self._task = b"", b""
        self._function: Any = None

    def take(self, message: bytes) -> None:
        """Take a task, and the work if it is new; only parcels that the work before did not have are sent."""
        package, keys, self._task = pickle.loads(message)  # noqa: S301 - pickled by the process that waits
        if package is not None:
            self._content, self._function = package.content, None
            self._parcels = {key: package.parcels.get(key) or self._parcels[key] for key in keys}

    def work_off(self) -> bytes:
        """Do the work on the task; give (True, the answer, "") or (False, an error, where it came from), pickled."""
        try:
            with finding_parts():
                if self._function is None:
                    self._function = unpack(self._content, self._parcels)
                argument = pickle.loads(self._task)  # noqa: S301
            return pickle.dumps((True, self._function(argument), ""), PROTOCOL)
        except BaseException as error:
            return pack_failure(error)


def pack_failure(error: BaseException) -> bytes:
    """Pickle an error for the process that waits; one that cannot be pickled is sent as text."""
    trace = traceback.format_exc()
    try:
        packed = pickle.dumps((False, error, trace))
        if isinstance(error, Exception) and isinstance(pickle.loads(packed)[1], Exception):  # noqa: S301
            return packed
    except Exception:  # it is sent as text
        packed = b""
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return pickle.dumps((False, WorkerError(f"a worker process failed: {words}"), trace))


class WorkerProcess:
    """A process with this end of its pipe; `task` is the index of its task, -1 while it is idle.

    Args:
        context: the context of multiprocessing.
        all_calls: whether its beacon shows all calls of environments.
    """

    def __init__(self, context: Any, all_calls: bool = False) -> None:
        self.pipe, theirs = context.Pipe()
        self.beacon, self.task, self.ready = Beacon(context), -1, False
        self._package: Package | None = None
        self.process = context.Process(target=serve, args=(theirs, self.beacon, all_calls))
        with holding_signals():
            self.process.start()
        theirs.close()

    def give(self, index: int, package: Package, task: bytes) -> None:
        """Send the process a task, and the work unless it has that already."""
        self.task, before, self._package = index, self._package, package
        news = None
        if package is not before:
            known = () if before is None else tuple(before.parcels)
            parcels = {key: content for key, content in package.parcels.items() if key not in known}
            news = Package(package.content, parcels)
        self.pipe.send_bytes(pickle.dumps((news, tuple(package.parcels), task), PROTOCOL))

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.pipe.close()


def _end_with_parent() -> None:
    # while it does a task, it would not notice that its pipe has ended
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

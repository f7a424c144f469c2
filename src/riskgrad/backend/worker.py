"""What a worker process does: it takes a task from its pipe, does it, and sends the answer back, until the pipe ends.

It leaves signals to the process that started it, which decides what becomes of the work: a signal to the whole group of
processes is as polite as one to that process. It does not ignore them, since a program that an environment starts would
inherit that; it catches them and does nothing. It ends when that process does, whatever it is doing.
"""

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Generator
from types import FrameType
from typing import Any, Final

from riskgrad.backend.beacon import Beacon, light
from riskgrad.errors import WorkerError

LEFT: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def holding_signals() -> Generator[None]:
    """Hold signals back, here and in processes that are started meanwhile, until these have said who handles them."""
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


def serve(pipe: Any, beacon: Beacon) -> None:
    """Do tasks until the pipe ends."""
    for number in LEFT:
        signal.signal(number, leave_to_parent)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, LEFT)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    light(beacon)
    with contextlib.suppress(EOFError, OSError):  # it is no longer waited for
        pipe.send_bytes(b"ready")
        while True:
            work, task = pipe.recv_bytes(), pipe.recv_bytes()
            pipe.send_bytes(_do(work, task))


def _do(work: bytes, task: bytes) -> bytes:
    """Do pickled work on a pickled task; give (True, the answer, "") or (False, an error, where it came from)."""
    try:
        try:
            function, argument = pickle.loads(work), pickle.loads(task)  # noqa: S301 - by the process that waits
        except (AttributeError, ImportError) as error:
            advice = "define it in a module, or above the script's `if __name__ == '__main__':`"
            raise WorkerError(f"a worker process cannot find what its task is made of ({error}); {advice}") from error
        return pickle.dumps((True, function(argument), ""), pickle.HIGHEST_PROTOCOL)
    except BaseException as error:
        trace = traceback.format_exc()
        try:
            packed = pickle.dumps((False, error, trace))
            if isinstance(error, Exception) and isinstance(pickle.loads(packed)[1], Exception):  # noqa: S301
                return packed
        except Exception:  # an error that cannot travel goes as words
            packed = b""
        words = " ".join(f"{type(error).__name__}: {error}".split())
        return pickle.dumps((False, WorkerError(f"a worker process failed: {words}"), trace))


def _end_with_parent() -> None:
    # while it does a task, it would not notice that its pipe has ended
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

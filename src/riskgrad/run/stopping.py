"""How a signal stops a training, and how the program then ends.

The first SIGINT (Ctrl-C), SIGTERM or SIGHUP is noted, and a line says so at once: the training stops after the
iteration in progress, and `Stopped` is raised with the run so far. A second signal raises it at once. A signal that
was ignored when the training began, as under nohup, stays ignored. A worker process leaves signals to the process that
started it, and stops when that process asks it to (see `crew`). Outside the main thread Python allows no handlers, and
signals are left alone.

`Stopped` is a KeyboardInterrupt, so that it ends a loop of trainings too, even one that catches every Exception. A
script that does not catch it ends with one line instead of a traceback, and with the exit code that a shell gives a
program that such a signal ended: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP. In the foreground of a terminal
Ctrl-C ends the script by the signal itself, whose exit code is 130 as well: otherwise a loop in the shell would go on
with its next command.
"""

import atexit
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Final, NoReturn, Self

from riskgrad.backend.worker import leave_to_parent
from riskgrad.errors import Stopped

NAMES: Final = ("SIGINT", "SIGTERM", "SIGHUP")  # the last one is not on Windows
SIGNALS: Final = tuple(signal.Signals[name] for name in NAMES if name in signal.Signals.__members__)

_hooks: set[Any] = set()
_open: list["StopRequest"] = []


class StopRequest:
    """A context in which the first signal is noted and the second raises `Stopped`.

    Args:
        tell: called with the number of the first signal, at once.

    Attributes:
        signal: the name of the signal that was noted; empty before.
        run: the run that is handed back; None before it is known.
    """

    def __init__(self, tell: Callable[[int], None] | None = None) -> None:
        self.signal = ""
        self.run: Any = None
        self._tell = tell
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        _open.append(self)
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None, leave_to_parent):
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _open.remove(self)
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        name = signal.Signals(number).name
        if self.signal:
            self._restore()
            raise say_if_uncaught(Stopped(f"stopped at once by a second signal, {name}", name, self.run))
        self.signal = name
        if self._tell is not None:
            self._tell(number)
        again = "Ctrl-C again" if name == "SIGINT" else f"{name} again"
        say_at_once(f"stopping after this iteration; {again} to stop now")

    def _restore(self) -> None:
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, handler)


def stop_here(number: int) -> None:
    """Stop every training in this process after its iteration, for a signal that another process received."""
    for request in _open:
        request.signal = signal.Signals(number).name


def say_at_once(words: str) -> None:
    """Write one line to stderr, also from within a signal handler that interrupted another write to it."""
    line = f"riskgrad: {words}\n"
    try:
        sys.stderr.write(line)
        sys.stderr.flush()
    except Exception:  # closed, or a write within a write
        with contextlib.suppress(OSError):
            os.write(2, line.encode())


def say_if_uncaught(stopped: Stopped) -> Stopped:
    """Make a script that does not catch `Stopped` end with one line and its exit code; give the exception back."""
    before = sys.excepthook
    if before in _hooks:
        return stopped

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not isinstance(error, Stopped):
            before(kind, error, trace)
            return
        say_at_once(str(error))
        if not (sys.flags.interactive or hasattr(sys, "ps1")):
            leave(error.signal)

    _hooks.add(hook)
    sys.excepthook = hook
    return stopped


def leave(name: str) -> NoReturn:
    """End the program like one that a signal ended, after its exit handlers have run.

    Args:
        name: the name of the signal.
    """
    number = signal.Signals[name]
    if number == signal.SIGINT and _in_foreground():
        atexit._run_exitfuncs()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    raise SystemExit(128 + number)


def _in_foreground() -> bool:
    """Say whether this program is in the foreground of a terminal, where Ctrl-C is meant for it."""
    try:
        handle = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except (OSError, AttributeError):
        return False
    try:
        return os.tcgetpgrp(handle) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(handle)

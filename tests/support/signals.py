"""Signals in tests, however the suite was started: one in the background begins with SIGINT ignored."""

import contextlib
import signal
import sys

from riskgrad.run.stopping import SIGNALS


def reset_signals():
    """Give a new process, before it begins, the signals of one that a person starts; for `preexec_fn`."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def usual_handlers():
    """Give signals the handlers that Python starts with, and take away what a stop leaves behind."""
    usual = {number: signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL for number in SIGNALS}
    before, hook = {number: signal.signal(number, handler) for number, handler in usual.items()}, sys.excepthook
    try:
        yield
    finally:
        sys.excepthook = hook
        for number, handler in before.items():
            signal.signal(number, handler)

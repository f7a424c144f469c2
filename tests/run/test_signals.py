import os
import signal
import threading

import pytest

from riskgrad.run.callbacks import StopRequest


@pytest.fixture
def python_handler():
    """Give SIGINT the handler that Python starts with, which a job in the background has not: its SIGINT is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_noted_and_handlers_are_restored(number):
    before = signal.getsignal(number)
    with StopRequest() as stop:
        assert stop.name == ""
        os.kill(os.getpid(), number)
        assert stop.name == signal.Signals(number).name
        assert signal.getsignal(number) == before
    assert signal.getsignal(number) == before


@pytest.mark.usefixtures("python_handler")
def test_a_second_ctrl_c_acts_at_once():
    with StopRequest():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_other_threads_leave_signals_alone():
    seen = []

    def work():
        with StopRequest() as stop:
            seen.append(stop.name)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [""]

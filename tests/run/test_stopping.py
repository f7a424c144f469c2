"""Signals that ask for a stop: noted once, then at once; what was ignored stays ignored."""

import io
import os
import signal
import sys
import threading

import pytest
from support.signals import usual_handlers

from riskgrad.errors import Stopped
from riskgrad.run.stopping import SIGNALS, StopRequest, leave, say_at_once, say_if_uncaught, stop_here


@pytest.fixture(autouse=True)
def python_handlers():
    with usual_handlers():
        yield


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_is_noted_and_said_and_handlers_are_restored(number, capsys):
    before = signal.getsignal(number)
    with StopRequest() as stop:
        assert stop.signal == ""
        os.kill(os.getpid(), number)
        assert stop.signal == number.name
        assert capsys.readouterr().err.startswith("riskgrad: stopping after this iteration; ")
    assert signal.getsignal(number) == before


@pytest.mark.parametrize(("first", "second"), [("SIGINT", "SIGINT"), ("SIGTERM", "SIGINT"), ("SIGHUP", "SIGTERM")])
def test_the_second_signal_stops_at_once(first, second):
    before = [signal.getsignal(number) for number in SIGNALS]
    with StopRequest() as stop:
        os.kill(os.getpid(), signal.Signals[first])
        with pytest.raises(Stopped, match=f"at once by a second signal, {second}") as caught:
            os.kill(os.getpid(), signal.Signals[second])
        assert (caught.value.signal, stop.signal) == (second, first)
        assert [signal.getsignal(number) for number in SIGNALS] == before, "a third one acts as it would have without"


def test_the_first_signal_alone_is_passed_on():
    told = []
    with StopRequest(told.append):
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Stopped):
            os.kill(os.getpid(), signal.SIGINT)
    assert told == [signal.SIGTERM]


def test_a_signal_that_another_process_got_stops_what_is_trained_here():
    stop_here(signal.SIGTERM)
    with StopRequest() as first, StopRequest() as second:
        assert (first.signal, second.signal) == ("", "")
        stop_here(signal.SIGTERM)
        assert (first.signal, second.signal) == ("SIGTERM", "SIGTERM")
    with StopRequest() as later:
        assert later.signal == ""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_was_ignored_stays_ignored(number):
    signal.signal(number, signal.SIG_IGN)
    with StopRequest() as stop:
        assert signal.getsignal(number) == signal.SIG_IGN
        os.kill(os.getpid(), number)
        assert stop.signal == ""
    assert signal.getsignal(number) == signal.SIG_IGN


def test_other_threads_leave_signals_alone():
    seen = []

    def work():
        with StopRequest() as stop:
            seen.append((stop.signal, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [("", signal.default_int_handler)]


class Busy(io.StringIO):
    """A stream whose write was interrupted: it refuses another one."""

    def write(self, text):  # noqa: ARG002
        raise RuntimeError("reentrant call inside <_io.BufferedWriter name='<stderr>'>")


def test_a_line_is_said_within_another_write(monkeypatch, capfd):
    monkeypatch.setattr(sys, "stderr", Busy())
    say_at_once("stopping")
    assert capfd.readouterr().err == "riskgrad: stopping\n"


def test_only_stopped_ends_without_a_traceback(capsys):
    seen = []
    sys.excepthook = lambda *error: seen.append(error)
    say_if_uncaught(Stopped("stopped by SIGTERM", "SIGTERM"))
    hook = sys.excepthook
    say_if_uncaught(Stopped("stopped by SIGTERM", "SIGTERM"))
    assert sys.excepthook is hook, "once is enough"
    error = ValueError("mine")
    hook(ValueError, error, None)
    assert seen == [(ValueError, error, None)]
    with pytest.raises(SystemExit) as ended:
        hook(Stopped, Stopped("stopped by SIGTERM after 3 of 9 iterations", "SIGTERM"), None)
    assert ended.value.code == 143
    assert capsys.readouterr().err == "riskgrad: stopped by SIGTERM after 3 of 9 iterations\n"


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_exit_codes(name, code):
    with pytest.raises(SystemExit) as ended:
        leave(name)
    assert ended.value.code == code

"""Backends do the work in order, wherever it is done, and say what happened to it."""

import os

import pytest

from riskgrad.backend import Processes, Serial
from riskgrad.errors import InputError, UnknownNameError, WorkerError


def twice(number):
    return 2 * number, os.getpid()


def refuse(number):
    if number == 2:
        raise UnknownNameError("number", number, ["one"])
    return number


def die(number):
    os._exit(3)


def test_serial_is_this_process():
    assert Serial().workers == 1
    assert Serial().map(twice, [1, 2]) == [(2, os.getpid()), (4, os.getpid())]


def test_processes_answer_in_order_and_come_back_after_a_death():
    with Processes(1) as backend:
        answers = backend.map(twice, range(5))
        assert [answer for answer, _ in answers] == [0, 2, 4, 6, 8]
        assert os.getpid() not in {process for _, process in answers}
        with pytest.raises(InputError, match="number must be one of one, got 2"):
            backend.map(refuse, range(4))
        with pytest.raises(WorkerError, match="one of 1 worker processes died"):
            backend.map(die, [1])
        assert [answer for answer, _ in backend.map(twice, [7])] == [14]


@pytest.mark.parametrize("workers", [0, 1.5, True, "two"])
def test_refuses_in_one_line(workers):
    with pytest.raises(InputError, match="workers must be an integer of at least 1"):
        Processes(workers)

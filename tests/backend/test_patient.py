"""Others join the work after a while, where they can, and never change it."""

import multiprocessing
import os
import pickle
import subprocess
import sys

import pytest

from riskgrad.backend import Patient
from riskgrad.errors import InputError
from riskgrad.kernels.compile import cores


def where(number):
    return number, os.getpid()


def die_elsewhere(home):
    if os.getpid() != home:
        os._exit(3)
    return home


def refuse(number):
    raise ValueError(f"{number} is refused")


def workers_of_a_child(number):
    return Patient(number, patience=0.0).workers


class Stubborn:
    """Cannot leave this process."""

    def __call__(self, number):
        return where(number)

    def __reduce__(self):
        raise pickle.PicklingError("stays here")


def test_others_join_after_the_first_work_has_taken_long_enough():
    with Patient(2, patience=0.0) as backend:
        assert backend.workers == 2  # nothing is as long as no patience at all
        answers = backend.map(where, range(4))
        assert [number for number, _ in answers] == [0, 1, 2, 3]
        assert os.getpid() not in {process for _, process in answers}
    with Patient(2, patience=3600.0) as backend:
        assert backend.workers == 1
        assert backend.map(where, range(4)) == [(number, os.getpid()) for number in range(4)]
        backend._worked = 3600.0
        assert backend.workers == 2
        assert os.getpid() not in {process for _, process in backend.map(where, range(4))}


def test_work_that_cannot_travel_stays_here():
    with Patient(2, patience=0.0) as backend:
        assert backend.map(Stubborn(), [1, 2]) == [(1, os.getpid()), (2, os.getpid())]
        assert backend.workers == 1


def test_work_is_done_here_where_others_die():
    with Patient(2, patience=0.0) as backend:
        with pytest.warns(RuntimeWarning, match="this one goes on alone: one of 2 worker processes died"):
            assert backend.map(die_elsewhere, [os.getpid()] * 2) == [os.getpid()] * 2
        assert backend.workers == 1
        assert backend.map(where, [5]) == [(5, os.getpid())]


def test_an_error_of_the_work_is_raised_here():
    with Patient(2, patience=0.0) as backend, pytest.raises(ValueError, match="7 is refused"):
        backend.map(refuse, [7, 8])


def test_a_process_that_shares_work_starts_no_others():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(workers_of_a_child, [4]) == [1]
    assert Patient(1, patience=0.0).workers == 1


@pytest.mark.parametrize("patience", [-1.0, float("nan"), "soon"])
def test_refuses_in_one_line_what_is_no_time(patience):
    with pytest.raises(InputError, match="patience must be a number of seconds, at least 0, got"):
        Patient(2, patience)


SCRIPT = """
import multiprocessing
import riskgrad as rg
from riskgrad.backend import patient

patient.PATIENCE = 0.0
helped = []
options = {"policy": "linear", "horizon": 20, "iterations": 2, "algorithm": "score:episodes=20", "held_out": 0}
run = rg.train(ENV, "mean", callback=lambda *_: helped.append(len(multiprocessing.active_children())), **options)
alone = rg.train(ENV, "mean", backend="serial", **options)
print(helped[-1] > 0, len(multiprocessing.active_children()), (run.theta == alone.theta).all())
"""
OWN = """
import gymnasium, numpy
class Walk(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-9.0, 9.0, (1,))
    action_space = gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = numpy.zeros(1)
        return self.at, {}
    def step(self, action):
        self.at = self.at + (1.0 if action else -1.0) + self.np_random.normal()
        return self.at, float(self.at[0]), False, False, {}
"""


@pytest.mark.parametrize(("env", "own", "joined"), [("'Pendulum-v1'", "", cores() > 1), ("Walk", OWN, False)])
def test_a_script_without_a_guard_trains_as_it_would_alone(tmp_path, env, own, joined):
    """An environment of a module is played by others, which do not run the script again; one of the script is not."""
    script = tmp_path / "plain.py"
    script.write_text(own + SCRIPT.replace("ENV", env))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(joined), "0", "True"]

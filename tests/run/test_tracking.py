"""Trackers are told what the record holds; stand-ins play their modules."""

import importlib
import sys
import types

import pytest

import riskgrad as rg
from riskgrad.errors import InputError, UnknownNameError


class Stand:
    """A module that notes what it is called with; as wandb does, `init` gives a run."""

    def __init__(self, monkeypatch, name):
        self.calls, self.logged = [], {}
        module = types.ModuleType(name)
        for each in ("init", "set_experiment", "start_run", "end_run", "finish"):
            monkeypatch.setattr(module, each, self.noting(each), raising=False)
        for each in ("log", "log_metrics"):
            monkeypatch.setattr(module, each, self.log, raising=False)
        monkeypatch.setitem(sys.modules, name, module)

    def noting(self, name):
        def note(*given, **options):
            self.calls.append((name, *given, options))
            return self

        return note

    def log(self, numbers, step):
        self.logged[step] = numbers

    def finish(self):
        self.calls.append(("finish", {}))


BEGUN = {
    "wandb": [("init", {"project": "roads"})],
    "mlflow": [("set_experiment", "roads", {}), ("start_run", {"run_name": "first"})],
    "trackio": [("init", {"project": "roads"})],
}
ENDED = {"wandb": ("finish", {}), "mlflow": ("end_run", {}), "trackio": ("finish", {})}


@pytest.mark.parametrize("name", BEGUN)
def test_a_tracker_is_told_each_iteration_and_is_ended(name, monkeypatch):
    stand = Stand(monkeypatch, name)
    options = {"experiment_name": "roads", "run_name": "first"} if name == "mlflow" else {"project": "roads"}
    with rg.run.Tracker(name, **options) as tracker:
        assert stand.calls == BEGUN[name]
        run = rg.train("two-roads", "cvar:0.1", algorithm="score:episodes=20", iterations=3, callback=tracker)
    assert stand.calls[-1] == ENDED[name]
    assert list(stand.logged) == [0, 1, 2]
    for line in run.history:
        told = stand.logged[line["iteration"]]
        assert told["return/risk"] == line["risk"]
        assert told["progress/episodes"] == line["episodes"]
        assert ("return/held_out" in told) == (line["held_out"] is not None)
        assert all(type(number) is float for number in told.values())


def test_what_is_not_there_is_said_in_one_line(monkeypatch):
    with pytest.raises(UnknownNameError, match="mlflow"):
        rg.run.Tracker("mlflo")

    def missing(name, *_):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(InputError, match=r"pip install 'riskgrad\[trackio\]'"):
        rg.run.Tracker("trackio")

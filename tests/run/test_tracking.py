"""Trackers are told what the record holds; stand-ins play their modules, and the real ones run where installed."""

import importlib
import importlib.util
import json
import os
import subprocess
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


# what a tracker is begun with without a network, what is asked before it ends, and how steps and risks are read back
REAL = {
    "wandb": (
        {"project": "roads", "mode": "offline"},
        "wandb.log({}) or [(wandb.run.step - 1, wandb.run.summary['return/risk'])]",  # the next step shows the last one
        "seen",
    ),
    "mlflow": (
        {"experiment_name": "roads", "run_name": "first"},
        "mlflow.active_run().info.run_id",
        "[(m.step, m.value) for m in mlflow.MlflowClient().get_metric_history(seen, 'return/risk')]",
    ),
    "trackio": (
        {"project": "roads"},
        "None",
        "[(i, json.loads(told)['return/risk']) for i, told in kept.execute('select step, metrics from metrics')]",
    ),
}
SCRIPT = """
import json, sqlite3
import NAME
import riskgrad as rg
with rg.run.Tracker("NAME", **OPTIONS) as tracker:
    run = rg.train("two-roads", "cvar:0.1", algorithm="score:episodes=20", iterations=3, callback=tracker)
    seen = DURING
kept = sqlite3.connect("trackio/roads.db" if "NAME" == "trackio" else ":memory:")
told = AFTER
print("told:", json.dumps([told, [(line["iteration"], line["risk"]) for line in run.history]]))
"""


@pytest.mark.parametrize("name", REAL)
def test_the_real_tracker_keeps_what_it_was_told(name, tmp_path):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"the extra {name} is not installed")
    options, during, after = REAL[name]
    script = SCRIPT.replace("NAME", name).replace("OPTIONS", repr(options)).replace("DURING", during)
    places = {"MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path / 'runs.db'}", "TRACKIO_DIR": str(tmp_path / "trackio")}
    done = subprocess.run(
        [sys.executable, "-c", script.replace("AFTER", after)],
        cwd=tmp_path,
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told, record = json.loads(next(line[5:] for line in done.stdout.splitlines() if line.startswith("told:")))
    assert len(record) == 3
    assert told == (record[-1:] if name == "wandb" else record)  # offline it shows the last numbers alone


def test_what_is_not_there_is_said_in_one_line(monkeypatch):
    with pytest.raises(UnknownNameError, match="mlflow"):
        rg.run.Tracker("mlflo")

    def missing(name, *_):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(InputError, match=r"pip install 'riskgrad\[trackio\]'"):
        rg.run.Tracker("trackio")

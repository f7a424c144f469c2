"""What callbacks are told, and the versions that a run keeps."""

import numpy as np
import pytest
from support.training import train_briefly

import riskgrad as rg
from riskgrad.random import changed_versions, current_versions
from riskgrad.run import container
from riskgrad.run.callbacks import Watcher


class Watching:
    def __init__(self):
        self.told = []

    def returns(self, values):
        self.told.append(values.shape)

    def __call__(self, line, theta):
        self.told.append((line["iteration"], theta.copy()))


@pytest.mark.parametrize(("algorithm", "shape"), [("score", (30,)), ("offp-sf", (30,)), ("onp-sf", (2 * 4, 30))])
def test_a_callback_that_wants_returns_gets_them_before_each_line(algorithm, shape):
    watching, plain = Watching(), []
    assert isinstance(watching, Watcher)
    options = {"directions": 4} if algorithm == "onp-sf" else {}
    run = train_briefly(
        "two-roads",
        "mean",
        algorithm=algorithm,
        iterations=2,
        episodes=30,
        callback=[watching, lambda line, theta: plain.append(line["iteration"])],
        **options,
    )
    first, (zero, _), second, (one, theta) = watching.told
    assert (first, second, zero, one, plain) == (shape, shape, 0, 1, [0, 1])
    np.testing.assert_array_equal(theta, run.last_theta)


def test_any_of_several_callbacks_stops_the_run_and_all_are_told():
    seen = []
    run = rg.train("two-roads", "mean", iterations=5, callback=[lambda *_: True, lambda *_: seen.append(1)])
    assert (len(run.history), seen) == (1, [1])


def test_versions_are_those_of_the_beginning(tmp_path):
    folder = tmp_path / "run"
    begun = rg.train("two-roads", "mean", iterations=2, folder=folder, callback=lambda *_: True)
    assert begun.versions == current_versions()
    assert {"python", "riskgrad", "numpy", "numba", "gymnasium", "platform"} <= set(begun.versions)
    for slot in folder.glob("checkpoint-*.rg"):
        arrays, facts = container.read_container(slot)
        facts["versions"]["numpy"] = "1.0"
        container.write_container(slot, arrays, facts)
    again = rg.train("two-roads", "mean", iterations=2, resume=folder)
    assert again.versions["numpy"] == "1.0"
    assert any(note.startswith("went on with numpy") and "(before: 1.0)" in note for note in again.notes)
    again.save(tmp_path / "run.rg")
    assert rg.load(tmp_path / "run.rg").versions == rg.load(folder).versions == again.versions


def test_nothing_is_said_where_no_version_changed():
    assert changed_versions(current_versions(), current_versions()) == ""

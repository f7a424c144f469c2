"""Patience: when a record stands still, and a run that stops there, to the bit, killed or not."""

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.training.progress import has_converged

OPTIONS = {"algorithm": "score:episodes=40", "iterations": 60, "held_out": 40, "risk_path": 0.1, "seed": 1}


def lines(values, error=1.0, **more):
    return [{"risk": value, "risk_error": error, "path": 1.0, **more} for value in values]


def test_a_record_stands_still_by_hand():
    """Means 0 and 3 apart, each of four with an error of 1: the difference has sqrt(8) / 4 = 0.71, twice that 1.41."""
    assert has_converged(lines([0.0] * 4 + [1.4] * 4), 4)
    assert not has_converged(lines([0.0] * 4 + [1.42] * 4), 4)
    assert has_converged(lines([5.0] * 4 + [1.0] * 4), 4), "falling is no reason to go on"
    assert has_converged(lines([9.0] + [0.0] * 8, error=0.0), 4), "what was before does not count"
    assert not has_converged(lines([0.0] * 7), 4)
    assert not has_converged(lines([0.0] * 8), None)
    assert not has_converged(lines([0.0] * 8, path=0.5), 4), "still on the path"
    assert not has_converged([*lines([0.0] * 4, way="none"), *lines([0.0] * 4, way="levels:0.5")], 4)
    assert not has_converged(lines([0.0, None] * 4), 4)
    assert has_converged(lines([0.0, 2.0] * 4, error=None), 4), "without errors by how the values scatter"
    assert not has_converged(lines([0.0] * 4 + [2.0] * 4, error=None), 4)


@pytest.fixture(scope="module")
def patient():
    return rg.train("two-roads", "cvar:0.1", patience=6, **OPTIONS)


def test_a_patient_run_is_the_beginning_of_the_whole_one(patient):
    whole = rg.train("two-roads", "cvar:0.1", **OPTIONS)
    done = len(patient.history)
    assert patient.finished
    assert 12 <= done < 60 == len(whole.history)
    steps = [{**line, "held_out": None, "episodes": None} for line in whole.history[:done]]
    assert [{**line, "held_out": None, "episodes": None} for line in patient.history] == steps
    assert f"stopped after {done} of 60 iterations: cvar:0.1 no longer rose, with a patience of 6" in patient.notes
    assert patient.settings.patience == 6
    assert patient.held_out_risk is not None


def test_it_stops_at_the_same_iteration_when_it_was_interrupted(patient, tmp_path):
    done = len(patient.history)
    for last in (4, done - 1):
        stop = {"callback": lambda line, theta, last=last: line["iteration"] >= last}
        rg.train("two-roads", "cvar:0.1", patience=6, resume=tmp_path / "run", **OPTIONS, **stop)
    again = rg.train("two-roads", "cvar:0.1", patience=6, resume=tmp_path / "run", **OPTIONS)
    assert again.history == patient.history
    np.testing.assert_array_equal(again.theta, patient.theta)
    assert again.episodes_used == patient.episodes_used
    finished = rg.train("two-roads", "cvar:0.1", patience=6, resume=tmp_path / "run", **OPTIONS)
    assert finished.history == patient.history
    assert finished.notes == patient.notes
    with pytest.raises(InputError, match="patience must be what the run began with"):
        rg.train("two-roads", "cvar:0.1", resume=tmp_path / "run", **OPTIONS)


def test_a_critic_stops_and_is_sharpened():
    run = rg.train("two-roads", "cvar:0.1", iterations=200, patience=8, seed=0)
    assert run.finished
    assert len(run.history) < 60
    assert run.held_out_risk == pytest.approx(-30.0, abs=1e-9)
    assert any("patience=5 ends such a run earlier" in note for note in run.notes)
    sooner = rg.train("two-roads", "cvar:0.1", iterations=200, patience=5, seed=0)
    assert len(sooner.history) < len(run.history)
    assert not any("ends such a run earlier" in note for note in sooner.notes), "it has that patience"


def test_bad_patience_is_refused():
    with pytest.raises(InputError, match="patience must be an integer of at least 1"):
        rg.train("two-roads", "cvar:0.1", patience=0)

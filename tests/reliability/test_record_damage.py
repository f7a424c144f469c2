"""Every line of a run's record is checked, and what is damaged takes nothing else with it."""

import shutil

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import DamagedFileError, StorageError
from riskgrad.run.checkpoint import SLOTS
from riskgrad.run.container import read_container
from riskgrad.run.store import HISTORY

FLIPS = 500
ITERATIONS = 12


def train(**options):
    fixed = {"iterations": ITERATIONS, "held_out": 20, "seed": 2, "checkpoint_seconds": 0.0}
    return rg.train("two-roads", "cvar:0.1", algorithm="offp-sf:episodes=20", **{**fixed, **options})


def stop_early(line, theta):
    del theta
    return line["iteration"] == 7


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("record") / "run"
    train(folder=folder)
    return folder


@pytest.fixture
def copy(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "copy")


def flipped(content, bit):
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << (bit % 8)
    return bytes(changed)


def damage_of(run):
    return [note for note in run.notes if "is damaged" in note]


def test_no_flipped_bit_of_the_history_is_accepted_silently(whole, copy):
    before, content = rg.load(whole), (whole / HISTORY).read_bytes()
    assert damage_of(before) == []
    bits = np.random.default_rng(17).choice(8 * len(content), FLIPS, replace=False)
    ends = [8 * place + bit for place in range(len(content)) if content[place] == ord("\n") for bit in range(8)]
    for bit in [*bits.tolist(), *ends]:
        (copy / HISTORY).write_bytes(flipped(content, bit))
        run = rg.load(copy)
        assert len(damage_of(run)) == 1, bit
        assert "iterations are missing" in damage_of(run)[0]
        np.testing.assert_array_equal(run.theta, before.theta)
        # what is given is what was written: all but the line, or the two lines, that the bit is in
        assert len(run.history) >= ITERATIONS - 2
        assert all(line == before.history[line["iteration"]] for line in run.history)


def test_a_lost_history_leaves_the_parameters_and_says_so(whole, copy, tmp_path):
    (copy / HISTORY).unlink()
    run, before = rg.load(copy), rg.load(whole)
    assert run.history == ()
    assert f"{ITERATIONS} of {ITERATIONS} iterations are missing" in damage_of(run)[0]
    for name in ("theta", "random_theta", "last_theta"):
        np.testing.assert_array_equal(getattr(run, name), getattr(before, name))
    assert rg.evaluate(run, "two-roads", episodes=20).rows[0].value is not None
    assert "is damaged" in rg.report(run, tmp_path / "page.html", episodes=20).read_text()


def test_lines_of_two_writers_are_told(copy):
    content = (copy / HISTORY).read_bytes()
    lines = content.splitlines(keepends=True)
    (copy / HISTORY).write_bytes(b"".join([*lines[:6], *lines[3:]]))
    (note,) = damage_of(rg.load(copy))
    assert "lines are damaged or out of order" in note


def test_to_go_on_with_a_damaged_history_is_refused_with_what_to_do(tmp_path):
    folder = tmp_path / "run"
    train(folder=folder, callback=stop_early)
    content = (folder / HISTORY).read_bytes()
    for broken in (flipped(content, 100), b"", content[:-10]):
        (folder / HISTORY).write_bytes(broken)
        with pytest.raises(DamagedFileError, match=r"rg\.load gives them; begin a new run with theta=run\.last_theta"):
            train(resume=folder)
        assert (folder / HISTORY).read_bytes() == broken
    (folder / HISTORY).write_bytes(content)
    np.testing.assert_array_equal(train(resume=folder).theta, train().theta)


def test_every_bit_of_the_beginning_of_a_checkpoint_falls_back_to_the_other(tmp_path):
    folder = tmp_path / "run"
    train(folder=folder, callback=stop_early)
    newest = max((folder / name for name in SLOTS), key=lambda path: read_container(path)[1]["turn"])
    content = newest.read_bytes()
    beginning = content.index(b"\n") + 1
    for bit in range(8 * beginning):
        newest.write_bytes(flipped(content, bit))
        run = rg.load(folder)
        assert any("the checkpoint of iteration 8 is used instead" in note for note in run.notes), bit
        assert len(run.history) == 8
    newest.write_bytes(flipped(content, 8 * content.index(b" 1 ") + 8))
    with pytest.warns(RuntimeWarning, match="has format 0, this riskgrad reads 1"):
        again = train(resume=folder)
    np.testing.assert_array_equal(again.theta, train().theta)


@pytest.mark.parametrize("checkpoints", [0.0, 1e9])
@pytest.mark.parametrize("moved", [False, True])
def test_a_folder_that_goes_away_during_training_is_noticed(tmp_path, checkpoints, moved):
    folder, seen = tmp_path / "run", []

    def remove(line, theta):
        del theta
        seen.append(line["iteration"])
        if line["iteration"] == 3:
            folder.rename(tmp_path / "elsewhere") if moved else shutil.rmtree(folder)

    with pytest.raises(StorageError, match=r"cannot write .*run: it was removed or moved during the training") as told:
        train(folder=folder, callback=remove, checkpoint_seconds=checkpoints)
    assert "\n" not in str(told.value)
    assert seen == [0, 1, 2, 3]
    assert not folder.exists()

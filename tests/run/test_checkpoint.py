import numpy as np
import pytest

from riskgrad.errors import DamagedFileError
from riskgrad.run import checkpoint, container

FACTS = {
    "held_out_episodes": 0,
    "history_bytes": 0,
    "log_bytes": 0,
    "log_length": 0,
    "sharpness": 1.0,
    "finished": False,
    "remarks": [],
    "versions": {},
    "settings": {},
}


def write(folder, iteration):
    thetas = {name: np.full(3, float(iteration)) for name in ("theta", "random_theta", "last_theta")}
    checkpoint.save_checkpoint(folder, iteration, thetas, {**FACTS, "episodes": 10 * iteration})


def slot_of(folder, iteration):
    slots = [folder / name for name in checkpoint.SLOTS if (folder / name).exists()]
    return next(slot for slot in slots if container.read_container(slot)[1]["iteration"] == iteration)


def test_no_checkpoint_is_none(tmp_path):
    assert checkpoint.latest_checkpoint(tmp_path) is None


def test_the_newest_is_used_and_the_one_before_kept(tmp_path):
    for iteration in range(1, 6):
        write(tmp_path, iteration)
    newest = checkpoint.latest_checkpoint(tmp_path)
    assert (newest.iteration, newest.facts["episodes"], newest.note) == (5, 50, "")
    np.testing.assert_array_equal(newest.arrays["theta"], 5.0)
    assert slot_of(tmp_path, 4).exists()


def test_a_damaged_one_is_detected_and_the_one_before_used(tmp_path):
    for iteration in (1, 2, 3):
        write(tmp_path, iteration)
    path = slot_of(tmp_path, 3)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    found = checkpoint.latest_checkpoint(tmp_path)
    assert found.iteration == 2
    assert "checksum does not match; the checkpoint of iteration 2 is used instead" in found.note
    write(tmp_path, 3)
    again = checkpoint.latest_checkpoint(tmp_path)
    assert (again.iteration, again.note) == (3, "")
    assert slot_of(tmp_path, 2).exists()


def test_nothing_left_is_an_error(tmp_path):
    write(tmp_path, 1)
    slot_of(tmp_path, 1).write_bytes(b"")
    with pytest.raises(DamagedFileError, match="no whole checkpoint is left"):
        checkpoint.latest_checkpoint(tmp_path)


def test_a_half_written_file_beside_is_ignored(tmp_path):
    write(tmp_path, 1)
    (tmp_path / (checkpoint.SLOTS[1] + ".writing")).write_bytes(b"riskgrad 1 half")
    assert checkpoint.latest_checkpoint(tmp_path).iteration == 1

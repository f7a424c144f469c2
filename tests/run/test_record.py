import json
import math

import pytest

from riskgrad.errors import DamagedFileError, StorageError
from riskgrad.run.store import HISTORY, TIMINGS, Recorder, read_history, round_trip


def line(k):
    return {"iteration": k, "risk": 0.1 * k, "ess": math.nan, "events": []}


def test_each_line_is_on_the_disk_before_the_next(tmp_path):
    with Recorder(tmp_path) as recorder:
        for k in range(3):
            recorder.write(line(k), 0.5)
            lines = (tmp_path / HISTORY).read_text().splitlines()
            assert len(lines) == k + 1
            assert json.loads(lines[-1]) == {"iteration": k, "risk": 0.1 * k, "ess": None, "events": []}
    timings = [json.loads(text) for text in (tmp_path / TIMINGS).read_text().splitlines()]
    assert timings == [{"iteration": k, "seconds": 0.5} for k in range(3)]
    assert "seconds" not in (tmp_path / HISTORY).read_text()


def test_what_is_in_memory_equals_what_is_read_back(tmp_path):
    with Recorder(tmp_path) as recorder:
        recorder.write(line(7), 0.0)
        length = recorder.sync()
    assert read_history(tmp_path, length) == [round_trip(line(7))]


def test_resuming_drops_what_came_after_the_checkpoint(tmp_path):
    with Recorder(tmp_path) as recorder:
        recorder.write(line(0), 0.0)
        length = recorder.sync()
        recorder.write(line(1), 0.0)
    with Recorder(tmp_path, length) as recorder:
        recorder.write(line(5), 0.0)
        total = recorder.sync()
    assert [entry["iteration"] for entry in read_history(tmp_path, total)] == [0, 5]


def test_a_history_cut_short_is_detected(tmp_path):
    with Recorder(tmp_path) as recorder:
        recorder.write(line(0), 0.0)
        length = recorder.sync()
    with pytest.raises(DamagedFileError, match="shorter than its checkpoint says"):
        read_history(tmp_path, length + 1)
    with pytest.raises(DamagedFileError, match="shorter than its checkpoint says"):
        Recorder(tmp_path, length + 1)


def test_a_folder_that_cannot_be_made_gets_one_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match=r"cannot write .*choose a folder that can be written"):
        Recorder(tmp_path / "file" / "run")
    with pytest.raises(StorageError, match="cannot write /proc/riskgrad"):
        Recorder(type(tmp_path)("/proc/riskgrad"))


def test_a_full_disk_gets_one_line(tmp_path):
    (tmp_path / HISTORY).symlink_to("/dev/full")
    with pytest.raises(StorageError, match="no space left on device"), Recorder(tmp_path) as recorder:
        recorder.write(line(0), 0.0)

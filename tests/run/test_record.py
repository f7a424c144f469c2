import contextlib
import json
import math
import zlib
from pathlib import Path

import pytest

from riskgrad.errors import DamagedFileError, StorageError
from riskgrad.run.store import CHECK, HISTORY, TIMINGS, Recorder, read_history
from riskgrad.types import round_trip


def line(k):
    return {"iteration": k, "risk": 0.1 * k, "ess": math.nan, "events": []}


def test_each_line_is_on_the_disk_before_the_next(tmp_path):
    with Recorder(tmp_path) as recorder:
        for k in range(3):
            recorder.write(line(k), 0.5)
            lines = (tmp_path / HISTORY).read_text().splitlines()
            assert len(lines) == k + 1
            found = json.loads(lines[-1])
            assert len(found.pop("check")) == 8
            assert found == {"iteration": k, "risk": 0.1 * k, "ess": None, "events": []}
    timings = [json.loads(text) for text in (tmp_path / TIMINGS).read_text().splitlines()]
    assert timings == [{"iteration": k, "seconds": 0.5} for k in range(3)]
    assert "seconds" not in (tmp_path / HISTORY).read_text()


def test_what_is_in_memory_equals_what_is_read_back(tmp_path):
    with Recorder(tmp_path) as recorder:
        recorder.write(line(0), 0.0)
        length = recorder.sync()
    assert read_history(tmp_path, length, 1) == ([round_trip(line(0))], "")


def test_resuming_drops_what_came_after_the_checkpoint(tmp_path):
    with Recorder(tmp_path) as recorder:
        recorder.write(line(0), 0.0)
        length = recorder.sync()
        recorder.write({**line(1), "risk": 7.0}, 0.0)
    with Recorder(tmp_path, length) as recorder:
        recorder.write(line(1), 0.0)
        total = recorder.sync()
    assert read_history(tmp_path, total, 2) == ([round_trip(line(0)), round_trip(line(1))], "")


def test_a_history_cut_short_is_detected(tmp_path):
    with Recorder(tmp_path) as recorder:
        recorder.write(line(0), 0.0)
        length = recorder.sync()
    lines, note = read_history(tmp_path, length + 1, 1)
    assert lines == [round_trip(line(0))]
    assert f"it has {length} bytes of {length + 1}; the parameters are whole" in note
    with pytest.raises(DamagedFileError, match="shorter than its checkpoint says"):
        Recorder(tmp_path, length + 1)


def test_lines_that_are_not_of_the_iterations_in_order_are_told(tmp_path):
    with Recorder(tmp_path) as recorder:
        for k in (0, 1, 1, 0, 2, 9):
            recorder.write(line(k), 0.0)
        length = recorder.sync()
    lines, note = read_history(tmp_path, length, 4)
    assert lines == [round_trip(line(k)) for k in (0, 1, 2)]
    assert "1 of 4 iterations are missing, 3 lines are damaged or out of order; the parameters are whole" in note


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b'{"iteration": 0}', b"}", b"null", b"\xff\xfe"])
def test_lines_without_a_checksum_are_not_lines(tmp_path, text):
    (tmp_path / HISTORY).write_bytes(text + b"\n")
    lines, note = read_history(tmp_path, len(text) + 1, 1)
    assert lines == []
    assert "1 of 1 iterations are missing" in note


@pytest.mark.parametrize("plain", ['{"iteration": "0"}', '{"iteration": true}', '{"a": 0}', "{", "[" * 10**5])
def test_a_forged_line_with_a_right_checksum_is_not_a_line(tmp_path, plain):
    text = (plain[:-1] + "}").encode()
    (tmp_path / HISTORY).write_bytes(text[:-1] + CHECK % zlib.crc32(text) + b"\n")
    lines, note = read_history(tmp_path, len(text) + 100, 1)
    assert lines == []
    assert "1 of 1 iterations are missing" in note


def test_a_folder_that_cannot_be_made_gets_one_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match=r"cannot write .*choose a folder that can be written"):
        Recorder(tmp_path / "file" / "run")
    with pytest.raises(StorageError, match="cannot write /proc/riskgrad"):
        Recorder(type(tmp_path)("/proc/riskgrad"))


def test_a_full_disk_gets_one_line(tmp_path):
    with Recorder(tmp_path) as recorder, contextlib.suppress(OSError), Path("/dev/full").open("wb") as full:
        recorder._timings = full
        with pytest.raises(StorageError, match=r"no space left on device; the last checkpoint is whole"):
            recorder.write(line(0), 0.0)

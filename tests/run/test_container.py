import resource
import subprocess
import sys

import numpy as np
import pytest

from riskgrad.errors import DamagedFileError, RiskgradError, StorageError
from riskgrad.run import container


def test_arrays_and_facts_come_back_to_the_bit(tmp_path):
    arrays = {"theta": np.random.default_rng(0).normal(size=7), "moments.steps": np.array([3.0]), "empty": np.zeros(0)}
    facts = {"iteration": 3, "best": 0.1 + 0.2, "notes": ["a", "b"], "nothing": None}
    container.write_container(tmp_path / "x.rg", arrays, facts)
    again, words = container.read_container(tmp_path / "x.rg")
    assert words == facts
    assert again.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(again[name], array)
    assert [path.name for path in tmp_path.iterdir()] == ["x.rg"]


@pytest.mark.parametrize("where", [0, 5, 40, 200, -1])
def test_every_flipped_byte_is_detected(tmp_path, where):
    path = tmp_path / "x.rg"
    container.write_container(path, {"theta": np.arange(5.0)}, {"iteration": 1})
    content = bytearray(path.read_bytes())
    content[where] ^= 0x10
    path.write_bytes(content)
    with pytest.raises((DamagedFileError, StorageError)):
        container.read_container(path)


@pytest.mark.parametrize("kept", [0, 1, 60, 300])
def test_a_file_cut_short_is_detected(tmp_path, kept):
    path = tmp_path / "x.rg"
    container.write_container(path, {"theta": np.arange(5.0)}, {"iteration": 1})
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DamagedFileError):
        container.read_container(path)


def test_a_pickle_is_refused(tmp_path):
    path = tmp_path / "x.rg"
    container.write_container(path, {"theta": np.array([{"not": "a number"}], dtype=object)}, {})
    with pytest.raises(DamagedFileError, match="Object arrays cannot be loaded"):
        container.read_container(path)


def test_a_missing_file_gets_one_line(tmp_path):
    with pytest.raises(StorageError, match=r"cannot read .*nowhere: no such file or directory"):
        container.read_container(tmp_path / "nowhere")


def test_another_format_says_so(tmp_path):
    path = tmp_path / "x.rg"
    path.write_bytes(b"riskgrad 99 abc 0\n")
    with pytest.raises(StorageError, match="has format 99"):
        container.read_container(path)


def test_a_folder_that_cannot_be_written_gets_one_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="cannot write") as caught:
        container.write_container(tmp_path / "file" / "x.rg", {}, {})
    assert isinstance(caught.value, RiskgradError)
    assert isinstance(caught.value, OSError)
    assert "\n" not in str(caught.value)


def test_a_full_disk_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "x.rg"
    container.write_container(path, {"theta": np.arange(5.0)}, {"iteration": 1})
    before = path.read_bytes()
    # a limit on the size of files makes the kernel refuse the write half-way, as a full disk does
    code = (
        "import sys, signal, resource, numpy as np; from pathlib import Path; from riskgrad.run import container\n"
        "from riskgrad.errors import StorageError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 100}, {resource.RLIM_INFINITY}))\n"
        "try: container.write_container(Path(sys.argv[1]), {'theta': np.arange(100000.0)}, {'iteration': 2})\n"
        "except StorageError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert "cannot write" in done.stdout
    assert "file too large" in done.stdout
    assert done.stdout.count("\n") == 1
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["x.rg"]

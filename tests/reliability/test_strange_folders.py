"""Folders from elsewhere: links are not written through, pipes do not hang, archives do not fill a machine."""

import hashlib
import io
import os
import shutil
import subprocess
import sys
import zipfile
import zlib

import gymnasium
import numpy as np
import pytest

import riskgrad as rg
from riskgrad.critic.log import HEAD, MARK, SIZES, read_blocks
from riskgrad.errors import DamagedFileError, InputError, StorageError
from riskgrad.mdp import FiniteMDP

QUICK = {"algorithm": "offp-sf:episodes=20", "held_out": 20, "seed": 3, "checkpoint_seconds": 0.0, "iterations": 4}
LINKED = ["history.jsonl", "timings.jsonl", "config.toml", "checkpoint-a.rg.writing"]


def stop(line, theta):
    del theta
    return line["iteration"] == 1


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize("hanging", [False, True])
def test_nothing_is_written_through_a_link(name, hanging, tmp_path):
    folder, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    folder.mkdir()
    if not hanging:
        elsewhere.write_text("mine")
    (folder / name).symlink_to(elsewhere)
    if name.endswith(".writing"):  # beside a checkpoint; what is left of a crash is taken away
        rg.train("two-roads", "mean", resume=folder, **QUICK)
    else:
        with pytest.raises(StorageError, match=rf"cannot write .*run.*: (it|{name}) is a symbolic link; "):
            rg.train("two-roads", "mean", resume=folder, **QUICK)
    assert elsewhere.exists() is not hanging
    assert hanging or elsewhere.read_text() == "mine"


def test_a_link_in_place_of_a_checkpoint_is_replaced_not_followed(tmp_path):
    folder, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    rg.train("two-roads", "mean", folder=folder, callback=stop, **QUICK)
    for name in ("checkpoint-a.rg", "checkpoint-b.rg"):
        shutil.move(folder / name, tmp_path / name)
        (folder / name).symlink_to(tmp_path / name)
    kept = {name: (tmp_path / name).read_bytes() for name in ("checkpoint-a.rg", "checkpoint-b.rg")}
    rg.train("two-roads", "mean", resume=folder, **QUICK)
    assert {name: (tmp_path / name).read_bytes() for name in kept} == kept
    assert not elsewhere.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.timeout(60)
def test_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "history.jsonl")
    os.mkfifo(tmp_path / "checkpoint-a.rg")
    for call in (lambda: rg.load(tmp_path), lambda: rg.load(tmp_path / "checkpoint-a.rg")):
        with pytest.raises(StorageError, match="not a file"):
            call()


def packed(arrays):
    """Give a whole container whose archive is packed."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in arrays.items():
            archive.writestr(f"{name}.npy", content)
    content = body.getvalue()
    return f"riskgrad 1 {hashlib.sha256(content).hexdigest()} {len(content)}\n".encode() + content


def test_an_archive_that_grows_out_of_proportion_is_refused(tmp_path):
    head = io.BytesIO()
    np.save(head, np.zeros(1))
    (tmp_path / "bomb.rg").write_bytes(packed({"theta": head.getvalue()[:128] + bytes(50_000_000)}))
    assert (tmp_path / "bomb.rg").stat().st_size < 100_000
    with pytest.raises(DamagedFileError, match="unpack to 50000128, more than 100 times as much"):
        rg.load(tmp_path / "bomb.rg")


def test_a_shape_that_no_memory_holds_is_refused(tmp_path):
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (10**15,), }".replace("10**15", str(10**15))
    head = b"\x93NUMPY\x01\x00" + (len(text) + 1).to_bytes(2, "little") + text.encode() + b"\n"
    (tmp_path / "huge.rg").write_bytes(packed({"theta": head}))
    with pytest.raises(DamagedFileError, match="does not hold arrays and facts"):
        rg.load(tmp_path / "huge.rg")


@pytest.mark.parametrize(("episodes", "steps"), [(0, 10**6), (2**40, 0), (1, 2**60)])
def test_a_block_of_steps_that_grows_out_of_proportion_is_refused(episodes, steps):
    body = zlib.compress(bytes(20_000_000), 9)
    sizes = len(body), episodes, steps
    block = HEAD.pack(MARK, zlib.crc32(SIZES.pack(*sizes) + body), *sizes) + body
    with pytest.raises(
        DamagedFileError, match=r"block 0 (has a size out of proportion|does not hold what its head says)"
    ):
        read_blocks(block, "steps.log")


class Counted(gymnasium.Wrapper):
    made, closed = 0, 0

    def __init__(self, **options):
        super().__init__(gymnasium.make("riskgrad/GuardedMaze-v0", **options))
        type(self).made += 1
        self._is_open = True

    def close(self):
        type(self).closed += self._is_open
        self._is_open = False
        super().close()


def test_reports_comparisons_and_experiments_close_what_they_make(tmp_path):
    gymnasium.register("Counted-v0", Counted)
    try:
        options = {"horizon": 5, "iterations": 1, "held_out": 4, "algorithm": "offp-sf:episodes=4"}
        run = rg.train("Counted-v0", "mean", **options)
        assert Counted.made == Counted.closed > 0
        before = Counted.made
        rg.report(run, tmp_path / "page.html", episodes=40)
        rg.compare([run, run], episodes=4)
        assert Counted.made == Counted.closed > before
        with pytest.raises(InputError):
            rg.report(run, tmp_path / "page.html", episodes=4, confidence=7)
        assert Counted.made == Counted.closed
        rg.experiment("Counted-v0", ["mean"], seeds=1, episodes=4, backend="serial", **options)
        assert Counted.made == Counted.closed
    finally:
        gymnasium.registry.pop("Counted-v0")


def chain(n):
    last = [[[], []]]
    return [
        [[(0.5, s, 0.0, False), (0.5, s + 1, 1.0, s + 1 == n)], [(1.0, s + 1, 0.0, s + 1 == n)]] for s in range(n)
    ] + last


def test_reachability_takes_work_that_is_linear_in_the_edges(monkeypatch):
    """A chain of n states was walked n times; now one walk over the edges is asked for, whatever their number."""
    from scipy.sparse import csgraph  # noqa: PLC0415

    walks, walk = [], csgraph.breadth_first_order
    monkeypatch.setattr(csgraph, "breadth_first_order", lambda *a, **k: walks.append(a[0].nnz) or walk(*a, **k))
    for n in (10, 2000):  # a walk over few edges needs no SciPy
        model = FiniteMDP.from_outcomes(chain(n), 0, horizon=5)
        assert model.reachable.sum() == n
    # once when a model is made, once when it is asked which states are reachable
    assert len(walks) == 2
    assert walks[0] <= 3 * 2000


UNCACHED = """
import sys, warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import riskgrad.kernels.ladder
    import riskgrad.kernels.orthogonal
    sys.path.insert(0, sys.argv[1])
    import one_kernel
    assert one_kernel.double(21) == 42
print(len(told), told[0].message if told else "")
"""


@pytest.mark.parametrize("folder", ["/proc/nothing", "file/in/the/way"])
def test_where_no_cache_can_be_written_kernels_run_uncached_with_a_note(folder, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "one_kernel.py").write_text(
        "from riskgrad.kernels.compile import kernel\n\n\n@kernel\ndef double(x):\n    return 2 * x\n"
    )
    # as where the source's folder and that of the user are read-only, which root never meets
    alone = {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator", "NUMBA_CACHE_DIR": folder}
    command = [sys.executable, "-c", UNCACHED, str(tmp_path)]
    done = subprocess.run(
        command, env={**os.environ, **alone}, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.startswith("1 no folder for compiled kernels can be written: each process compiles its own")

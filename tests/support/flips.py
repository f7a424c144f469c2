"""One flipped bit in a file of a run, and whether who reads the run is told.

A flip may be refused, may be said in a note or a warning, or may leave all that is read as it was. Anything else is
silently wrong.
"""

import warnings
from pathlib import Path

import numpy as np

import riskgrad as rg
from riskgrad.cli.config import read_config
from riskgrad.cli.train import config_keys
from riskgrad.critic.log import read_blocks
from riskgrad.errors import DamagedFileError, RiskgradError
from riskgrad.experiments.record import RECORD, read_record
from riskgrad.run.checkpoint import latest_checkpoint
from riskgrad.run.store import read_bytes

THETAS = ("theta", "random_theta", "last_theta")


def flipped(content, bit):
    """Give the bytes with one bit turned."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << (bit % 8)
    return bytes(changed)


def train_runs(folder):
    """Train runs with every kind of file: a folder, one with steps, one saved as a file, and an experiment."""
    folder = Path(folder)
    options = {"held_out": 20, "seed": 2, "checkpoint_seconds": 0.0}
    run = rg.train(
        "two-roads", "cvar:0.1", algorithm="offp-sf:episodes=20", iterations=6, folder=folder / "run", **options
    )
    rg.train("two-roads", "cvar:0.1", algorithm="critic:episodes=20", iterations=2, folder=folder / "critic", **options)
    run.save(folder / "one.rg")
    few = {"algorithm": "score:episodes=4", "iterations": 1, "held_out": 4, "episodes": 20}
    rg.experiment("two-roads", ["mean", "cvar:0.1"], 2, folder=folder / "experiment", **few)
    found = (path for path in folder.rglob("*") if path.is_file())
    # the runs of an experiment have the files of any run
    return sorted(path for path in found if path.name == RECORD or (folder / "experiment") not in path.parents)


def look_of(run):
    """Give all that a run says, but for its notes of damage."""
    numbers = tuple(getattr(run, name).tobytes() for name in THETAS)
    return numbers, run.history, run.episodes_used, run.finished, run.settings.as_dict(), run.held_out_risk


def read_part(path):
    """Give what is read of a file: a run, settings or steps; and whether damage was told."""
    if path.name == "config.toml":
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            return read_config(path, config_keys()), bool(told)
    if path.name == RECORD:
        return read_record(path.parent), False
    if path.name == "steps.log":
        found = latest_checkpoint(path.parent)
        assert found is not None
        blocks = read_blocks(read_bytes(path, found.facts["log_bytes"]), str(path))
        return [block.encode() for block in blocks], False
    run = rg.load(path if path.suffix == ".rg" and not path.name.startswith("checkpoint") else path.parent)
    return look_of(run), any("damaged" in note or "format" in note or "not a file" in note for note in run.notes)


def flip_bits(path, count, seed=0):
    """Flip bits of a file, one after the other; give how often that was refused, told, without effect, and faults."""
    content = path.read_bytes()
    before, _ = read_part(path)
    rng = np.random.default_rng([seed, len(content)])
    bits = rng.choice(8 * len(content), min(count, 8 * len(content)), replace=False)
    ended, faults = {"refused": 0, "told": 0, "no effect": 0}, []
    try:
        for bit in bits.tolist():
            path.write_bytes(flipped(content, bit))
            try:
                found, told = read_part(path)
            except RiskgradError as error:
                ended["refused"] += 1
                # a line that says more than that a file is damaged would be about something else
                if not isinstance(error, DamagedFileError) and path.name != "config.toml":
                    faults.append((bit, f"{type(error).__name__}: {error}"))
            except Exception as error:
                faults.append((bit, f"{type(error).__name__}: {error}"))
            else:
                ended["told" if told else "no effect"] += 1
                if not told and found != before:
                    faults.append((bit, "silently wrong"))
    finally:
        path.write_bytes(content)
    return ended, faults

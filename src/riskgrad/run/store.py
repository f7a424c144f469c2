"""The folder of a run: its record, its checkpoints and what repeats it, opened for a new run or one that goes on.

The record is one JSON line per iteration in history.jsonl, and how long each took in timings.jsonl. The history holds
only what the seed determines, so that two runs of one seed have equal files; timings are kept apart. Each line reaches
the operating system before the next iteration begins. A number that is not finite is written as null.

A run goes on only with the settings that it began with: another seed or another number of iterations would make the
rest of it something else than what was begun, and the first one that differs is named.

An algorithm that learns from every step keeps them in steps.log: blocks with checksums, appended before a checkpoint
that counts them, and never written again.
"""

import contextlib
import json
import math
import os
import warnings
from collections.abc import Generator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from numpy.typing import NDArray

from riskgrad.critic.log import StepLog, read_blocks
from riskgrad.errors import DamagedFileError, InputError
from riskgrad.run.checkpoint import Checkpoint, latest_checkpoint, save_checkpoint
from riskgrad.run.config import CONFIG, write_config
from riskgrad.run.container import refuse
from riskgrad.settings import Settings

HISTORY = "history.jsonl"
TIMINGS = "timings.jsonl"
LOG = "steps.log"

Line = dict[str, Any]


class Recorder:
    """The two open files of a run.

    Args:
        folder: the run's folder; made if it is not there.
        length: bytes of the history to keep, from a checkpoint; what follows is of iterations that will be repeated.
    """

    def __init__(self, folder: Path, length: int = 0) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _cut(folder / HISTORY, length)
            with contextlib.ExitStack() as stack:
                self._history = stack.enter_context((folder / HISTORY).open("ab"))
                self._timings = stack.enter_context((folder / TIMINGS).open("ab"))
                self._files = stack.pop_all()
        except DamagedFileError:
            raise
        except OSError as error:
            refuse("write", folder, error, "choose a folder that can be written")

    def write(self, line: Mapping[str, Any], seconds: float) -> None:
        """Add one iteration and the time it took."""
        timing = {"iteration": line["iteration"], "seconds": round(seconds, 6)}
        try:
            self._history.write(as_json(line).encode() + b"\n")
            self._history.flush()
            self._timings.write(json.dumps(timing).encode() + b"\n")
            self._timings.flush()
        except OSError as error:
            refuse("write", self._folder, error, "the last checkpoint is whole; free some space and resume")

    def sync(self) -> int:
        """Bring the history to the disk and give its length in bytes, for a checkpoint."""
        try:
            self._history.flush()
            os.fsync(self._history.fileno())
            return os.fstat(self._history.fileno()).st_size
        except OSError as error:
            refuse("write", self._folder, error, "the last checkpoint is whole; free some space and resume")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # what cannot be flushed now was reported when it was written
        with contextlib.suppress(OSError):
            self._files.close()


def read_history(folder: Path, length: int) -> list[Line]:
    """Read the lines of the first `length` bytes of a run's history."""
    path = folder / HISTORY
    content = read_bytes(path, length)
    try:
        return [json.loads(line) for line in content.decode().splitlines()]
    except ValueError as error:
        raise DamagedFileError(f"{path} is damaged: {error}") from error


def read_bytes(path: Path, length: int) -> bytes:
    """Read the first `length` bytes of a file that a checkpoint speaks of; refuse one that is shorter."""
    if length == 0:
        return b""
    try:
        with path.open("rb") as file:
            content = file.read(length)
    except OSError as error:
        refuse("read", path, error)
    if len(content) < length:
        raise DamagedFileError(f"{path} is shorter than its checkpoint says: {len(content)} bytes of {length}")
    return content


def append_bytes(path: Path, length: int, content: bytes) -> None:
    """Append to a file after its first `length` bytes, and bring it to the disk; what followed them is let go."""
    try:
        _cut(path, length)
        with path.open("ab") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        refuse("write", path, error, "the last checkpoint is whole; free some space and resume")


def as_json(line: Mapping[str, Any]) -> str:
    """Write a line as JSON; numbers that are not finite become null."""
    return json.dumps({name: _finite(value) for name, value in line.items()}, allow_nan=False)


def round_trip(line: Mapping[str, Any]) -> Line:
    """Give the line as it will be read back, so that a run in memory and one from the disk are equal."""
    return json.loads(as_json(line))


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cut(path: Path, length: int) -> None:
    """Shorten a file to `length` bytes; refuse one that is shorter already."""
    size = path.stat().st_size if path.exists() else 0
    if size < length:
        raise DamagedFileError(f"{path} is shorter than its checkpoint says: {size} bytes of {length}")
    if size > length:
        os.truncate(path, length)


class Store:
    """An open folder of a run; made by `open_store`.

    Attributes:
        found: the checkpoint to go on from; None for a run that begins.
        history: its lines so far.
    """

    def __init__(self, folder: Path, found: Checkpoint | None, recorder: Recorder) -> None:
        self.found = found
        self.history: list[Line] = [] if found is None else read_history(folder, found.facts["history_bytes"])
        self._folder, self._recorder = folder, recorder
        self._logged, self._log_bytes = 0, 0 if found is None else int(found.facts["log_bytes"])

    def write(self, line: Line, seconds: float) -> None:
        """Add one iteration and the time it took."""
        self._recorder.write(line, seconds)

    def checkpoint(
        self, iteration: int, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any], log: StepLog | None = None
    ) -> None:
        """Write a checkpoint that knows how long the history is, and the log of steps after its new blocks."""
        lengths = {"history_bytes": self._recorder.sync(), "log_bytes": self._append_log(log)}
        save_checkpoint(self._folder, iteration, arrays, {**facts, **lengths})

    def _append_log(self, log: StepLog | None) -> int:
        """Bring the blocks that are new to the disk, and give the length of the log in bytes."""
        new = log.length - self._logged if log is not None else 0
        if log is None or new == 0:
            return self._log_bytes
        content = b"".join(block.encode() for block in log.blocks[len(log.blocks) - new :])
        append_bytes(self._folder / LOG, self._log_bytes, content)
        self._logged, self._log_bytes = log.length, self._log_bytes + len(content)
        return self._log_bytes

    def read_log(self, log: StepLog) -> None:
        """Fill a log with the steps that were played up to the checkpoint."""
        path = self._folder / LOG
        for block in read_blocks(read_bytes(path, self._log_bytes), str(path)):
            log.append(block)
        self._logged = log.length


@contextlib.contextmanager
def open_store(folder: str | Path | None, resume: str | Path | None, settings: Settings) -> Generator[Store | None]:
    """Open the folder of a run.

    Args:
        folder: for a new run; refused if it already holds one. None, with no `resume`, keeps nothing on disk.
        resume: for a run that goes on if the folder holds one, and begins otherwise.
        settings: what the run is asked to do; must be what it began with.

    Yields:
        the open store, or None.
    """
    if folder is not None and resume is not None:
        raise InputError("folder and resume", "not both be given", str(resume), "resume= alone begins or goes on")
    place = Path(resume or folder or "")
    if folder is None and resume is None:
        yield None
        return
    found = latest_checkpoint(place) if place.is_dir() else None
    if folder is not None and (found is not None or (place / HISTORY).exists()):
        raise InputError("folder", "not hold a run already", str(folder), "pass resume= to go on with it")
    if found is not None:
        refuse_other_settings(Settings.from_dict(found.facts["settings"]), settings)
        if found.note:
            warnings.warn(found.note, RuntimeWarning, stacklevel=5)
    with Recorder(place, 0 if found is None else found.facts["history_bytes"]) as recorder:
        if found is None:
            _write(place / CONFIG, write_config(settings))
        yield Store(place, found, recorder)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        refuse("write", path, error, "choose a folder that can be written")


def refuse_other_settings(before: Settings, now: Settings) -> None:
    """Refuse to go on with a run under other settings than it began with; the first one that differs is named."""
    old, new = ({**one.as_dict(), **one.own} for one in (before, now))
    for name in (name for name in {**old, **new} if name not in ("own", "given")):
        if old.get(name) != new.get(name):
            advice = f"it was {old.get(name)!r}; begin a new run, with theta=run.last_theta to build on this one"
            raise InputError(name, "be what the run began with", new.get(name), advice)

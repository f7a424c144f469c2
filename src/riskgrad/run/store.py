"""The folder of a run: its record, checkpoints and `config.toml`, opened for a new run or a resumed one.

The record is one JSON line per iteration in history.jsonl, and how long each took in timings.jsonl. The history holds
only what the seed determines, so that two runs of one seed have equal files; timings are kept apart. Each line reaches
the operating system before the next iteration begins. A number that is not finite is written as null. The last entry
of a line of the history, "check", is the checksum of the line without it. A damaged or lost history does not affect the
parameters, which are in the checkpoint: a run is read with the lines that are intact.

A run can be resumed only with the settings that it began with, since with another seed or number of iterations the rest
would belong to another run; a refusal names the first setting that differs.

One process writes to a folder at a time (see `lock`).

An algorithm that learns from every step keeps them in steps.log: blocks with checksums, appended before a checkpoint
that counts them, and never written again.
"""

import contextlib
import json
import os
import warnings
import zlib
from collections.abc import Generator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from numpy.typing import NDArray

from riskgrad.critic.log import StepLog, read_blocks
from riskgrad.errors import DamagedFileError, InputError, StorageError
from riskgrad.run.checkpoint import Checkpoint, latest_checkpoint, save_checkpoint
from riskgrad.run.config import CONFIG, write_config
from riskgrad.run.facts import check_line
from riskgrad.run.files import open_for_writing, read_file, refuse, size_of, write_text
from riskgrad.run.lock import lock_folder
from riskgrad.settings import Settings
from riskgrad.types import Line, as_json

HISTORY = "history.jsonl"
TIMINGS = "timings.jsonl"
LOG = "steps.log"
RESCUE = "rg.load gives them; begin a new run with theta=run.last_theta to build on this one"
CHECK = b', "check": "%08x"}'


class Recorder:
    """The two open files of a run.

    Args:
        folder: the run's folder; made if it is not there.
        length: bytes of the history to keep, from a checkpoint; later lines are of iterations that will be repeated.
    """

    def __init__(self, folder: Path, length: int = 0) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with contextlib.ExitStack() as stack:
                self._history = stack.enter_context(_open_after(folder / HISTORY, length))
                self._timings = stack.enter_context(open_for_writing(folder / TIMINGS, append=True))
                self._files = stack.pop_all()
        except DamagedFileError:
            raise
        except OSError as error:
            refuse("write", folder, error, "choose a folder that can be written")

    def write(self, line: Mapping[str, Any], seconds: float) -> None:
        """Add one iteration and the time it took."""
        timing = {"iteration": line["iteration"], "seconds": round(seconds, 6)}
        self._refuse_removed()
        try:
            self._history.write(_with_check(line))
            self._history.flush()
            self._timings.write(json.dumps(timing).encode() + b"\n")
            self._timings.flush()
        except OSError as error:
            refuse("write", self._folder, error, "the last checkpoint is whole; free some space and resume")

    def sync(self) -> int:
        """Flush the history to the disk, and give its length in bytes for a checkpoint."""
        self._refuse_removed()
        try:
            self._history.flush()
            os.fsync(self._history.fileno())
            return os.fstat(self._history.fileno()).st_size
        except OSError as error:
            refuse("write", self._folder, error, "the last checkpoint is whole; free some space and resume")

    def _refuse_removed(self) -> None:
        """Refuse to go on where the history was removed, moved or replaced while it is open."""
        try:
            there = os.path.samestat(os.fstat(self._history.fileno()), (self._folder / HISTORY).stat())
        except FileNotFoundError:
            there = False
        except OSError as error:
            refuse("write", self._folder, error, "the last checkpoint is whole; resume when it can be written")
        if not there:
            advice = "train again, or put the folder back and resume"
            raise StorageError(f"cannot write {self._folder}: it was removed or moved during the training; {advice}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # an error of flushing was already reported when the line was written
        with contextlib.suppress(OSError):
            self._files.close()


def read_history(folder: Path, length: int, iterations: int) -> tuple[list[Line], str]:
    """Read the lines that a checkpoint refers to, as far as they are whole, and say what is missing.

    Args:
        folder: the run's folder.
        length: bytes of the history that the checkpoint refers to.
        iterations: how many iterations were done; the history has a line for each, in order.

    Returns:
        the lines whose checksums match, each iteration once and in order; and a note, empty if nothing is missing.
    """
    path = folder / HISTORY
    try:
        content = read_file(path, length)
    except FileNotFoundError:
        content = b""
    except OSError as error:
        refuse("read", path, error)
    *ended, rest = content.split(b"\n")
    found: list[Line] = []
    strange = 1 if rest else 0
    for text in ended:
        line = _read_history_line(text)
        last = found[-1]["iteration"] if found else -1
        if line is not None and last < line["iteration"] < iterations:
            found.append(line)
        else:
            strange += 1
    missing = iterations - len(found)
    if not missing and not strange and len(content) == length:
        return found, ""
    words = [f"{missing} of {iterations} iterations are missing"] if missing else []
    words += [f"{strange} lines are damaged or out of order"] if strange else []
    words += [f"it has {len(content)} bytes of {length}"] if len(content) < length else []
    return found, f"{path} is damaged: {', '.join(words)}; the parameters are whole"


def _with_check(line: Mapping[str, Any]) -> bytes:
    """Give a line of the history as bytes; its last entry is the checksum of the line without it."""
    plain = as_json(line).encode()
    return plain[:-1] + CHECK % zlib.crc32(plain) + b"\n"


def _read_history_line(text: bytes) -> Line | None:
    """Read a line of the history; None if its checksum does not match, or if it is not a line of a history."""
    cut = len(text) - len(CHECK % 0)
    plain = text[: max(cut, 0)] + b"}"
    if text[max(cut, 0) :] != CHECK % zlib.crc32(plain):
        return None
    try:
        line: Line = json.loads(plain)
        check_line("a line", line)
    except (ValueError, RecursionError, DamagedFileError):  # content with a right checksum may still be hostile
        return None
    return line


def read_bytes(path: Path, length: int) -> bytes:
    """Read the first `length` bytes of a file that a checkpoint refers to; refuse one that is shorter."""
    if length == 0:
        return b""
    try:
        content = read_file(path, length)
    except OSError as error:
        refuse("read", path, error)
    if len(content) < length:
        raise DamagedFileError(f"{path} is shorter than its checkpoint says: {len(content)} bytes of {length}")
    return content


def append_bytes(path: Path, length: int, content: bytes) -> None:
    """Append to a file after its first `length` bytes, and flush it to the disk; what followed them is discarded."""
    try:
        with _open_after(path, length) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        refuse("write", path, error, "the last checkpoint is whole; free some space and resume")


def _open_after(path: Path, length: int) -> BinaryIO:
    """Open a file to write after its first `length` bytes, without what followed them; refuse a shorter file."""
    size = size_of(path)
    if size < length:
        raise DamagedFileError(f"{path} is shorter than its checkpoint says: {size} bytes of {length}")
    return open_for_writing(path, append=True, length=length)


class Store:
    """An open folder of a run; made by `open_store`.

    Attributes:
        found: the checkpoint to go on from; None for a run that begins.
        history: the lines of the history up to that checkpoint.
    """

    def __init__(self, folder: Path, found: Checkpoint | None, history: list[Line], recorder: Recorder) -> None:
        self.found, self.history = found, history
        self._folder, self._recorder = folder, recorder
        self._logged, self._log_bytes = 0, 0 if found is None else int(found.facts["log_bytes"])

    def write(self, line: Line, seconds: float) -> None:
        """Add one iteration and the time it took."""
        self._recorder.write(line, seconds)

    def checkpoint(
        self, iteration: int, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any], log: StepLog | None = None
    ) -> None:
        """Append the new blocks of the log, and write a checkpoint with the lengths of the history and the log."""
        lengths = {"history_bytes": self._recorder.sync(), "log_bytes": self._append_log(log)}
        save_checkpoint(self._folder, iteration, arrays, {**facts, **lengths})

    def _append_log(self, log: StepLog | None) -> int:
        """Write the new blocks of the log to the disk, and give the length of the log in bytes."""
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


def _whole_history(folder: Path, found: Checkpoint) -> list[Line]:
    """Read the history up to a checkpoint; refuse to go on with one that is not whole."""
    lines, damage = read_history(folder, found.facts["history_bytes"], found.iteration)
    if damage:
        raise DamagedFileError(f"{damage}: {RESCUE}")
    return lines


@contextlib.contextmanager
def open_store(folder: str | Path | None, resume: str | Path | None, settings: Settings) -> Generator[Store]:
    """Open the folder of a run.

    Args:
        folder: the folder of a new run; refused if it already holds a run.
        resume: the folder of a run that goes on if the folder holds one, and begins otherwise.
        settings: what the run is asked to do; for a run that goes on, they must be those that it began with.

    Yields:
        the open store.
    """
    if folder is not None and resume is not None:
        raise InputError("folder and resume", "not both be given", str(resume), "resume= alone begins or goes on")
    place = Path(resume or folder or "")
    with lock_folder(place):
        found = latest_checkpoint(place)
        if folder is not None and (found is not None or (place / HISTORY).exists()):
            raise InputError("folder", "not hold a run already", str(folder), "pass resume= to go on with it")
        if found is not None:
            refuse_other_settings(Settings.from_dict(found.facts["settings"]), settings)
            if found.note:
                warnings.warn(found.note, RuntimeWarning, stacklevel=5)
        history = [] if found is None else _whole_history(place, found)
        with Recorder(place, 0 if found is None else found.facts["history_bytes"]) as recorder:
            if found is None:
                write_text(place / CONFIG, write_config(settings))
            yield Store(place, found, history, recorder)


def refuse_other_settings(before: Settings, now: Settings) -> None:
    """Refuse to go on with a run under other settings than it began with; what was given is named first."""
    old, new = ({**one.as_dict(), **one.own} for one in (before, now))
    named = ("env", "risk", *now.given)  # what follows from these, as a path does from the measure, differs as well
    for name in (name for name in dict.fromkeys([*named, *old, *new]) if name not in ("own", "given", "return_range")):
        if old.get(name) != new.get(name):
            advice = f"it was {old.get(name)!r}; begin a new run; in Python theta=run.last_theta builds on this one"
            raise InputError(name, "be what the run began with", new.get(name), advice)

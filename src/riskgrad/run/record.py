"""The record of a run: one JSON line per iteration in history.jsonl, and how long each took in timings.jsonl.

The history holds only what the seed determines, so that two runs of one seed have equal files; timings are kept apart.
Each line reaches the operating system before the next iteration begins. A number that is not finite is written as null.
"""

import contextlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from riskgrad.errors import DamagedFileError
from riskgrad.run.container import refuse

HISTORY = "history.jsonl"
TIMINGS = "timings.jsonl"

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
    if length == 0:
        return []
    try:
        content = path.read_bytes()
    except OSError as error:
        refuse("read", path, error)
    if len(content) < length:
        raise DamagedFileError(f"{path} is shorter than its checkpoint says: {len(content)} bytes of {length}")
    try:
        return [json.loads(line) for line in content[:length].decode().splitlines()]
    except ValueError as error:
        raise DamagedFileError(f"{path} is damaged: {error}") from error


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

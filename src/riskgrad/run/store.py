"""The folder of a run: its record, its checkpoints and what repeats it, opened for a new run or one that goes on.

A run goes on only with the settings that it began with: another seed or another number of iterations would make the
rest of it something else than what was begun, and the first one that differs is named.
"""

import contextlib
import warnings
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from riskgrad.errors import InputError
from riskgrad.run.checkpoint import Checkpoint, latest_checkpoint, save_checkpoint
from riskgrad.run.config import CONFIG, write_config
from riskgrad.run.container import refuse
from riskgrad.run.record import HISTORY, Line, Recorder, read_history
from riskgrad.settings import Settings


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

    def write(self, line: Line, seconds: float) -> None:
        """Add one iteration and the time it took."""
        self._recorder.write(line, seconds)

    def checkpoint(self, iteration: int, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
        """Write a checkpoint that knows how long the history is."""
        save_checkpoint(self._folder, iteration, arrays, {**facts, "history_bytes": self._recorder.sync()})


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

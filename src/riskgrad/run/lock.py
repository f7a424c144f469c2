"""One writer at a time: the folder of a run is locked while a training writes to it.

The lock is the operating system's, on an open file, so that it ends with the process however that ends. The file holds
the process id, which the message of a refusal names, and is removed when the training is over. A file that a killed
process left behind locks nothing.
"""

import contextlib
import os
import sys
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Final

from riskgrad.errors import StorageError
from riskgrad.run.files import refuse

LOCK: Final = "lock"
FLAGS: Final = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
BEHIND: Final = 1 << 30  # offset of the byte that Windows locks: past the process id, as a locked byte cannot be read

_held: set[int] = set()


@contextlib.contextmanager
def lock_folder(folder: Path) -> Generator[None]:
    """Hold a folder, made if it is not there, against other writers; refuse one that another process holds."""
    path = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = _open_locked(path)
    except BlockingIOError as error:
        who = _read_holder(path)
        raise StorageError(
            f"cannot write {folder}: {who} is training in it; wait for it or choose another folder"
        ) from error
    except OSError as error:
        refuse("write", folder, error, "choose a folder that can be written")
    _held.add(handle)
    try:
        with contextlib.suppress(OSError):  # a full disk, which the next write to the folder reports
            os.ftruncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        _held.discard(handle)
        if sys.platform != "win32":  # Windows cannot remove an open file
            # removed while it is still locked, so that no other process's lock file is removed
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(handle), path.stat()):
                    path.unlink()
        os.close(handle)


def _open_locked(path: Path) -> int:
    """Open the file and lock it; try again if its last holder removed it in between."""
    while True:
        handle = os.open(path, FLAGS, 0o644)
        try:
            _lock(handle, path)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), path.stat()):
                    return handle
        except OSError:
            os.close(handle)
            raise
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    """Lock an open file; raise BlockingIOError if another process holds it, only warn where the system has no locks."""
    try:
        if sys.platform == "win32":  # pragma: no cover
            import msvcrt  # noqa: PLC0415

            os.lseek(handle, BEHIND, os.SEEK_SET)
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            except PermissionError as error:
                raise BlockingIOError(*error.args) from error
            os.lseek(handle, 0, os.SEEK_SET)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        warnings.warn(f"{path} cannot be locked against other writers: {reason}", RuntimeWarning, stacklevel=2)


def _read_holder(path: Path) -> str:
    try:
        words = path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        words = ""
    return f"process {words}" if words.isdigit() else "another process"


def _let_go_in_child() -> None:
    """Close the lock files that a forked process inherited: it would keep the locks after its parent has ended."""
    for handle in _held:
        with contextlib.suppress(OSError):
            os.close(handle)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)

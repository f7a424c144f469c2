"""How files of a run are opened: nothing is written through a symbolic link, and only regular files are read.

A folder that someone else made may hold links and pipes. Writing through a link would change a file that they chose,
and opening a pipe could wait forever.
"""

import contextlib
import errno
import io
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

from riskgrad.checks import check_path
from riskgrad.errors import InputError, StorageError

AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # opening a pipe without a writer does not wait; the pipe is then refused
PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | AT_ONCE
BINARY = getattr(os, "O_BINARY", 0)  # Windows
KEPT = "what was saved before is whole; free some space or choose another folder"
ELSEWHERE = "choose a place that can be written"
PAGES: Final = (".html", ".htm")  # how a file with a page may end


def open_for_writing(path: Path, *, append: bool = False, length: int | None = None) -> BinaryIO:
    """Open a file for writing, made if it is not there; refuse a link, and anything that is not a regular file.

    Args:
        path: the file.
        append: write after the present content, rather than replace it.
        length: with `append`, how many bytes of the present content to keep; None keeps all.
    """
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC) | PLAIN | BINARY
    handle = os.open(path, flags, 0o666)
    try:
        _require_file(handle)
        if length is not None:
            os.ftruncate(handle, length)
        return os.fdopen(handle, "ab" if append else "wb")
    except BaseException:
        os.close(handle)
        raise


def read_file(path: Path, length: int = -1) -> bytes:
    """Read a file, or its first `length` bytes; refuse anything that is not a regular file."""
    handle = os.open(path, os.O_RDONLY | AT_ONCE | BINARY)
    with io.FileIO(handle, "rb") as file:
        _require_file(handle)
        return file.readall() if length < 0 else _read_up_to(file, length)


def write_whole(path: Path, content: bytes, advice: str = KEPT) -> None:
    """Write a file so that a crash leaves the old one or the new one, never half of one.

    Args:
        path: the file; its folder is made if it is not there, and a link in its place is replaced.
        content: what it holds.
        advice: what the message advises where the file cannot be written.
    """
    beside = path.with_name(path.name + ".writing")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()  # left by a crash, or a link
        with open_for_writing(beside) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        refuse("write", path, error, advice)


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all; refuse a link in its place."""
    if path.is_symlink():
        refuse("write", path, OSError(errno.ELOOP, "a symbolic link", str(path)), ELSEWHERE)
    write_whole(path, text.encode("utf-8", errors="replace"), ELSEWHERE)


def sync_folder(folder: Path) -> None:
    """Make a rename in this folder last through a power cut, where the system can do that."""
    if not hasattr(os, "O_DIRECTORY"):  # pragma: no cover
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_target(name: str, path: str | Path, endings: Sequence[str]) -> Path:
    """Give the path of a file to write; refuse another ending, and a place where none can be written.

    It is called before the work whose result goes into the file.

    Args:
        name: the argument, in the user's words.
        path: the file.
        endings: what its name may end in.
    """
    target = check_path(name, path)
    refuse_other_ending(name, target, endings)
    refuse_unwritable(target)
    return target


def refuse_other_ending(name: str, path: Path, endings: Sequence[str]) -> None:
    """Refuse a path whose name does not end as the kind of file asks for."""
    if path.suffix.lower() not in endings:
        raise InputError(name, f"end in {', '.join(endings[:-1])} or {endings[-1]}", str(path))


def refuse_unwritable(path: Path) -> None:
    """Refuse a path where no file can be written, before the work whose result is to go there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        there = path.exists()
        open_for_writing(path, append=True).close()
        if not there:
            path.unlink()
    except OSError as error:
        refuse("write", path, error, ELSEWHERE)


def without_links(folder: Path, below: Path) -> Path:
    """Give a path below a folder; refuse one through a symbolic link, which may lead anywhere.

    Args:
        folder: the folder that the user named, which may itself be a link.
        below: a path relative to the folder.
    """
    for place in [folder / below, *(folder / part for part in below.parents if part != Path())]:
        if place.is_symlink():
            refuse("write", place, OSError(errno.ELOOP, "a symbolic link", str(place)), ELSEWHERE)
    return folder / below


def size_of(path: Path) -> int:
    """Give the bytes of a file; 0 where there is none."""
    with contextlib.suppress(FileNotFoundError):
        return os.lstat(path).st_size
    return 0


def refuse(verb: str, path: Path, error: OSError, advice: str = "") -> NoReturn:
    """Raise a `StorageError` with what the system said in one line: "cannot <verb> <path>: <reason>; <advice>"."""
    reason = (error.strerror or str(error)).lower()
    named = Path(error.filename) if isinstance(error.filename, str) else path
    if error.errno == errno.ELOOP and named.is_symlink():
        reason = f"{'it' if named == path else named.name} is a symbolic link"
    raise StorageError(f"cannot {verb} {path}: {reason}" + (f"; {advice}" if advice else "")) from error


def _read_up_to(file: Any, length: int) -> bytes:
    """Read at most `length` bytes, in pieces: a length from a damaged or hostile file may be far too large."""
    parts: list[bytes] = []
    while length > 0 and (part := file.read(min(length, 1 << 20))):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _require_file(handle: int) -> None:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise OSError(errno.EINVAL, "not a file")

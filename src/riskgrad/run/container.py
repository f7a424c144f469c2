"""One file on disk: named arrays and facts, with a checksum, without pickle, and never half written.

The first line says what follows, `riskgrad <version> <sha256> <bytes>`; the rest is an npz archive in which the entry
`facts` is JSON. A file is written under another name, flushed to the disk, and renamed: a crash leaves the old file or
the new one, never half of one.
"""

import contextlib
import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from riskgrad.errors import DamagedFileError, RiskgradError
from riskgrad.run.files import read_file, refuse, write_whole

VERSION = 1
FACTS = "facts"
MOST_GROWTH: Final = 100  # how many times larger than the file its unpacked content may be
# what zipfile, numpy and json raise for content of another format, which may have a matching checksum
STRANGE: Final = (
    *(ValueError, LookupError, TypeError, EOFError, OSError, OverflowError, MemoryError, NotImplementedError),
    *(AttributeError, RecursionError, RuntimeError, zipfile.BadZipFile, zlib.error, SyntaxError),
)

Arrays = dict[str, NDArray[Any]]
Facts = dict[str, Any]


def write_container(path: Path, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Write arrays and facts so that a crash leaves the old file or the new one.

    Args:
        path: the file.
        arrays: arrays of numbers by name; no objects.
        facts: values that JSON can hold, without NaN.
    """
    body = io.BytesIO()
    words = json.dumps(dict(facts), allow_nan=False).encode()
    entries: Arrays = {**arrays, FACTS: np.frombuffer(words, dtype=np.uint8)}
    np.savez(body, **entries)  # pyright: ignore[reportArgumentType]
    content = body.getvalue()
    head = f"riskgrad {VERSION} {hashlib.sha256(content).hexdigest()} {len(content)}\n".encode()
    write_whole(path, head + content)


def read_container(path: Path) -> tuple[Arrays, Facts]:
    """Read what `write_container` wrote; refuse a file that is damaged or of another kind."""
    try:
        head, _, content = read_file(path).partition(b"\n")
    except OSError as error:
        refuse("read", path, error)
    words = head.decode(errors="replace").split(" ")
    if len(words) != 4 or words[0] != "riskgrad":
        raise DamagedFileError(f"{path} is not a file that riskgrad wrote, or its beginning is damaged")
    if words[1] != str(VERSION):
        # the file has another version, or its first line is damaged: the file alone does not show which
        raise DamagedFileError(
            f"{path} has format {words[1]}, this riskgrad reads {VERSION}; read it with the one that wrote it"
        )
    if words[3] != str(len(content)) or words[2] != hashlib.sha256(content).hexdigest():
        raise DamagedFileError(f"{path} is damaged: its checksum does not match")
    with explain_strange(f"{path} does not hold arrays and facts"):
        _refuse_out_of_proportion(path, content)
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays: Arrays = {name: archive[name] for name in archive.files}
        facts: Facts = dict(json.loads(arrays.pop(FACTS).tobytes()))
    return arrays, facts


@contextlib.contextmanager
def explain_strange(what: str) -> Generator[None]:
    """Turn errors of reading into one `DamagedFileError`: content with a right checksum may still be hostile."""
    try:
        yield
    except RiskgradError:
        raise
    except STRANGE as error:
        raise DamagedFileError(f"{what}: {type(error).__name__}: {error}") from error


def _refuse_out_of_proportion(path: Path, content: bytes) -> None:
    """Refuse an archive that unpacks to far more than its size: riskgrad writes none, and it could fill the memory."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > MOST_GROWTH * len(content):
        grows = f"{len(content)} bytes unpack to {unpacked}"
        raise DamagedFileError(f"{path} is refused: its {grows}, more than {MOST_GROWTH} times as much")

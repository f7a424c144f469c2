"""How much memory episodes may take: a quarter of the machine's, since putting them in order needs copies.

How many bytes the record of an episode takes is not known before it is played. So bytes are counted while episodes are
played, or episodes are played twice, first for their lengths. Episodes that take too many are refused with their size,
before the operating system ends the process for lack of memory.
"""

import contextlib
import itertools
import os
from functools import cache
from pathlib import Path
from typing import Final, NoReturn

import numpy as np

from riskgrad.errors import TooLargeError
from riskgrad.types import IntArray

SHARE: Final = 4  # episodes may take 1 / 4 of the memory, which is called the room
UNKNOWN: Final = 1 << 33  # bytes of memory assumed where the system does not report them
PIECES: Final = 16  # episodes that might not fit into the room are played in pieces of about 1 / 16 of it
GIGA: Final = 1e9
NUMBER: Final = 8  # bytes of a number
# the files that hold the limit on the memory of a container
LIMITS: Final = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


@cache
def find_room() -> int:
    """Give the bytes that the episodes of a batch may take."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # pragma: no cover - Windows
        memory = UNKNOWN
    for place in LIMITS:
        with contextlib.suppress(OSError, ValueError):  # the file is missing, or holds "max"
            memory = min(memory, int(place.read_text(encoding="ascii")))
    return memory // SHARE


def refuse_many(episodes: int, policies: int = 1) -> None:
    """Refuse a number of episodes whose returns and lengths do not fit into the room.

    Args:
        episodes: episodes of each policy.
        policies: how many policies there are.
    """
    size, room = 2 * NUMBER * episodes * policies, find_room()
    if size > room:
        rule = f"leave their returns within {_in_giga(room)}, a quarter of the memory"
        got = f"{_in_giga(size)} for {_write_count(episodes)} episodes of {_write_count(policies)} policies"
        raise TooLargeError("episodes", rule, got, "lower it")


def cut_to_fit(sizes: IntArray) -> list[tuple[int, int]]:
    """Cut episodes into pieces of about 1 / 16 of the room, or of one episode; give where each begins and ends.

    Args:
        sizes: bytes that each episode takes at most [m].
    """
    ends, share = np.cumsum(sizes), find_room() // PIECES
    shares = np.arange(1, int(ends[-1]) // share + 1) * share
    cuts: list[int] = np.searchsorted(ends, shares).tolist()
    return list(itertools.pairwise(sorted({0, *cuts, len(sizes)})))


def refuse_size(size: int, room: int, episodes: int, steps: int) -> NoReturn:
    """Refuse episodes whose record does not fit into the room.

    Args:
        size: bytes of the record so far.
        room: bytes that it may take.
        episodes: number of episodes.
        steps: steps of the longest episode, or turns in which lanes have played them so far.
    """
    whole = "a quarter of the memory" if room == find_room() else "their share of a quarter of the memory"
    rule = f"leave what is recorded of them within {_in_giga(room)}, {whole}"
    got = f"{_in_giga(size)} after {steps:,} steps of {episodes:,} episodes"
    raise TooLargeError("episodes", rule, got, "lower episodes or horizon")


def refuse_long_log(size: int, steps: int) -> None:
    """Refuse a log if the rows read so far do not fit into the room.

    Args:
        size: bytes read so far.
        steps: rows read so far.
    """
    room = find_room()
    if size > room:
        rule = f"be within {_in_giga(room)}, a quarter of the memory"
        raise TooLargeError("a log", rule, f"{_in_giga(size)} after {steps:,} steps", "take fewer episodes of it")


def _in_giga(size: int) -> str:
    return f"{_write_count(size, GIGA)} GB"


def _write_count(count: int, unit: float = 1.0) -> str:
    """Write a number, which may be too large for a float."""
    try:
        return f"{count / unit:.3g}"
    except OverflowError:
        return f"about 2**{count.bit_length()}"

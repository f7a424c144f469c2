"""How much memory episodes may take: a quarter of the machine's, since putting them in order needs copies.

The record of an episode is as long as the episode, which is not known in advance. So it is counted while it is played,
or played twice, and refused with its size before the system ends the process for it.
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

SHARE: Final = 4
UNKNOWN: Final = 1 << 33  # bytes that a machine is taken to have where it does not say
PIECES: Final = 16  # of the room, of which one is played at a time where all might not fit
GIGA: Final = 1e9
NUMBER: Final = 8  # bytes of a number
# where a container says how much of the machine's memory it may use
LIMITS: Final = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


@cache
def find_room() -> int:
    """Give the bytes that the episodes of a batch may take."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # pragma: no cover - Windows
        memory = UNKNOWN
    for place in LIMITS:
        with contextlib.suppress(OSError, ValueError):  # there is none, or it is "max"
            memory = min(memory, int(place.read_text(encoding="ascii")))
    return memory // SHARE


def refuse_many(episodes: int, policies: int = 1) -> None:
    """Refuse more episodes than there is room for the returns and lengths of.

    Args:
        episodes: of each policy.
        policies: how many play them.
    """
    size, room = 2 * NUMBER * episodes * policies, find_room()
    if size > room:
        rule = f"leave their returns within {_in_giga(room)}, a quarter of the memory"
        got = f"{_in_giga(size)} for {_write_count(episodes)} episodes of {_write_count(policies)} policies"
        raise TooLargeError("episodes", rule, got, "lower it")


def cut_to_fit(sizes: IntArray) -> list[tuple[int, int]]:
    """Cut episodes into pieces of a small part of the room, or of one episode; give where each begins and ends.

    Args:
        sizes: bytes that each episode takes at most [m].
    """
    ends, share = np.cumsum(sizes), find_room() // PIECES
    shares = np.arange(1, int(ends[-1]) // share + 1) * share
    cuts: list[int] = np.searchsorted(ends, shares).tolist()
    return list(itertools.pairwise(sorted({0, *cuts, len(sizes)})))


def refuse_size(size: int, room: int, episodes: int, steps: int) -> NoReturn:
    """Refuse to keep more of episodes than there is room for.

    Args:
        size: bytes of what they visited.
        room: bytes that it may take.
        episodes: how many they are.
        steps: how many each has taken so far.
    """
    rule = f"leave what is recorded of them within {_in_giga(room)}, a quarter of the memory"
    got = f"{_in_giga(size)} after {steps:,} steps of {episodes:,} episodes"
    raise TooLargeError("episodes", rule, got, "lower episodes or horizon")


def refuse_long_log(size: int, steps: int) -> None:
    """Refuse a log of which more has been read than there is room for.

    Args:
        size: bytes of what was read.
        steps: rows of what was read.
    """
    room = find_room()
    if size > room:
        rule = f"be within {_in_giga(room)}, a quarter of the memory"
        raise TooLargeError("a log", rule, f"{_in_giga(size)} after {steps:,} steps", "take fewer episodes of it")


def _in_giga(size: int) -> str:
    return f"{_write_count(size, GIGA)} GB"


def _write_count(count: int, unit: float = 1.0) -> str:
    """Write a number that may be beyond all bounds."""
    try:
        return f"{count / unit:.3g}"
    except OverflowError:
        return f"about 2**{count.bit_length()}"

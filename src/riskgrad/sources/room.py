"""How much memory recorded episodes may take: a quarter of the machine's, since putting them in order needs copies.

What is kept of an episode is as long as the episode, which nobody knows before. So it is counted while it is played,
and refused with its size before the system ends the process for it.
"""

import os
from functools import cache
from typing import Final, NoReturn

from riskgrad.errors import TooLargeError

SHARE: Final = 4
UNKNOWN: Final = 1 << 33  # bytes that a machine is taken to have where it does not say
GIGA: Final = 1e9


@cache
def find_room() -> int:
    """Give the bytes that the recorded episodes of a batch may take."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # pragma: no cover - Windows
        memory = UNKNOWN
    return memory // SHARE


def refuse_size(size: int, room: int, episodes: int, steps: int) -> NoReturn:
    """Refuse to keep more of episodes than there is room for.

    Args:
        size: bytes of what they visited.
        room: bytes that it may take.
        episodes: how many they are.
        steps: how many each has taken so far.
    """
    rule = f"leave what is recorded of them within {room / GIGA:.3g} GB, a quarter of the memory"
    got = f"{size / GIGA:.3g} GB after {steps} steps of {episodes} episodes"
    raise TooLargeError("episodes", rule, got, "lower episodes or horizon")

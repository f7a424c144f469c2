"""What a source of episodes is: it plays policies and gives their returns.

    P policies at once   m episodes each   d parameters

A source plays a fixed quota of episodes per policy; never "the first m that finish", which favors short episodes.
Every random number is a function of the stream, the row's pair and the episode, so that an answer does not depend on
threads, on the other rows or on the order of work.
"""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.random import Stream
from riskgrad.types import Episodes, IntArray, Returns


@runtime_checkable
class Source(Protocol):
    """Where episodes come from."""

    @property
    def return_range(self) -> tuple[float, float] | None:
        """The smallest and the largest return that an episode can have, where known."""
        ...

    def returns(
        self, policy: Policy, thetas: ArrayLike, episodes: int, stream: Stream, pairs: ArrayLike | None = None
    ) -> Returns:
        """Play m episodes of each of P policies.

        Args:
            policy: what acts.
            thetas: parameters [P, d].
            episodes: m.
            stream: where the random numbers come from.
            pairs: which random numbers each row uses [P]; rows with the same pair see the same ones (common random
                numbers). By default all rows differ.
        """
        ...

    def record(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream) -> Episodes:
        """Play m episodes of one policy and keep what they visited, so that others can be weighed on them."""
        ...


def checked_episodes(episodes: int) -> int:
    """Return m, at least 1."""
    if isinstance(episodes, bool) or not isinstance(episodes, int | np.integer) or episodes < 1:
        raise InputError("episodes", "be an integer of at least 1", episodes)
    return int(episodes)


def checked_pairs(pairs: ArrayLike | None, rows: int) -> IntArray:
    """Return the pair of each row [P]; by default all differ."""
    if pairs is None:
        return np.arange(rows)
    found = np.asarray(pairs)
    if found.shape != (rows,) or found.dtype.kind not in "iu" or np.any(found < 0):
        raise InputError("pairs", f"be {rows} integers of at least 0, one per row of thetas", pairs)
    return found.astype(np.int64)

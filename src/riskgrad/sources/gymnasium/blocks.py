"""A block of whole episodes: what is to be played, and what came of it. Both travel between processes.

B episodes of the block   p policies of the block   d parameters   u uniform numbers per action   V visits
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskgrad.policy import Policy
from riskgrad.types import FloatArray, IntArray


@dataclass(frozen=True)
class Block:
    """Episodes to be played.

    Attributes:
        policy: what acts.
        thetas: parameters [p, d].
        rows: the row of thetas that plays each episode [B].
        words: where each episode's random stream begins [B].
        counted: which episodes count [B]; the others are there for a vector environment's sake. None for all.
        first_row: what row 0 of thetas is called in messages.
        shift: mean about which observations are summed [k]; None for no sums.
        keep: whether visits are kept.
    """

    policy: Policy
    thetas: FloatArray
    rows: IntArray
    words: NDArray[np.uint64]
    counted: NDArray[np.bool_] | None = None
    first_row: int = 0
    shift: FloatArray | None = None
    keep: bool = False


@dataclass(frozen=True)
class Played:
    """What came of a block.

    Attributes:
        values: returns [B].
        lengths: steps [B].
        sums: for each episode the sums of (o - shift) and of its square [B, 2, k], where asked for.
        episodes: the episode of each visit [V], episode by episode in the order of time, where visits are kept.
        observations: the observation of each visit [V, ...].
        actions: the action of each visit [V, ...].
    """

    values: FloatArray
    lengths: IntArray
    sums: FloatArray | None
    episodes: IntArray
    observations: NDArray[Any]
    actions: NDArray[Any]


class Diary:
    """What the episodes of a block saw and did, step by step.

    Args:
        block: what is played.
        size: length of an observation, for sums.
    """

    def __init__(self, block: Block, size: int) -> None:
        self._keep, self._shift = block.keep, block.shift
        self.active = block.keep or block.shift is not None
        self._steps: list[tuple[IntArray, NDArray[Any], NDArray[Any]]] = []
        self._sums = None if block.shift is None else np.zeros((len(block.rows), 2, size))

    def note(self, episodes: IntArray, observations: NDArray[Any], actions: NDArray[Any]) -> None:
        """Note one step of different episodes [b], their observations [b, ...] and actions [b, ...]."""
        if self._sums is not None:
            gaps = observations - self._shift
            self._sums[episodes, 0] += gaps
            self._sums[episodes, 1] += gaps * gaps
        if self._keep:
            self._steps.append((episodes.copy(), observations.copy(), actions.copy()))

    def closed(self, values: FloatArray, lengths: IntArray) -> Played:
        """Put the visits in order, episode by episode."""
        if not self._steps:
            none = np.zeros(0, dtype=np.int64)
            return Played(values, lengths, self._sums, none, none, none)
        episodes, observations, actions = (np.concatenate(part) for part in zip(*self._steps, strict=True))
        order = np.argsort(episodes, kind="stable")
        return Played(values, lengths, self._sums, episodes[order], observations[order], actions[order])

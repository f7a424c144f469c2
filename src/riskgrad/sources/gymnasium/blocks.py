"""Blocks of whole episodes: their parts, their results, and how P * m episodes are cut into blocks.

    P policies   B episodes of the block   p policies of the block   d parameters   V visits

A worker is sent the batch once, and then a lot for each block, which says which rows of the batch's parameters act. It
sends results back, with columns in narrower types that lose no bit (see `narrow`). A cut gives the lots, and the place
of each episode of a lot among all P * m episodes: places[b] = row * m + episode.
"""

import itertools
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from riskgrad.policy import Policy
from riskgrad.random import Stream, episode_words
from riskgrad.sources.narrow import pickle_narrow
from riskgrad.sources.room import refuse_size
from riskgrad.types import FloatArray, IntArray

MOST_VECTOR_LANES: Final = 4096  # most lanes of a vector environment
SMALLEST_BLOCK: Final = 8  # fewest episodes that one of several workers is sent: to send fewer costs more than it gains


@dataclass(frozen=True)
class Batch:
    """What all blocks of one batch share.

    Attributes:
        policy: the policy that acts.
        thetas: parameters [P, d].
        shift: the mean that is subtracted from observations before they are summed [k]; None for no sums.
        keep: whether visits are kept.
        so_far: whether the return so far is kept instead of the observation.
        longest: steps after which an episode is cut before the horizon; None for the horizon alone.
    """

    policy: Policy
    thetas: FloatArray
    shift: FloatArray | None = None
    keep: bool = False
    so_far: bool = False
    longest: int | None = None


@dataclass(frozen=True)
class Lot:
    """The episodes of a batch that make a block.

    Attributes:
        first_row: the first row of the batch's parameters that acts.
        last_row: the last one.
        rows: the row that plays each episode, counted from `first_row` [B].
        streams: where each episode's random stream begins [B].
        counted: which episodes count [B]; the others only fill lanes of a vector environment. None for all.
        room: bytes that the kept visits may take; None for no limit.
    """

    first_row: int
    last_row: int
    rows: IntArray
    streams: NDArray[np.uint64]
    counted: NDArray[np.bool_] | None = None
    room: int | None = None


@dataclass(frozen=True)
class EpisodeBlock:
    """Episodes to be played: a lot of a batch.

    Attributes:
        batch: what all blocks share.
        lot: which episodes these are.
        thetas: the parameters that act [p, d].
    """

    batch: Batch
    lot: Lot
    thetas: FloatArray

    @classmethod
    def of(cls, batch: Batch, lot: Lot) -> "EpisodeBlock":
        """Make the block of a lot, with the parameters that act in it."""
        return cls(batch, lot, batch.thetas[lot.first_row : lot.last_row + 1])


@dataclass(frozen=True)
class BlockResult:
    """The results of a block.

    Attributes:
        values: returns [B].
        lengths: steps [B].
        sums: for each episode the sums of o - shift and of its square [B, 2, k]; None without `shift`.
        observations: the observation of each visit, episode by episode in order of time [V, ...]; empty if not kept.
        actions: the action of each visit [V, ...].
        rewards: the reward of each visit [V].
        ended: whether the environment ended or truncated the episode itself [B]; False where riskgrad cut it.
    """

    values: FloatArray
    lengths: IntArray
    sums: FloatArray | None
    observations: NDArray[Any]
    actions: NDArray[Any]
    rewards: FloatArray
    ended: NDArray[np.bool_]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the results with narrow columns."""
        return pickle_narrow(self)


class Diary:
    """Records what policies observe, do and earn in the episodes of a block, step by step.

    Args:
        block: the block that is played.
    """

    def __init__(self, block: EpisodeBlock) -> None:
        batch, lot = block.batch, block.lot
        self._keep, self._shift, self._so_far = batch.keep, batch.shift, batch.so_far
        self.active = batch.keep or batch.shift is not None
        self._steps: list[tuple[IntArray, NDArray[Any], NDArray[Any]]] = []
        self._rewards: list[FloatArray] = []
        self._room, self._size, self._episodes = lot.room, 0, len(lot.rows)
        self.ended = np.zeros(len(lot.rows), dtype=np.bool_)
        self._sums = None if batch.shift is None else np.zeros((len(lot.rows), 2, len(batch.shift)))

    def note(self, episodes: IntArray, observations: NDArray[Any], actions: NDArray[Any], returns: FloatArray) -> None:
        """Record one step of different episodes [b]: observations [b, ...], actions [b, ...], returns so far [b]."""
        if self._so_far:
            observations = returns
        if self._sums is not None:
            gaps = observations - self._shift
            self._sums[episodes, 0] += gaps
            self._sums[episodes, 1] += gaps * gaps
        if self._keep:
            self._size += episodes.nbytes + observations.nbytes + actions.nbytes + returns.nbytes
            if self._room is not None and self._size > self._room:
                refuse_size(self._size, self._room, self._episodes, len(self._steps) + 1)
            self._steps.append((episodes.copy(), observations.copy(), actions.copy()))

    def earn(self, rewards: FloatArray) -> None:
        """Record the rewards of the step that was recorded last [b]."""
        if self._keep:
            self._rewards.append(rewards.copy())

    def finish(self, values: FloatArray, lengths: IntArray) -> BlockResult:
        """Give the results, with the visits episode by episode."""
        if not self._steps:
            none = np.zeros(0, dtype=np.int64)
            return BlockResult(values, lengths, self._sums, none, none, np.zeros(0), self.ended)
        episodes, observations, actions = (np.concatenate(part) for part in zip(*self._steps, strict=True))
        order, rewards = np.argsort(episodes, kind="stable"), np.concatenate(self._rewards)
        parts = (observations[order], actions[order], rewards[order])
        return BlockResult(values, lengths, self._sums, *parts, self.ended)


Cut = list[tuple[Lot, IntArray]]


def cut_for_workers(episodes: int, stream: Stream, pairs: IntArray, workers: int) -> Cut:
    """Cut m episodes of each of P rows into one lot for one worker, or into shrinking lots for several.

    Since the last lots are small, workers finish at about the same time. The random numbers of an episode do not depend
    on the cut.
    """
    total = len(pairs) * episodes
    streams = episode_words(stream.keys(pairs), episodes).ravel()
    rows = np.repeat(np.arange(len(pairs)), episodes)
    found: Cut = []
    for begin, end in itertools.pairwise(shrinking_edges(total, workers)):
        first, last = int(rows[begin]), int(rows[end - 1])
        places: IntArray = np.arange(begin, end, dtype=np.int64)
        found.append((Lot(first, last, rows[begin:end] - first, streams[begin:end]), places))
    return found


def shrinking_edges(total: int, workers: int) -> list[int]:
    """Give the edges of lots: each has half of a worker's equal share of the rest, but at least a few episodes."""
    edges, least = [0], max(1, min(SMALLEST_BLOCK, total // workers))
    while edges[-1] < total:
        rest = total - edges[-1]
        edges.append(edges[-1] + (rest if workers == 1 else min(rest, max(least, rest // (2 * workers)))))
    return edges


def cut_for_vectors(episodes: int, stream: Stream, pairs: IntArray) -> Cut:
    """Cut into lots in which each pair occurs once, so that rows of one pair have the same lanes, in different lots.

    These lots have the same seed and as many lanes, so that a vector environment gives the rows the same starts. If a
    pair has fewer rows than others, its lanes are played but not counted. The cut depends on the pairs and m alone.
    """
    distinct, where = np.unique(pairs, return_inverse=True)
    streams = episode_words(stream.keys(distinct), episodes)
    # turn: how many earlier rows have the same pair
    order = np.argsort(where, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(where))])
    turn = np.empty(len(pairs), dtype=np.int64)
    turn[order] = np.arange(len(pairs)) - starts[where[order]]
    width = max(1, MOST_VECTOR_LANES // episodes)
    found: Cut = []
    for group in range(int(np.max(turn)) + 1):
        mine = np.full(len(distinct), -1)
        mine[where[turn == group]] = np.flatnonzero(turn == group)
        for first in range(0, len(distinct), width):
            rows = mine[first : first + width]
            if np.all(rows < 0):
                continue
            for begin in range(0, episodes, MOST_VECTOR_LANES):
                some = np.arange(begin, min(begin + MOST_VECTOR_LANES, episodes))
                least, most = int(np.min(rows[rows >= 0])), int(np.max(rows))
                lot = Lot(
                    first_row=least,
                    last_row=most,
                    rows=np.repeat(np.where(rows >= 0, rows - least, 0), len(some)),
                    streams=streams[first : first + width][:, some].ravel(),
                    counted=np.repeat(rows >= 0, len(some)),
                )
                found.append((lot, (rows[:, None] * episodes + some).ravel()))
    return found

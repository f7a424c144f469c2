"""Blocks of whole episodes: what is to be played, what came of it, and how P times m episodes are cut into blocks.

    B episodes of the block   p policies of the block   d parameters   u uniform numbers per action   V visits

Blocks and their results travel between processes. A cut says for each episode of a block where it belongs among all,
counted row by row: places[b] = row * m + episode.
"""

import itertools
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from riskgrad.policy import Policy
from riskgrad.random import Stream, episode_words
from riskgrad.sources.room import refuse_size
from riskgrad.types import FloatArray, IntArray

MOST_VECTOR_LANES: Final = 4096
SMALLEST_BLOCK: Final = 8  # episodes, of several workers: fewer would be asked for more often than they are worth


@dataclass(frozen=True)
class EpisodeBlock:
    """Episodes to be played.

    Attributes:
        policy: what acts.
        thetas: parameters [p, d].
        rows: the row of thetas that plays each episode [B].
        streams: where each episode's random stream begins [B].
        counted: which episodes count [B]; the others are there for a vector environment's sake. None for all.
        first_row: what row 0 of thetas is called in messages.
        shift: mean about which observations are summed [k]; None for no sums.
        keep: whether visits are kept.
        so_far: whether the return so far is kept in the place of the observation.
        longest: steps after which an episode is cut before the horizon; None for the horizon alone.
        room: bytes that what is kept may take; None for any number.
    """

    policy: Policy
    thetas: FloatArray
    rows: IntArray
    streams: NDArray[np.uint64]
    counted: NDArray[np.bool_] | None = None
    first_row: int = 0
    shift: FloatArray | None = None
    keep: bool = False
    so_far: bool = False
    longest: int | None = None
    room: int | None = None


@dataclass(frozen=True)
class BlockResult:
    """What came of a block.

    Attributes:
        values: returns [B].
        lengths: steps [B].
        sums: for each episode the sums of (o - shift) and of its square [B, 2, k], where asked for.
        episodes: the episode of each visit [V], episode by episode in the order of time, where visits are kept.
        observations: the observation of each visit [V, ...].
        actions: the action of each visit [V, ...].
        rewards: what each visit earned [V].
        ended: whether the environment ended the episode, rather than the horizon [B].
    """

    values: FloatArray
    lengths: IntArray
    sums: FloatArray | None
    episodes: IntArray
    observations: NDArray[Any]
    actions: NDArray[Any]
    rewards: FloatArray
    ended: NDArray[np.bool_]


class Diary:
    """What the episodes of a block saw and did, step by step.

    Args:
        block: what is played.
    """

    def __init__(self, block: EpisodeBlock) -> None:
        self._keep, self._shift, self._so_far = block.keep, block.shift, block.so_far
        self.active = block.keep or block.shift is not None
        self._steps: list[tuple[IntArray, NDArray[Any], NDArray[Any]]] = []
        self._rewards: list[FloatArray] = []
        self._room, self._size, self._episodes = block.room, 0, len(block.rows)
        self.ended = np.zeros(len(block.rows), dtype=np.bool_)
        self._sums = None if block.shift is None else np.zeros((len(block.rows), 2, len(block.shift)))

    def note(self, episodes: IntArray, observations: NDArray[Any], actions: NDArray[Any], returns: FloatArray) -> None:
        """Note one step of different episodes [b]: observations [b, ...], actions [b, ...], returns so far [b]."""
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
        """Note what the step that was noted last earned [b]."""
        if self._keep:
            self._rewards.append(rewards.copy())

    def finish(self, values: FloatArray, lengths: IntArray) -> BlockResult:
        """Put the visits in order, episode by episode."""
        if not self._steps:
            none = np.zeros(0, dtype=np.int64)
            return BlockResult(values, lengths, self._sums, none, none, none, np.zeros(0), self.ended)
        episodes, observations, actions = (np.concatenate(part) for part in zip(*self._steps, strict=True))
        order, rewards = np.argsort(episodes, kind="stable"), np.concatenate(self._rewards)
        parts = (episodes[order], observations[order], actions[order], rewards[order])
        return BlockResult(values, lengths, self._sums, *parts, self.ended)


Cut = list[tuple[EpisodeBlock, IntArray]]


def cut_for_workers(
    policy: Policy,
    thetas: FloatArray,
    episodes: int,
    stream: Stream,
    pairs: IntArray,
    workers: int,
    shift: FloatArray | None,
    keep: bool,
) -> Cut:
    """Cut into a block for one worker, or for several into blocks that shrink, so that they end together.

    A block has the parameters of its own rows only. The random numbers of an episode do not depend on the cut.
    """
    total = len(thetas) * episodes
    streams = episode_words(stream.keys(pairs), episodes).ravel()
    rows = np.repeat(np.arange(len(thetas)), episodes)
    found: Cut = []
    for begin, end in itertools.pairwise(_block_edges(total, workers)):
        first, last = int(rows[begin]), int(rows[end - 1])
        block = EpisodeBlock(
            policy=policy,
            thetas=thetas[first : last + 1],
            rows=rows[begin:end] - first,
            streams=streams[begin:end],
            first_row=first,
            shift=shift,
            keep=keep,
        )
        places: IntArray = np.arange(begin, end, dtype=np.int64)
        found.append((block, places))
    return found


def _block_edges(total: int, workers: int) -> list[int]:
    """Give where blocks begin and end: each has half of a worker's share of the rest, the last ones a few episodes."""
    edges, least = [0], max(1, min(SMALLEST_BLOCK, total // workers))
    while edges[-1] < total:
        rest = total - edges[-1]
        edges.append(edges[-1] + (rest if workers == 1 else min(rest, max(least, rest // (2 * workers)))))
    return edges


def cut_for_vectors(
    policy: Policy,
    thetas: FloatArray,
    episodes: int,
    stream: Stream,
    pairs: IntArray,
    shift: FloatArray | None,
    keep: bool,
) -> Cut:
    """Cut into blocks in which each pair occurs once, so that rows of one pair are in the same lane of equal blocks.

    A vector environment with the same seed and as many lanes then gives both the same start. Where a pair has fewer
    rows than others, its lanes are filled and not counted. The cut is a function of the pairs and m alone.
    """
    distinct, where = np.unique(pairs, return_inverse=True)
    streams = episode_words(stream.keys(distinct), episodes)
    # the how-many-th row of its pair each row is
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
                block = EpisodeBlock(
                    policy=policy,
                    thetas=thetas[least : most + 1],
                    rows=np.repeat(np.where(rows >= 0, rows - least, 0), len(some)),
                    streams=streams[first : first + width][:, some].ravel(),
                    counted=np.repeat(rows >= 0, len(some)),
                    first_row=least,
                    shift=shift,
                    keep=keep,
                )
                found.append((block, (rows[:, None] * episodes + some).ravel()))
    return found

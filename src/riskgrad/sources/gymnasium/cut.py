"""How P policies times m episodes are cut into blocks.

places[b]   where the b-th episode of a block belongs among all, counted row by row: row * m + episode
"""

import itertools
from typing import Final

import numpy as np

from riskgrad.policy import Policy
from riskgrad.random import Stream, episode_words
from riskgrad.sources.gymnasium.blocks import Block
from riskgrad.types import FloatArray, IntArray

MOST_VECTOR_LANES: Final = 4096
SMALLEST_BLOCK: Final = 8  # episodes, of several workers: fewer would be asked for more often than they are worth

Cut = list[tuple[Block, IntArray]]


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
    words = episode_words(stream.keys(pairs), episodes).ravel()
    rows = np.repeat(np.arange(len(thetas)), episodes)
    found: Cut = []
    for begin, end in itertools.pairwise(_edges(total, workers)):
        first, last = int(rows[begin]), int(rows[end - 1])
        block = Block(
            policy=policy,
            thetas=thetas[first : last + 1],
            rows=rows[begin:end] - first,
            words=words[begin:end],
            first_row=first,
            shift=shift,
            keep=keep,
        )
        places: IntArray = np.arange(begin, end, dtype=np.int64)
        found.append((block, places))
    return found


def _edges(total: int, workers: int) -> list[int]:
    """Where blocks of episodes begin and end: half of each worker's share of the rest, and at last a few episodes."""
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
    words = episode_words(stream.keys(distinct), episodes)
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
                block = Block(
                    policy=policy,
                    thetas=thetas[least : most + 1],
                    rows=np.repeat(np.where(rows >= 0, rows - least, 0), len(some)),
                    words=words[first : first + width][:, some].ravel(),
                    counted=np.repeat(rows >= 0, len(some)),
                    first_row=least,
                    shift=shift,
                    keep=keep,
                )
                found.append((block, (rows[:, None] * episodes + some).ravel()))
    return found

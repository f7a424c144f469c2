"""The log of steps: everything that was played, in blocks that are appended and never written again.

A block is one batch of one policy. In memory it is a few compact columns; on disk it is a head with a checksum and the
columns, compressed. A log has a cap in bytes, beyond which the oldest blocks are dropped, and their steps are no longer
counted. Rewards that take very many values are counted on a grid (see `reward_grid`), which is rebuilt, with all
counts, when rewards lie beyond it or the log has doubled.
"""

import struct
import zlib
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from riskgrad.critic.outcomes import OutcomeCounts
from riskgrad.critic.reward_grid import MOST_REWARDS, RewardGrid, make_grid
from riskgrad.errors import DamagedFileError
from riskgrad.types import FloatArray, IntArray

MARK: Final = b"rgsteps1"
HEAD: Final = struct.Struct("<8sIIQQ")  # mark, checksum of all that follows, bytes after the head, episodes, steps
SIZES: Final = struct.Struct("<IQQ")  # the part of the head that the checksum covers
LARGEST_LOG: Final = 1 << 28  # bytes
EPISODE_BYTES: Final = 5  # for a length and whether the episode ended
STEP_BYTES: Final = 16  # for a state, an action and a reward
MOST_GROWTH: Final = 1100  # zlib compresses nothing by a larger factor


@dataclass(frozen=True)
class LogBlock:
    """One batch of one policy, as the log keeps it.

    Attributes:
        lengths: steps of each episode [m].
        ended: whether the environment ended it, rather than the horizon [m].
        states: the state at each step [N].
        actions: the action at each step [N].
        rewards: the reward of each step [N].
    """

    lengths: NDArray[np.int32]
    ended: NDArray[np.bool_]
    states: NDArray[np.int32]
    actions: NDArray[np.int32]
    rewards: FloatArray

    @property
    def offsets(self) -> IntArray:
        """Where each episode begins [m + 1]."""
        return np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])

    @property
    def size(self) -> int:
        """Bytes of its columns, not compressed."""
        return sum(column.nbytes for column in self._columns())

    def _columns(self) -> tuple[NDArray[np.generic], ...]:
        return self.lengths, self.ended, self.states, self.actions, self.rewards

    def encode(self) -> bytes:
        """Give the block as bytes with a checksum."""
        body = zlib.compress(b"".join(column.tobytes() for column in self._columns()), 1)
        sizes = len(body), len(self.lengths), len(self.states)
        return HEAD.pack(MARK, zlib.crc32(SIZES.pack(*sizes) + body), *sizes) + body


def read_blocks(content: bytes, name: str) -> list[LogBlock]:
    """Read the blocks of a log; refuse a damaged block, with the name of the log's file in the message."""
    found: list[LogBlock] = []
    place = 0
    while place < len(content):
        head = content[place : place + HEAD.size]
        if len(head) < HEAD.size:
            raise DamagedFileError(f"{name} is damaged: block {len(found)} is cut short")
        mark, checksum, size, episodes, steps = HEAD.unpack(head)
        body = content[place + HEAD.size : place + HEAD.size + size]
        whole = mark == MARK and len(body) == size
        if not whole or zlib.crc32(SIZES.pack(size, episodes, steps) + body) != checksum:
            raise DamagedFileError(f"{name} is damaged: the checksum of block {len(found)} does not match")
        raw = _unpack(body, episodes, steps, f"{name} is damaged: block {len(found)}")
        found.append(_read_columns(raw, episodes, steps))
        place += HEAD.size + size
    return found


def _unpack(body: bytes, episodes: int, steps: int, what: str) -> bytes:
    """Unpack the columns of a block, up to their known size: a hostile block could otherwise fill the memory."""
    size = episodes * EPISODE_BYTES + steps * STEP_BYTES
    if size > MOST_GROWTH * len(body):
        raise DamagedFileError(f"{what} has a size out of proportion: {len(body)} bytes for {steps} steps")
    try:
        raw = zlib.decompressobj().decompress(body, size + 1)
    except zlib.error as error:
        raise DamagedFileError(f"{what} cannot be unpacked: {error}") from error
    if len(raw) != size:
        raise DamagedFileError(f"{what} does not hold what its head says")
    return raw


def _read_columns(raw: bytes, episodes: int, steps: int) -> LogBlock:
    kinds = ((np.int32, episodes), (np.bool_, episodes), (np.int32, steps), (np.int32, steps), (np.float64, steps))
    columns: list[NDArray[np.generic]] = []
    place = 0
    for kind, count in kinds:
        columns.append(np.frombuffer(raw, kind, count, place).copy())
        place += columns[-1].nbytes
    lengths, ended, states, actions, rewards = columns
    return LogBlock(lengths, ended, states, actions, rewards)  # pyright: ignore[reportArgumentType]


class StepLog:
    """The log of a run, with the counts of what it holds.

    Args:
        n_states: S.
        n_actions: A.
        horizon: T; 0 where it is not known.
        cap: bytes that the blocks may take in memory.

    Attributes:
        blocks: the blocks that are kept, the oldest first.
        length: how many blocks were ever appended.
        counts: counts of the outcomes in the kept blocks.
    """

    def __init__(self, n_states: int, n_actions: int, horizon: int = 0, cap: int = LARGEST_LOG) -> None:
        self._sizes, self.cap = (n_states, n_actions, horizon), cap
        self.blocks: list[LogBlock] = []
        self.length, self._bytes = 0, 0
        self.counts = OutcomeCounts(n_states, n_actions, horizon)
        self._rewards: set[float] = set()
        self._grid: RewardGrid | None = None
        self._gridded = 0  # bytes of the log when the grid was made

    def append(self, block: LogBlock) -> None:
        """Add a block, and drop the oldest ones while the log is larger than its cap."""
        self.blocks.append(block)
        self.length += 1
        self._bytes += block.size
        if not self._renew_grid(block):
            self._count(block, 1)
        while self._bytes > self.cap and len(self.blocks) > 1:
            oldest = self.blocks.pop(0)
            self._bytes -= oldest.size
            self._count(oldest, -1)

    def cut(self, length: int) -> None:
        """Remove all blocks but the first `length` that were appended.

        The log is then as if the others had never been appended, except that older blocks that were dropped to make
        room for them do not come back.
        """
        if length == self.length:
            return
        kept = self.blocks[: max(0, len(self.blocks) - (self.length - length))]
        self.__init__(*self._sizes, self.cap)
        for block in kept:
            self.append(block)
        self.length = length

    def _renew_grid(self, block: LogBlock) -> bool:
        """Make a new grid and count all blocks on it if the block just appended requires that; say whether it did."""
        if self._grid is None:
            self._rewards.update(np.unique(block.rewards).tolist())
            if len(self._rewards) <= MOST_REWARDS:
                return False
        elif self._grid.covers(block.rewards) and self._bytes < 2 * self._gridded:
            return False
        self._rewards.clear()
        self._grid, self._gridded = make_grid(np.concatenate([kept.rewards for kept in self.blocks])), self._bytes
        self.counts = OutcomeCounts(*self._sizes)
        for kept in self.blocks:
            self._count(kept, 1)
        return True

    def _count(self, block: LogBlock, sign: int) -> None:
        self.counts.count(sign, block.offsets, block.ended, block.states, block.actions, block.rewards, self._grid)

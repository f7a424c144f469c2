"""An environment's own vector form: each episode has a lane, and one call steps all lanes.

A vector environment draws the random numbers of all lanes from one generator, which takes one seed. So a lane plays
only one episode, the one after the first reset. When this is over, the lane is still stepped until all are over, but
its observations and rewards are ignored; it resets itself, or is reset by a mask where it does not. The other episodes
do not change by that, except where steps are random: then they get other random numbers, of the same law.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from riskgrad.errors import EpisodeError, RiskgradError
from riskgrad.kernels.streams import fill_uniforms
from riskgrad.random import environment_seeds
from riskgrad.sources.gymnasium.blocks import BlockResult, Diary, EpisodeBlock
from riskgrad.sources.gymnasium.readings import as_reward
from riskgrad.sources.gymnasium.spaces import ActionWriter


class VectorLanes:
    """Plays blocks on vector environments.

    Args:
        name: the environment's name in messages.
        make: from a number of lanes to a vector environment.
        read: reads a batch of observations.
        writer: writes actions.
        horizon: steps after which an episode is cut.
        discount: in (0, 1].
    """

    def __init__(
        self,
        name: str,
        make: Callable[[int], VectorEnv[Any, Any, Any]],
        read: Callable[[Any], NDArray[Any]],
        writer: ActionWriter,
        horizon: int,
        discount: float,
    ) -> None:
        self.name, self.read, self.writer = name, read, writer
        self.horizon, self.discount = horizon, discount
        self._make = make
        self._envs: dict[int, VectorEnv[Any, Any, Any]] = {}

    def play(self, block: EpisodeBlock) -> BlockResult:
        """Play all episodes of a block, one in each lane."""
        env = self._env(len(block.lot.rows))
        seed = int(environment_seeds(block.lot.streams[:1])[0])
        step = 0
        try:
            observations = self.read(env.reset(seed=seed)[0])
            counted = (
                np.ones(len(block.lot.rows), dtype=np.bool_) if block.lot.counted is None else block.lot.counted.copy()
            )
            turn = _VectorRun(self, block, counted)
            while len(turn.busy):
                actions = turn.actions(observations)
                found, rewards, terminated, truncated, _ = env.step(self.writer.write(actions))
                observations = self.read(found)
                ended, cut = (_as_flags(flags, len(block.lot.rows)) for flags in (terminated, truncated))
                over = ended | cut
                earned = np.asarray(rewards, dtype=np.float64)
                turn.add(earned if earned.ndim == 1 else np.array([as_reward(each) for each in earned]), ended, cut)
                step += 1
                if env.metadata.get("autoreset_mode") == AutoresetMode.DISABLED and np.any(over) and len(turn.busy):
                    observations = self.read(env.reset(options={"reset_mask": over})[0])
        except RiskgradError:  # raised by the policy, and says what is wrong
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise EpisodeError(f"{self.name} (vector)", block.lot.first_row, seed, step, reason) from error
        if not np.all(np.isfinite(turn.values)):
            episode = int(np.flatnonzero(~np.isfinite(turn.values))[0])
            row = block.lot.first_row + int(block.lot.rows[episode])
            raise EpisodeError(self.name, row, seed, int(turn.lengths[episode]), "the sum of rewards is not finite")
        return turn.diary.finish(turn.values, turn.lengths)

    def close(self) -> None:
        """Close the environments."""
        for env in self._envs.values():
            env.close()
        self._envs.clear()

    def _env(self, lanes: int) -> VectorEnv[Any, Any, Any]:
        if lanes not in self._envs:
            if len(self._envs) == 4:  # the most that are kept: a run asks for few sizes
                self._envs.pop(next(iter(self._envs))).close()
            self._envs[lanes] = self._make(lanes)
        return self._envs[lanes]


def _as_flags(over: Any, lanes: int) -> NDArray[np.bool_]:
    """Give the flags of the lanes that are over; refuse an array that is not one True or False for each lane."""
    found = np.asarray(over)
    if found.dtype != np.bool_ or found.shape != (lanes,):
        raise TypeError(f"terminated and truncated have to be {lanes} times True or False, got {over!r}")
    return found


class _VectorRun:
    """A block that is being played; `busy` holds the lanes whose episode counts and is not over."""

    def __init__(self, lanes: VectorLanes, block: EpisodeBlock, counted: NDArray[np.bool_]) -> None:
        self.lanes, self.block = lanes, block
        self.busy = np.flatnonzero(counted)
        self.values, self.lengths = np.zeros(len(block.lot.rows)), np.zeros(len(block.lot.rows), dtype=np.int64)
        self.diary = Diary(block)
        self.streams = block.lot.streams.copy()
        self._factor, self._age = 1.0, 0
        self._horizon = lanes.horizon if block.batch.longest is None else min(lanes.horizon, block.batch.longest)
        self._actions: NDArray[Any] | None = None

    def actions(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Give the actions of all lanes; after the first step, lanes that are not busy repeat their last action."""
        policy, everyone = self.block.batch.policy, self._actions is None
        who = np.arange(len(self.values)) if everyone else self.busy
        seen, streams = observations[who], self.streams[who]
        if not np.all(np.isfinite(seen)):
            raise ValueError("an observation is not finite")
        if policy.memory is not None:
            seen = policy.memory.extend(seen, np.full(len(who), self._age), self.values[who])
        uniforms = np.empty((len(who), policy.noise_size))
        fill_uniforms(streams, uniforms)
        self.streams[who] = streams
        actions = policy.act(self.block.thetas, self.block.lot.rows[who], seen, uniforms)
        if self.diary.active:
            mine = self.busy if everyone else slice(None)
            self.diary.note(self.busy, seen[mine], actions[mine], self.values[self.busy])
        executed = policy.execute(actions)
        if self._actions is None:
            self._actions = executed.copy()
        else:
            self._actions[who] = executed
        return self._actions

    def add(self, rewards: NDArray[np.float64], ended: NDArray[np.bool_], cut: NDArray[np.bool_]) -> None:
        """Add the rewards of one step, and remove the lanes whose episode is over from `busy`.

        A cut at the horizon is this project's own. Any other is the environment's, and counts as an end.
        """
        over = ended | cut
        self.diary.earn(rewards[self.busy])
        self.values[self.busy] += self._factor * rewards[self.busy]
        self._factor *= self.lanes.discount
        self._age += 1
        self.diary.ended[self.busy] = (over if self._age < self.lanes.horizon else ended)[self.busy]
        self.lengths[self.busy] = self._age
        self.busy = self.busy[~over[self.busy]] if self._age < self._horizon else self.busy[:0]

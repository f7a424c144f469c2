"""Single environments, a few side by side: each lane plays one episode, and takes the next when that is over.

Every episode that is begun is counted, so that short ones are not favoured. The lanes advance together, one step each
per turn, so that the policy is asked once per turn rather than once per step. What an episode is does not depend on
that: its environment is reset with its own seed, and its actions come from its own stream.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from riskgrad.episodes._block import Block, Diary, Played
from riskgrad.episodes._noise import draw
from riskgrad.episodes.environments import Env
from riskgrad.episodes.spaces import ActionWriter, ObservationReader, number
from riskgrad.errors import EpisodeError
from riskgrad.random import environment_seeds


class Lanes:
    """Plays blocks on single environments.

    Args:
        name: of the environment, in messages.
        envs: the environments, without their time limit.
        reader: how observations are read.
        writer: how actions are written.
        horizon: steps after which an episode is cut.
        discount: in (0, 1].
    """

    def __init__(
        self,
        name: str,
        envs: list[Env],
        reader: ObservationReader,
        writer: ActionWriter,
        horizon: int,
        discount: float,
    ) -> None:
        self.name, self.envs, self.reader, self.writer = name, envs, reader, writer
        self.horizon, self.discount = horizon, discount

    def play(self, block: Block) -> Played:
        """Play all episodes of a block."""
        return _Turn(self, block).play()


class _Turn:
    """One block on its way: the state of each lane, the busy ones in front."""

    def __init__(self, lanes: Lanes, block: Block) -> None:
        self.lanes, self.block = lanes, block
        self.busy = min(len(lanes.envs), len(block.rows))
        self.upcoming = 0
        self.seeds: list[int] = environment_seeds(block.words).tolist()
        self.diary = Diary(block, lanes.reader.size)
        self.values, self.lengths = np.empty(len(block.rows)), np.empty(len(block.rows), dtype=np.int64)
        # of each lane: its environment, the episode it plays, what came of it so far
        self.envs = lanes.envs[: self.busy]
        self.episodes = np.zeros(self.busy, dtype=np.int64)
        self.rows = np.zeros(self.busy, dtype=np.int64)
        self.streams = np.zeros(self.busy, dtype=np.uint64)
        self.observations = lanes.reader.room(self.busy)
        self.totals, self.factors, self.ages = [0.0] * self.busy, [1.0] * self.busy, [0] * self.busy

    def play(self) -> Played:
        policy, block, writer, read = self.block.policy, self.block, self.lanes.writer, self.lanes.reader.read
        uniforms = np.empty((self.busy, policy.noise_size))
        for lane in range(self.busy):
            self._begin(lane)
        steps = [env.step for env in self.envs]
        while self.busy:
            n = self.busy
            draw(self.streams[:n], uniforms[:n])
            actions = policy.act(block.thetas, self.rows[:n], self.observations[:n], uniforms[:n])
            if self.diary.active:
                self.diary.note(self.episodes[:n], self.observations[:n], actions)
            over = self._step(steps, writer.one_by_one(policy.executed(actions)), read)
            for lane in reversed(over):
                self._end(lane, steps)
        return self.diary.closed(self.values, self.lengths)

    def _step(
        self, steps: list[Callable[[Any], Any]], actions: list[Any], read: Callable[[Any], Any] | None
    ) -> list[int]:
        """Take one step in each busy lane; give the lanes whose episode is over. All that is done per step is here."""
        observations, totals, factors, ages = self.observations, self.totals, self.factors, self.ages
        horizon, discount = self.lanes.horizon, self.lanes.discount
        over: list[int] = []
        lane = 0
        try:
            for lane, (step, action) in enumerate(zip(steps, actions, strict=False)):
                found, reward, terminated, truncated, _ = step(action)
                observations[lane] = found if read is None else read(found)
                if type(reward) is not float:
                    reward = number(reward)
                totals[lane] += factors[lane] * reward
                factors[lane] *= discount
                ages[lane] = age = ages[lane] + 1
                if terminated or truncated or age >= horizon:
                    over.append(lane)
        except Exception as error:
            raise self._failure(lane, f"{type(error).__name__}: {error}") from error
        if not math.isfinite(observations.sum()):
            bad = np.flatnonzero(~np.all(np.isfinite(observations), axis=1))
            raise self._failure(int(bad[0]), "the observation is not finite")
        return over

    def _begin(self, lane: int) -> None:
        """Begin the next episode in a lane."""
        episode = self.upcoming
        self.upcoming += 1
        self.episodes[lane], self.rows[lane] = episode, self.block.rows[episode]
        self.streams[lane] = self.block.words[episode]
        self.totals[lane], self.factors[lane], self.ages[lane] = 0.0, 1.0, 0
        try:
            found, _ = self.envs[lane].reset(seed=self.seeds[episode])
            self.observations[lane] = self.lanes.reader.first(found)
        except Exception as error:
            raise self._failure(lane, f"{type(error).__name__} in reset: {error}") from error

    def _end(self, lane: int, steps: list[Callable[[Any], Any]]) -> None:
        """End the episode of a lane, and begin the next one or take the lane out."""
        if not math.isfinite(self.totals[lane]):
            raise self._failure(lane, "a reward is not finite")
        episode = self.episodes[lane]
        self.values[episode], self.lengths[episode] = self.totals[lane], self.ages[lane]
        if self.upcoming < len(self.block.rows):
            self._begin(lane)
            return
        self.busy = last = self.busy - 1
        for array in (self.episodes, self.rows, self.streams, self.observations):
            array[lane] = array[last]
        self.totals[lane], self.factors[lane], self.ages[lane] = self.totals[last], self.factors[last], self.ages[last]
        self.envs[lane], steps[lane] = self.envs[last], steps[last]
        self.observations[last] = 0

    def _failure(self, lane: int, reason: str) -> EpisodeError:
        episode = int(self.episodes[lane])
        row = self.block.first_row + int(self.rows[lane])
        return EpisodeError(self.lanes.name, row, self.seeds[episode], self.ages[lane], reason)

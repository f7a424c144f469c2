"""A loop over several single environments: each is a lane, which plays an episode and then begins the next one.

Every episode that begins is counted, so that short ones are not favored. The lanes advance together, one step each per
turn, so that the policy is asked once per turn rather than once per step. An episode does not depend on its lane or on
the other episodes: its environment is reset with its own seed, and its actions come from its own stream.

A single step only calls the environment and appends its answer to lists. Observations and rewards are then read for all
lanes at once. Only where that fails are they read one by one, so that the message names the episode that failed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from riskgrad.errors import EpisodeError
from riskgrad.kernels.episode_sums import add_rewards
from riskgrad.kernels.streams import fill_uniforms
from riskgrad.random import environment_seeds
from riskgrad.sources.gymnasium.blocks import BlockResult, Diary, EpisodeBlock
from riskgrad.sources.gymnasium.readings import as_numbers, as_reward, is_over
from riskgrad.sources.gymnasium.recipe import Env
from riskgrad.sources.gymnasium.spaces import ActionWriter, ObservationReader
from riskgrad.types import FloatArray, IntArray

UNSEEDED = "; its `reset` has to take `seed`, as that of gymnasium.Env does"
OLD_STEP = "; its `step` has to give (observation, reward, terminated, truncated, info), as that of gymnasium.Env does"


class SingleLanes:
    """Plays blocks on single environments.

    Args:
        name: the environment's name in messages.
        envs: the environments, without their time limit.
        reader: reads observations.
        writer: writes actions.
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

    def play(self, block: EpisodeBlock) -> BlockResult:
        """Play all episodes of a block."""
        return _SingleRun(self, block).play()


class _Front(NamedTuple):
    """The state of the busy lanes [b].

    Attributes:
        episodes: the episode of each lane, an index within the block.
        rows: the row of the block's parameters that acts.
        streams: the state of the episode's random stream.
        observations: the last observation [b, ...].
        uniforms: random numbers for the next action [b, u].
        totals: the return so far.
        factors: discount^t at step t, by which the next reward is multiplied.
    """

    episodes: IntArray
    rows: IntArray
    streams: NDArray[np.uint64]
    observations: NDArray[Any]
    uniforms: FloatArray
    totals: FloatArray
    factors: FloatArray

    def first(self, n: int) -> "_Front":
        """Give views of the first n lanes."""
        parts: list[Any] = [part[:n] for part in self]
        return _Front(*parts)


class _SingleRun:
    """A block that is being played: the state of each lane, those that have an episode first."""

    def __init__(self, lanes: SingleLanes, block: EpisodeBlock) -> None:
        self.lanes, self.block = lanes, block
        self.busy = busy = min(len(lanes.envs), len(block.lot.rows))
        self.upcoming = 0
        self.seeds: list[int] = environment_seeds(block.lot.streams).tolist()
        self.diary = Diary(block)
        self.values, self.lengths = np.empty(len(block.lot.rows)), np.empty(len(block.lot.rows), dtype=np.int64)
        # for each lane: its environment, the turn in which its episode began, and its entry in each array of `state`
        self.envs = lanes.envs[:busy]
        self.steps: list[Callable[[Any], Any]] = [env.step for env in self.envs]
        self.starts = [0] * busy
        self.state = _Front(
            episodes=np.zeros(busy, dtype=np.int64),
            rows=np.zeros(busy, dtype=np.int64),
            streams=np.zeros(busy, dtype=np.uint64),
            observations=lanes.reader.allocate(busy),
            uniforms=np.empty((busy, block.batch.policy.noise_size)),
            totals=np.zeros(busy),
            factors=np.ones(busy),
        )
        self.horizon = lanes.horizon if block.batch.longest is None else min(lanes.horizon, block.batch.longest)
        self.turns, self.deadline = 0, self.horizon

    def play(self) -> BlockResult:
        policy, thetas, diary, write = (
            self.block.batch.policy,
            self.block.thetas,
            self.diary,
            self.lanes.writer.one_by_one,
        )
        for lane in range(self.busy):
            self._begin(lane)
        while n := self.busy:
            front = self.state.first(n)
            flat = front.observations.reshape(-1)
            while self.busy == n:
                fill_uniforms(front.streams, front.uniforms)
                seen = self._show(front)
                actions = policy.act(thetas, front.rows, seen, front.uniforms)
                if diary.active:
                    diary.note(front.episodes, seen, actions, front.totals)
                for lane in reversed(self._step(front, flat, write(policy.execute(actions)))):
                    self._end(lane)
        return diary.finish(self.values, self.lengths)

    def _show(self, front: _Front) -> NDArray[Any]:
        """Give the observations of the busy lanes as the policies read them, extended if they have memory."""
        memory = self.block.batch.policy.memory
        if memory is None:
            return front.observations
        return memory.extend(front.observations, self.turns - np.array(self.starts), front.totals)

    def _step(self, front: _Front, flat: NDArray[Any], actions: list[Any]) -> list[int]:
        """Take one step in each busy lane; give the lanes whose episode is over."""
        found: list[Any] = []
        rewards: list[Any] = []
        over: list[int] = []
        try:
            for step, action in zip(self.steps, actions, strict=True):
                seen, reward, terminated, truncated, _ = step(action)
                if (terminated is not False or truncated is not False) and is_over(terminated, truncated):
                    over.append(len(found))
                found.append(seen)
                rewards.append(reward)
        except Exception as error:
            advice = _advice_for(error, "unpack", OLD_STEP)
            raise self._failure(len(found), f"{type(error).__name__}: {error}{advice}") from error
        self._take_in(front, flat, found, rewards)
        self.diary.ended[front.episodes[over]] = True
        return self._add_expired(over) if self.turns >= self.deadline else over

    def _take_in(self, front: _Front, flat: NDArray[Any], found: list[Any], rewards: list[Any]) -> None:
        """Add the rewards of a turn and read its observations; refuse any that are not finite."""
        earned, lanes = as_numbers(rewards), self.lanes
        if earned is None:
            earned = np.array([self._convert(lane, as_reward, each) for lane, each in enumerate(rewards)])
        self.diary.earn(earned)
        self.turns += 1
        if not lanes.reader.together(found, flat):
            for lane, each in enumerate(found):
                front.observations[lane] = self._convert(lane, lanes.reader.read, each)
        if not add_rewards(earned, lanes.discount, front.totals, front.factors, flat):
            for lane in range(len(found)):
                self._check_finite(lane, earned[lane])

    def _add_expired(self, over: list[int]) -> list[int]:
        """Add to `over` the lanes whose episode has reached the horizon; set the turn of the next check."""
        horizon, turns = self.horizon, self.turns
        old = [lane for lane in range(self.busy) if turns - self.starts[lane] >= horizon]
        ends = sorted({*over, *old})
        going = [self.starts[lane] for lane in range(self.busy) if lane not in ends]
        self.deadline = min([turns, *going]) + horizon
        return ends

    def _begin(self, lane: int) -> None:
        """Begin the next episode in a lane."""
        episode, state = self.upcoming, self.state
        self.upcoming += 1
        state.episodes[lane], state.rows[lane] = episode, self.block.lot.rows[episode]
        state.streams[lane] = self.block.lot.streams[episode]
        state.totals[lane], state.factors[lane], self.starts[lane] = 0.0, 1.0, self.turns
        try:
            found = _observation_of_reset(self.envs[lane].reset(seed=self.seeds[episode]))
            state.observations[lane] = self.lanes.reader.read(found)
        except Exception as error:
            advice = _advice_for(error, "'seed'", UNSEEDED)
            raise self._failure(lane, f"{type(error).__name__} in reset: {error}{advice}") from error
        self._check_finite(lane, 0.0)

    def _end(self, lane: int) -> None:
        """End the episode of a lane, and begin the next one or take the lane out."""
        state = self.state
        episode = state.episodes[lane]
        self.values[episode], self.lengths[episode] = state.totals[lane], self.turns - self.starts[lane]
        if self.upcoming < len(self.block.lot.rows):
            self._begin(lane)
            return
        self.busy = last = self.busy - 1
        for array in state:
            array[lane] = array[last]
        self.envs[lane], self.steps[lane], self.starts[lane] = self.envs[last], self.steps[last], self.starts[last]
        del self.envs[last], self.steps[last], self.starts[last]

    def _check_finite(self, lane: int, reward: float) -> None:
        """Refuse a lane in which the last reward, the sum of rewards or the observation is not finite."""
        for name, value in (
            ("the reward", reward),
            ("the sum of rewards", self.state.totals[lane]),
            ("the observation", self.state.observations[lane]),
        ):
            if not np.isfinite(value).all():
                raise self._failure(lane, f"{name} is not finite")

    def _convert(self, lane: int, convert: Callable[[Any], Any], value: Any) -> Any:
        """Convert a value that the environment of a lane gave; an error names its episode."""
        try:
            return convert(value)
        except Exception as error:
            raise self._failure(lane, f"{type(error).__name__}: {error}") from error

    def _failure(self, lane: int, reason: str) -> EpisodeError:
        episode = int(self.state.episodes[lane])
        row = self.block.lot.first_row + int(self.state.rows[lane])
        return EpisodeError(self.lanes.name, row, self.seeds[episode], self.turns - self.starts[lane], reason)


def _observation_of_reset(answer: Any) -> Any:
    """Give the observation from the answer of `reset`; refuse that of an older `reset`, the observation alone."""
    parts = cast("tuple[Any, ...]", answer) if isinstance(answer, tuple) else ()
    if len(parts) != 2:
        raise TypeError("it has to give (observation, info), as that of gymnasium.Env does")
    return parts[0]


def _advice_for(error: Exception, word: str, advice: str) -> str:
    """Give the advice if a word in the message of an error shows that the environment has an older interface."""
    return advice if isinstance(error, TypeError | ValueError) and word in str(error) else ""

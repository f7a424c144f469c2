"""Episodes of a compiled environment: policy and environment run in one loop of machine code.

    P policies at once   m episodes each   d parameters   A actions   V visits

What is decided here, and why:

- It plays policies whose action the loop can compute: a linear softmax, a softmax of a network, their modes (`Greedy`),
  and deterministic networks; also on normalized observations, if these are not clipped. Other policies are played, more
  slowly, on the Gymnasium environment itself: give `resolve_source` the environment rather than its id.
- Work is cut into blocks of episodes, which threads take as they become free. An episode depends on its parameters and
  its own random numbers only: any number of threads gives the same bits.
- `record` plays the episodes that `returns` plays for pair 0 of the same stream, twice: first for their lengths, then
  to write each visit to its final place, so that no observation is moved.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import check_count, check_discount, check_pairs, check_theta, check_theta_rows
from riskgrad.envs import CompiledEnv, compiled_twin
from riskgrad.errors import InputError
from riskgrad.kernels.compile import as_contiguous, cores, in_blocks
from riskgrad.kernels.lane_loop import NO_TRACE, Job, Trace
from riskgrad.kernels.lane_memory import NO_MEMORY, ShownMemory
from riskgrad.policy import ObservationStatistics, Policy
from riskgrad.policy.memory import RETURN_BUMPS, TIME_BUMPS, Memory
from riskgrad.random import Stream
from riskgrad.sources.base import EnvOptions, Source, check_fit
from riskgrad.sources.room import find_room, refuse_many, refuse_size
from riskgrad.types import Choice, Episodes, FloatArray, IntArray, Returns, Steps, Vectors

RUNNABLE = "a LinearSoftmax, an MLP or a Deterministic policy with one discrete action, Greedy or normalized"


class CompiledSource(Source):
    """Plays policies on a compiled environment.

    Args:
        env: the environment.
        horizon: steps after which an episode is cut, instead of the environment's own limit.
        discount: in (0, 1].
        threads: how many threads to use; by default one for each core that this process may use.
    """

    name = "compiled"
    observes = True
    keeps_steps = True
    remembers = True
    workers = "threads"
    plays = (CompiledEnv,)

    def __init__(
        self, env: CompiledEnv, horizon: int | None = None, discount: float = 1.0, threads: int | None = None
    ) -> None:
        if not isinstance(env, CompiledEnv):
            raise InputError("env", "be a CompiledEnv", env)
        self.env = env
        self._horizon = env.horizon if horizon is None else check_count("horizon", horizon)
        self._discount = check_discount("discount", discount)
        self.threads = cores() if threads is None else check_count("threads", threads)

    @property
    def return_range(self) -> tuple[float, float] | None:
        """The smallest and the largest return that an episode of 1 to `horizon` steps can have, where known."""
        if self.env.reward_range is None:
            return None
        longest = float(np.sum(self.discount ** np.arange(self.horizon)))
        low, high = self.env.reward_range
        return min(low, low * longest), max(high, high * longest)

    @property
    def gives(self) -> Vectors:
        """Vectors of the environment's features."""
        return Vectors(self.env.n_features, self.env.one_hot)

    @property
    def takes(self) -> Choice:
        """The environment's actions."""
        return Choice(self.env.n_actions)

    @property
    def horizon(self) -> int:
        """Steps after which an episode is cut."""
        return self._horizon

    @property
    def discount(self) -> float:
        """The discount of its returns."""
        return self._discount

    @property
    def env_id(self) -> str:
        """The Gymnasium id of the environment."""
        return self.env.id

    @property
    def observation_limit(self) -> float:
        """Infinite: normalization is part of the weights of the first layer, and nothing is clipped."""
        return np.inf

    def returns(
        self, policy: Policy, thetas: ArrayLike, episodes: int, stream: Stream, pairs: ArrayLike | None = None
    ) -> Returns:
        """Play m episodes of each of P policies; see `Source.returns`."""
        rows = check_theta_rows(thetas, policy.dim)
        job = self._make_job(policy, rows, check_count("episodes", episodes), stream, check_pairs(pairs, len(rows)))
        self._play(job, None)
        shape = (len(rows), job.episodes)
        return Returns(values=job.values.reshape(shape), lengths=job.lengths.reshape(shape))

    def returns_and_statistics(
        self,
        policy: Policy,
        thetas: ArrayLike,
        episodes: int,
        stream: Stream,
        pairs: ArrayLike | None,
        statistics: ObservationStatistics,
    ) -> tuple[Returns, ObservationStatistics]:
        """Play as `returns` does, and add the observations to the statistics, policy after policy."""
        rows = check_theta_rows(thetas, policy.dim)
        m, keyed = check_count("episodes", episodes), check_pairs(pairs, len(rows))
        values, lengths = np.empty((len(rows), m)), np.empty((len(rows), m), dtype=np.int64)
        for row in range(len(rows)):
            one = slice(row, row + 1)
            job, trace = self._play_and_trace(policy, rows[one], m, stream, keyed[one])
            values[row], lengths[row] = job.values, job.lengths
            statistics = statistics.merge(ObservationStatistics.of(trace.observations))
        return Returns(values, lengths), statistics

    def record(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream) -> Episodes:
        """Play m episodes of one policy and record their visits, one for each step; see `Source.record`."""
        vector, pairs = check_theta(theta, policy.dim), np.zeros(1, dtype=np.int64)
        job, trace = self._play_and_trace(policy, vector[None], check_count("episodes", episodes), stream, pairs)
        return Episodes(
            values=job.values,
            lengths=job.lengths,
            offsets=trace.offsets,
            observations=trace.observations,
            actions=trace.actions,
            counts=np.ones(len(trace.actions), dtype=np.int64),
            log_behavior=policy.log_prob(vector, trace.observations, trace.actions),
        )

    def record_steps(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream, pair: int = 0) -> Steps:
        """Play m episodes of one policy and keep their steps in order; see `Source.record_steps`.

        An episode that ends at the horizon counts as cut.
        """
        vector, m = check_theta(theta, policy.dim), check_count("episodes", episodes)
        job, trace = self._play_and_trace(policy, vector[None], m, stream, np.full(1, pair), rewards=True)
        return Steps(
            values=job.values,
            offsets=trace.offsets,
            ended=job.lengths < self.horizon,
            observations=trace.observations,
            actions=trace.actions,
            rewards=trace.rewards,
        )

    def returns_so_far(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream) -> FloatArray:
        """Play m episodes of one policy and give the return so far before each step; see `Source.returns_so_far`."""
        vector, pairs = check_theta(theta, policy.dim), np.zeros(1, dtype=np.int64)
        m = check_count("episodes", episodes)
        return self._play_and_trace(policy, vector[None], m, stream, pairs, so_far=True)[1].so_far

    @classmethod
    def from_env(cls, env: Any, options: EnvOptions) -> "CompiledSource | None":
        """Make the source of a compiled environment, or of an id that has a compiled twin; None for any other."""
        twin = compiled_twin(env, options.options) if isinstance(env, str) else env
        if not isinstance(twin, CompiledEnv):
            return None
        return cls(twin, options.horizon, 1.0 if options.discount is None else options.discount, options.threads)

    def _play_and_trace(
        self,
        policy: Policy,
        thetas: FloatArray,
        episodes: int,
        stream: Stream,
        pairs: IntArray,
        *,
        so_far: bool = False,
        rewards: bool = False,
    ) -> tuple[Job, Trace]:
        """Play m episodes of one policy, thetas [1, d], and record their visits, with returns so far or rewards."""
        job = self._make_job(policy, thetas, episodes, stream, pairs)
        self._play(job, None)
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(job.lengths)])
        visits = int(offsets[-1])
        size = 8 * visits * (int(job.widths[0]) + 3)  # observation, action, log-probability, return so far or reward
        if size > find_room():
            refuse_size(size, find_room(), episodes, int(np.max(job.lengths)))
        trace = Trace(
            offsets=offsets,
            observations=np.zeros((visits, int(job.widths[0]))),
            actions=np.empty(visits, dtype=np.int64),
            so_far=np.empty(visits if so_far else 0),
            rewards=np.empty(visits if rewards else 0),
        )
        self._play(job, trace)
        return job, trace

    def _play(self, job: Job, trace: Trace | None) -> None:
        loop, kept = self.env.loop, NO_TRACE if trace is None else trace
        in_blocks(lambda first, last: loop(first, last, job, kept), len(job.values), self.threads)

    def _make_job(self, policy: Policy, thetas: FloatArray, episodes: int, stream: Stream, pairs: IntArray) -> Job:
        check_fit(policy, self)
        refuse_many(episodes, len(thetas))
        layers = policy.layers
        if layers is None:
            advice = f"pass gymnasium.make({self.env.id!r}), where there is one, to play any policy"
            raise InputError("policy", f"be {RUNNABLE}, to run compiled", policy, advice)
        thetas = policy.layer_thetas(thetas)
        return Job(
            keys=stream.keys(pairs),
            thetas=as_contiguous(thetas, np.float64),
            widths=np.array(layers.widths, dtype=np.int64),
            bias=layers.bias,
            relu=layers.relu,
            greedy=layers.greedy,
            dense=self.env.dense,
            state_size=self.env.state_size,
            horizon=self.horizon,
            discount=self.discount,
            episodes=episodes,
            memory=_as_shown_memory(policy.memory),
            values=np.empty(len(thetas) * episodes),
            lengths=np.empty(len(thetas) * episodes, dtype=np.int64),
        )

    def __str__(self) -> str:
        return f"compiled {self.env.id}, horizon {self.horizon}, discount {self.discount:g}"


def _as_shown_memory(memory: Memory | None) -> ShownMemory:
    """Give a memory in the form that the loop reads."""
    if memory is None:
        return NO_MEMORY
    time_bumps, return_bumps = (np.array(bumps if memory.bumps else ()) for bumps in (TIME_BUMPS, RETURN_BUMPS))
    return ShownMemory(
        extra=memory.extra,
        time=memory.holds_time,
        so_far=memory.holds_return,
        horizon=memory.horizon,
        center=memory.center,
        spread=memory.spread,
        time_bumps=time_bumps,
        return_bumps=return_bumps,
    )

"""Episodes of a finite MDP, played by compiled code: returns of hundreds of policies without storing a step.

    P policies at once   m episodes each   S states   A actions   d parameters   V visits

`kernels.sampler_tables` describes how a step is drawn, and how precisely; `kernels.sampler` describes how five episodes
advance together.

What is decided here, and why:

- Work is cut into blocks of rows, or of episodes where rows are few, which threads take as they become free. A block
  writes its own part of the result, and an episode depends on its policy and its own random numbers only: any number of
  threads gives the same bits. Thresholds are made for a few rows at a time and used while they are in the cache.
- `record` plays the episodes that `returns` plays for pair 0 of the same stream, one at a time. If episodes of the
  greatest possible length would not fit in memory, they are first played for their lengths.
- A policy with memory has thresholds for each cell of time and return so far. Its episodes are played one at a time
  too, with the same random numbers: if its cells are all alike, it plays the episodes of the policy without memory.
- A table of preferences is turned into thresholds by compiled code; any other policy is asked for its probabilities.

What did not help: one episode at a time (2.5 times slower), two or three at once (60% and 17% slower), four or six (no
faster than five); skipping rewards of zero, or a table of the powers of the discount instead of a running product (no
faster: the time goes into reading tables); three comparisons per action instead of two levels of search (no faster).
Rows of outcomes that differ in length cost 8%, so they are used only for models that need them. Storing all that a slot
holds side by side makes a model of 716 states and 25 actions 30% faster, but a small one 6% slower.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import as_reals, check_count, check_pairs, check_theta, check_theta_rows
from riskgrad.errors import InputError
from riskgrad.kernels import sampler
from riskgrad.kernels.compile import as_contiguous, cores, in_blocks
from riskgrad.kernels.sampler_tables import outcome_tables, thresholds_of_preferences, thresholds_of_probabilities
from riskgrad.making import StepLimit, close_or_warn, find_limit
from riskgrad.mdp import FiniteMDP, from_gymnasium
from riskgrad.mdp.from_gym import has_table
from riskgrad.policy import Policy
from riskgrad.policy.memory import Memory
from riskgrad.random import Stream
from riskgrad.sources.base import EnvOptions, Source, check_fit
from riskgrad.sources.gymnasium.recipe import EnvRecipe, is_id_or_env
from riskgrad.sources.room import NUMBER, cut_to_fit, find_room, refuse_many, refuse_size
from riskgrad.types import Choice, Episodes, FloatArray, IntArray, Returns, States, Steps, digest

LARGEST_TABLE = 1 << 15  # most thresholds of several rows that are made at a time: 256 kB, which stay in the cache
MODEST = 1 << 26  # bytes that every machine has room for
VISIT = 5 * NUMBER  # bytes of a visit: code, count or reward, state, action, log-probability
ROWS_PER_THREAD = 4  # with fewer, threads share episodes rather than rows


class TabularSource(Source):
    """Plays policies on a finite MDP.

    Args:
        mdp: the model.
        threads: how many threads to use; by default one for each core that this process may use.
        limit: where the model's horizon comes from; None where the model was made with it.
    """

    name = "finite model"
    keeps_steps = True
    remembers = True
    workers = "threads"
    plays = (FiniteMDP,)

    def __init__(self, mdp: FiniteMDP, threads: int | None = None, limit: StepLimit | None = None) -> None:
        self._mdp = mdp
        self._limit, self._limit_reached = StepLimit(mdp.horizon) if limit is None else limit, False
        self.threads = cores() if threads is None else check_count("threads", threads)
        self._tables, self._heads = outcome_tables(
            mdp.offsets, mdp.probabilities, mdp.next_states, mdp.rewards, mdp.ends, mdp.start, mdp.horizon, mdp.discount
        )

    @property
    def mdp(self) -> FiniteMDP:
        """The model."""
        return self._mdp

    @property
    def gives(self) -> States:
        """The states of the model."""
        return States(self.mdp.n_states)

    @property
    def takes(self) -> Choice:
        """The actions of the model."""
        return Choice(self.mdp.n_actions)

    @property
    def horizon(self) -> int:
        """The horizon of the model."""
        return self.mdp.horizon

    @property
    def notes(self) -> tuple[str, ...]:
        """Where the horizon comes from, if not from the user or a time limit, and whether a default one was reached."""
        found = (self._limit.note, self._limit.warning if self._limit_reached else "")
        return tuple(note for note in found if note)

    @property
    def discount(self) -> float:
        """The discount of the model."""
        return self.mdp.discount

    @property
    def return_range(self) -> tuple[float, float]:
        """The smallest and the largest return that an episode can have."""
        return self.mdp.return_range

    def returns(
        self, policy: Policy, thetas: ArrayLike, episodes: int, stream: Stream, pairs: ArrayLike | None = None
    ) -> Returns:
        """Play m episodes of each of P policies; see `Source.returns`."""
        rows, memory = check_theta_rows(thetas, policy.dim), policy.memory
        return self._sample(
            lambda part: self._thresholds(policy, rows[part]), len(rows), episodes, stream, pairs, memory
        )

    def returns_from_tables(
        self, tables: ArrayLike, episodes: int, stream: Stream, pairs: ArrayLike | None = None
    ) -> Returns:
        """Play m episodes of each of P policies that are given as probabilities [P, S, A], with rows that sum to 1."""
        found = as_reals("tables", tables)
        shape = (self.mdp.n_states, self.mdp.n_actions)
        if found.ndim != 3 or found.shape[1:] != shape:
            raise InputError("tables", f"have shape (P, {shape[0]}, {shape[1]})", f"shape {found.shape}")
        self._check_rows("tables", found)
        return self._sample(lambda part: self._thresholds_of_tables(found[part]), len(found), episodes, stream, pairs)

    def record(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream) -> Episodes:
        """Play m episodes of one policy and record their visits; see `Source.record`."""
        m, vector = check_count("episodes", episodes), check_theta(theta, policy.dim)
        thresholds, cells = self._thresholds(policy, vector[None]).ravel(), self._cells(policy.memory)
        most = self.horizon if cells is not None else min(self.horizon, len(thresholds))
        pieces = [(0, m)] if VISIT * most * m <= MODEST else self._cut_to_fit(policy, vector, m, stream, most)
        key = stream.keys(np.zeros(1, dtype=np.int64))[0]
        values, lengths, visited = np.empty(m), np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)

        def block(begin: int, end: int) -> tuple[IntArray, IntArray]:
            return sampler.sample_visits(
                begin, end, key, thresholds, self._tables, self._heads, cells, values, lengths, visited
            )

        found: list[tuple[IntArray, IntArray]] = []
        for first, last in pieces:
            found += in_blocks(lambda begin, end, at=first: block(at + begin, at + end), last - first, self.threads)
            kept = VISIT * int(np.sum(visited[:last]))
            if kept > MODEST and kept > find_room():
                refuse_size(kept, find_room(), last, int(np.max(lengths[:last])))
        codes, counts = zip(*found, strict=True)
        self.note_lengths(lengths)
        visits, pairs = np.concatenate(codes), np.arange(len(thresholds))
        if len(pairs) > len(visits):  # as with memory, where few pairs are visited
            pairs, visits = np.unique(visits, return_inverse=True)
        states, actions = np.divmod(pairs, self._tables.stride)
        met = np.bincount(visits, minlength=len(states)) > 0
        logs = np.zeros(len(states))
        logs[met] = policy.log_prob(vector, states[met], actions[met])
        return Episodes(
            values=values,
            lengths=lengths,
            offsets=np.concatenate([[0], np.cumsum(visited)]),
            observations=states[visits],
            actions=actions[visits],
            counts=np.concatenate(counts),
            log_behavior=logs[visits],
        )

    def record_steps(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream, pair: int = 0) -> Steps:
        """Play m episodes of one policy and keep their steps in order; see `Source.record_steps`."""
        m, vector = check_count("episodes", episodes), check_theta(theta, policy.dim)
        self._refuse_long(policy, vector, m, stream, pair)
        thresholds = self._thresholds(policy, vector[None]).ravel()
        key, cells = stream.keys(np.full(1, check_count("pair", pair, 0)))[0], self._cells(policy.memory)
        values, lengths, ended = np.empty(m), np.empty(m, dtype=np.int64), np.empty(m, dtype=np.bool_)

        def block(begin: int, end: int) -> tuple[IntArray, FloatArray]:
            tables, heads = self._tables, self._heads
            return sampler.sample_steps(begin, end, key, thresholds, tables, heads, cells, values, lengths, ended)

        codes, rewards = zip(*in_blocks(block, m, self.threads), strict=True)
        states, actions = np.divmod(np.concatenate(codes), self._tables.stride)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        self.note_lengths(lengths)
        return Steps(values, offsets, ended, states, actions, np.concatenate(rewards))

    def returns_so_far(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream) -> FloatArray:
        """Play m episodes of one policy and give the return so far before each step; see `Source.returns_so_far`."""
        m, vector = check_count("episodes", episodes), check_theta(theta, policy.dim)
        self._refuse_long(policy, vector, m, stream)
        thresholds, cells = self._thresholds(policy, vector[None]).ravel(), self._cells(policy.memory)
        key = stream.keys(np.zeros(1, dtype=np.int64))[0]
        return sampler.sample_returns_so_far(m, key, thresholds, self._tables, self._heads, cells)

    def fingerprint(self) -> str:
        """Identify the model by its size and a digest of its numbers."""
        mdp = self.mdp
        parts = (mdp.start, mdp.offsets, mdp.probabilities, mdp.next_states, mdp.rewards, mdp.ends)
        bits = digest(np.concatenate([part.astype(np.float64).ravel() for part in parts]))
        size = f"{mdp.n_states} states, {mdp.n_actions} actions, horizon {mdp.horizon}, discount {mdp.discount:g}"
        return f"finite model of {size} ({bits})"

    @classmethod
    def from_env(cls, env: Any, options: EnvOptions) -> "TabularSource | None":
        """Make the source of a finite model, or of an environment with a complete table of outcomes; else None."""
        if isinstance(env, FiniteMDP):
            options.refuse_other(env.horizon, env.discount)
            return cls(env, options.threads)
        if not is_id_or_env(env):
            return None
        first = EnvRecipe.of(env, options.options).make() if isinstance(env, str) else env
        try:
            if not has_table(first):
                return None
            discount = 1.0 if options.discount is None else options.discount
            limit = find_limit(first, options.horizon)
            return cls(from_gymnasium(first, limit.steps, discount), options.threads, limit)
        finally:
            if isinstance(env, str) or isinstance(options.factory, type):  # others belong to the user
                close_or_warn(first, "the environment")

    def _refuse_long(self, policy: Policy, theta: FloatArray, episodes: int, stream: Stream, pair: int = 0) -> None:
        """Refuse episodes whose steps do not fit in memory; play them for their lengths if long ones might not fit."""
        longest = VISIT * self.horizon * episodes
        if longest <= MODEST:
            return
        refuse_many(episodes)
        if longest <= find_room():
            return
        lengths = self.returns(policy, theta[None], episodes, stream, np.full(1, pair)).lengths
        size = VISIT * int(np.sum(lengths))
        if size > find_room():
            refuse_size(size, find_room(), episodes, int(np.max(lengths)))

    def _cut_to_fit(
        self, policy: Policy, theta: FloatArray, episodes: int, stream: Stream, most: int
    ) -> list[tuple[int, int]]:
        """Cut episodes into pieces, so that `record` checks its size after each; `most` bounds an episode's visits."""
        refuse_many(episodes)
        if VISIT * most * episodes <= find_room():
            return [(0, episodes)]
        lengths = self.returns(policy, theta[None], episodes, stream, np.zeros(1, dtype=np.int64)).lengths[0]
        return cut_to_fit(VISIT * np.minimum(lengths, most))

    def note_lengths(self, lengths: IntArray) -> None:
        """Note whether episodes, wherever they were played, reached the default limit."""
        if self._limit.is_default and not self._limit_reached:
            self._limit_reached = bool(np.any(lengths >= self._limit.steps))

    def _sample(
        self,
        thresholds_of: Callable[[slice], NDArray[np.uint64]],
        rows: int,
        episodes: int,
        stream: Stream,
        pairs: ArrayLike | None,
        memory: Memory | None = None,
    ) -> Returns:
        m, cells = check_count("episodes", episodes), self._cells(memory)
        if 2 * NUMBER * m * rows > MODEST:
            refuse_many(m, rows)
        keys = stream.keys(check_pairs(pairs, rows))
        answer = Returns(values=np.empty((rows, m)), lengths=np.empty((rows, m), dtype=np.int64))
        step = max(1, LARGEST_TABLE // (int(self._tables.size) * (1 if cells is None else cells.n_cells)))

        def play(begin: int, end: int, threads: int = 1) -> None:
            for first in range(begin, end, step):
                part = slice(first, min(first + step, end))
                self._play(thresholds_of(part), keys[part], cells, answer.values[part], answer.lengths[part], threads)

        if rows < ROWS_PER_THREAD * self.threads:
            play(0, rows, self.threads)
        else:
            in_blocks(play, rows, self.threads)
        self.note_lengths(answer.lengths)
        return answer

    def _play(
        self,
        thresholds: NDArray[np.uint64],
        keys: NDArray[np.uint64],
        cells: sampler.MemoryCells | None,
        values: FloatArray,
        lengths: IntArray,
        threads: int,
    ) -> None:
        """Fill values and lengths [P, m] from thresholds [P, S, 2^L], with memory [P, cells, S, 2^L], and keys [P]."""
        m, thresholds = values.shape[1], thresholds.reshape(-1)
        values, lengths = values.reshape(-1), lengths.reshape(-1)

        def block(begin: int, end: int) -> None:
            tables, heads = self._tables, self._heads
            if cells is None:
                sampler.sample_returns(begin, end, m, keys, thresholds, tables, heads, values, lengths)
            else:
                sampler.sample_remembering_returns(
                    begin, end, m, keys, thresholds, tables, heads, cells, values, lengths
                )

        in_blocks(block, len(values), threads)

    def _cells(self, memory: Memory | None) -> sampler.MemoryCells | None:
        """Give the cells of a memory in the form that the sampler reads."""
        if memory is None:
            return None
        steps = np.minimum(np.arange(self.mdp.horizon), memory.horizon - 1)
        return sampler.MemoryCells(memory.cells, memory.cells_of_times[steps], memory.edges_of_returns.copy())

    def _thresholds(self, policy: Policy, thetas: FloatArray) -> NDArray[np.uint64]:
        """Give the thresholds [P, S, 2^L] of policies with parameters [P, d]; with memory [P, cells * S, 2^L]."""
        check_fit(policy, self)
        n_states = self.mdp.n_states * (1 if policy.memory is None else policy.memory.cells)
        n_actions = self.mdp.n_actions
        if policy.table_shape is not None:
            preferences = as_contiguous(thetas, np.float64).reshape(-1, *policy.table_shape)
            thresholds = self._room(len(thetas), n_states)
            thresholds_of_preferences(preferences, thresholds)
            return thresholds
        tables = policy.probabilities(thetas, np.arange(n_states))
        if tables.shape != (len(thetas), n_states, n_actions):
            raise InputError("policy", f"have the model's {n_actions} actions", f"{tables.shape[-1]} actions")
        self._check_rows("policy", tables)
        return self._thresholds_of_tables(tables)

    def _thresholds_of_tables(self, tables: FloatArray) -> NDArray[np.uint64]:
        thresholds = self._room(len(tables), tables.shape[1])
        thresholds_of_probabilities(as_contiguous(tables, np.float64), thresholds)
        return thresholds

    def _room(self, rows: int, states: int) -> NDArray[np.uint64]:
        return np.empty((rows, states, self._tables.stride), dtype=np.uint64)

    def _check_rows(self, name: str, tables: FloatArray) -> None:
        """Refuse probabilities [P, S, A] that are negative or do not sum to 1 in a state where the policy acts."""
        sums = np.sum(tables, axis=-1)
        acts = np.tile(~self.mdp.terminal, tables.shape[1] // self.mdp.n_states)
        bad = (~(np.abs(sums - 1.0) <= 1e-6) | ~np.all(tables >= 0.0, axis=-1)) & acts
        if np.any(bad):
            row, state = (int(i) for i in np.argwhere(bad)[0])
            rule = f"give probabilities that sum to 1 in state {state} (row {row})"
            raise InputError(name, rule, tables[row, state].tolist())

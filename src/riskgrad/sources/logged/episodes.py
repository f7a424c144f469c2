"""Logged episodes of some policy, with one row per step, as a batch that can be reweighted for other policies.

A log has the columns

    episode_id   t   action   reward   behavior_prob or behavior_logp   state or obs_0 .. obs_k

and becomes `Episodes`: each row is a visit of count 1, and the return of an episode is sum_t discount^t reward_t.
What is decided here:

- Rows may come in any order: they are sorted by (episode_id, t), so that their order does not change the batch. Errors
  give the number of a row in the order of the input, from 0.
- A log shows what one policy did, not all that was possible. The smallest and the largest logged return do not bound
  the return, so `return_range` is None unless it is given; `n_actions` should be given if there are actions beyond the
  largest that was logged.
- A log is read as batches of columns (`from_batches`); arrays are one batch and a Parquet file is many
  (`parquet_batches`). Another format needs one more function that yields batches; `columns` checks them all.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Never

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import check_range
from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.random import Stream
from riskgrad.risk.sample import refuse_bad_values
from riskgrad.sources.base import Source, kind_shown_to
from riskgrad.sources.logged import columns as logged_columns
from riskgrad.sources.logged.columns import Columns, parquet_batches
from riskgrad.types import Choice, Episodes, FloatArray, ObservationKind, States, Vectors, digest, freeze


class LoggedEpisodes(Source):
    """A validated log of m episodes with V steps in all.

    Make it with `from_parquet`, `from_arrays` or `from_batches`. It plays nothing: other policies are evaluated by
    reweighting its episodes.

    Args:
        batch: the episodes as visits, sorted by (episode_id, t), every count 1.
        n_actions: how many actions there are.
        discount: the discount gamma of the returns.
        return_range: bounds (low, high) of every possible return; None where they are not known.
        rewards: reward of each step [V], for policies that remember the return so far; None where not known.
    """

    name = "log"
    remembers = True

    def __init__(
        self,
        batch: Episodes,
        n_actions: int,
        discount: float,
        return_range: tuple[float, float] | None = None,
        rewards: FloatArray | None = None,
    ) -> None:
        self.batch = self.logged = batch
        self.n_actions = n_actions
        self._discount, self._return_range, self.rewards = discount, return_range, rewards

    @property
    def gives(self) -> ObservationKind:
        """The states from 0 to the largest logged one, or vectors of the logged length."""
        seen = self.batch.observations
        return States(int(np.max(seen)) + 1) if seen.ndim == 1 else Vectors(int(np.prod(seen.shape[1:])))

    @property
    def takes(self) -> Choice:
        """A choice among `n_actions` actions."""
        return Choice(self.n_actions)

    @property
    def discount(self) -> float:
        """The discount of the returns."""
        return self._discount

    @property
    def return_range(self) -> tuple[float, float] | None:
        """Bounds of every possible return; None where they are not known."""
        return self._return_range

    def returns(
        self, policy: Policy, thetas: ArrayLike, episodes: int, stream: Stream, pairs: ArrayLike | None = None
    ) -> Never:
        """Refuse: a log plays no episodes."""
        del policy, thetas, episodes, stream, pairs
        raise InputError("source", "play episodes, which a log cannot", self, "reweight log.batch, as OffP-SF does")

    def record(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream) -> Never:
        """Refuse: a log plays no episodes."""
        self.returns(policy, theta, episodes, stream)

    @property
    def horizon(self) -> int:
        """Steps of the longest logged episode."""
        return int(np.max(self.batch.lengths))

    def returns_so_far(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream) -> FloatArray:
        """Give the return so far before each logged step [V]; a log plays nothing, so the arguments do not matter."""
        del policy, theta, episodes, stream
        return self._so_far

    @cached_property
    def _so_far(self) -> FloatArray:
        """The discounted return of the episode before each step [V], added in the order of sources that play."""
        if self.rewards is None:
            advice = "make the log by from_arrays, from_batches or from_parquet"
            raise InputError("source", "hold the reward of each step, for memory", self, advice)
        found, starts, lengths = np.empty(len(self.rewards)), self.batch.offsets[:-1], self.batch.lengths
        totals, factor = np.zeros(len(starts)), 1.0
        for t in range(self.horizon):
            going = lengths > t
            steps = starts[going] + t
            found[steps] = totals[going]
            totals[going] += factor * self.rewards[steps]
            factor *= self._discount
        return freeze(found)

    def log_for(self, policy: Policy) -> Episodes:
        """Give the episodes as a policy reads them: if it has memory, observations are extended accordingly."""
        batch, memory = self.batch, policy.memory
        if memory is None:
            return batch
        kind_shown_to(policy, self)
        seen = (
            batch.observations if batch.observations.ndim == 1 else batch.observations.reshape(len(batch.actions), -1)
        )
        times = np.arange(len(seen)) - np.repeat(batch.offsets[:-1], batch.lengths)
        so_far = self._so_far if memory.holds_return else np.zeros(len(seen))
        return replace(batch, observations=memory.extend(seen, times, so_far))

    def fingerprint(self) -> str:
        """Identify the log by its size and a digest of its numbers."""
        batch = self.batch
        parts = (batch.values, batch.offsets, batch.observations, batch.actions, batch.log_behavior)
        bits = digest(np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in parts]))
        return f"log of {len(self)} episodes, {len(batch.actions)} steps, discount {self._discount:g} ({bits})"

    @classmethod
    def from_parquet(
        cls,
        path: str | Path,
        discount: float = 1.0,
        n_actions: int | None = None,
        return_range: tuple[float, float] | None = None,
    ) -> "LoggedEpisodes":
        """Read a Parquet file with one row per step; columns that a log does not have are ignored.

        Args:
            path: the file.
            discount: gamma in [0, 1].
            n_actions: how many actions there are; None takes the largest logged action plus 1.
            return_range: bounds of every possible return, where they are known.
        """
        return cls.from_batches(parquet_batches(path), discount, n_actions, return_range)

    @classmethod
    def from_arrays(
        cls,
        episode_id: ArrayLike,
        t: ArrayLike,
        action: ArrayLike,
        reward: ArrayLike,
        *,
        behavior_prob: ArrayLike | None = None,
        behavior_logp: ArrayLike | None = None,
        state: ArrayLike | None = None,
        obs: ArrayLike | None = None,
        discount: float = 1.0,
        n_actions: int | None = None,
        return_range: tuple[float, float] | None = None,
    ) -> "LoggedEpisodes":
        """Make a log from arrays with one entry per step.

        Args:
            episode_id: the episode of each step [V], integers or strings.
            t: the index of the step within its episode [V], from 0 without gaps.
            action: the action index [V].
            reward: the reward of the step [V].
            behavior_prob: b(action | observation) [V]; give this or behavior_logp.
            behavior_logp: log b(action | observation) [V].
            state: the state index [V]; give this or obs.
            obs: the observation [V, k].
            discount: gamma in [0, 1].
            n_actions: how many actions there are; None takes the largest logged action plus 1.
            return_range: bounds of every possible return, where they are known.
        """
        given = {
            "episode_id": episode_id,
            "t": t,
            "action": action,
            "reward": reward,
            "behavior_prob": behavior_prob,
            "behavior_logp": behavior_logp,
            "state": state,
            "obs": obs,
        }
        columns = {name: logged_columns.as_column(name, column) for name, column in given.items() if column is not None}
        return cls.from_batches([columns], discount, n_actions, return_range)

    @classmethod
    def from_batches(
        cls,
        batches: Iterable[Columns],
        discount: float = 1.0,
        n_actions: int | None = None,
        return_range: tuple[float, float] | None = None,
    ) -> "LoggedEpisodes":
        """Make a log from batches of columns; an episode may be spread over several batches.

        Args:
            batches: mappings from column names to arrays [rows], with `obs` [rows, k] or obs_0 .. obs_k.
            discount: gamma in [0, 1].
            n_actions: how many actions there are; None takes the largest logged action plus 1.
            return_range: bounds of every possible return, where they are known.
        """
        if not (isinstance(discount, int | float) and 0.0 <= discount <= 1.0):
            raise InputError("discount", "be in [0, 1]", discount)
        columns = logged_columns.join_batches(batches)
        actions = logged_columns.index_column("action", columns["action"], n_actions)
        times = logged_columns.index_column("t", columns["t"])
        rewards = logged_columns.finite_column("reward", columns["reward"])
        log_behavior = logged_columns.log_behavior_column(columns)
        observations = logged_columns.observation_column(columns)
        order, offsets = logged_columns.sort_episodes(columns["episode_id"], times)
        values = np.add.reduceat((rewards * np.power(float(discount), times))[order], offsets[:-1])
        refuse_bad_values(values)
        batch = Episodes(
            values=freeze(values),
            lengths=freeze(np.diff(offsets)),
            offsets=freeze(offsets),
            observations=freeze(observations[order]),
            actions=freeze(actions[order]),
            counts=freeze(np.ones(len(order), dtype=np.int64)),
            log_behavior=freeze(log_behavior[order]),
        )
        return cls(
            batch=batch,
            n_actions=int(np.max(actions)) + 1 if n_actions is None else n_actions,
            discount=float(discount),
            return_range=_check_return_range(return_range, values),
            rewards=freeze(rewards[order]),
        )

    def __len__(self) -> int:
        return len(self.batch.values)

    def __repr__(self) -> str:
        return f"LoggedEpisodes({len(self):,} episodes, {self.n_actions} actions, discount {self._discount:g})"


def _check_return_range(given: tuple[float, float] | None, values: FloatArray) -> tuple[float, float] | None:
    if given is None:
        return None
    low, high = check_range("return_range", given)
    if low > np.min(values) or high < np.max(values):
        seen = (float(np.min(values)), float(np.max(values)))
        raise InputError("return_range", f"hold every logged return, which span {seen}", given)
    return low, high

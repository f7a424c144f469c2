"""Episodes of a finite model, a compiled environment or a source of the user's, played by the workers of a backend.

    P policies at once   m episodes each   d parameters   V visits

A worker gets the source once, as a parcel; it gets the policy, the parameters and the stream once for each batch, and
then lots. A lot is some rows, or some episodes of one row: since an episode is a function of the stream, its pair and
its number, a lot is played with a stream that begins at its first episode (`Stream.first`). Results are joined in the
order of the lots, and have the same bits as those of one process. Log-probabilities of recorded actions are computed in
this process, for all lots together.
"""

import copy
import itertools
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.backend import Backend, parse_backend
from riskgrad.backend.worker import CallError
from riskgrad.checks import check_count, check_pairs, check_theta, check_theta_rows
from riskgrad.errors import InputError, WorkerError
from riskgrad.mdp import FiniteMDP
from riskgrad.parcels import Parcel
from riskgrad.policy import ObservationStatistics, Policy
from riskgrad.random import Stream
from riskgrad.sources.base import Source, check_fit, kind_shown_to
from riskgrad.sources.narrow import NarrowRecord
from riskgrad.types import ActionKind, Episodes, FloatArray, IntArray, ObservationKind, Returns, Steps, Vectors

LOTS: Final = 2  # lots for each worker, so that none waits long for the last lot

Ask = Callable[[Source, Policy, FloatArray, int, Stream, IntArray], Any]


@dataclass(frozen=True)
class SharedLot:
    """Some rows, or some episodes of a row.

    Attributes:
        rows: the first row, and the one after the last.
        first: the first episode of each row.
        episodes: how many episodes of each row.
    """

    rows: tuple[int, int]
    first: int
    episodes: int


@dataclass(frozen=True)
class SharedWork:
    """Plays lots of a batch with a copy of the source.

    Attributes:
        parcel: the pickled source.
        ask: the function that plays a lot with the source, such as `_ask_returns`.
        policy: the policy that acts.
        thetas: parameters [P, d].
        stream: where the random numbers come from.
        pairs: which random numbers each row uses [P].
    """

    parcel: Parcel
    ask: Ask
    policy: Policy
    thetas: FloatArray
    stream: Stream
    pairs: IntArray

    def __call__(self, lot: SharedLot) -> Any:
        """Play the episodes of a lot."""
        stream, rows = replace(self.stream, first=self.stream.first + lot.first), slice(*lot.rows)
        source = self.parcel.open(_as_it_is)
        return self.ask(source, self.policy, self.thetas[rows], lot.episodes, stream, self.pairs[rows])


def _as_it_is(source: Source) -> Source:
    return source


def _ask_returns(
    source: Source, policy: Policy, thetas: FloatArray, episodes: int, stream: Stream, pairs: IntArray
) -> NarrowRecord:
    return NarrowRecord(source.returns(policy, thetas, episodes, stream, pairs))


def _ask_statistics(
    source: Source, policy: Policy, thetas: FloatArray, episodes: int, stream: Stream, pairs: IntArray
) -> tuple[Returns, ObservationStatistics]:
    shown = kind_shown_to(policy, source)
    none = ObservationStatistics.none(shown.size if isinstance(shown, Vectors) else 0)
    return source.returns_and_statistics(policy, thetas, episodes, stream, pairs, none)


def _ask_record(
    source: Source, policy: Policy, thetas: FloatArray, episodes: int, stream: Stream, pairs: IntArray
) -> NarrowRecord:
    del pairs
    return NarrowRecord(replace(source.record(policy, thetas[0], episodes, stream), log_behavior=np.zeros(0)))


def _ask_steps(
    source: Source, policy: Policy, thetas: FloatArray, episodes: int, stream: Stream, pairs: IntArray
) -> NarrowRecord:
    return NarrowRecord(source.record_steps(policy, thetas[0], episodes, stream, int(pairs[0])))


def _ask_so_far(
    source: Source, policy: Policy, thetas: FloatArray, episodes: int, stream: Stream, pairs: IntArray
) -> FloatArray:
    del pairs
    return source.returns_so_far(policy, thetas[0], episodes, stream)


class SharedSource(Source):
    """Plays the episodes of another source on the workers of a backend.

    Args:
        source: the source whose episodes are played.
        backend: the backend, or its name.
        threads: how many threads each worker uses; by default, its share of the cores.
    """

    name = "shared"
    workers = "backend"

    def __init__(self, source: Source, backend: str | Backend, threads: int | None = None) -> None:
        self.source, self._own_backend = source, isinstance(backend, str)
        self.observes, self.keeps_steps, self.remembers = source.observes, source.keeps_steps, source.remembers
        self.backend = parse_backend(backend) if isinstance(backend, str) else backend
        if not isinstance(self.backend, Backend):
            raise InputError(
                "backend", "be a name such as 'processes:4', or a Backend", backend, "see riskgrad.backend"
            )
        self._splits = source.workers == "threads"  # whether some episodes of a row can be played alone
        single: Any = copy.copy(source)
        if self._splits:
            single.threads = self.backend.threads if threads is None else threads
        try:
            self._parcel = Parcel(self.backend.dumps(single))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            advice = "define what it is made of in a module, or leave out backend="
            raise InputError("env", "be found by its name in each process", source, advice) from error

    @property
    def gives(self) -> ObservationKind | None:
        """The kind of observation that the source gives."""
        return self.source.gives

    @property
    def takes(self) -> ActionKind | None:
        """The kind of action that the source takes."""
        return self.source.takes

    @property
    def spaces(self) -> dict[str, Any] | None:
        """The spaces of the source."""
        return self.source.spaces

    @property
    def mdp(self) -> FiniteMDP | None:
        """The finite model of the source, if it has one."""
        return self.source.mdp

    @property
    def horizon(self) -> int | None:
        """The horizon of the source."""
        return self.source.horizon

    @property
    def discount(self) -> float | None:
        """The discount of the source."""
        return self.source.discount

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the source."""
        return self.source.notes

    @property
    def return_range(self) -> tuple[float, float] | None:
        """The bounds of the return of the source."""
        return self.source.return_range

    @property
    def env_id(self) -> str | None:
        """The Gymnasium id of the source, if it has one."""
        return self.source.env_id

    @property
    def env_maker(self) -> Callable[[], Any] | None:
        """The function of the source that makes an environment, if it has one."""
        return self.source.env_maker

    @property
    def observation_limit(self) -> float:
        """The observation limit of the source."""
        return self.source.observation_limit

    def returns(
        self, policy: Policy, thetas: ArrayLike, episodes: int, stream: Stream, pairs: ArrayLike | None = None
    ) -> Returns:
        """Play m episodes of each of P policies; see `Source.returns`."""
        rows, m = check_theta_rows(thetas, policy.dim), check_count("episodes", episodes)
        lots = self._cut(len(rows), m)
        parts = self._map(_ask_returns, policy, rows, stream, check_pairs(pairs, len(rows)), lots)
        values, lengths = np.empty((len(rows), m)), np.empty((len(rows), m), dtype=np.int64)
        for lot, part in zip(lots, parts, strict=True):
            place = slice(*lot.rows), slice(lot.first, lot.first + lot.episodes)
            values[place], lengths[place] = part.record.values, part.record.lengths
        self.note_lengths(lengths)
        return Returns(values, lengths)

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
        rows, m = check_theta_rows(thetas, policy.dim), check_count("episodes", episodes)
        lots = [SharedLot((row, row + 1), 0, m) for row in range(len(rows))]
        parts = self._map(_ask_statistics, policy, rows, stream, check_pairs(pairs, len(rows)), lots)
        for _, found in parts:
            statistics = statistics.merge(found)
        values, lengths = (np.concatenate([getattr(part, name) for part, _ in parts]) for name in ("values", "lengths"))
        self.note_lengths(lengths)
        return Returns(values, lengths), statistics

    def record(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream) -> Episodes:
        """Play m episodes of one policy and record their visits; see `Source.record`."""
        vector, m = check_theta(theta, policy.dim), check_count("episodes", episodes)
        parts: list[Episodes] = self._map_one(_ask_record, policy, vector, m, stream)
        joined = _lay_side_by_side(parts, ("values", "lengths", "observations", "actions", "counts"))
        self.note_lengths(joined["lengths"])
        logs = _ask_log_prob(policy, vector, joined["observations"], joined["actions"])
        return Episodes(offsets=_join_offsets(parts), log_behavior=logs, **joined)

    def record_steps(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream, pair: int = 0) -> Steps:
        """Play m episodes of one policy and keep their steps in order; see `Source.record_steps`."""
        vector, m = check_theta(theta, policy.dim), check_count("episodes", episodes)
        parts: list[Steps] = self._map_one(_ask_steps, policy, vector, m, stream, pair)
        offsets = _join_offsets(parts)
        self.note_lengths(np.diff(offsets))
        return Steps(
            offsets=offsets, **_lay_side_by_side(parts, ("values", "ended", "observations", "actions", "rewards"))
        )

    def returns_so_far(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream) -> FloatArray:
        """Play m episodes of one policy and give the return so far before each step; see `Source.returns_so_far`."""
        vector, m = check_theta(theta, policy.dim), check_count("episodes", episodes)
        return np.concatenate(self._map_one(_ask_so_far, policy, vector, m, stream))

    def find_unseeded(self, policy: Policy, theta: ArrayLike, stream: Stream) -> str:
        """Let the source play an episode twice in this process; see `Source.find_unseeded`."""
        return self.source.find_unseeded(policy, theta, stream)

    def note_lengths(self, lengths: IntArray) -> None:
        """Let the source take note of the lengths; see `Source.note_lengths`."""
        self.source.note_lengths(lengths)

    def fingerprint(self) -> str:
        """Give the fingerprint of the source, which does not depend on the backend."""
        return self.source.fingerprint()

    def close(self) -> None:
        """Close the source."""
        self.source.close()

    def stop_workers(self) -> None:
        """End the processes of a backend that was given by its name; leave a backend of the user's running."""
        if self._own_backend:
            self.backend.close()

    def _map_one(
        self, ask: Ask, policy: Policy, theta: FloatArray, episodes: int, stream: Stream, pair: int = 0
    ) -> list[Any]:
        parts = self._map(ask, policy, theta[None], stream, np.full(1, pair), self._cut(1, episodes))
        return [part.record if isinstance(part, NarrowRecord) else part for part in parts]

    def _map(
        self, ask: Ask, policy: Policy, thetas: FloatArray, stream: Stream, pairs: IntArray, lots: list[SharedLot]
    ) -> list[Any]:
        check_fit(policy, self)
        try:
            return self.backend.map(SharedWork(self._parcel, ask, policy, thetas, stream, pairs), lots)
        except CallError as lost:
            lot = lots[lost.task]
            where = f"rows {lot.rows[0]} to {lot.rows[1] - 1}, episodes {lot.first} to {lot.first + lot.episodes - 1}"
            key = f"seed {stream.seed}, {stream.purpose.name.lower()}, iteration {stream.iteration}"
            raise WorkerError(f"{lost.reason}, playing {where} of {key} of {self.fingerprint()}") from lost

    def _cut(self, rows: int, episodes: int) -> list[SharedLot]:
        """Cut P rows of m episodes into lots of whole rows, or of some episodes of a row where rows are few."""
        wanted = LOTS * self.backend.workers
        if rows >= wanted or not self._splits:
            return [SharedLot(pair, 0, episodes) for pair in itertools.pairwise(_edges(rows, wanted))]
        edges = _edges(episodes, -(-wanted // rows))
        return [
            SharedLot((row, row + 1), first, last - first)
            for row in range(rows)
            for first, last in itertools.pairwise(edges)
        ]


def _edges(total: int, parts: int) -> list[int]:
    """Give the edges that cut 0:total into at most `parts` parts of about the same size."""
    count = min(total, parts)
    return [total * part // count for part in range(count + 1)]


def _lay_side_by_side(parts: "list[Episodes] | list[Steps]", names: tuple[str, ...]) -> dict[str, Any]:
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}


def _join_offsets(parts: "list[Episodes] | list[Steps]") -> IntArray:
    return np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part.offsets) for part in parts]))])


def _ask_log_prob(policy: Policy, theta: FloatArray, observations: NDArray[Any], actions: NDArray[Any]) -> FloatArray:
    """Give log b(action | observation) of each visit [V]; each pair of a state and a choice is computed once."""
    if observations.ndim > 1 or actions.ndim > 1 or observations.dtype.kind != "i" or actions.dtype.kind != "i":
        return policy.log_prob(theta, observations, actions)
    width = int(np.max(actions, initial=0)) + 1
    pairs, visits = np.unique(observations * width + actions, return_inverse=True)
    return policy.log_prob(theta, pairs // width, pairs % width)[visits]

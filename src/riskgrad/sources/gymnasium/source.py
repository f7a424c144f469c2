"""Episodes of any Gymnasium environment: a fixed number for each policy, with seeds and actions that can be repeated.

    P policies at once   m episodes each   d parameters   k length of an observation   V visits

What is decided here, and why:

- A policy plays m episodes, and each one that begins is counted: taking the first m that finish favors short ones.
- An environment with a vector form of its own is stepped as a whole, with one lane for each episode (see `vector`).
  Others are played in a loop over single environments, without the wrappers of `gymnasium.make` (see `lanes`).
- Termination and truncation both end an episode, and so does the horizon, for which steps are counted here.
- An episode's environment is reset with a seed of its own, below 2^31 for the sake of older environments; its actions
  come from another stream. Both are functions of the run's stream, the row's pair and the episode.
- A vector form takes one seed for all of its lanes. So its starts depend on all pairs and episodes that one call asks
  for; rows of one pair still get the same starts, and the cut into blocks does not depend on the processes.
- Lots of whole episodes go to the backend, and each result is put in its place: any number of them gives the same bits.
"""

import pickle
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.backend import Backend, Serial, parse_backend
from riskgrad.backend.worker import CallError
from riskgrad.checks import check_count, check_discount, check_pairs, check_positive, check_theta, check_theta_rows
from riskgrad.descriptions import describe_spaces
from riskgrad.errors import EpisodeError, InputError
from riskgrad.kernels.compile import as_contiguous
from riskgrad.parcels import Parcel
from riskgrad.policy import Greedy, ObservationStatistics, Policy
from riskgrad.random import Stream, environment_seeds
from riskgrad.sources.base import EnvOptions, Source, check_fit, kind_shown_to
from riskgrad.sources.gymnasium.blocks import Batch, BlockResult, Cut, Lot, cut_for_vectors, cut_for_workers
from riskgrad.sources.gymnasium.player import LocalWork, Player, PlayRules
from riskgrad.sources.gymnasium.recipe import Env, Environment, EnvRecipe, is_id_or_env
from riskgrad.sources.gymnasium.unreadable import leave_out_text
from riskgrad.sources.room import find_room, refuse_many
from riskgrad.types import ActionKind, Episodes, FloatArray, IntArray, ObservationKind, Returns, Steps, Vectors

LANES: Final = 128  # most single environments in a process, by default
LARGEST_TEMPORARY: Final = 1 << 16  # most visits whose log-probabilities are computed at once
LONGEST_CHECK: Final = 100  # most steps of the episode that `find_unseeded` plays twice
UNSEEDED: Final = "a run repeats to the bit only if its `reset` seeds all that it draws, see super().reset(seed=seed)"


class GymnasiumSource(Source):
    """Plays policies on a Gymnasium environment.

    Args:
        env: an id, a class or factory, or an environment.
        horizon: steps after which an episode is cut; by default the environment's time limit.
        discount: in (0, 1].
        env_options: options for `gymnasium.make`, the class or the factory.
        backend: where the work is done, such as `riskgrad.backend.Processes(8)`; by default in this process.
        greedy: play the likeliest action of the policy instead of a random one.
        native: whether to use the environment's own vector form; by default if it has one.
        lanes: most single environments that a process plays at once; fewer are made if they take long to make.
        step_timeout: seconds after which an environment that does not answer is ended with its process; needs a backend
            of processes.
    """

    name = "gymnasium"
    observes = True
    keeps_steps = True
    remembers = True
    workers = "backend"
    general = True

    def __init__(
        self,
        env: Environment,
        horizon: int | None = None,
        discount: float = 1.0,
        *,
        env_options: Mapping[str, Any] | None = None,
        backend: str | Backend | None = None,
        greedy: bool = False,
        native: bool | None = None,
        lanes: int = LANES,
        step_timeout: float | None = None,
    ) -> None:
        steps = None if horizon is None else check_count("horizon", horizon)
        self._discount, self.greedy, self._own_backend = (
            check_discount("discount", discount),
            greedy,
            isinstance(backend, str),
        )
        workers = parse_backend(backend) if isinstance(backend, str) else Serial() if backend is None else backend
        if not isinstance(workers, Backend):
            raise InputError(
                "backend", "be a name such as 'processes:4', or a Backend", backend, "see riskgrad.backend"
            )
        self.backend, sends_work = workers, workers.sends_work
        if step_timeout is not None and not workers.ends_hung:
            rule = "come with processes, which can be ended when an environment hangs"
            advice = "give backend='processes', in a script under `if __name__ == '__main__':`"
            raise InputError("step_timeout", rule, step_timeout, advice)
        self._rules = PlayRules(
            EnvRecipe.of(env, env_options),
            steps,
            self._discount,
            native,
            check_count("lanes", lanes),
            None if step_timeout is None else check_positive("step_timeout", step_timeout),
        )
        self.makes_anew = self._rules.recipe.makes_anew  # False for a user's environment or a factory
        self._player = Player(self._rules)
        if sends_work:
            _ = self._parcel  # refuses an environment that other processes cannot make

    @property
    def env_name(self) -> str:
        """The environment's id, or the name of its class."""
        return self._player.name

    @property
    def horizon(self) -> int:
        """Steps after which an episode is cut."""
        return self._player.horizon

    @property
    def discount(self) -> float:
        """The discount of its returns."""
        return self._discount

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on a horizon that neither user nor time limit sets, and on observations left out or read badly."""
        return self._player.notes

    @property
    def native(self) -> bool:
        """Whether the environment's own vector form is used."""
        return self._player.native

    @property
    def gives(self) -> ObservationKind:
        """States for a Discrete space and for few combinations of discrete parts, otherwise vectors."""
        return self._player.reader.gives

    @property
    def takes(self) -> ActionKind:
        """The kind of action of the environment."""
        return self._player.writer.takes

    @property
    def spaces(self) -> dict[str, Any] | None:
        """The spaces of the environment, described without the text that no policy reads."""
        return describe_spaces(leave_out_text(self._player.space)[0], self._player.action_space)

    def returns(
        self, policy: Policy, thetas: ArrayLike, episodes: int, stream: Stream, pairs: ArrayLike | None = None
    ) -> Returns:
        """Play m episodes of each of P policies; see `Source.returns`."""
        return self._play(policy, thetas, episodes, stream, pairs, None)[0]

    def returns_and_statistics(
        self,
        policy: Policy,
        thetas: ArrayLike,
        episodes: int,
        stream: Stream,
        pairs: ArrayLike | None,
        statistics: ObservationStatistics,
    ) -> tuple[Returns, ObservationStatistics]:
        """Play as `returns` does, and add the observations to the statistics."""
        shown = kind_shown_to(policy, self)
        if shown != Vectors(len(statistics.mean)):
            rule = f"be of vectors of the {shown.size if isinstance(shown, Vectors) else 0} numbers that a policy sees"
            raise InputError("statistics", rule, f"{len(statistics.mean)} numbers")
        returns, sums = self._play(policy, thetas, episodes, stream, pairs, statistics.mean)
        return returns, statistics if sums is None else statistics.add(returns.lengths, sums)

    def returns_so_far(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream) -> FloatArray:
        """Play m episodes of one policy and give the return so far before each step; see `Source.returns_so_far`."""
        m, vector = check_count("episodes", episodes), check_theta(theta, policy.dim)
        batch = replace(self._batch(policy, vector[None], keep=True), so_far=True)
        parts = self._map(batch, self._cut(m, stream, np.zeros(1, dtype=np.int64)))
        return np.concatenate([part.observations for part in parts])

    def record(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream) -> Episodes:
        """Play m episodes of one policy and record their visits; see `Source.record`."""
        steps, vector = self.record_steps(policy, theta, episodes, stream), check_theta(theta, policy.dim)
        logs = np.empty(len(steps.actions))
        for first in range(0, len(logs), LARGEST_TEMPORARY):
            piece = slice(first, first + LARGEST_TEMPORARY)
            logs[piece] = policy.log_prob(vector, steps.observations[piece], steps.actions[piece])
        return Episodes(
            values=steps.values,
            lengths=np.diff(steps.offsets),
            offsets=steps.offsets,
            observations=steps.observations,
            actions=steps.actions,
            counts=np.ones(len(logs), dtype=np.int64),
            log_behavior=logs,
        )

    def record_steps(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream, pair: int = 0) -> Steps:
        """Play m episodes of one policy and keep their steps in order; see `Source.record_steps`."""
        m, vector = check_count("episodes", episodes), check_theta(theta, policy.dim)
        parts = self._map(self._batch(policy, vector[None], keep=True), self._cut(m, stream, np.full(1, pair)))
        lengths = np.concatenate([part.lengths for part in parts])
        names = ("values", "ended", "observations", "actions", "rewards")
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return Steps(offsets=np.concatenate([[0], np.cumsum(lengths)]), **columns)

    def _play(
        self,
        policy: Policy,
        thetas: ArrayLike,
        episodes: int,
        stream: Stream,
        pairs: ArrayLike | None,
        shift: FloatArray | None,
    ) -> tuple[Returns, FloatArray | None]:
        rows = check_theta_rows(thetas, policy.dim)
        m = check_count("episodes", episodes)
        batch = replace(self._batch(policy, rows), shift=shift)
        cut = self._cut(m, stream, check_pairs(pairs, len(rows)))
        values, lengths = np.empty(len(rows) * m), np.empty(len(rows) * m, dtype=np.int64)
        sums = None if shift is None else np.empty((len(values), 2, len(shift)))
        for (lot, places), part in zip(cut, self._map(batch, cut), strict=True):
            counted = slice(None) if lot.counted is None else lot.counted
            values[places[counted]], lengths[places[counted]] = part.values[counted], part.lengths[counted]
            if sums is not None and part.sums is not None:
                sums[places[counted]] = part.sums[counted]
        return Returns(values.reshape(-1, m), lengths.reshape(-1, m)), sums

    def _batch(self, policy: Policy, thetas: FloatArray, keep: bool = False) -> Batch:
        check_fit(policy, self)
        return Batch(Greedy(policy) if self.greedy else policy, as_contiguous(thetas, np.float64), keep=keep)

    def _cut(self, episodes: int, stream: Stream, pairs: IntArray) -> Cut:
        refuse_many(episodes, len(pairs))
        if self._player.native:
            return cut_for_vectors(episodes, stream, pairs)
        return cut_for_workers(episodes, stream, pairs, self.backend.workers)

    def find_unseeded(self, policy: Policy, theta: ArrayLike, stream: Stream) -> str:
        """Play an episode twice and give a note that says what differs; see `Source.find_unseeded`."""
        rows = check_theta(theta, policy.dim)[None]
        batch = replace(self._batch(policy, rows, keep=True), longest=LONGEST_CHECK)
        one = self._cut(1, stream, np.zeros(1, dtype=np.int64))[:1]
        numpy_state, python_state = np.random.get_state(), random.getstate()  # noqa: NPY002 - environments may use it
        first, again = (self._map(batch, one)[0] for _ in range(2))
        np.random.set_state(numpy_state)  # noqa: NPY002
        random.setstate(python_state)
        for name in ("observations", "rewards", "lengths"):
            if not np.array_equal(getattr(first, name), getattr(again, name)):
                return f"{self.env_name} gives other {name} when an episode is played again with its seed: {UNSEEDED}"
        return ""

    def _map(self, batch: Batch, cut: Cut) -> list[BlockResult]:
        """Play all lots of a batch; recorded visits of a lot may take its share of the room for episodes."""
        lots, total = [lot for lot, _ in cut], sum(len(lot.rows) for lot, _ in cut)
        if batch.keep:
            lots = [replace(lot, room=find_room() * len(lot.rows) // total) for lot in lots]
        work = LocalWork(self._player, batch, lambda: self._parcel)
        try:
            return self._player.note_lengths(self.backend.map(work, lots))
        except CallError as lost:
            raise self._find_episode(lots[lost.task], lost) from lost
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            if self.backend.sends_work:
                self._refuse_local_policy(batch.policy, error)
            raise

    @cached_property
    def _parcel(self) -> Parcel:
        return self._rules.pack(self.backend.dumps)

    def _find_episode(self, lot: Lot, lost: CallError) -> EpisodeError:
        """Give the error for an episode whose call was lost; where only the lot is known, for its first episode."""
        seeds, reason = environment_seeds(lot.streams), lost.reason
        seed, step, _ = (int(seeds[0]), 0, 0.0) if lost.place is None else lost.place
        if lost.place is None:
            reason = f"{reason}, in one of the {len(seeds)} episodes from this one on"
        found = np.flatnonzero(seeds == seed)
        row = lot.first_row + (int(lot.rows[found[0]]) if len(found) else 0)
        return EpisodeError(self.env_name, row, seed, step, reason)

    def _refuse_local_policy(self, policy: Policy, error: Exception) -> None:
        """Refuse a policy that cannot be pickled for other processes."""
        try:
            self.backend.dumps(policy)
        except Exception:
            advice = "define what it is made of in a module, or leave out processes"
            raise InputError("policy", "be found by its name in each process", policy, advice) from error

    @classmethod
    def from_env(cls, env: Any, options: EnvOptions) -> "GymnasiumSource | None":
        """Make the source of an id or environment; None for any other. A factory is kept, to make more environments."""
        if not is_id_or_env(env):
            return None
        again = env if isinstance(env, str) or options.factory is None else options.factory
        discount = 1.0 if options.discount is None else options.discount
        return cls(
            again,
            options.horizon,
            discount,
            env_options=options.options,
            backend=options.backend,
            step_timeout=options.step_timeout,
        )

    @property
    def env_maker(self) -> Callable[[], Env]:
        """A function that makes an environment like those that are played."""
        return self.make

    def make(self) -> Env:
        """Make an environment like those that are played, with its wrappers; a user's environment is given as it is."""
        return self._rules.recipe.make()

    def make_rendering(self) -> Env:
        """Make an environment that renders frames; refuse one that does not."""
        recipe = self._rules.recipe
        env = recipe.make() if recipe.is_single else recipe.make(render_mode="rgb_array")
        if env.render_mode != "rgb_array":
            raise InputError("env", "render frames", self.env_name, "make it with render_mode='rgb_array'")
        return env

    def stop_workers(self) -> None:
        """End the processes of a backend that was given by its name; leave a backend of the user's running."""
        if self._own_backend:
            self.backend.close()

    def close(self) -> None:
        """Close the environments that were made here."""
        self._player.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"GymnasiumSource({self.env_name}, horizon {self.horizon}, discount {self.discount:g})"

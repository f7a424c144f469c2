"""Plays blocks of episodes on the environments of one recipe; each process that works for a source has one player.

The process of the source uses the source's own player. Other processes get the rules by which a player is made, and
keep that player for the next batch.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from gymnasium import Space
from gymnasium.vector import VectorEnv

from riskgrad.backend.beacon import watch
from riskgrad.errors import InputError
from riskgrad.making import find_limit, strip_wrappers
from riskgrad.parcels import Parcel
from riskgrad.sources.gymnasium.blocks import Batch, BlockResult, EpisodeBlock, Lot
from riskgrad.sources.gymnasium.lanes import SingleLanes
from riskgrad.sources.gymnasium.readings import has_parts
from riskgrad.sources.gymnasium.recipe import Env, EnvRecipe, name_of
from riskgrad.sources.gymnasium.spaces import action_writer, batch_reader, observation_reader
from riskgrad.sources.gymnasium.vector import VectorLanes
from riskgrad.types import Choice

MAKING: Final = 1.0  # seconds after which no more environments are made; results do not depend on their number


@dataclass(frozen=True)
class PlayRules:
    """How episodes are played.

    Attributes:
        recipe: how the environment is made.
        horizon: steps after which an episode is cut; None for the environment's own limit.
        discount: in (0, 1].
        native: whether the environment's own vector form is used; None uses it if there is one.
        lanes: most single environments that a process plays at once.
        step_timeout: seconds that a call of an environment may take in a worker; None for no limit.
    """

    recipe: EnvRecipe
    horizon: int | None
    discount: float
    native: bool | None
    lanes: int
    step_timeout: float | None = None

    def pack(self, dumps: Callable[[Any], bytes]) -> Parcel:
        """Pickle the rules for other processes; refuse an environment that cannot be made there."""
        self.recipe.check_portable(dumps)
        return Parcel(dumps(self))


class Player:
    """Plays blocks of episodes.

    Args:
        rules: how episodes are played.
    """

    def __init__(self, rules: PlayRules) -> None:
        self._rules = rules
        first = rules.recipe.make()
        self.name = name_of(first)
        self.limit = find_limit(first, rules.horizon)
        self.horizon, self._limit_reached = self.limit.steps, False
        self.space, self.action_space = (_space(first, name) for name in ("observation_space", "action_space"))
        one_hot = strip_wrappers(first) is first.unwrapped and bool(first.unwrapped.metadata.get("soft_one_hot"))
        self.writer = action_writer(self.action_space)
        self._counts = isinstance(self.writer.takes, Choice)
        self.reader = observation_reader(self.space, one_hot, self._counts)
        self._envs: list[Env] = [first]
        self._full = rules.recipe.is_single
        self._vector = self._find_vector_form()

    @property
    def native(self) -> bool:
        """Whether the environment's own vector form is used."""
        return self._vector is not None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on a horizon that neither user nor time limit sets, and on observations left out or read badly."""
        found = (self.limit.note, self.limit.warning if self._limit_reached else "", *self.reader.notes)
        return tuple(note for note in found if note)

    def note_lengths(self, results: list[BlockResult]) -> list[BlockResult]:
        """Note whether episodes, wherever they were played, were cut at the default limit; give the results back."""
        if self.limit.is_default and not self._limit_reached:
            self._limit_reached = any(np.any((part.lengths >= self.horizon) & ~part.ended) for part in results)
        return results

    def play(self, block: EpisodeBlock) -> BlockResult:
        """Play all episodes of a block."""
        if self._vector is not None:
            return self._vector.play(block)
        self._open(min(self._rules.lanes, len(block.lot.rows)))
        lanes = [watch(strip_wrappers(env), self._rules.step_timeout) for env in self._envs]
        return SingleLanes(self.name, lanes, self.reader, self.writer, self.horizon, self._rules.discount).play(block)

    def close(self) -> None:
        """Close the environments that were made here; a user's own environment is left open."""
        if self._vector is not None:
            self._vector.close()
        if not self._rules.recipe.is_single:
            for env in self._envs:
                env.close()

    def _open(self, lanes: int) -> None:
        begin = time.perf_counter()
        while len(self._envs) < lanes and not self._full:
            env = self._rules.recipe.make()
            # a factory may give the same environment every time, perhaps in new wrappers
            self._full = any(env.unwrapped is other.unwrapped for other in self._envs)
            if not self._full:
                self._envs.append(env)
            self._full = self._full or time.perf_counter() - begin > MAKING

    def _find_vector_form(self) -> VectorLanes | None:
        rules, read = self._rules, batch_reader(self.space, self._counts)
        if rules.native is False:
            return None
        trial = None if read is None or has_parts(self.action_space) else self._try_vector_form()
        if trial is None or read is None:
            if rules.native:
                raise InputError("native", "be None for an environment without a vector form of its own", rules.native)
            return None
        own: Any = trial  # vector environments are only partly typed
        same = (own.single_observation_space, own.single_action_space) == (self.space, self.action_space)
        trial.close()
        if not same:
            if rules.native:
                raise InputError("native", "be None where the vector form has other spaces", rules.native)
            return None

        def make(lanes: int) -> VectorEnv[Any, Any, Any]:
            made = rules.recipe.make_vector(lanes, self.horizon)
            if made is None:
                raise InputError("env", "have a vector form", self.name)
            return watch(made, rules.step_timeout)

        return VectorLanes(self.name, make, read, self.writer, self.horizon, rules.discount)

    def _try_vector_form(self) -> VectorEnv[Any, Any, Any] | None:
        """Make a vector form of one lane; where that fails, warn and give None; raise if the user asked for it."""
        try:
            return self._rules.recipe.make_vector(1, self.horizon)
        except Exception as error:
            words = f"{type(error).__name__}: {error}"
            if self._rules.native:
                raise InputError("native", "be None where the vector form cannot be made", True, words) from error
        text = f"the vector form of {self.name} cannot be made, single environments are played: {words}"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
        return None


def _is_space(found: object) -> bool:
    return isinstance(found, Space)


def _space(env: Env, name: str) -> Space[Any]:
    found: Any = getattr(env, name, None)
    if not _is_space(found):
        raise InputError("env", f"have an `{name}`, as a gymnasium.Env does", name_of(env))
    return found


@dataclass(frozen=True)
class LocalWork:
    """Plays lots of a batch in the process of the source.

    Attributes:
        player: the source's own player.
        batch: what all lots share.
        parcel: gives the pickled rules for other processes; refuses an environment that cannot be made there.
    """

    player: Player
    batch: Batch
    parcel: Callable[[], Parcel]

    def __call__(self, lot: Lot) -> BlockResult:
        """Play all episodes of a lot."""
        return self.player.play(EpisodeBlock.of(self.batch, lot))

    def __reduce__(self) -> tuple[type["RemoteWork"], tuple[Parcel, Batch]]:
        """Pickle as `RemoteWork`, the same work for another process."""
        return RemoteWork, (self.parcel(), self.batch)


@dataclass(frozen=True)
class RemoteWork:
    """Plays lots of a batch in a process that makes environments of its own, and keeps them for the next batch.

    Attributes:
        parcel: the pickled rules.
        batch: what all lots share.
    """

    parcel: Parcel
    batch: Batch

    def __call__(self, lot: Lot) -> BlockResult:
        """Play all episodes of a lot."""
        return self.parcel.open(Player).play(EpisodeBlock.of(self.batch, lot))

"""Translation between an environment and a policy: one observation or a batch in, one action or a batch out.

    B observations

A run keeps the observation and action spaces of its environment (`riskgrad.descriptions`). They distinguish one
observation from a batch: for Discrete and Box spaces by the number of axes; for Tuple and Dict spaces a list or an
array of observations is a batch, and so are parts with one more axis, as Gymnasium's vector environments give them.
"""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box
from numpy.typing import NDArray

from riskgrad.descriptions import read_space
from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.sources.gymnasium.parted_actions import leaves_of
from riskgrad.sources.gymnasium.readings import has_parts, split
from riskgrad.sources.gymnasium.spaces import action_writer, observation_reader
from riskgrad.sources.gymnasium.unreadable import pick_parts
from riskgrad.types import Choice, ObservationKind, States


class Translator:
    """Reads observations and writes actions in the form of an environment's spaces.

    Args:
        seen: the observation space.
        taken: the action space.
    """

    def __init__(self, seen: Space[Any], taken: Space[Any]) -> None:
        self._seen, self._taken = seen, taken
        self._writer = action_writer(taken)
        self._reader = observation_reader(seen, counts=isinstance(self._writer.takes, Choice))

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any] | None) -> "Translator":
        """Make the translator of the spaces that a run keeps; refuse where it keeps none."""
        if facts is None:
            rule = "say what its environment shows and takes"
            raise InputError("run", rule, "no spaces", "use run.player(env=...), which asks the environment")
        return cls(read_space(facts["observation"]), read_space(facts["action"]))

    @property
    def gives(self) -> ObservationKind:
        """What a policy reads: states or vectors."""
        return self._reader.gives

    @property
    def firsts(self) -> tuple[int, Any]:
        """The number of the first state, 0 if the space is not Discrete, and of the first choice of each component."""
        state = getattr(self._seen, "start", 0)
        choices = [
            np.broadcast_to(np.ravel(getattr(leaf, "start", 0)), int(np.prod(leaf.shape or (1,))))
            for leaf in leaves_of(self._taken)
            if not isinstance(leaf, Box)
        ]
        return int(state) if np.ndim(state) == 0 else 0, np.concatenate(choices) if choices else np.zeros(1, np.int64)

    def read(self, obs: Any) -> tuple[NDArray[Any], bool]:
        """Give observations as a policy reads them, states [B] or vectors [B, k], and whether there was only one."""
        try:
            batch = self._split(obs)
            rows = self._reader.allocate(1 if batch is None else len(batch))
            for place, one in enumerate([obs] if batch is None else batch):
                rows[place] = self._reader.read(pick_parts(self._seen, one))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            rule = f"be of {self._seen}, or a batch of such"
            raise InputError("obs", rule, obs, _explain(obs, error)) from error
        if not np.all(np.isfinite(rows)):
            raise InputError("obs", "be finite", obs)
        return rows, batch is None

    def write(self, actions: NDArray[Any], single: bool) -> Any:
        """Give one action as the environment takes it, or a batch: an array [B, ...], or a list if they have parts."""
        if single or self._writer.assemble is not None:  # a batch of actions with parts is a list
            written = self._writer.one_by_one(actions)
            return written[0] if single else written
        return self._writer.write(actions)

    def _split(self, obs: Any) -> list[Any] | None:
        """Give the observations of a batch; None for a single one."""
        if has_parts(self._seen) and (isinstance(obs, list) or _has_rows(obs)):
            return list(cast("list[Any]", obs))
        known = pick_parts(self._seen, obs)
        size = _count(self._seen, known)
        return None if size is None else [_pick(self._seen, known, place) for place in range(size)]


def _has_rows(obs: Any) -> bool:
    """Say whether observations that have parts are an array, with a row or an object for each."""
    array = cast("NDArray[Any]", obs)
    return isinstance(obs, np.ndarray) and (array.ndim > 1 or array.dtype.kind == "O")


def _count(space: Space[Any], found: Any) -> int | None:
    """Give how many observations a batch has, as many in each part; None where `found` is a single one."""
    if has_parts(space):
        counts = {_count(part, each) for part, each in split(space, found)} or {None}
        if len(counts) > 1:
            several = " and ".join(sorted("one" if count is None else f"{count:,}" for count in counts))
            raise ValueError(f"its parts are of {several} observations")
        return counts.pop()
    array = np.asarray(found)
    return len(array) if array.ndim == len(space.shape or ()) + 1 else None


def _explain(obs: Any, error: Exception) -> str:
    """Say why observations cannot be read; what `reset` and `step` give is more than an observation."""
    if isinstance(obs, tuple) and len(cast("tuple[Any, ...]", obs)) in (2, 5) and isinstance(obs[-1], dict):
        return "this looks like all that env.reset() or env.step() gives: give its first part, the observation"
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def _pick(space: Space[Any], found: Any, place: int) -> Any:
    """Give one observation of a batch."""
    if not has_parts(space):
        return np.asarray(found)[place]
    parts, inner = [_pick(part, each, place) for part, each in split(space, found)], cast("Any", space)
    # a Dict may be given in any order of its keys
    return dict(zip(inner.spaces, parts, strict=True)) if isinstance(found, Mapping) else tuple(parts)


def check_reads(policy: Policy, batch: NDArray[Any], obs: Any) -> None:
    """Refuse observations [B, ...] that a policy does not read."""
    memory = policy.memory
    kinds = policy.reads if memory is None else (memory.observations,)
    if kinds and not any(_is_of_kind(batch, kind) for kind in kinds):
        kind = kinds[0]
        rule = f"be one of {kind.n} states" if isinstance(kind, States) else f"be {kind.size} finite numbers"
        raise InputError("obs", rule, obs, "give run.player(env=...) where its spaces say how it is read")


def _is_of_kind(batch: NDArray[Any], kind: ObservationKind) -> bool:
    if isinstance(kind, States):
        return batch.ndim == 1 and batch.dtype.kind in "iu" and bool(np.all((batch >= 0) & (batch < kind.n)))
    return batch.ndim == 2 and batch.shape[1] == kind.size and bool(np.all(np.isfinite(batch)))

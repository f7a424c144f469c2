"""Conversion of observations to what policies read, and of policies' actions to what environments accept.

    Discrete observations                      integer states from 0, for tables; networks read them as one-hot
    MultiDiscrete, MultiBinary, and Tuple and  integer states too, one for each combination, where there are at most
    Dict of discrete parts                     16,384 of them (see `products`) and actions are Discrete
    Box                                        a vector of its numbers
    all others                                 one vector, flattened as Gymnasium does (discrete parts one-hot); text
                                               in a Dict is left out, and a note says so

    Discrete actions                           Python integers, from the space's start
    MultiDiscrete, MultiBinary                 arrays of its type
    Box                                        arrays of its type and shape, within its bounds
    Dict and Tuple of these                    each part by itself: choices, numbers, or both (see `parted_actions`)

Any other space is refused; the message names it, and a wrapper that converts it. Observations may be Python or NumPy
numbers. A Discrete action is a Python integer, since some environments refuse a NumPy integer.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
from gymnasium import Space, spaces
from gymnasium.spaces.utils import flatdim
from numpy.typing import NDArray

from riskgrad.errors import InputError
from riskgrad.sources.gymnasium.parted_actions import build_parts, leaves_of, place_columns
from riskgrad.sources.gymnasium.products import find_product
from riskgrad.sources.gymnasium.readings import has_parts, ravel, read_state, split
from riskgrad.sources.gymnasium.unreadable import describe_image, leave_out_text, pick_parts, refuse_unreadable
from riskgrad.types import ActionKind, Choice, Choices, FloatArray, Numbers, ObservationKind, States, Vectors


@dataclass(frozen=True)
class ObservationReader:
    """Reads the observations of a space in the form that policies need.

    Attributes:
        gives: states for a Discrete space and for few combinations of discrete parts, otherwise vectors.
        read: from one observation to a state or a vector; an observation that is not of the space is refused.
        together: writes observations of B environments to an array of states [B], or of vectors one after the other
            [B * k]; gives False where they have to be read one by one, such as to find the one that cannot be read.
        notes: notes on text that is left out, and on images, which are read as plain numbers.
    """

    gives: ObservationKind
    read: Callable[[Any], Any]
    together: Callable[[list[Any], NDArray[Any]], bool]
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of states, or the length of a vector."""
        return self.gives.n if isinstance(self.gives, States) else self.gives.size

    def allocate(self, count: int) -> NDArray[Any]:
        """Make an array of zeros for `count` observations: states [count], or vectors [count, k]."""
        return np.zeros(count, dtype=np.int64) if isinstance(self.gives, States) else np.zeros((count, self.size))


def observation_reader(space: Space[Any], one_hot: bool = False, counts: bool = True) -> ObservationReader:
    """Give the reader of the observations of a space; refuse a space that no policy reads.

    Args:
        space: the observation space.
        one_hot: whether the numbers of a Box are known to be a soft one-hot: not negative, with sum 1.
        counts: whether combinations of discrete parts are states; False without Discrete actions, which tables need.
    """
    plain, left_out = leave_out_text(space)
    if left_out:
        inner = observation_reader(plain, one_hot, counts)
        names = ", ".join(repr(name) for name in left_out)
        note = f"the policy does not read {names} of the observations, which is text"
        return ObservationReader(
            inner.gives, lambda found: inner.read(pick_parts(plain, found)), lambda _, __: False, (note, *inner.notes)
        )
    refuse_unreadable(space)
    if isinstance(space, spaces.Discrete):
        n, start = int(space.n), int(space.start)
        return ObservationReader(
            States(n), lambda found: read_state(found, n, start), lambda every, to: _write_states(every, n, start, to)
        )
    if counts and (product := find_product(space)) is not None:
        return ObservationReader(States(product.n_states), product.read, product.write)
    size = flatdim(space)
    if size == 0:
        advice = "gymnasium.wrappers.TransformObservation can show a constant"
        raise InputError("observation space", "have at least one number", space, advice)
    if isinstance(space, spaces.Box | spaces.MultiBinary):
        shape = space.shape or ()
        together = partial(_write_rows, {size}) if len(shape) == 1 else partial(_write_raveled, shape)
        return ObservationReader(
            Vectors(size, one_hot), lambda found: ravel(found, shape), together, describe_image(shape, size)
        )
    return ObservationReader(Vectors(size), lambda found: _flatten_observation(space, found), lambda _, __: False)


def batch_reader(space: Space[Any], counts: bool = True) -> Callable[[Any], NDArray[Any]] | None:
    """Give a function that reads a batch of observations [B, ...] at once; None for spaces that are read one by one."""
    if isinstance(space, spaces.Discrete):
        n, start = int(space.n), int(space.start)
        return lambda found: _read_states(found, n, start)
    if counts and (product := find_product(space)) is not None:
        return product.read_batch
    if isinstance(space, spaces.Box | spaces.MultiBinary):
        shape = space.shape or ()
        return lambda found: ravel(found, (len(found), *shape)).reshape(len(found), -1)
    return None


@dataclass(frozen=True)
class ActionWriter:
    """Writes the actions of policies as actions of a space.

    Attributes:
        takes: the kind of action: a choice, several choices, numbers, or both.
        write: from actions of a policy [B, ...] to a batch of actions of the environment.
        assemble: from actions of a policy [B, ...] to the Dicts or Tuples of B environments; None for other spaces.
    """

    takes: ActionKind
    write: Callable[[NDArray[Any]], NDArray[Any]]
    assemble: Callable[[NDArray[Any]], list[Any]] | None = None

    def one_by_one(self, actions: NDArray[Any]) -> list[Any]:
        """Give actions for single environments: Python integers for a choice, otherwise arrays, or Dicts or Tuples."""
        if self.assemble is not None:
            return self.assemble(actions)
        written = self.write(actions)
        return written.tolist() if isinstance(self.takes, Choice) else list(written)


def action_writer(space: Space[Any]) -> ActionWriter:
    """Give the writer of the actions of a space; refuse a space that no policy acts in."""
    inner: Any = space  # spaces are only partly typed
    if isinstance(space, spaces.Discrete):
        start = int(space.start)
        return ActionWriter(Choice(int(space.n)), lambda actions: actions + start if start else actions)
    if isinstance(space, spaces.MultiDiscrete):
        shape, kind, begins = space.shape, inner.dtype, np.ravel(inner.start)
        sizes = tuple(int(size) for size in np.ravel(inner.nvec))
        return ActionWriter(
            Choices(sizes),
            lambda actions: (actions.reshape(-1, len(sizes)) + begins).astype(kind).reshape(-1, *shape),
        )
    if isinstance(space, spaces.MultiBinary):
        shape = space.shape
        return ActionWriter(Choices((2,) * prod(shape)), lambda actions: actions.astype(np.int8).reshape(-1, *shape))
    if isinstance(space, spaces.Box):
        return _box_writer(inner)
    if has_parts(space):
        return _parts_writer(space)
    rule = "be Discrete, MultiDiscrete, MultiBinary, Box, or a Tuple or Dict of these"
    advice = "gymnasium.wrappers.TransformAction makes another one of it"
    raise InputError("action space", rule, type(space).__name__, advice)


def _parts_writer(space: Space[Any]) -> ActionWriter:
    """Give the writer of actions of several parts; a policy's action has all choices first, then all numbers."""
    leaves = [action_writer(part) for part in leaves_of(space)]
    columns, kinds = place_columns([leaf.takes for leaf in leaves])

    def assemble(actions: NDArray[Any]) -> list[Any]:
        table = actions.reshape(len(actions), -1)
        written: list[list[Any]] = []
        for leaf, where in zip(leaves, columns, strict=True):
            part = table[:, where]
            if not isinstance(leaf.takes, Numbers):
                part = np.rint(part).astype(np.int64)
            written.append(leaf.one_by_one(part[:, 0] if isinstance(leaf.takes, Choice) else part))
        return [build_parts(space, iter(row)) for row in zip(*written, strict=True)]

    return ActionWriter(kinds, lambda actions: actions, assemble)


def _box_writer(space: Any) -> ActionWriter:
    low, high = (np.asarray(np.ravel(side), dtype=np.float64) for side in (space.low, space.high))
    shape, kind, whole = space.shape, space.dtype, np.issubdtype(space.dtype, np.integer)
    if whole:
        most, top = int(np.iinfo(kind).max), float(np.iinfo(kind).max)
        high = np.minimum(high, top if top <= most else np.nextafter(top, 0.0))  # as a float, 2^63 - 1 becomes 2^63

    def write(actions: NDArray[Any]) -> NDArray[Any]:
        # np.clip takes longer than these two calls for the few actions of one step
        inside = np.minimum(np.maximum(actions.reshape(-1, len(low)), low), high)
        return (np.rint(inside) if whole else inside).astype(kind).reshape(-1, *shape)

    return ActionWriter(Numbers(tuple(low.tolist()), tuple(high.tolist())), write)


def _write_states(found: list[Any], n: int, start: int, to: NDArray[Any]) -> bool:
    try:
        array = np.array(found)
    except ValueError:
        return False
    if array.ndim != 1 or array.dtype.kind not in "iu":
        return False
    np.subtract(array, start, out=to, casting="unsafe")
    # as an unsigned number, a negative one is larger than n
    return bool(to.view(np.uint64).max() < n)


def _read_states(found: Any, n: int, start: int) -> NDArray[Any]:
    states = np.empty(len(found), dtype=np.int64)
    if not _write_states(found, n, start, states):
        raise ValueError(f"an observation is not among the {n} states from {start}")
    return states


def _flatten_observation(space: Space[Any], found: Any) -> FloatArray:
    """Give an observation as one vector, in the order of Gymnasium's `flatten`; refuse a part not of its space."""
    inner: Any = space
    if isinstance(space, spaces.Discrete):
        n, start = int(space.n), int(space.start)
        return np.eye(1, n, read_state(found, n, start))[0]
    if isinstance(space, spaces.MultiDiscrete):
        sizes: list[int] = np.ravel(inner.nvec).tolist()
        starts: list[int] = np.ravel(inner.start).tolist()
        parts = zip(ravel(found, space.shape).tolist(), sizes, starts, strict=True)
        return np.concatenate([np.eye(1, n, read_state(value, n, start))[0] for value, n, start in parts])
    if has_parts(space):
        return np.concatenate([_flatten_observation(part, each) for part, each in split(space, found)])
    return ravel(found, space.shape or ())


def _write_rows(lengths: set[int], found: list[Any], to: NDArray[Any]) -> bool:
    """Write vectors one after the other; give False where they are not all of the given length."""
    try:
        np.concatenate(found, out=to)
        return set(map(len, found)) == lengths
    except (ValueError, TypeError):
        return False


def _write_raveled(shape: tuple[int, ...], found: list[Any], to: NDArray[Any]) -> bool:
    """Write arrays one after the other, each as a vector; give False where they are not all of the given shape."""
    try:
        array = np.array(found)
    except ValueError:
        return False
    right = array.shape[1:] == shape and array.dtype.kind in "iufb"
    if right:
        to[:] = array.reshape(-1)
    return right

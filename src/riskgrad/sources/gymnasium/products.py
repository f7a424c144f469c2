"""Observations of several discrete parts, such as Blackjack's hands: every combination is a state.

    B observations

The states count the combinations as digits count numbers, each part in a base of its own.
"""

from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
from gymnasium import Space, spaces
from numpy.typing import NDArray

from riskgrad.sources.gymnasium.readings import has_parts, parts_of, ravel, read_state, split

MOST_STATES: Final = 1 << 14  # of several discrete parts; a table of more would hardly meet each of them


@dataclass(frozen=True)
class Product:
    """Discrete parts whose combinations are states: parts in Gymnasium's order, of which the last counts fastest.

    Attributes:
        space: what the parts make up.
        sizes: how many values each part has.
        starts: the first of them.
    """

    space: Space[Any]
    sizes: tuple[int, ...]
    starts: tuple[int, ...]

    @property
    def n_states(self) -> int:
        """How many combinations there are."""
        return prod(self.sizes)

    def read(self, found: Any) -> int:
        """Give the state of one observation; refuse it by the part that is not of its space."""
        state = 0
        numbers = _numbers_of(self.space, found)
        for place, (value, n, start) in enumerate(zip(numbers, self.sizes, self.starts, strict=True)):
            try:
                state = state * n + read_state(value, n, start)
            except (ValueError, TypeError) as error:
                raise type(error)(f"{_names_of(self.space)[place]}{error}") from error
        return state

    def write(self, found: list[Any], to: NDArray[Any]) -> bool:
        """Write the states of observations [B]; give False where one of them cannot be read, or only by itself."""
        try:
            return self._write_rows(np.array([_numbers_of(self.space, each) for each in found]), to)
        except (ValueError, TypeError, AttributeError):
            return False

    def read_batch(self, found: Any) -> NDArray[Any]:
        """Give the states [B] of a batch as vector environments give it: the parts one by one, each [B, ...]."""
        columns = np.concatenate(_columns_of(self.space, found), axis=1)
        states = np.empty(len(columns), dtype=np.int64)
        if not self._write_rows(columns, states):
            raise ValueError(f"an observation is not among the {self.n_states} states of its space")
        return states

    def _write_rows(self, rows: NDArray[Any], to: NDArray[Any]) -> bool:
        """Write the states of numbers [B, parts]."""
        if rows.ndim != 2 or rows.dtype.kind not in "iufb":
            return False
        digits = rows - np.array(self.starts)
        if not np.all((digits >= 0) & (digits < self.sizes) & (digits == np.floor(digits))):
            return False
        to[:] = 0
        for digit, n in zip(digits.T, self.sizes, strict=True):
            to *= n
            np.add(to, digit, out=to, casting="unsafe")
        return True


def find_product(space: Space[Any]) -> Product | None:
    """Give the product that a space of several discrete parts is; None for others and for too many combinations."""
    parts = _find_sizes(space)
    if not parts or isinstance(space, spaces.Discrete):
        return None
    product = Product(space, tuple(n for n, _ in parts), tuple(start for _, start in parts))
    return product if product.n_states <= MOST_STATES else None


def _find_sizes(space: Space[Any]) -> list[tuple[int, int]] | None:
    """Give how many values each part of a space has, and the first of them; None where a part is not discrete."""
    inner: Any = space  # spaces are only partly typed
    if isinstance(space, spaces.Discrete):
        return [(int(space.n), int(space.start))]
    if isinstance(space, spaces.MultiDiscrete):
        return list(zip(np.ravel(inner.nvec).tolist(), np.ravel(inner.start).tolist(), strict=True))
    if isinstance(space, spaces.MultiBinary):
        return [(2, 0)] * prod(space.shape)
    if has_parts(space):
        found = [_find_sizes(part) for part in parts_of(space)]
        return None if any(part is None for part in found) else [each for part in found if part for each in part]
    return None


def _numbers_of(space: Space[Any], found: Any) -> list[Any]:
    """Give the numbers of an observation's discrete parts, one after the other."""
    if isinstance(space, spaces.Discrete):
        return [found]
    if has_parts(space):
        return [number for part, each in split(space, found) for number in _numbers_of(part, each)]
    return ravel(found, space.shape or ()).tolist()


def _names_of(space: Space[Any]) -> list[str]:
    """Give the keys that lead to each number of a space's discrete parts, as words before a message."""
    inner: Any = space
    if isinstance(space, spaces.Dict):
        return [f"{key!r}: {name}" for key, part in inner.spaces.items() for name in _names_of(part)]
    if has_parts(space):
        return [name for part in parts_of(space) for name in _names_of(part)]
    return [""] * len(_find_sizes(space) or ())


def _columns_of(space: Space[Any], found: Any) -> list[NDArray[Any]]:
    """Give the numbers of a batch's discrete parts, each [B, numbers]."""
    if has_parts(space):
        return [column for part, each in split(space, found) for column in _columns_of(part, each)]
    return [ravel(found, (len(found), *(space.shape or ()))).reshape(len(found), -1)]

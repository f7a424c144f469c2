"""Observations of several discrete parts, such as Blackjack's hands: every combination is a state.

    B observations

A state is the number whose digits are the parts, each in a base of its own; the last part is the last digit.
"""

from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
from gymnasium import Space, spaces
from numpy.typing import NDArray

from riskgrad.sources.gymnasium.readings import has_parts, parts_of, ravel, read_state, split

MOST_STATES: Final = 1 << 14  # most combinations that are states; training would visit few rows of a larger table


@dataclass(frozen=True)
class Product:
    """Discrete parts, in Gymnasium's order, whose combinations are states.

    Attributes:
        space: the space that has these parts.
        sizes: how many values each part has.
        starts: the smallest value of each part.
    """

    space: Space[Any]
    sizes: tuple[int, ...]
    starts: tuple[int, ...]

    @property
    def n_states(self) -> int:
        """How many combinations there are."""
        return prod(self.sizes)

    def read(self, found: Any) -> int:
        """Give the state of one observation; an error names the part of a Dict that is not of its space."""
        state = 0
        numbers = _numbers_of(self.space, found)
        for place, (value, n, start) in enumerate(zip(numbers, self.sizes, self.starts, strict=True)):
            try:
                state = state * n + read_state(value, n, start)
            except (ValueError, TypeError) as error:
                raise type(error)(f"{_names_of(self.space)[place]}{error}") from error
        return state

    def write(self, found: list[Any], to: NDArray[Any]) -> bool:
        """Write the states of observations to an array [B]; give False where they have to be read one by one."""
        try:
            return self._write_rows(np.array([_numbers_of(self.space, each) for each in found]), to)
        except (ValueError, TypeError, AttributeError):
            return False

    def read_batch(self, found: Any) -> NDArray[Any]:
        """Give the states [B] of a batch of a vector environment, in which each part is an array [B, ...]."""
        columns = np.concatenate(_columns_of(self.space, found), axis=1)
        states = np.empty(len(columns), dtype=np.int64)
        if not self._write_rows(columns, states):
            raise ValueError(f"an observation is not among the {self.n_states} states of its space")
        return states

    def _write_rows(self, rows: NDArray[Any], to: NDArray[Any]) -> bool:
        """Write the states of rows of numbers [B, parts]; give False where a number is not a value of its part."""
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
    """Give the product of the discrete parts of a space; None for other spaces, and for too many combinations."""
    parts = _find_sizes(space)
    if not parts or isinstance(space, spaces.Discrete):
        return None
    product = Product(space, tuple(n for n, _ in parts), tuple(start for _, start in parts))
    return product if product.n_states <= MOST_STATES else None


def _find_sizes(space: Space[Any]) -> list[tuple[int, int]] | None:
    """Give the number of values of each part of a space, and the smallest; None where a part is not discrete."""
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
    """Give the numbers of the discrete parts of an observation, in order."""
    if isinstance(space, spaces.Discrete):
        return [found]
    if has_parts(space):
        return [number for part, each in split(space, found) for number in _numbers_of(part, each)]
    return ravel(found, space.shape or ()).tolist()


def _names_of(space: Space[Any]) -> list[str]:
    """Give the keys of Dicts that lead to each number of an observation, as the beginning of a message."""
    inner: Any = space
    if isinstance(space, spaces.Dict):
        return [f"{key!r}: {name}" for key, part in inner.spaces.items() for name in _names_of(part)]
    if has_parts(space):
        return [name for part in parts_of(space) for name in _names_of(part)]
    return [""] * len(_find_sizes(space) or ())


def _columns_of(space: Space[Any], found: Any) -> list[NDArray[Any]]:
    """Give the numbers of the discrete parts of a batch, in order, each [B, numbers]."""
    if has_parts(space):
        return [column for part, each in split(space, found) for column in _columns_of(part, each)]
    return [ravel(found, (len(found), *(space.shape or ()))).reshape(len(found), -1)]

"""Actions of several parts, as Dict and Tuple spaces have them: a policy's action is one row of numbers.

The row holds the choices of all parts first, in the order of the parts, and then the numbers of all parts. So a policy
needs to know only the sizes of the choices and the bounds of the numbers.
"""

from collections.abc import Iterator
from typing import Any

from gymnasium import Space, spaces

from riskgrad.sources.gymnasium.readings import has_parts, parts_of
from riskgrad.types import ActionKind, Both, Choice, Choices, Numbers


def leaves_of(space: Space[Any]) -> list[Space[Any]]:
    """Give the parts of a space that have no parts themselves, in order."""
    return [leaf for part in parts_of(space) for leaf in leaves_of(part)] if has_parts(space) else [space]


def build_parts(space: Space[Any], leaves: Iterator[Any]) -> Any:
    """Build an action of a space from the actions of its leaves, in order."""
    inner: Any = space
    if isinstance(space, spaces.Dict):
        return {key: build_parts(part, leaves) for key, part in inner.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(build_parts(part, leaves) for part in inner.spaces)
    return next(leaves)


def place_columns(kinds: list[ActionKind]) -> tuple[list[slice], ActionKind]:
    """Give the columns of a row that belong to each leaf, and the kind of action that a row is.

    Args:
        kinds: the kind of action of each leaf: a choice, several choices, or numbers.
    """
    sizes: list[int] = []
    low: list[float] = []
    high: list[float] = []
    # for each leaf: whether it has numbers, its first place among all numbers or all choices, and how many places
    first: list[tuple[bool, int, int]] = []
    for kind in kinds:
        if isinstance(kind, Numbers):
            first.append((True, len(low), kind.size))
            low += kind.low
            high += kind.high
        else:
            own = (kind.n,) if isinstance(kind, Choice) else kind.sizes if isinstance(kind, Choices) else ()
            first.append((False, len(sizes), len(own)))
            sizes += own
    columns = [slice(begin + len(sizes) * late, begin + len(sizes) * late + size) for late, begin, size in first]
    choices, numbers = Choices(tuple(sizes)), Numbers(tuple(low), tuple(high))
    return columns, numbers if not sizes else choices if not low else Both(choices, numbers)

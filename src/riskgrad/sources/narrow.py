"""Columns that travel between processes as narrow as they go without losing a bit, and are widened on arrival.

States and actions are counts from 0, lengths are rarely long, and most environments observe in single precision: half
of the bytes of a batch, and often more, need not travel.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskgrad.types import FloatArray


def pickle_narrow(record: Any) -> tuple[Any, ...]:
    """Give what `__reduce__` of a dataclass gives, each column narrowed."""
    columns: list[Any] = [getattr(record, field.name) for field in fields(record)]
    types = [getattr(column, "dtype", None) for column in columns]
    return _widen, (type(record), [narrow(column) for column in columns], types)


def _widen(kind: type[Any], columns: list[Any], types: list[Any]) -> Any:
    return kind(*(column if of is None else column.astype(of) for column, of in zip(columns, types, strict=True)))


@dataclass(frozen=True)
class NarrowRecord:
    """A record that travels narrow.

    Attributes:
        record: a dataclass of columns.
    """

    record: Any

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle narrow columns."""
        return _unwrap, (pickle_narrow(self.record)[1],)


def _unwrap(parts: tuple[Any, ...]) -> NarrowRecord:
    return NarrowRecord(_widen(*parts))


def narrow(column: Any) -> Any:
    """Give a column of integers or real numbers as the smallest type that holds the same; anything else as it is."""
    given: Any = column
    if not isinstance(column, np.ndarray) or not given.size:
        return given
    if given.dtype == np.int64:
        kinds = (np.min_scalar_type(int(np.min(given))), np.min_scalar_type(int(np.max(given))))
        return given.astype(np.promote_types(*kinds))
    return _narrow_reals(np.ascontiguousarray(given)) if given.dtype == np.float64 else given


def _narrow_reals(column: FloatArray) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        single = column.astype(np.float32)
    same = np.array_equal(single.astype(np.float64).view(np.uint64), column.view(np.uint64))  # zeros keep their sign
    return single if same else column

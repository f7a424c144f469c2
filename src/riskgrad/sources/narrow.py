"""Columns that are sent between processes in narrower types, without the loss of a bit, and are widened on arrival.

States, actions and most lengths are small integers, and most environments observe in single precision: half of the
bytes of a batch, and often more, need not be sent.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskgrad.types import FloatArray


def pickle_narrow(record: Any) -> tuple[Any, ...]:
    """Give what `__reduce__` of a dataclass returns so that its columns are pickled narrow."""
    columns: list[Any] = [getattr(record, field.name) for field in fields(record)]
    types = [getattr(column, "dtype", None) for column in columns]
    return _widen, (type(record), [narrow(column) for column in columns], types)


def _widen(kind: type[Any], columns: list[Any], types: list[Any]) -> Any:
    return kind(*(column if of is None else column.astype(of) for column, of in zip(columns, types, strict=True)))


@dataclass(frozen=True)
class NarrowRecord:
    """A record that is pickled with narrow columns.

    Attributes:
        record: a dataclass of columns.
    """

    record: Any

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the record with narrow columns."""
        return _unwrap, (pickle_narrow(self.record)[1],)


def _unwrap(parts: tuple[Any, ...]) -> NarrowRecord:
    return NarrowRecord(_widen(*parts))


def narrow(column: Any) -> Any:
    """Give int64 in the narrowest type that holds it, float64 as float32 if no bit is lost, anything else as it is."""
    given: Any = column
    if not isinstance(column, np.ndarray) or not given.size:
        return given
    if given.dtype == np.int64:
        low, high = int(np.min(given)), int(np.max(given))
        return given.astype(np.min_scalar_type(high if low >= 0 else min(low, -high - 1)))
    return _narrow_reals(np.ascontiguousarray(given)) if given.dtype == np.float64 else given


def _narrow_reals(column: FloatArray) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        single = column.astype(np.float32)
    same = np.array_equal(single.astype(np.float64).view(np.uint64), column.view(np.uint64))  # as bits: 0 is not -0
    return single if same else column

"""Columns that travel narrow arrive with the bits that they had."""

import pickle

import numpy as np
import pytest

from riskgrad.sources.narrow import NarrowRecord, narrow
from riskgrad.types import Returns

BIG = 2**60 + 1


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (np.array([0, 255]), np.uint8),
        (np.array([-1, 127]), np.int8),
        (np.array([-1, 2**31]), np.int64),
        (np.array([-1, BIG]), np.int64),
        (np.array([0, BIG]), np.uint64),
        (np.array([-(2**63), 2**63 - 1]), np.int64),
        (np.array([0.5, -0.0, np.inf]), np.float32),
        (np.array([0.1]), np.float64),
        (np.array([1e-310]), np.float64),
        (np.zeros(0, dtype=np.int64), np.int64),
        (np.array([True]), np.bool_),
    ],
)
def test_the_narrowest_type_that_loses_nothing(column, kind):
    found = narrow(column)
    assert found.dtype == kind
    assert found.astype(column.dtype).tobytes() == column.tobytes()


def test_a_record_comes_back_with_its_types():
    record = Returns(np.array([[1.0, 0.1], [-0.0, np.inf]]), np.array([[1, 2], [3, BIG]]))
    back = pickle.loads(pickle.dumps(NarrowRecord(record))).record  # noqa: S301
    for one, other in ((back.values, record.values), (back.lengths, record.lengths)):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()

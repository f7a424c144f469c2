"""Batches of log columns from a Parquet file; reading runs nothing that the file contains."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskgrad.errors import InputError
from riskgrad.sources.logged.columns import LIKELIHOODS, REQUIRED, at_row

ROWS_PER_BATCH = 1 << 18


def parquet_batches(path: str | Path, rows: int = ROWS_PER_BATCH) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the columns of a log from a Parquet file, at most `rows` rows at a time.

    Args:
        path: the file.
        rows: the largest batch.
    """
    parquet: Any = importlib.import_module("pyarrow.parquet")
    arrow: Any = importlib.import_module("pyarrow")
    if not Path(path).is_file():
        raise InputError("path", "be a Parquet file", str(path), "there is no such file")
    try:
        with parquet.ParquetFile(path) as file:
            wanted = [name for name in file.schema_arrow.names if _is_log_column(name)]
            first = 0
            for batch in file.iter_batches(batch_size=rows, columns=wanted):
                yield {name: _plain(name, batch.column(name), first) for name in wanted}
                first += batch.num_rows
    except arrow.ArrowInvalid as error:
        raise InputError("path", "be a whole Parquet file", str(path), str(error).splitlines()[0]) from None


def _is_log_column(name: str) -> bool:
    return name in (*REQUIRED, *LIKELIHOODS, "state") or re.fullmatch(r"obs_\d+", name) is not None


def _plain(name: str, column: Any, first: int) -> NDArray[Any]:
    if column.null_count:
        missing = np.asarray(column.is_null().to_numpy(zero_copy_only=False))
        raise InputError(at_row(name, first + int(np.argmax(missing))), "not be missing", None)
    return np.asarray(column.to_numpy(zero_copy_only=False))

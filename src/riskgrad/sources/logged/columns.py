"""The columns of a log: read in batches, joined, and checked as whole arrays.

Errors give the number of a row in the order of the input, from 0. Reading a Parquet file runs no code from it.
"""

import contextlib
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskgrad.checks import LARGEST_COUNT, LARGEST_RETURN, are_usable, as_array, as_reals, check_count, check_path
from riskgrad.errors import InputError, RiskgradError
from riskgrad.sources.room import refuse_long_log
from riskgrad.types import FloatArray, IntArray

REQUIRED = ("episode_id", "t", "action", "reward")
LIKELIHOODS = ("behavior_prob", "behavior_logp")
ROWS_PER_BATCH = 1 << 18

Columns = Mapping[str, NDArray[Any]]


def parquet_batches(path: str | Path, rows: int = ROWS_PER_BATCH) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the columns of a log from a Parquet file, at most `rows` rows at a time.

    Args:
        path: the file.
        rows: most rows of a batch.
    """
    parquet: Any = importlib.import_module("pyarrow.parquet")
    place = check_path("path", path)
    if not _is_file(place):
        raise InputError("path", "be a Parquet file", str(path), "there is no such file")
    try:
        with parquet.ParquetFile(place) as file:
            wanted = [name for name in file.schema_arrow.names if _is_log_column(name)]
            first = 0
            for batch in file.iter_batches(batch_size=rows, columns=wanted):
                yield {name: _read_column(name, batch.column(name), first) for name in wanted}
                first += batch.num_rows
    except RiskgradError:
        raise
    except Exception as error:  # for a damaged file pyarrow raises errors of many types, also Python's own
        words = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError("path", "be a whole Parquet file", str(path), words) from error


def _is_file(place: Path) -> bool:
    with contextlib.suppress(OSError):  # the name is too long, or access is denied
        return place.is_file()
    return False


def as_column(name: str, given: object) -> NDArray[Any]:
    """Give a column as an array: integers as they are, other numbers as float64; refuse other entries, except ids.

    A NumPy array that does not hold objects is given as it is; its type is checked later.
    """
    found = as_array(f"column {name}", given)
    if type(given) is np.ndarray and found.dtype.kind != "O":
        return found
    plain = name == "episode_id" and found.dtype.kind in "OUS"
    return found if plain or found.dtype.kind in "iu" else as_reals(f"column {name}", given)


def _is_log_column(name: str) -> bool:
    return name in (*REQUIRED, *LIKELIHOODS, "state") or re.fullmatch(r"obs_\d+", name) is not None


def _read_column(name: str, column: Any, first: int) -> NDArray[Any]:
    if column.null_count:
        missing = np.asarray(column.is_null().to_numpy(zero_copy_only=False))
        raise InputError(at_row(name, first + int(np.argmax(missing))), "not be missing", None)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def join_batches(batches: Iterable[Columns]) -> dict[str, NDArray[Any]]:
    """Join batches into whole columns, with obs_0 .. obs_k gathered into `obs` [V, k + 1]."""
    parts: list[dict[str, NDArray[Any]]] = []
    size, rows = 0, 0
    for batch in batches if isinstance(batches, Iterable) else [batches]:
        if not isinstance(batch, Mapping):
            raise InputError("batches", "be dictionaries from names to columns", batch)
        parts.append(_gather_observations(batch))
        size, rows = size + sum(column.nbytes for column in parts[-1].values()), rows + len(parts[-1]["episode_id"])
        refuse_long_log(size, rows)
    if not rows:
        raise InputError("a log", "hold at least one step", "none")
    names = set(parts[0])
    for part in parts[1:]:
        if set(part) != names:
            raise InputError("batches", "all have the same columns", sorted(set(part) ^ names))
    return {name: np.concatenate([part[name] for part in parts]) for name in names}


def _gather_observations(batch: Columns) -> dict[str, NDArray[Any]]:
    columns = {name: np.asarray(column) for name, column in batch.items() if not name.startswith("obs_")}
    numbered = sorted((name for name in batch if name.startswith("obs_")), key=lambda name: (len(name), name))
    if numbered:
        if numbered != [f"obs_{index}" for index in range(len(numbered))] or "obs" in columns:
            raise InputError("observation columns", "be obs_0, obs_1, ... without gaps", sorted(batch))
        columns["obs"] = np.stack([np.asarray(batch[name]) for name in numbered], axis=-1)
    _check_names(columns, sorted(batch))
    rows = columns["reward"].size
    for name, column in columns.items():
        if (column.ndim != 1 and name != "obs") or column.shape[:1] != (rows,):
            raise InputError(f"column {name}", f"have one entry for each of the {rows} steps", column.shape)
    return columns


def _check_names(columns: Columns, given: list[str]) -> None:
    for name in REQUIRED:
        if name not in columns:
            raise InputError("a log", f"have the column {name}", given)
    for options, rule in (
        (LIKELIHOODS, "have one of behavior_prob and behavior_logp, not both"),
        (("state", "obs"), "have either state or obs_0 .. obs_k, not both"),
    ):
        if sum(name in columns for name in options) != 1:
            raise InputError("a log", rule, given)


def index_column(name: str, column: NDArray[Any], count: int | None = None) -> IntArray:
    """Give a column as int64; refuse entries that are not integers from 0 and, where it is given, below `count`."""
    if column.dtype.kind not in "iu":
        raise InputError(f"column {name}", "hold integers", str(column.dtype))
    if count is not None:
        check_count(f"n_{name}s", count)
    _require(column >= 0, name, "be an integer from 0", column)
    _require(column <= LARGEST_COUNT, name, "fit into 64 bits with a sign", column)
    if count is not None:
        _require(column < count, name, f"be one of 0 .. {count - 1}", column)
    return column.astype(np.int64, copy=False)


def finite_column(name: str, column: NDArray[Any]) -> FloatArray:
    """Give a column as float64; refuse numbers that are not finite, or too large for a return."""
    numbers = _float_column(name, column)
    _require(np.isfinite(numbers), name, "be finite", numbers)
    _require(are_usable(numbers), name, f"be at most {LARGEST_RETURN:g} in size", numbers)
    return numbers


def _float_column(name: str, column: NDArray[Any]) -> FloatArray:
    if column.dtype.kind not in "iuf":
        raise InputError(f"column {name}", "hold numbers", str(column.dtype))
    return as_reals(f"column {name}", column)


def log_behavior_column(columns: Columns) -> FloatArray:
    """Give log b(action | observation) of each row [V]; a probability of 0 is refused, since the action was taken."""
    if "behavior_logp" in columns:
        logs = _float_column("behavior_logp", columns["behavior_logp"])
        _require((logs <= 0.0) & (logs > -np.inf), "behavior_logp", "be finite and at most 0", logs)
        return logs
    chances = _float_column("behavior_prob", columns["behavior_prob"])
    _require((chances > 0.0) & (chances <= 1.0), "behavior_prob", "be in (0, 1]", chances)
    return np.log(chances)


def observation_column(columns: Columns) -> NDArray[Any]:
    """Give the state index of each row [V], or its observation [V, ...], which has to be finite."""
    if "state" in columns:
        return index_column("state", columns["state"])
    numbers = _float_column("obs", columns["obs"])
    whole = np.asarray(np.all(np.isfinite(numbers).reshape(len(numbers), -1), axis=1))
    _require(whole, "obs", "be finite", numbers)
    return numbers


def sort_episodes(ids: NDArray[Any], times: IntArray) -> tuple[IntArray, IntArray]:
    """Sort rows by (episode_id, t) and check that t runs 0, 1, 2, ... in each episode.

    Returns:
        the order of the rows [V], and where each episode begins in that order [m + 1].
    """
    codes = _codes(ids)
    steps = np.diff(codes)
    in_order = np.all((steps > 0) | ((steps == 0) & (np.diff(times) > 0)))
    order = np.arange(len(codes)) if in_order else np.lexsort((times, codes))
    sorted_codes, sorted_times = codes[order], times[order]
    starts = np.flatnonzero(np.concatenate([[True], sorted_codes[1:] != sorted_codes[:-1]]))
    offsets = np.append(starts, len(codes)).astype(np.int64)
    expected = np.arange(len(codes)) - np.repeat(starts, np.diff(offsets))
    if not np.array_equal(sorted_times, expected):
        place = int(np.argmax(sorted_times != expected))
        row = int(order[place])
        raise InputError(
            at_row("t", row),
            f"be {expected[place]} next in episode {_scalar(ids[row])!r}: 0, 1, 2, ... without gaps or repeats",
            _scalar(times[row]),
        )
    return order.astype(np.int64), offsets


def _codes(ids: NDArray[Any]) -> IntArray:
    """Give integers [V] that sort in the same order as the ids."""
    if ids.dtype.kind in "iu":
        return ids.astype(np.int64, copy=False)
    names = ids.tolist()
    if not all(isinstance(name, str) for name in names):
        raise InputError("column episode_id", "hold integers or strings", str(ids.dtype))
    rank = {name: index for index, name in enumerate(sorted(set(names)))}
    return np.fromiter(map(rank.__getitem__, names), dtype=np.int64, count=len(names))


def _require(holds: NDArray[np.bool_], name: str, rule: str, column: NDArray[Any]) -> None:
    if not np.all(holds):
        row = int(np.argmin(holds))
        raise InputError(at_row(name, row), rule, _scalar(column[row]))


def at_row(name: str, row: int) -> str:
    """Name an entry of a column, for errors."""
    return f"{name} in row {row} (counting from 0)"


def _scalar(entry: Any) -> object:
    return np.asarray(entry).tolist()

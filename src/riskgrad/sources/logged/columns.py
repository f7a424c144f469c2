"""The columns of a log, joined and checked as whole arrays; errors name the row as it came, counting from 0."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskgrad.errors import InputError
from riskgrad.types import FloatArray, IntArray

REQUIRED = ("episode_id", "t", "action", "reward")
LIKELIHOODS = ("behavior_prob", "behavior_logp")

Columns = Mapping[str, NDArray[Any]]


def joined(batches: Iterable[Columns]) -> dict[str, NDArray[Any]]:
    """Join batches into whole columns, with obs_0 .. obs_k gathered into `obs` [V, k + 1]."""
    parts = [_gathered(batch) for batch in batches]
    if not parts or not sum(len(part["episode_id"]) for part in parts):
        raise InputError("a log", "hold at least one step", "none")
    names = set(parts[0])
    for part in parts[1:]:
        if set(part) != names:
            raise InputError("batches", "all have the same columns", sorted(set(part) ^ names))
    return {name: np.concatenate([part[name] for part in parts]) for name in names}


def _gathered(batch: Columns) -> dict[str, NDArray[Any]]:
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


def indices(name: str, column: NDArray[Any], count: int | None = None) -> IntArray:
    """Check that a column holds integers from 0, and below `count` where it is given."""
    if not np.issubdtype(column.dtype, np.integer):
        raise InputError(f"column {name}", "hold integers", str(column.dtype))
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise InputError(f"n_{name}s", "be a positive integer", count)
    _require(column >= 0, name, "be an integer from 0", column)
    if count is not None:
        _require(column < count, name, f"be one of 0 .. {count - 1}", column)
    return column.astype(np.int64, copy=False)


def finite(name: str, column: NDArray[Any]) -> FloatArray:
    """Check that a column holds finite numbers."""
    numbers = _floats(name, column)
    _require(np.isfinite(numbers), name, "be finite", numbers)
    return numbers


def _floats(name: str, column: NDArray[Any]) -> FloatArray:
    if not (np.issubdtype(column.dtype, np.integer) or np.issubdtype(column.dtype, np.floating)):
        raise InputError(f"column {name}", "hold numbers", str(column.dtype))
    return column.astype(np.float64, copy=False)


def log_behavior(columns: Columns) -> FloatArray:
    """Give log b(action | observation) of each row [V]; a probability of 0 cannot have been acted on."""
    if "behavior_logp" in columns:
        logs = _floats("behavior_logp", columns["behavior_logp"])
        _require((logs <= 0.0) & (logs > -np.inf), "behavior_logp", "be finite and at most 0", logs)
        return logs
    chances = _floats("behavior_prob", columns["behavior_prob"])
    _require((chances > 0.0) & (chances <= 1.0), "behavior_prob", "be in (0, 1]", chances)
    return np.log(chances)


def observations(columns: Columns) -> NDArray[Any]:
    """Give the state index of each row [V], or its observation [V, ...]."""
    if "state" in columns:
        return indices("state", columns["state"])
    numbers = _floats("obs", columns["obs"])
    whole = np.asarray(np.all(np.isfinite(numbers).reshape(len(numbers), -1), axis=1))
    _require(whole, "obs", "be finite", numbers)
    return numbers


def episodes(ids: NDArray[Any], times: IntArray) -> tuple[IntArray, IntArray]:
    """Sort rows by (episode_id, t) and check that t runs 0, 1, 2, ... in each episode.

    Returns:
        order of the rows [V], and where each episode begins in it [m + 1].
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
    """Give integers that sort as the ids do."""
    if np.issubdtype(ids.dtype, np.integer):
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
    """Name an entry of a column in the words of an error."""
    return f"{name} in row {row} (counting from 0)"


def _scalar(entry: Any) -> object:
    return np.asarray(entry).tolist()

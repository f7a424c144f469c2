"""Checks of the facts in the file of a run: each must have the type with which it is written.

A checksum proves that a file was not damaged, not that it is a run: facts may have been changed together with the
checksum. They are checked once, where a run is read, so that later code never finds a number where it expects a name.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from riskgrad.errors import DamagedFileError
from riskgrad.settings import Options, facts_of

THETAS: Final = ("theta", "random_theta", "last_theta")
COUNTS: Final = ("episodes", "held_out_episodes")
CHECKPOINT_COUNTS: Final = ("iteration", "turn", "history_bytes", "log_bytes", "log_length")
# entries of a line of the history that must be numbers; what else an algorithm records is not checked
NUMBERS: Final = (
    *("risk", "mean", "risk_error", "mean_error", "path", "gradient_norm", "gradient_error", "ess", "steps"),
    *("randomness", "foreseen", "episodes", "gain_spread", "critic_loss", "divergence"),
)
TEXTS: Final = ("risk", "source", "start")
OPTIONAL_TEXTS: Final = ("estimator", "env", "env_options_text", "policy")
MAPPINGS: Final = ("own", "policy_facts")
# so must be an entry with the name of an option that is a number
NUMBERS_TOO: Final = tuple(name for name, facts in facts_of(Options).items() if facts.flag in (int, float))
LARGEST_COUNT: Final = 1 << 62


def check_facts(name: str, arrays: Mapping[str, Any], facts: Mapping[str, Any], *, of_checkpoint: bool = False) -> None:
    """Refuse arrays and facts that are not those of a run; the message names the first that is wrong.

    Args:
        name: the name of the file in messages.
        arrays: the arrays of the file by name.
        facts: the facts of the file.
        of_checkpoint: whether the file is a checkpoint, whose history is in a file of its own.
    """
    for key in (*COUNTS, *CHECKPOINT_COUNTS) if of_checkpoint else COUNTS:
        _demand(_is_count(facts.get(key)), name, key, facts.get(key))
    for key in ("remarks", "history"):
        found = facts.get(key, [] if key == "history" and of_checkpoint else None)
        _demand(isinstance(found, list), name, key, found)
    _demand(_are_texts(facts["remarks"]), name, "remarks", facts["remarks"])
    _demand(isinstance(facts.get("finished"), bool), name, "finished", facts.get("finished"))
    versions: Any = facts.get("versions")
    texts = isinstance(versions, dict) and _are_texts([*cast("dict[str, Any]", versions).values()])
    _demand(texts, name, "versions", cast("object", versions))
    if of_checkpoint:
        _demand(_is_number(facts.get("sharpness")), name, "sharpness", facts.get("sharpness"))
    check_settings(name, facts.get("settings"))
    for place, line in enumerate(facts.get("history", ())):
        check_line(f"line {place} of the history in {name}", line)
    _check_arrays(name, arrays)


def check_settings(name: str, settings: Any) -> None:
    """Refuse settings whose types are not those that a run writes."""
    _demand(isinstance(settings, dict), name, "settings", settings)
    for key in TEXTS:
        _demand(isinstance(settings.get(key, ""), str), name, f"settings.{key}", settings.get(key))
    for key in OPTIONAL_TEXTS:
        _demand(isinstance(settings.get(key), str | None), name, f"settings.{key}", settings.get(key))
    for key in MAPPINGS:
        _demand(isinstance(settings.get(key, {}), dict), name, f"settings.{key}", settings.get(key))
    kinds: dict[type, Any] = {int: int, float: int | float, str: int | float | str, bool: bool | str, list: dict}
    for key, facts in facts_of(Options).items():
        value, kind = settings.get(key), kinds.get(facts.flag or object, object)
        fits = value is None or (isinstance(value, kind) and (facts.flag is not int or _is_count(value)))
        _demand(fits and _is_plain(value), name, f"settings.{key}", value)
    given = settings.get("return_range")
    bounds: list[Any] = cast("list[Any]", given) if isinstance(given, list | tuple) else []
    pair = len(bounds) == 2 and all(map(_is_number, bounds))
    _demand(pair or given is None, name, "settings.return_range", cast("object", given))


def check_line(name: str, line: Any) -> None:
    """Refuse what is not a line of a history."""
    found: dict[str, Any] = cast("dict[str, Any]", line) if isinstance(line, dict) else {}
    _demand(_is_count(found.get("iteration")), name, "it", cast("object", line))
    for key in (*NUMBERS, *NUMBERS_TOO):
        value = found.get(key)
        _demand(value is None or _is_number(value), name, key, value)
    _demand(_are_texts(found.get("events", [])), name, "events", found.get("events"))


def _check_arrays(name: str, arrays: Mapping[str, Any]) -> None:
    sizes: set[int] = set()
    for key in THETAS:
        theta = arrays.get(key)
        _demand(theta is not None and theta.ndim == 1 and _is_finite(theta), name, key, _shape(theta))
        sizes.add(cast("Any", theta).size)
    _demand(len(sizes) == 1, name, "parameters", f"vectors of {sorted(sizes)}")
    judgment = {key.partition(".")[2]: array for key, array in arrays.items() if key.startswith("judgment.")}
    if not judgment:
        return
    for key in ("risk", "mean"):
        found = judgment.get(key)
        _demand(found is not None and found.size == 1 and _is_finite(found), name, f"judgment.{key}", _shape(found))
    values, weights = judgment.get("values"), judgment.get("weights")
    _demand(values is not None and values.ndim == 1 and _is_finite(values), name, "judgment.values", _shape(values))
    shape = cast("Any", values).shape
    fits = weights is None or (weights.shape == shape and _is_finite(weights))
    _demand(fits and shape != (0,), name, "judgment.weights", _shape(weights))
    _demand(not set(judgment) - {"risk", "mean", "values", "weights"}, name, "judgment", sorted(judgment))


def _is_finite(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "fiu" and bool(np.all(np.isfinite(array)))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT


def _is_number(value: object) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and abs(value) <= LARGEST_COUNT)


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(one, str) for one in cast("list[object]", values))


def _is_plain(value: object) -> bool:
    """Say whether a value is anything but an integer of more than 2^62 in size."""
    return not isinstance(value, int) or isinstance(value, bool) or _is_number(value)


def _shape(array: Any) -> str:
    return "nothing" if array is None else f"{array.dtype} of shape {array.shape}"


def _demand(holds: bool, name: str, what: str, got: object) -> None:
    if not holds:
        text = repr(got)
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        raise DamagedFileError(f"{name} does not hold a run: {what} is {shown}")

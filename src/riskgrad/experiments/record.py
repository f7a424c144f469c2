"""The record of an experiment: experiment.json in its folder, written whole or not at all, with a checksum.

Besides it there is a folder for each run, with the run's own record and checkpoints:

    experiment.json
    cvar-0.1/seed-0/    cvar-0.1/seed-1/    mean/seed-0/    ...

An experiment is resumed only with the environment and the options that it began with; an error names the first that
differs. Measures and seeds may be added. The key "check" holds the checksum of all other keys.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

from riskgrad.checks import plain_number
from riskgrad.errors import DamagedFileError, InputError
from riskgrad.run.files import read_file, refuse, write_whole
from riskgrad.types import describe

RECORD: Final = "experiment.json"
CHECK: Final = "check"
FORMAT: Final = 1
ADVICE: Final = "the runs are whole: remove this file and resume with the same arguments"


@dataclass(frozen=True)
class Record:
    """The parts of an experiment, as a file can hold them.

    Attributes:
        env: the environment's name; None where it was given as an object.
        risks: the measures that are trained on.
        seeds: the seeds of each measure.
        options: all other options of `rg.train`; in words where a file cannot hold a value.
    """

    env: str | None
    risks: tuple[str, ...]
    seeds: tuple[int, ...]
    options: Mapping[str, Any]

    def folder_of(self, risk: str, seed: int) -> Path:
        """Give the folder of a run, relative to that of the experiment."""
        words = [re.sub(r"[^A-Za-z0-9.]+", "-", one).strip("-.") for one in self.risks]
        place = self.risks.index(risk)
        name = words[place] or "measure"
        twin = words[:place].count(words[place])  # how many measures before it have the same words
        return Path(f"{name}-{twin + 1}" if twin else name) / f"seed-{seed}"


def describe_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Give options as a file can hold them; a value that JSON cannot hold is given in words."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        plain = plain_number(value)
        try:
            found[name] = json.loads(json.dumps(plain, allow_nan=False))
        except (TypeError, ValueError):
            found[name] = describe(value)
    return found


def write_record(folder: Path, record: Record) -> None:
    """Write the record of an experiment to its folder."""
    runs = [
        {"risk": risk, "seed": seed, "folder": record.folder_of(risk, seed).as_posix()}
        for risk in record.risks
        for seed in record.seeds
    ]
    facts = {"format": FORMAT, **asdict(record), "runs": runs}
    text = json.dumps({**facts, CHECK: checksum_of(facts)}, indent=1, allow_nan=False)
    write_whole(folder / RECORD, text.encode() + b"\n")


def read_record(folder: Path) -> Record | None:
    """Read the record of an experiment; None where there is none; refuse a file that is damaged."""
    path = folder / RECORD
    try:
        found: Any = json.loads(read_file(path))
        facts = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
        whole = facts.pop(CHECK, None) == checksum_of(facts)
    except FileNotFoundError:
        return None
    except OSError as error:
        refuse("read", path, error)
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{path} is damaged: it is not JSON; {ADVICE}") from error
    if not whole:
        raise DamagedFileError(f"{path} is damaged: its checksum does not match; {ADVICE}")
    if facts.get("format") != FORMAT:
        raise DamagedFileError(f"{path} has format {facts.get('format')}, this riskgrad reads {FORMAT}")
    return _as_record(path, facts)


def _as_record(path: Path, facts: Mapping[str, Any]) -> Record:
    """Give the record that a file holds; refuse values of a wrong type, which a right checksum does not rule out."""
    rules: dict[str, Callable[[Any], bool]] = {
        "env": lambda env: env is None or isinstance(env, str),
        "risks": lambda risks: _are(risks, str),
        "seeds": lambda seeds: _are(seeds, int),
        "options": lambda options: isinstance(options, dict),
    }
    for name, holds in rules.items():
        if not holds(facts.get(name)):
            raise DamagedFileError(f"{path} does not hold an experiment: its {name} is not valid; {ADVICE}")
    return Record(facts.get("env"), tuple(facts["risks"]), tuple(facts["seeds"]), facts["options"])


def _are(several: object, kind: type) -> bool:
    return isinstance(several, list) and all(type(one) is kind for one in cast("list[object]", several))


def refuse_other_experiment(before: Record, now: Record) -> None:
    """Refuse to resume an experiment with another environment, other options, or fewer measures or seeds."""
    old, new = ({"env": one.env, **one.options} for one in (before, now))
    for name in {**old, **new}:
        if old.get(name) != new.get(name):
            advice = f"it was {old.get(name)!r}; begin another one in another folder"
            raise InputError(name, "be what the experiment began with", new.get(name), advice)
    _refuse_dropped("risks", before.risks, now.risks)
    _refuse_dropped("seeds", before.seeds, now.seeds)


def _refuse_dropped(name: str, before: Sequence[Any], now: Sequence[Any]) -> None:
    missing = [one for one in before if one not in now]
    if missing:
        advice = "more may be added, none left out"
        raise InputError(name, f"hold all that the experiment began with, {list(before)}", list(now), advice)


def checksum_of(facts: Mapping[str, Any]) -> str:
    """Give the checksum of the values of a record, which do not include the checksum."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]

"""Checkpoints of a run: two files written in turn, so that one is whole while the other is written.

The newer one is used. If it is damaged, the older one is, and a note says so: since every random number is keyed by the
iteration, starting from an older checkpoint repeats the lost iterations to the bit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from riskgrad.errors import DamagedFileError
from riskgrad.run import container
from riskgrad.run.facts import check_facts

SLOTS = ("checkpoint-a.rg", "checkpoint-b.rg")
TURN = "turn"


@dataclass(frozen=True)
class Checkpoint:
    """What a run needs to go on as if it had never stopped.

    Attributes:
        iteration: iterations done, k.
        arrays: parameters and the moments of ascents by name.
        facts: counters and settings.
        note: what was wrong with a newer checkpoint; empty if nothing.
    """

    iteration: int
    arrays: container.Arrays
    facts: container.Facts
    note: str = ""


def save_checkpoint(folder: Path, iteration: int, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Write a checkpoint over the older of the two.

    Args:
        folder: the run's folder; made if it is not there.
        iteration: iterations done, k.
        arrays: parameters and the moments of ascents by name.
        facts: counters and settings, as values that JSON can hold.
    """
    slots = [folder / name for name in SLOTS]
    turns = [_turn_of(slot) for slot in slots]
    container.write_container(
        slots[turns.index(min(turns))], arrays, {**facts, "iteration": iteration, TURN: max(turns) + 1}
    )


def latest_checkpoint(folder: Path) -> Checkpoint | None:
    """Give the newest whole checkpoint of a folder, or None if none was ever written; refuse if all are damaged."""
    whole, damage = _read_slots(folder)
    if not whole:
        if damage:
            raise DamagedFileError("; ".join(damage) + "; no whole checkpoint is left")
        return None
    best = max(whole, key=lambda checkpoint: checkpoint.facts[TURN])
    if not damage:
        return best
    note = f"{'; '.join(damage)}; the checkpoint of iteration {best.iteration} is used instead"
    return Checkpoint(best.iteration, best.arrays, best.facts, note)


def _read_slots(folder: Path) -> tuple[list[Checkpoint], list[str]]:
    whole: list[Checkpoint] = []
    damage: list[str] = []
    for path in (folder / name for name in SLOTS):
        if not path.exists():
            continue
        try:
            arrays, facts = container.read_container(path)
            check_facts(str(path), arrays, facts, of_checkpoint=True)
            whole.append(Checkpoint(facts["iteration"], arrays, facts))
        except DamagedFileError as error:
            damage.append(str(error))
    return whole, damage


def _turn_of(path: Path) -> int:
    """Give the turn in which a slot was written, from 0; -1 for an empty or damaged slot, which is reused first."""
    if not path.exists():
        return -1
    try:
        return int(container.read_container(path)[1][TURN])
    except (DamagedFileError, KeyError, TypeError, ValueError):
        return -1

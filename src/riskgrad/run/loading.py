"""Loading a run from a file or a folder, as far as it is intact. No code from the file is executed."""

import contextlib
from pathlib import Path
from typing import Any

from riskgrad.checks import check_path
from riskgrad.descriptions import read_space
from riskgrad.errors import DamagedFileError, InputError, StorageError
from riskgrad.kinds import checks_kinds
from riskgrad.policy import Policy
from riskgrad.risk import RiskMeasure
from riskgrad.run.checkpoint import latest_checkpoint
from riskgrad.run.container import Arrays, Facts, explain_strange, read_container
from riskgrad.run.facts import check_facts
from riskgrad.run.files import refuse
from riskgrad.run.result import HANDED, Run, run_from_facts
from riskgrad.run.store import HISTORY, read_history


@checks_kinds
def load(path: str | Path, policy: Policy | None = None, risk: RiskMeasure | None = None) -> Run:
    """Read a run from a file that `Run.save` wrote, or from the folder of a run, finished or interrupted.

    Args:
        path: the file or the folder.
        policy: the policy, needed where the file cannot describe it: one made of your own code.
        risk: the measure, needed where no string can name it.

    Returns:
        the run.
    """
    place = check_path("path", path)
    if _is_folder(place):
        newest = latest_checkpoint(place)
        if newest is None:
            raise StorageError(f"cannot read {place}: no checkpoint of a run is in this folder{_find_runs(place)}")
        lines, damage = read_history(place, newest.facts["history_bytes"], newest.iteration)
        with explain_strange(f"{place} does not hold a run"):
            arrays, facts = _find_stopped_state(newest.arrays, newest.facts)
            check_facts(str(place), arrays, {**facts, "history": []})
        remarks = [*facts["remarks"], *(note for note in (newest.note, damage) if note)]
        facts = {**facts, "history": lines, "remarks": remarks}
    else:
        arrays, facts = read_container(place)
        check_facts(str(place), arrays, facts)
    run = run_from_facts(arrays, facts, policy, risk)
    _check_spaces(place, run.settings.spaces)
    return run


def _find_runs(place: Path) -> str:
    """Say where the runs of an experiment or a frontier are; nothing for another folder."""
    with contextlib.suppress(OSError):
        found = sorted(one.parent for depth in ("*/*", "*/*/*") for one in place.glob(f"{depth}/{HISTORY}"))
        if found:
            return f"; it holds several runs, each in a folder of its own, such as {found[0]}"
    return ""


def _check_spaces(place: Path, facts: Any) -> None:
    """Refuse a run whose description of what its environment shows and takes is not one of two spaces."""
    fault = f"{place} does not say what its environment shows and takes"
    try:
        with explain_strange(fault):
            _ = [read_space(facts[name]) for name in ("observation", "action")] if facts else []
    except InputError as error:
        raise DamagedFileError(f"{fault}: {error}") from error


def _find_stopped_state(arrays: Arrays, facts: Facts) -> tuple[Arrays, Facts]:
    """Give the run as it was handed back when it was stopped; if it was not stopped, what the checkpoint holds."""
    found = {name.removeprefix(HANDED): array for name, array in arrays.items() if name.startswith(HANDED)}
    return (found, {**facts, **facts["handed"]}) if found else (arrays, facts)


def _is_folder(place: Path) -> bool:
    try:
        return place.is_dir()
    except OSError as error:  # a name that is too long, or a folder that may not be searched
        refuse("read", place, error)

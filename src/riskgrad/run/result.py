"""What training leaves behind: three parameter vectors, the history, the exact cost, and what to know about it.

A run is saved as one file, or lives in the folder that training wrote; `load` reads both. Nothing executes on load: a
policy is rebuilt from its numbers where it is made of numbers, and is otherwise given again by the user.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from riskgrad.errors import InputError, StorageError
from riskgrad.policy import Policy
from riskgrad.run import checkpoint, container
from riskgrad.run.recipes import built
from riskgrad.run.record import Line, read_history
from riskgrad.types import FloatArray

THETAS: Final = ("theta", "random_theta", "last_theta")


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A training run, finished or not.

    Attributes:
        theta: the best iterate by held-out episodes [d].
        random_theta: theta_R of the paper, R uniform on the iterates so far [d].
        last_theta: where the ascent is now [d].
        history: one line per iteration: iteration, risk, mean, gradient_norm, gradient_error, episodes, ess, events ...
        episodes_used: every episode that was sampled, held-out ones included.
        held_out_episodes: how many of them only served to choose theta.
        held_out_risk: the risk of theta by those episodes; optimistic, since theta was chosen by it. None if none were.
        settings: what the run was asked to do, by name.
        notes: what a reader must know: what else than the named measure was optimised on the way, guards, damage.
        finished: whether all iterations were done.
    """

    theta: FloatArray
    random_theta: FloatArray
    last_theta: FloatArray
    history: tuple[Line, ...]
    episodes_used: int
    held_out_episodes: int
    held_out_risk: float | None
    settings: dict[str, Any]
    notes: tuple[str, ...]
    finished: bool
    given_policy: Policy | None = field(default=None)

    @property
    def policy(self) -> Policy:
        """The policy that was trained; use it with `theta`."""
        found = self.given_policy or built(self.settings.get("policy", {}))
        if found is None:
            raise InputError(
                "policy", "be given to load this run", self.settings.get("policy"), "write rg.load(path, policy=...)"
            )
        return found

    def save(self, path: str | Path) -> None:
        """Write the run as one file, without pickle; an existing file is replaced at once or not at all."""
        facts = {
            "history": list(self.history),
            "episodes": self.episodes_used,
            "held_out_episodes": self.held_out_episodes,
            "held_out_risk": self.held_out_risk,
            "settings": self.settings,
            "notes": list(self.notes),
            "finished": self.finished,
        }
        container.write(Path(path), {name: getattr(self, name) for name in THETAS}, facts)

    def __repr__(self) -> str:
        state = "finished" if self.finished else "stopped"
        what = f"{self.settings.get('algorithm', 'run')} on {self.settings.get('risk', 'a risk measure')}"
        return f"<Run: {what}, {state} after {len(self.history)} iterations and {self.episodes_used} episodes>"


def load(path: str | Path, policy: Policy | None = None) -> Run:
    """Read a run from a file that `Run.save` wrote, or from the folder of a run, finished or interrupted.

    Args:
        path: the file or the folder.
        policy: needed for a policy that is not made of numbers alone.

    Returns:
        the run.
    """
    place = Path(path)
    if place.is_dir():
        newest = checkpoint.latest(place)
        if newest is None:
            raise StorageError(f"cannot read {place}: no checkpoint of a run is in this folder")
        lines = read_history(place, newest.facts["history_bytes"])
        notes = [*newest.facts["notes"], *([newest.note] if newest.note else [])]
        return from_facts(newest.arrays, {**newest.facts, "history": lines, "notes": notes}, policy)
    arrays, facts = container.read(place)
    return from_facts(arrays, facts, policy)


def from_facts(arrays: container.Arrays, facts: container.Facts, policy: Policy | None) -> Run:
    """Build a run from what a file or a checkpoint holds."""
    thetas: list[FloatArray] = [np.asarray(arrays[name], dtype=np.float64) for name in THETAS]
    if policy is not None and policy.dim != thetas[0].size:
        raise InputError("policy", f"have {thetas[0].size} parameters, as the run has", policy.dim)
    for theta in thetas:
        theta.flags.writeable = False
    return Run(
        *thetas,
        history=tuple(facts["history"]),
        episodes_used=facts["episodes"],
        held_out_episodes=facts["held_out_episodes"],
        held_out_risk=facts["held_out_risk"],
        settings=facts["settings"],
        notes=tuple(facts["notes"]),
        finished=facts["finished"],
        given_policy=policy,
    )

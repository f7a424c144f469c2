"""Where a run is, in memory and in a checkpoint.

Three iterates are kept, each with the policy that its theta is for: the best so far, theta_R of the paper and the last.
The policies differ only where observations are normalized, by the statistics in force at each.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from riskgrad.ascent import Memory
from riskgrad.policy import Policy
from riskgrad.run.checkpoint import Checkpoint
from riskgrad.run.record import Line
from riskgrad.run.result import THETAS, acting, normalization_of, thetas_with_normalization
from riskgrad.run.versions import changed, versions
from riskgrad.types import FloatArray


class Iterate(NamedTuple):
    """Parameters with the policy that they are for."""

    policy: Policy
    theta: FloatArray


@dataclass
class State:
    """Where a run is; what a checkpoint holds.

    Attributes:
        now: theta_k.
        memory: what the ascent remembers.
        random: theta_R of the paper.
        best: the best by held-out episodes so far.
        best_value: its risk by those episodes; None before the first look.
        iteration: iterations done, k.
        episodes: episodes sampled, held-out ones included.
        held_out_episodes: how many of them were held out.
        finished: whether all iterations are done and the last iterate was judged.
        notes: what a reader of the result must know.
        versions: what the run began with.
        history: a line for each iteration.
    """

    now: Iterate
    memory: Memory
    random: Iterate
    best: Iterate
    best_value: float | None = None
    iteration: int = 0
    episodes: int = 0
    held_out_episodes: int = 0
    finished: bool = False
    notes: list[str] = field(default_factory=list[str])
    versions: dict[str, str] = field(default_factory=versions)
    history: list[Line] = field(default_factory=list[Line])

    def arrays(self) -> dict[str, FloatArray]:
        """The numbers of a checkpoint."""
        memory = {f"memory.{name}": array for name, array in self.memory.items()}
        kept = zip(THETAS, (self.best, self.random, self.now), strict=True)
        return {**thetas_with_normalization(dict(kept)), **memory}

    def facts(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The rest of a checkpoint, with the settings of the run."""
        return {
            "episodes": self.episodes,
            "held_out_episodes": self.held_out_episodes,
            "held_out_risk": self.best_value,
            "finished": self.finished,
            "notes": self.notes,
            "versions": self.versions,
            "settings": settings,
        }


def resumed(policy: Policy, found: Checkpoint, history: list[Line]) -> State:
    """Give the state that a checkpoint holds.

    Args:
        policy: what theta is for, as it was given.
        found: the checkpoint.
        history: the lines up to it.
    """
    arrays, facts = found.arrays, found.facts
    normalization = normalization_of(arrays)
    best, random, now = (Iterate(acting(policy, normalization.get(name)), np.asarray(arrays[name])) for name in THETAS)
    memory = {name.removeprefix("memory."): array for name, array in arrays.items() if name.startswith("memory.")}
    more = [note for note in (found.note, changed(facts["versions"], versions())) if note]
    return State(
        now=now,
        memory=memory,
        random=random,
        best=best,
        best_value=facts["held_out_risk"],
        iteration=found.iteration,
        episodes=facts["episodes"],
        held_out_episodes=facts["held_out_episodes"],
        finished=facts["finished"],
        notes=[*facts["notes"], *more],
        versions=facts["versions"],
        history=history,
    )

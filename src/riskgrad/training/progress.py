"""The progress of a run, in memory and in a checkpoint.

Three iterates are kept, each with the policy that its theta is for: the best so far, theta_R of the paper and the last.
The policies differ only where observations are normalized, by the statistics in force at each.

A run has converged when the estimates of its iterations no longer rise by more than chance. With `patience` p the mean
of the last p estimates of the risk is compared with the mean of the p before. The run has converged if the later mean
is not larger by more than two standard errors of the difference, computed from the errors in the record, or from the
spread of the estimates where an error is missing. A run does not count as converged while the path leads from a milder
measure to the named one, or while the lead in a race changes. The record alone decides, so that a run that is killed
and resumed stops at the same iteration.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, pvariance
from typing import Any, Final, NamedTuple

import numpy as np

from riskgrad.checks import check_theta
from riskgrad.critic.log import StepLog
from riskgrad.critic.quantiles import QuantileCritic
from riskgrad.policy import Normalized, Policy
from riskgrad.random import changed_versions
from riskgrad.run.checkpoint import Checkpoint
from riskgrad.run.container import explain_strange
from riskgrad.run.facts import THETAS
from riskgrad.run.result import (
    HANDED,
    Judgment,
    flatten_iterates,
    flatten_judgment,
    read_judgment,
    read_statistics,
)
from riskgrad.settings import Settings
from riskgrad.training.algorithm import Arm, State
from riskgrad.types import FloatArray, Line

MOMENTS = "moments."
ARMS = "arms."
CRITIC = "critic."
CLEAR: Final = 2.0  # a rise by more than this many standard errors is not due to chance


class Iterate(NamedTuple):
    """Parameters with the policy that they are for."""

    policy: Policy
    theta: FloatArray


@dataclass
class Progress:
    """How far a run is; checkpoints are written from it.

    Attributes:
        state: where the ascent is.
        random: theta_R of the paper.
        best: the best iterate so far by held-out episodes.
        best_judgment: what held-out episodes say of it; None before an iterate was judged.
        episodes: episodes sampled, held-out ones included.
        held_out_episodes: how many of them were held out.
        finished: whether the run came to its end, by its number of iterations or its patience, and was judged.
        remarks: what a reader of the result must know, apart from what follows from the history.
        versions: of Python and the packages that the run began with.
        history: a line for each iteration.
    """

    state: State
    random: Iterate
    best: Iterate
    best_judgment: Judgment | None = None
    episodes: int = 0
    held_out_episodes: int = 0
    finished: bool = False
    remarks: list[str] = field(default_factory=list[str])
    versions: dict[str, str] = field(default_factory=dict[str, str])
    history: list[Line] = field(default_factory=list[Line])

    @property
    def now(self) -> Iterate:
        """The current iterate."""
        return Iterate(self.state.policy, self.state.theta)

    def arrays(self) -> dict[str, FloatArray]:
        """Give the arrays of a checkpoint, by name."""
        moments = {f"{MOMENTS}{name}": array for name, array in self.state.moments.items()}
        arms: dict[str, FloatArray] = {}
        for name, arm in self.state.arms.items():
            arms[f"{ARMS}{name}/"] = arm.theta
            arms |= {f"{ARMS}{name}/{part}": array for part, array in arm.moments.items()}
        critic = self.state.critic
        quantiles = {} if critic is None else {f"{CRITIC}{name}": array for name, array in critic.arrays().items()}
        return {**self._iterates(), **moments, **arms, **quantiles}

    def _iterates(self) -> dict[str, FloatArray]:
        kept = zip(THETAS, (self.best, self.random, self.now), strict=True)
        return {**flatten_iterates(dict(kept)), **flatten_judgment(self.best_judgment)}

    def facts(self, settings: Settings) -> dict[str, Any]:
        """Give the facts of a checkpoint: all that are not arrays, with the settings of the run."""
        return {
            "episodes": self.episodes,
            "held_out_episodes": self.held_out_episodes,
            "log_length": self.state.log_length,
            "sharpness": self.state.sharpness,
            "finished": self.finished,
            "remarks": self.remarks,
            "versions": self.versions,
            "settings": settings.as_dict(),
        }

    def handed_arrays(self) -> dict[str, FloatArray]:
        """Give the iterates of a stopped run as the user gets it, for a checkpoint whose own state differs from it."""
        return {f"{HANDED}{name}": array for name, array in self._iterates().items()}

    def handed_facts(self) -> dict[str, Any]:
        """Give the facts of a stopped run as the user gets it, where they may differ from the checkpoint's own."""
        return {"handed": {name: getattr(self, name) for name in ("episodes", "held_out_episodes", "remarks")}}


def _read_arms(arrays: Mapping[str, Any]) -> dict[str, Arm]:
    parts = {key.removeprefix(ARMS): array for key, array in arrays.items() if key.startswith(ARMS)}
    found: dict[str, Arm] = {}
    for name in (key.removesuffix("/") for key in parts if key.endswith("/")):
        moments = {key.removeprefix(f"{name}/"): array for key, array in parts.items() if key.startswith(f"{name}/")}
        found[name] = Arm(moments.pop(""), moments)
    return found


def _read_critic(arrays: Mapping[str, Any]) -> QuantileCritic | None:
    parts = {key.removeprefix(CRITIC): array for key, array in arrays.items() if key.startswith(CRITIC)}
    return QuantileCritic.from_arrays(parts) if parts else None


def read_progress(
    policy: Policy,
    found: Checkpoint,
    history: list[Line],
    versions: dict[str, str],
    log: StepLog | None = None,
) -> Progress:
    """Give the progress that a checkpoint holds.

    Args:
        policy: the policy that is trained, as it was given.
        found: the checkpoint.
        history: the lines of the history up to the checkpoint.
        versions: of Python and the packages that the run goes on with.
        log: the steps that were played up to the checkpoint, for an algorithm that keeps them.
    """
    with explain_strange(f"the checkpoint of iteration {found.iteration} does not hold the state of a run"):
        return _read_progress(policy, found, history, versions, log)


def _read_progress(
    policy: Policy, found: Checkpoint, history: list[Line], versions: dict[str, str], log: StepLog | None
) -> Progress:
    arrays, facts = found.arrays, found.facts
    for name in THETAS:
        check_theta(arrays[name], policy.dim)
    statistics = read_statistics(arrays)
    best, random, now = (
        Iterate(
            Normalized.from_arrays(policy, statistics[name]) if name in statistics else policy, np.asarray(arrays[name])
        )
        for name in THETAS
    )
    moments = {name.removeprefix(MOMENTS): array for name, array in arrays.items() if name.startswith(MOMENTS)}
    more = [note for note in (found.note, changed_versions(facts["versions"], versions)) if note]
    return Progress(
        state=State(
            found.iteration,
            now.policy,
            now.theta,
            moments,
            arms=_read_arms(arrays),
            log=log,
            log_length=int(facts["log_length"]),
            sharpness=float(facts["sharpness"]),
            critic=_read_critic(arrays),
        ),
        random=random,
        best=best,
        best_judgment=read_judgment(arrays),
        episodes=facts["episodes"],
        held_out_episodes=facts["held_out_episodes"],
        finished=facts["finished"],
        remarks=[*facts["remarks"], *more],
        versions=facts["versions"],
        history=history,
    )


def has_converged(history: Sequence[Line], patience: int | None) -> bool:
    """Say whether the last estimates of a record no longer rise; False where no patience is given."""
    if patience is None or len(history) < 2 * patience:
        return False
    late = history[-2 * patience :]
    values: list[Any] = [line.get("risk") for line in late]
    arrived = all(line.get("path") in (None, 1.0) for line in late) and len({line.get("way") for line in late}) == 1
    if not arrived or None in values:
        return False
    before, now = values[:patience], values[patience:]
    errors: list[Any] = [line.get("risk_error") for line in late]
    if None in errors:
        variance = (pvariance(before) + pvariance(now)) / patience
    else:
        variance = sum(error**2 for error in errors) / patience**2
    return fmean(now) - fmean(before) <= CLEAR * math.sqrt(variance)

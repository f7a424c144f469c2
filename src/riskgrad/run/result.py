"""The result of training: three parameter vectors, the history, the exact cost, and notes.

A run is saved as one file, or is in the folder that training wrote; `loading` reads both. A policy that is made of
numbers is rebuilt from them; any other has to be given again by the user.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import gymnasium
import numpy as np

import riskgrad
from riskgrad.checks import check_path
from riskgrad.errors import InputError
from riskgrad.evaluation.bootstrap import Bootstrap, bootstrap_intervals
from riskgrad.kinds import checks_calls
from riskgrad.policy import Normalized, Policy
from riskgrad.policy.base import rebuild_policy
from riskgrad.random import current_versions
from riskgrad.risk import RiskMeasure, parse
from riskgrad.run.acting import Actor
from riskgrad.run.container import Arrays, Facts, explain_strange, write_container
from riskgrad.run.export import export_policy
from riskgrad.run.facts import THETAS
from riskgrad.run.player import RunPlayer
from riskgrad.run.summary import summarize_run
from riskgrad.run.translation import Translator
from riskgrad.run.verdict import judge_history
from riskgrad.settings import Settings
from riskgrad.types import FloatArray, Line

ADVICE: Final = "write rg.load(path, {0}=...) in Python; rg.report takes such a run"
HANDED: Final = "handed."  # arrays of a stopped run as it was handed back, beside the state to go on from
JUDGMENT: Final = "judgment."


@dataclass(frozen=True, eq=False)
class Judgment:
    """What held-out episodes say of an iterate.

    Attributes:
        risk: the estimate of the risk.
        mean: the estimate of the mean, which decides between iterates of equal risk.
        values: returns of the held-out episodes [m].
        weights: importance weights [m] where another policy acted; None where the iterate acted.
    """

    risk: float
    mean: float
    values: FloatArray
    weights: FloatArray | None = None


@checks_calls
@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A training run, finished or not.

    Attributes:
        theta: the best iterate by held-out episodes [d].
        random_theta: theta_R of the paper, R uniform on the iterates so far [d].
        last_theta: where the ascent is now [d].
        history: one line per iteration: iteration, risk, mean, risk_error, mean_error, gradient_norm, gradient_error,
            episodes, ess, events ...
        episodes_used: how many episodes were sampled, held-out ones included. One that a Gymnasium environment plays
            twice at the start, to see whether it keeps to its seed, is not counted.
        held_out_episodes: how many of them only served to choose theta.
        judgment: what those episodes say of theta; None if no episode was held out.
        settings: what the run was asked to do, every default spelled out.
        remarks: what was noted during training: what was optimized besides the named measure, damaged files, and so on.
        finished: whether training came to its end, by its number of iterations or its patience; if it was stopped
            before, the notes say by what.
        versions: of Python and the packages that decide the numbers, when the run began.
        given_policy: the policy, where it was given and need not be rebuilt.
        given_risk: the measure, where it was given and need not be read from its name.
        given_options: the options of the environment, where they were given and need not be read from the settings.
        given_env: what it was trained on, where that was given in this process and can be played; it is not saved.
        normalization: how observations were normalized at each of the three thetas, by its name; empty if never.
    """

    theta: FloatArray
    random_theta: FloatArray
    last_theta: FloatArray
    history: tuple[Line, ...]
    episodes_used: int
    held_out_episodes: int
    judgment: Judgment | None
    settings: Settings
    remarks: tuple[str, ...]
    finished: bool
    versions: dict[str, str] = field(default_factory=current_versions)
    given_policy: Policy | None = field(default=None)
    given_risk: RiskMeasure | None = field(default=None)
    given_options: Mapping[str, Any] | None = field(default=None)
    given_env: Any = field(default=None)
    normalization: Mapping[str, Mapping[str, FloatArray]] = field(default_factory=dict[str, Mapping[str, FloatArray]])

    @property
    def policy(self) -> Policy:
        """The policy that was trained, with the statistics that belong to `theta`; use it with `theta`."""
        return self._policy_of("theta")

    @property
    def random_policy(self) -> Policy:
        """The policy to use with `random_theta`; differs from `policy` only where observations are normalized."""
        return self._policy_of("random_theta")

    @property
    def last_policy(self) -> Policy:
        """The policy to use with `last_theta`; differs from `policy` only where observations are normalized."""
        return self._policy_of("last_theta")

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know: the remarks, and what the history shows, such as that learning stopped."""
        settings = self.settings
        return (*self.remarks, *judge_history(settings.risk, self.history, self.held_out_risk, settings.patience))

    @property
    def held_out_risk(self) -> float | None:
        """The risk of theta by held-out episodes; optimistic, since theta was chosen by it. None without any."""
        return None if self.judgment is None else self.judgment.risk

    @property
    def held_out_error(self) -> float | None:
        """The standard error of `held_out_risk`; None where it cannot be estimated."""
        judged = self.judgment
        found = math.nan if judged is None else self.risk.standard_error(judged.values, judged.weights)
        return found if math.isfinite(found) else None

    @property
    def held_out_interval(self) -> tuple[float, float] | None:
        """The 95% bootstrap interval (low, high) of `held_out_risk`, as if theta had not been chosen by it; or None."""
        return None if self._sure is None else self._sure.interval

    @property
    def held_out_flag(self) -> str | None:
        """Why `held_out_interval` should not be relied on; None where it may be."""
        return None if self._sure is None else self._sure.flag

    @cached_property
    def _sure(self) -> Bootstrap | None:
        if self.judgment is None:
            return None
        known = self.settings.return_range
        bounds = None if known is None else (known[0], known[1])
        return bootstrap_intervals(
            self.judgment.values, [self.risk], bounds, weights=self.judgment.weights, seed=self.settings.seed
        )[0]

    @property
    def held_out_reliable(self) -> bool:
        """Whether there is a `held_out_risk` whose interval may be relied on."""
        return self.held_out_risk is not None and self.held_out_flag is None

    @property
    def risk(self) -> RiskMeasure:
        """The measure that was named, by which policies are compared."""
        if self.given_risk is not None:
            return self.given_risk
        try:
            return parse(self.settings.risk)
        except InputError as error:
            advice = ADVICE.format("risk")
            raise InputError("risk", "be given to load this run", self.settings.risk, advice) from error

    @property
    def env_options(self) -> Mapping[str, Any] | None:
        """The options of the environment that the run was trained on; an error where its file could not hold them."""
        text = self.settings.env_options_text
        if self.given_options is None and text is not None:
            raise InputError("env_options", "be given again, since a file cannot hold those of this run", text)
        return self.given_options or self.settings.env_options

    def _policy_of(self, name: str) -> Policy:
        facts = self.settings.policy_facts
        with explain_strange("the policy of this run cannot be rebuilt"):
            found = self.given_policy or rebuild_policy(facts)
            if found is None:
                raise InputError("policy", "be given to load this run", facts.get("text"), ADVICE.format("policy"))
            normalization = self.normalization.get(name)
            whole = found if normalization is None else Normalized.from_arrays(found, normalization)
        if whole.dim != self.theta.size:
            raise InputError("policy", f"have {self.theta.size} parameters, as the run has", whole.dim)
        return whole

    def act(self, obs: Any, greedy: bool | None = None) -> Any:
        """Give the action of the trained policy, as the environment takes it; refuse a policy with memory.

        Args:
            obs: one observation, as the environment shows it, or a batch of B along the first axis.
            greedy: True takes the likeliest action, or the mean of numbers; False draws one. None acts as the run was
                trained and judged: it draws where its policy is random.

        Returns:
            an integer for a choice, otherwise an array; for a batch an array [B, ...], or a list of B actions that have
            parts, as those of Tuple and Dict spaces.
        """
        return self._actor.act(obs, greedy)

    @cached_property
    def _actor(self) -> Actor:
        return Actor(self.policy, self.theta, Translator.of_facts(self.settings.spaces), self.settings.seed)

    def player(self, *, seed: int = 0, greedy: bool = False, env: "gymnasium.Env[Any, Any] | None" = None) -> RunPlayer:
        """Give a player, which acts by the trained policy step by step, with its memory if it has one; see `RunPlayer`.

        Args:
            seed: the seed of the actions that are drawn.
            greedy: take the likeliest action instead of drawing one.
            env: an environment, whose spaces say how observations are read and actions written; None takes those of the
                environment that the run was trained on.
        """
        facts = self.settings.spaces
        kept = None if facts is None else Translator.of_facts(facts)
        return RunPlayer(self.policy, self.theta, seed=seed, greedy=greedy, env=env, translator=kept)

    def export(self, path: str | Path) -> Path:
        """Write the policy for use without riskgrad: plain arrays in `.npz`, or a model in `.onnx` (an extra).

        A policy with memory takes the time and the return so far besides the observation; see docs/how-to/use.md.

        Args:
            path: the file to write, which ends in .npz or .onnx.
        """
        place = check_path("path", path)
        return export_policy(self.policy, self.theta, Translator.of_facts(self.settings.spaces), place)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw how the run learned, as a figure of matplotlib; see `rg.plot_run`."""
        return riskgrad.plot_run(self, path)

    def report(self, path: str | Path, **more: Any) -> Path:
        """Write a page about the run, evaluated on fresh episodes; see `rg.report` for the other arguments."""
        return riskgrad.report(self, path, **more)

    def save(self, path: str | Path) -> None:
        """Write the run as one file, without pickle; an existing file is replaced at once or not at all."""
        facts = {
            "history": list(self.history),
            "episodes": self.episodes_used,
            "held_out_episodes": self.held_out_episodes,
            "settings": self.settings.as_dict(),
            "remarks": list(self.remarks),
            "finished": self.finished,
            "versions": self.versions,
        }
        thetas = {name: getattr(self, name) for name in THETAS}
        write_container(
            check_path("path", path),
            {**thetas, **flatten_judgment(self.judgment), **_flatten(self.normalization)},
            facts,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the environment where the run is copied or sent to another process."""
        return {**self.__dict__, "given_env": None}

    def __repr__(self) -> str:
        state = "finished" if self.finished else "stopped"
        what = f"{self.settings.algorithm} on {self.settings.risk}"
        return f"<Run: {what}, {state} after {len(self.history):,} iterations and {self.episodes_used:,} episodes>"

    def _repr_html_(self) -> str:
        return summarize_run(self)


def run_from_facts(arrays: Arrays, facts: Facts, policy: Policy | None, risk: RiskMeasure | None = None) -> Run:
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
        judgment=read_judgment(arrays),
        settings=Settings.from_dict(facts["settings"]),
        remarks=tuple(facts["remarks"]),
        finished=facts["finished"],
        versions=facts["versions"],
        given_policy=policy,
        given_risk=risk,
        normalization=read_statistics(arrays),
    )


def flatten_iterates(kept: Mapping[str, tuple[Policy, FloatArray]]) -> dict[str, FloatArray]:
    """Give the arrays that a file holds of policies and their parameters: the parameters and the statistics."""
    found = {name: policy.arrays() for name, (policy, _) in kept.items() if policy.statistics is not None}
    return {**{name: theta for name, (_, theta) in kept.items()}, **_flatten(found)}


def read_statistics(arrays: Mapping[str, Any]) -> dict[str, Mapping[str, FloatArray]]:
    """Read how observations are normalized at each theta, by its name, from what a file holds."""
    found = {
        name: {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}
        for name in THETAS
    }
    return {name: parts for name, parts in found.items() if parts}


def _flatten(normalization: Mapping[str, Mapping[str, FloatArray]]) -> dict[str, FloatArray]:
    return {f"{name}.{part}": array for name, parts in normalization.items() for part, array in parts.items()}


def flatten_judgment(judgment: Judgment | None) -> dict[str, FloatArray]:
    """Give the arrays that a file holds of a judgment; none where there is no judgment."""
    found = {} if judgment is None else vars(judgment)
    return {f"{JUDGMENT}{name}": np.asarray(value) for name, value in found.items() if value is not None}


def read_judgment(arrays: Mapping[str, Any]) -> Judgment | None:
    """Read a judgment from the arrays of a file; None where they hold none."""
    found = {name.removeprefix(JUDGMENT): array for name, array in arrays.items() if name.startswith(JUDGMENT)}
    return Judgment(float(found.pop("risk")), float(found.pop("mean")), **found) if found else None

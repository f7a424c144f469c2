"""What all algorithms are given: where episodes come from, the policy, the measure, and how it is approached.

Two things change along a run, both off in the paper's algorithms:

- The path: at iteration k the measure (1 - w) start + w risk is optimized, w = k / (risk_path * N) up to 1, where the
  start is the mean or the worse of two episodes; see `path`. Episodes in the tail of a poor policy all look alike, so
  that a tail measure alone may stand still; a measure of all episodes leads out of there.
- The bonus: entropy * (1 - k / N) * std(returns) times the policy's mean entropy at the visited states. The standard
  deviation makes it independent of the scale of rewards; at the end of the run it is gone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.algorithms.entropy import entropy_gradient
from riskgrad.algorithms.loop import Judge
from riskgrad.algorithms.path import RiskPath, measure_at, settled
from riskgrad.algorithms.practical import PRACTICAL
from riskgrad.distortion import DualPower
from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.policy.base import checked_theta
from riskgrad.random import Purpose, Stream
from riskgrad.risk import Distortion, RiskMeasure, parse
from riskgrad.run.recipes import describe, written
from riskgrad.sources.base import Source
from riskgrad.types import Episodes, FloatArray, digest


@dataclass(frozen=True)
class Problem:
    """A checked problem; made by `stated`.

    Attributes:
        policy: what is trained, as it was given.
        risk: the named measure.
        iterations: N.
        seed: the run's seed.
        theta: theta_0 [d].
        risk_path: the part of the run over which the measure goes from neutral to the named one; None for no path.
        path_start: the distortion that the path starts from; None for the mean.
        entropy: the bonus at the start of the run, as a part of the return's standard deviation.
        normalize: whether observations are normalized; see `observing`.
    """

    policy: Policy
    risk: RiskMeasure
    iterations: int
    seed: int
    theta: FloatArray
    risk_path: float | None
    path_start: DualPower | None
    entropy: float
    normalize: bool = False

    def path_weight(self, k: int) -> float:
        """How far on the path the measure is at iteration k, in [0, 1]."""
        return 1.0 if self.risk_path is None else min(1.0, k / (self.risk_path * self.iterations))

    def measure(self, k: int) -> RiskMeasure:
        """The measure that iteration k optimizes."""
        return measure_at(self.risk, self.path_start, self.path_weight(k))

    def moves(self, k: int) -> bool:
        """Whether what iteration k sees moves the statistics of observations."""
        return self.normalize and k < PRACTICAL.normalized_part * self.iterations

    def bonus(self, k: int, policy: Policy, theta: FloatArray, batch: Episodes) -> FloatArray | float:
        """The gradient of the entropy bonus at iteration k [d], or 0 without one."""
        if self.entropy == 0.0:
            return 0.0
        scale = self.entropy * (1.0 - k / self.iterations) * float(np.std(batch.values))
        return scale * entropy_gradient(policy, theta, batch)

    def stream(self, purpose: Purpose, k: int = 0) -> Stream:
        """The random numbers of iteration k for one purpose."""
        return Stream(self.seed, purpose, k)

    def settings(self, algorithm: str) -> dict[str, Any]:
        """What was asked for, by name."""
        return {
            "algorithm": algorithm,
            "risk": describe(self.risk),
            "estimator": getattr(self.risk, "estimator", None),
            "policy": written(self.policy),
            "iterations": self.iterations,
            "seed": int(self.seed),
            "start": digest(self.theta),
            "risk_path": self.risk_path,
            "risk_path_start": self._start(),
            "entropy": self.entropy,
            "normalize": PRACTICAL.normalized_part if self.normalize else None,
        }

    def notes(self) -> tuple[str, ...]:
        """What else than the named measure is optimized on the way."""
        notes: list[str] = []
        if self.risk_path is not None:
            over = f"over the first {self.risk_path:.0%} of the run"
            notes.append(
                f"{over} (1 - w) {self._start()} + w {describe(self.risk)} was optimized, w rising from 0 to 1"
            )
        if self.entropy > 0.0:
            notes.append(
                f"an entropy bonus of {self.entropy:g} standard deviations of the return was added, "
                f"falling to 0 at the end of the run"
            )
        if self.normalize:
            notes.append("observations were normalized; each theta goes with the statistics in force at it")
        return tuple(notes)

    def _start(self) -> str:
        return "mean" if self.path_start is None else describe(Distortion(self.path_start))


def stated(
    policy: Policy,
    risk: str | RiskMeasure,
    iterations: int,
    *,
    seed: int,
    theta: ArrayLike | None,
    risk_path: RiskPath | None,
    entropy: float,
    normalize: bool,
) -> Problem:
    """Check what all algorithms are given."""
    if not isinstance(policy, Policy):
        raise InputError(
            "policy", "be a policy", policy, "for a finite model: rg.policy.TabularGibbs(n_states, n_actions)"
        )
    whole("iterations", iterations)
    measure = parse(risk)
    part, path_start = settled(risk_path, measure)
    if not 0.0 <= entropy < np.inf:
        raise InputError("entropy", "be finite and not negative", entropy)
    first = Stream(seed, Purpose.INITIAL).generator()
    start = policy.initial_theta(first) if theta is None else checked_theta(theta, policy.dim).copy()
    return Problem(policy, measure, iterations, seed, start, part, path_start, float(entropy), normalize)


def whole(name: str, value: int, least: int = 1) -> int:
    """Refuse what is not an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(name, f"be an integer of at least {least}", value)
    return int(value)


def looks(iterations: int) -> frozenset[int]:
    """The iterations at which iterates are judged; the last iterate is judged when the run ends."""
    count = min(PRACTICAL.looks, iterations)
    return frozenset(j * iterations // count for j in range(count))


def held_out_size(held_out: int | None, iterations: int, per_iteration: int) -> int:
    """The episodes of each look: as asked for, or a share of those for training."""
    if held_out is not None:
        return whole("held_out", held_out, 0)
    share = PRACTICAL.held_out_share * iterations * per_iteration / (len(looks(iterations)) + 1)
    return max(PRACTICAL.least_held_out, round(share))


def checked_floor(floor: float | None, schedule: str, fresh: bool) -> float:
    """The least effective sample size as a part of m: as given, or none for the paper's schedule, or the default."""
    if floor is None:
        return 0.0 if schedule == "paper" else PRACTICAL.ess_floor if fresh else PRACTICAL.fixed_ess_floor
    if not 0.0 <= floor <= 1.0:
        raise InputError("ess_floor", "be in [0, 1]", floor)
    return float(floor)


def source_text(source: Source | None) -> str:
    """Describe where episodes come from, a finite model by its numbers: a run goes on with the same one only."""
    return describe(source) if source is None else source.fingerprint()


def judge_by_source(problem: Problem, source: Source, episodes: int) -> Judge | None:
    """Judge iterates by fresh episodes of their own; the same random numbers for all, so that they compare well."""
    if episodes == 0:
        return None

    def value(policy: Policy, theta: FloatArray) -> float:
        returns = source.returns(policy, theta[np.newaxis], episodes, problem.stream(Purpose.HELD_OUT))
        return float(problem.risk.estimate(returns.values)[0])

    return Judge(value, episodes, episodes)

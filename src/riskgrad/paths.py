"""The path to the named measure: from the mean, from the worse of two episodes, or through ever smaller tails.

    from the mean      (1 - w) s + w g(s)
    from the square    (1 - w) s^2 + w g(s)
    by levels          CVaR at the level alpha^w, for a measure of a tail of mass alpha

The weight w rises from 0 to 1. s^2 stands for the mean of the worse of two episodes. Where all episodes in the tail
have the same return, a tail measure has no gradient; the mean and the square have one. The square has two further
merits. It is averse, so that the policy does not first learn what the named measure will punish. And it depends on
episodes above the tail: if three tenths of the episodes end in ruin, reducing that to two tenths does not change
CVaR(0.1), and the mean may even prefer the ruin; the square improves.

Where ruin fills more than the tail, a mixture gives little direction away from it. A tail that shrinks by levels
contains episodes without ruin at every step. Levels above one half are mixtures of the mean and the worse half.

A seeking measure starts from 1 - (1 - s)^2, the better of two. A measure milder than the square (M_g' below 2) starts
from the mean. A measure that is no distortion, such as mean-variance, has no path unless one is given: a path leads to
the optimum of the mean first, which may lie far from the measure's own.

No single path suits every problem: `choose_paths` gives those that are worth trying side by side.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from riskgrad.distortion import DualPower
from riskgrad.errors import InputError
from riskgrad.kernels.formulas import power_of
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.risk import CVaR, RiskMeasure

PAIR: Final = 2.0
USUAL_PART: Final = 0.5
RULE: Final = "be auto, none, a part of the run in (0, 1], or square: or levels: and a part"
HALF: Final = 0.5


@final
@checks_calls
@dataclass(frozen=True, slots=True)
class SquarePath:
    """A path to the named measure that starts from the worse of two episodes; for `risk_path`.

    Attributes:
        part: the part of the run that it takes, in (0, 1].
    """

    part: float

    def __post_init__(self) -> None:
        _check_part(self.part)


@final
@checks_calls
@dataclass(frozen=True, slots=True)
class LevelPath:
    """A path to a measure of a bad tail through ever smaller tails; for `risk_path`.

    Attributes:
        part: the part of the run that it takes, in (0, 1].
    """

    part: float

    def __post_init__(self) -> None:
        _check_part(self.part)


def _check_part(part: object) -> float:
    if isinstance(part, bool) or not isinstance(part, int | float) or not 0.0 < part <= 1.0:
        raise InputError("risk_path", "be a part of the run in (0, 1], a SquarePath, a LevelPath, or None", part)
    return float(part)


RiskPath = float | SquarePath | LevelPath


@final
@dataclass(frozen=True)
class MeasurePath:
    """The path of one run: the measure of each iteration, up to the named one; made by `choose_path`.

    Attributes:
        risk: the named measure.
        part: the part of the run over which the weight rises from 0 to 1; None for no path.
        start: the distortion that the path starts from; None for the mean.
        start_text: where the path starts, in words.
        level: the mass of the tail at the end of a path by levels; None for a mixture.
    """

    risk: RiskMeasure
    part: float | None = None
    start: DualPower | None = None
    start_text: str = "mean"
    level: float | None = None

    def weight(self, k: int, iterations: int) -> float:
        """Give the weight of the named measure at iteration k of N, in [0, 1]."""
        return 1.0 if self.part is None else min(1.0, k / (self.part * iterations))

    def measure(self, weight: float) -> RiskMeasure:
        """Give the measure on the path at a weight."""
        if weight == 1.0:
            return self.risk
        if self.level is None:
            return self.risk.along(weight, self.start)
        level = float(power_of(np.array(self.level), weight))
        # above one half, a mixture of the mean and the mean of the worse half
        return CVaR(HALF).along((1.0 - level) / HALF) if level > HALF else CVaR(level)

    @property
    def meaning(self) -> str:
        """What is optimized along the path, in words; empty where there is none."""
        if self.part is None:
            return ""
        over = f"over the first {self.part:.0%} of the run"
        if self.level is not None:
            return f"{over} CVaR was optimized at a level that fell from 1 to {self.level:g}"
        return f"{over} (1 - w) {self.start_text} + w {self.risk} was optimized, w rising from 0 to 1"

    def __str__(self) -> str:
        """Give the text that `choose_path` reads."""
        if self.part is None:
            return "none"
        if self.level is not None:
            return f"levels:{self.part!r}"
        return repr(self.part) if self.start is None else f"square:{self.part!r}"


@checks_kinds
def choose_path(risk_path: RiskPath | str | None, risk: RiskMeasure, schedule: str) -> MeasurePath:
    """Check the option `risk_path` and give the path to a measure that it stands for.

    Args:
        risk_path: None or "none" for no path; a part of the run, from the mean; a `SquarePath` or "square:0.5", from
            the worse of two episodes; a `LevelPath` or "levels:0.5", through smaller tails; "auto" is the square over
            half of the run, and none where the measure is neutral or no distortion, or the schedule is the paper's.
        risk: the named measure.
        schedule: "practical" or "paper".
    """
    wanted = _read(risk_path, risk, schedule) if isinstance(risk_path, str) else risk_path
    part = wanted.part if isinstance(wanted, SquarePath | LevelPath) else wanted
    if part is None:
        return MeasurePath(risk)
    part = _check_part(part)
    if isinstance(wanted, LevelPath):
        if risk.bad_tail is None:
            raise InputError("risk_path", "not go by levels for a measure of no bad tail", str(risk), "try square:0.5")
        return MeasurePath(risk, part, level=risk.bad_tail)
    g, directed = risk.function, risk.attitude in ("averse", "seeking")
    if isinstance(wanted, SquarePath) and directed and g is not None and PAIR <= g.slope_bound < np.inf:
        start = DualPower(PAIR, attitude=risk.attitude)
        return MeasurePath(risk, part, start, str(start))
    return MeasurePath(risk, part)


def _read(text: str, risk: RiskMeasure, schedule: str) -> RiskPath | None:
    word = text.strip().lower()
    if word == "auto":
        led = schedule == "practical" and risk.attitude != "neutral" and risk.function is not None
        return SquarePath(USUAL_PART) if led else None
    if word == "none":
        return None
    start, _, part = word.rpartition(":")
    try:
        length = float(part)
    except ValueError as error:
        raise InputError("risk_path", RULE, text) from error
    if start not in ("", "square", "levels"):
        raise InputError("risk_path", RULE, text)
    return {"square": SquarePath, "levels": LevelPath}.get(start, float)(length)


@checks_kinds
def choose_paths(risk_path: RiskPath | str | None, risk: RiskMeasure, schedule: str) -> tuple[MeasurePath, ...]:
    """Give the paths to a measure that are worth trying side by side: the one that is given, or for "auto" several.

    They are those from the square, from the mean, by levels and without a path, as far as the measure has them. A
    measure that is no distortion has no path: its optimum may lie far from that of the mean.

    Args:
        risk_path: see `choose_path`.
        risk: the named measure.
        schedule: "practical" or "paper".
    """
    first = choose_path(risk_path, risk, schedule)
    if risk_path != "auto" or schedule == "paper" or risk.attitude == "neutral" or risk.function is None:
        return (first,)
    found = [] if first.start is None else [first]
    found += [MeasurePath(risk, USUAL_PART), MeasurePath(risk)]
    return (*found, MeasurePath(risk, USUAL_PART, level=risk.bad_tail)) if risk.bad_tail is not None else tuple(found)

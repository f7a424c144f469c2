"""The way to the named measure: from the mean, or from the worse of two episodes.

    from the mean      (1 - w) s + w g(s)
    from the square    (1 - w) s^2 + w g(s)

The weight w rises from 0 to 1. s^2 stands for the mean of the worse of two episodes. A policy whose episodes in the
tail all look alike gets no direction from a tail measure; either start gives it one. The square has two merits of its
own. It is averse, so that the policy does not first make sure of what the named measure will condemn. And it sees what
is above the tail: where ruin fills the worst tenth, a policy with less ruin, but more than a tenth, is no better in
CVaR(0.1), and the mean may even prefer the ruin.

A seeking measure starts from 1 - (1 - s)^2, the better of two. A measure milder than the square (M_g' below 2), and one
that is no distortion, such as mean-variance, starts from the mean.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from riskgrad.distortion import DualPower
from riskgrad.errors import InputError
from riskgrad.risk import RiskMeasure

PAIR: Final = 2.0
RULE: Final = "be auto, none, a part of the run in (0, 1], or square: and a part"


@final
@dataclass(frozen=True, slots=True)
class SquarePath:
    """A path to the named measure that starts from the worse of two episodes; for `risk_path`.

    Attributes:
        part: the part of the run that it takes, in (0, 1].
    """

    part: float


RiskPath = float | SquarePath


@final
@dataclass(frozen=True)
class Way:
    """The measure of each iteration, on the way to the named one; made by `find_way`.

    Attributes:
        risk: the named measure.
        part: the part of the run over which the weight rises from 0 to 1; None for no path.
        start: the distortion that the path starts from; None for the mean.
        start_text: where the path starts, in words.
    """

    risk: RiskMeasure
    part: float | None = None
    start: DualPower | None = None
    start_text: str = "mean"

    def weight(self, k: int, iterations: int) -> float:
        """Give the weight of the named measure at iteration k of N, in [0, 1]."""
        return 1.0 if self.part is None else min(1.0, k / (self.part * iterations))

    def measure(self, weight: float) -> RiskMeasure:
        """Give the measure on the path at a weight."""
        return self.risk if weight == 1.0 else self.risk.along(weight, self.start)

    def __str__(self) -> str:
        """Give the text that `find_way` reads."""
        if self.part is None:
            return "none"
        return repr(self.part) if self.start is None else f"square:{self.part!r}"


def find_way(path: RiskPath | str | None, risk: RiskMeasure, schedule: str) -> Way:
    """Check a path and say how it leads to a measure.

    Args:
        path: None or "none" for no path; a part of the run, from the mean; a `SquarePath` or "square:0.5", from the
            worse of two episodes; "auto" is the latter over half of the run, and none where the measure is neutral or
            the schedule is the paper's.
        risk: the named measure.
        schedule: "practical" or "paper".
    """
    wanted = _read(path, risk, schedule) if isinstance(path, str) else path
    part = wanted.part if isinstance(wanted, SquarePath) else wanted
    if part is None:
        return Way(risk)
    if isinstance(part, bool) or not isinstance(part, int | float) or not 0.0 < part <= 1.0:
        raise InputError("risk_path", "be a part of the run in (0, 1], a SquarePath, or None", part)
    g, directed = risk.function, risk.attitude in ("averse", "seeking")
    if isinstance(wanted, SquarePath) and directed and g is not None and PAIR <= g.slope_bound < np.inf:
        start = DualPower(PAIR, attitude=risk.attitude)
        return Way(risk, float(part), start, str(start))
    return Way(risk, float(part))


def _read(text: str, risk: RiskMeasure, schedule: str) -> RiskPath | None:
    word = text.strip().lower()
    if word == "auto":
        return None if schedule == "paper" or risk.attitude == "neutral" else SquarePath(0.5)
    if word == "none":
        return None
    start, _, part = word.rpartition(":")
    try:
        length = float(part)
    except ValueError as problem:
        raise InputError("risk_path", RULE, text) from problem
    if start not in ("", "square"):
        raise InputError("risk_path", RULE, text)
    return SquarePath(length) if start else length

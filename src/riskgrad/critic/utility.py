"""The utility that stands for a measure near a law of the return: its influence there, as a function of every return.

To first order, a change of the law changes the measure by as much as it changes the mean of this utility.
"""

from dataclasses import dataclass

import numpy as np

from riskgrad.risk import RiskMeasure
from riskgrad.types import FloatArray


@dataclass(frozen=True)
class Utility:
    """A utility of the return, linear between knots.

    Attributes:
        knots: returns [E], increasing.
        values: the utility at each knot [E].
        tails: the slope below the first knot and above the last.
        spread: the standard deviation of the utility under the law.
    """

    knots: FloatArray
    values: FloatArray
    tails: tuple[float, float]
    spread: float

    def at(self, returns: FloatArray) -> FloatArray:
        """Give the utility of returns of any shape."""
        found = np.interp(returns, self.knots, self.values)
        low, high = self.tails
        return found + low * np.minimum(returns - self.knots[0], 0.0) + high * np.maximum(returns - self.knots[-1], 0.0)


def find_utility(risk: RiskMeasure, knots: FloatArray, law: FloatArray) -> Utility:
    """Give the influence of a measure at a law on knots, continued linearly beyond the returns that have mass.

    Args:
        risk: the measure; it must have an influence.
        knots: returns [E], increasing.
        law: the probability of each knot [E].
    """
    some = law > 0.0
    returns, chances = knots[some], law[some]
    influence = risk.influence(returns, chances)
    if risk.function is not None:  # a distortion weighs a return by the slope of g at the chance of a better one
        ends = risk.function.slope_at(np.array([1.0, 0.0]))
        tails = float(ends[0]), float(ends[1])
    elif len(returns) > 1:
        slopes = np.diff(influence) / np.diff(returns)
        tails = float(slopes[0]), float(slopes[-1])
    else:
        tails = 1.0, 1.0
    values = np.interp(knots, returns, influence)
    values += tails[0] * np.minimum(knots - returns[0], 0.0) + tails[1] * np.maximum(knots - returns[-1], 0.0)
    mean = np.sum(chances * influence)
    return Utility(knots, values, tails, float(np.sqrt(np.sum(chances * (influence - mean) ** 2))))

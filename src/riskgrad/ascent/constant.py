"""The paper's constant step (`eq:approx_theta_update`); its size is in units of theta per unit of gradient."""

import math
from dataclasses import dataclass
from typing import final

from riskgrad.ascent.base import Ascent, Moments, shorten
from riskgrad.types import FloatArray


@final
@dataclass(frozen=True)
class ConstantStep(Ascent):
    """The paper's update theta + alpha * gradient.

    Attributes:
        step_size: alpha, positive.
        clip: largest norm of a gradient; longer ones are shortened to it. The default, infinity, is the paper's.
    """

    name = "constant"
    step_size: float
    clip: float = math.inf

    def start(self, dim: int) -> dict[str, FloatArray]:
        """Give the moments before the first step: none."""
        del dim
        return {}

    def step(
        self, theta: FloatArray, gradient: FloatArray, moments: Moments
    ) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Move theta [d] along the gradient [d]; give the new theta and the moments as they were."""
        return theta + self.step_size * shorten(gradient, self.clip), dict(moments)

    __str__ = Ascent.__str__

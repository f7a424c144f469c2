"""Adam: each coordinate moves by the running mean of its gradient over the root of the running mean of its square.

No constant is added to that root: a coordinate whose gradient has been zero throughout stays where it is, and rewards
in cents or in millions give the same steps.
"""

import decimal
import math
from dataclasses import dataclass
from typing import final

import numpy as np

from riskgrad.ascent.base import Ascent, Moments, shorten
from riskgrad.errors import InputError
from riskgrad.types import FloatArray


@final
@dataclass(frozen=True)
class Adam(Ascent):
    """Adam: running means of the gradient and of its square, with the bias of their start removed.

    Attributes:
        step_size: how far a coordinate moves in one step while its gradient is constant, positive.
        mean_decay: the part of the running mean that each step keeps, in [0, 1).
        square_decay: the part of the running mean of squares that each step keeps, in [0, 1).
        clip: largest norm of a gradient; longer ones are shortened to it.
    """

    name = "adam"
    step_size: float
    mean_decay: float = 0.9
    square_decay: float = 0.999
    clip: float = math.inf

    def __post_init__(self) -> None:
        Ascent.__post_init__(self)
        for name in ("mean_decay", "square_decay"):
            decay = getattr(self, name)
            if not 0.0 <= decay < 1.0:
                raise InputError(name, "be in [0, 1)", decay)

    def start(self, dim: int) -> dict[str, FloatArray]:
        """Give the moments before the first step, for d parameters."""
        return {"mean": np.zeros(dim), "square": np.zeros(dim), "steps": np.zeros(1)}

    def step(
        self, theta: FloatArray, gradient: FloatArray, moments: Moments
    ) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Move theta [d] along the gradient [d]; give the new theta and the new moments."""
        slope = shorten(gradient, self.clip)
        steps = moments["steps"] + 1.0
        mean = self.mean_decay * moments["mean"] + (1.0 - self.mean_decay) * slope
        square = self.square_decay * moments["square"] + (1.0 - self.square_decay) * slope * slope
        count = int(steps[0])
        root = np.sqrt(square / (1.0 - raise_to(self.square_decay, count)))
        unbiased = mean / (1.0 - raise_to(self.mean_decay, count))
        move = np.divide(unbiased, root, out=np.zeros_like(mean), where=root > 0.0)
        return theta + self.step_size * move, {"mean": mean, "square": square, "steps": steps}

    __str__ = Ascent.__str__


def raise_to(base: float, count: int) -> float:
    """Give base^count, rounded once, to the same bits on every machine."""
    with decimal.localcontext(prec=40):
        return float(decimal.Decimal(base) ** count)

"""The identity, g(s) = s: rho_g is the mean."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.distortion.base import DistortionFunction, unit
from riskgrad.types import FloatArray


@dataclass(frozen=True)
class Identity(DistortionFunction):
    """g(s) = s, the only distortion that is neutral; its own dual."""

    name = "identity"
    example = "identity"
    attitude = "neutral"

    def __call__(self, s: ArrayLike) -> FloatArray:
        """g(s) = s."""
        return unit(s)

    def derivative(self, s: ArrayLike) -> FloatArray:
        """g'(s) = 1."""
        return np.ones_like(unit(s))

    def second_derivative(self, s: ArrayLike) -> FloatArray:
        """g''(s) = 0."""
        return np.zeros_like(unit(s))

    def dual(self) -> "Identity":
        """The identity again."""
        return self

    @property
    def slope_bound(self) -> float:
        """M_g' = 1."""
        return 1.0

    @property
    def curvature_bound(self) -> float:
        """M_g'' = 0."""
        return 0.0

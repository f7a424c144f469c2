"""The identity, g(s) = s: rho_g is the mean."""

from dataclasses import dataclass

import numpy as np

from riskgrad.distortion.base import DistortionFunction
from riskgrad.types import FloatArray


@dataclass(frozen=True)
class Identity(DistortionFunction):
    """g(s) = s, the only distortion that is neutral; its own dual."""

    name = "identity"
    example = "identity"
    attitude = "neutral"

    def at(self, s: FloatArray) -> FloatArray:
        """g(s) = s."""
        return s

    def slope_at(self, s: FloatArray) -> FloatArray:
        """g'(s) = 1."""
        return np.ones_like(s)

    def bend_at(self, s: FloatArray) -> FloatArray:
        """g''(s) = 0."""
        return np.zeros_like(s)

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

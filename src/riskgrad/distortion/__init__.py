"""Distortion functions g: the identity, the five rows of the paper's table, tails, mixtures and the user's own."""

from riskgrad.distortion.base import Attitude, DistortionFunction
from riskgrad.distortion.custom import Custom
from riskgrad.distortion.dual_power import DualPower
from riskgrad.distortion.exponential import Exponential
from riskgrad.distortion.identity import Identity
from riskgrad.distortion.logarithmic import Logarithmic
from riskgrad.distortion.mixture import Mixture
from riskgrad.distortion.quadratic import Quadratic
from riskgrad.distortion.square_root import SquareRoot
from riskgrad.distortion.tail import LowerTail, SmoothLowerTail

__all__ = [
    "Attitude",
    "Custom",
    "DistortionFunction",
    "DualPower",
    "Exponential",
    "Identity",
    "Logarithmic",
    "LowerTail",
    "Mixture",
    "Quadratic",
    "SmoothLowerTail",
    "SquareRoot",
]

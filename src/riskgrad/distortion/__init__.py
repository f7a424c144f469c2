"""Distortion functions g: the identity, the five rows of the paper's table, tails, mixtures and the user's own."""

from typing import TYPE_CHECKING

from riskgrad.distortion.base import DISTORTIONS as DISTORTIONS
from riskgrad.distortion.base import Attitude as Attitude
from riskgrad.distortion.base import DistortionFunction as DistortionFunction

if TYPE_CHECKING:
    from riskgrad.distortion.base import Identity as Identity
    from riskgrad.distortion.base import Mixture as Mixture
    from riskgrad.distortion.custom import Custom as Custom
    from riskgrad.distortion.dual_power import DualPower as DualPower
    from riskgrad.distortion.exponential import Exponential as Exponential
    from riskgrad.distortion.logarithmic import Logarithmic as Logarithmic
    from riskgrad.distortion.quadratic import Quadratic as Quadratic
    from riskgrad.distortion.square_root import SquareRoot as SquareRoot
    from riskgrad.distortion.tail import LowerTail as LowerTail
    from riskgrad.distortion.tail import SmoothLowerTail as SmoothLowerTail

globals().update(DISTORTIONS.exports())

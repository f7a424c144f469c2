"""Risk measures: each gives a number for a law of the return, and estimates it from episodes."""

from typing import TYPE_CHECKING

from riskgrad.risk.base import MEASURES as MEASURES
from riskgrad.risk.base import Axiom as Axiom
from riskgrad.risk.base import RiskMeasure as RiskMeasure
from riskgrad.risk.base import builders as builders
from riskgrad.risk.base import parse as parse
from riskgrad.risk.distortion import DistortionMeasure as DistortionMeasure
from riskgrad.risk.sample import Sample as Sample
from riskgrad.risk.sample import check_sample as check_sample
from riskgrad.risk.smoothness import Constants as Constants
from riskgrad.risk.smoothness import Smoothness as Smoothness

if TYPE_CHECKING:
    from riskgrad.risk.base import Blend as Blend
    from riskgrad.risk.cvar import CVaR as CVaR
    from riskgrad.risk.cvar import SmoothCVaR as SmoothCVaR
    from riskgrad.risk.distortion import Distortion as Distortion
    from riskgrad.risk.mean import Mean as Mean
    from riskgrad.risk.mean_variance import MeanVariance as MeanVariance

globals().update(MEASURES.exports())

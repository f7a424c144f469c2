"""Risk measures: a number for a law of the return, and estimators of it from episodes."""

from riskgrad.risk.base import Axiom, Blend, RiskMeasure
from riskgrad.risk.distortion import CVaR, Distortion, DistortionMeasure, SmoothCVaR
from riskgrad.risk.mean import Mean
from riskgrad.risk.mean_variance import MeanVariance
from riskgrad.risk.parse import builders, parse
from riskgrad.risk.sample import Sample, checked_sample
from riskgrad.risk.smoothness import Constants, Smoothness

__all__ = [
    "Axiom",
    "Blend",
    "CVaR",
    "Constants",
    "Distortion",
    "DistortionMeasure",
    "Mean",
    "MeanVariance",
    "RiskMeasure",
    "Sample",
    "SmoothCVaR",
    "Smoothness",
    "builders",
    "checked_sample",
    "parse",
]

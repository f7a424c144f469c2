"""Policies: distributions over actions that are smooth in a flat vector of parameters."""

from riskgrad.policy.base import Policy
from riskgrad.policy.deterministic import Deterministic
from riskgrad.policy.gaussian import Gaussian
from riskgrad.policy.gibbs import Gibbs, LinearGibbs, TabularGibbs
from riskgrad.policy.greedy import Greedy
from riskgrad.policy.linear import LinearSoftmax
from riskgrad.policy.mlp import MLP
from riskgrad.policy.normalize import Normalized, ObservationStatistics

__all__ = [
    "MLP",
    "Deterministic",
    "Gaussian",
    "Gibbs",
    "Greedy",
    "LinearGibbs",
    "LinearSoftmax",
    "Normalized",
    "ObservationStatistics",
    "Policy",
    "TabularGibbs",
]

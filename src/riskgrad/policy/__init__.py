"""Policies: distributions over actions that are smooth in a flat vector of parameters."""

from riskgrad.policy.base import Policy
from riskgrad.policy.gibbs import Gibbs, LinearGibbs, TabularGibbs

__all__ = ["Gibbs", "LinearGibbs", "Policy", "TabularGibbs"]

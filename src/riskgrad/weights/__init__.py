"""Importance weights of recorded episodes: log ratios, the weights behind them, and what they are worth."""

from riskgrad.weights.diagnostics import Diagnostics, diagnose, exponentiated, normalized
from riskgrad.weights.ratios import log_ratios

__all__ = ["Diagnostics", "diagnose", "exponentiated", "log_ratios", "normalized"]

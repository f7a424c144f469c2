"""Importance weights of recorded episodes: log ratios, the weights behind them, and what they are worth."""

from riskgrad.weights.diagnostics import Diagnostics, diagnose, normalized_weights, raw_weights
from riskgrad.weights.ratios import log_ratios

__all__ = ["Diagnostics", "diagnose", "log_ratios", "normalized_weights", "raw_weights"]

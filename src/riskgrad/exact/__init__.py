"""Exact results for finite MDPs: the law of the return, the value of a risk measure, its gradient, the best policy."""

from riskgrad.exact.law import return_law
from riskgrad.exact.optimal import best_deterministic
from riskgrad.exact.risk import gradient, value

__all__ = ["best_deterministic", "gradient", "return_law", "value"]

"""The truth for finite MDPs: the law of the return, the value of a risk measure, and its gradient."""

from riskgrad.exact._gradient import gradient
from riskgrad.exact._value import value
from riskgrad.exact.law import return_law

__all__ = ["gradient", "return_law", "value"]

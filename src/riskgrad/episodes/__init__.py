"""Where episodes come from: compiled for finite MDPs."""

from riskgrad.episodes.base import Source
from riskgrad.episodes.tabular import TabularSource

__all__ = ["Source", "TabularSource"]

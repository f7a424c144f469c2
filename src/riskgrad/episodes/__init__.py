"""Where episodes come from: compiled for finite MDPs, logged; and which source an environment stands for."""

from riskgrad.episodes.base import Source
from riskgrad.episodes.compiled import CompiledSource
from riskgrad.episodes.logged import LoggedEpisodes
from riskgrad.episodes.resolve import resolve_source
from riskgrad.episodes.tabular import TabularSource

__all__ = ["CompiledSource", "LoggedEpisodes", "Source", "TabularSource", "resolve_source"]

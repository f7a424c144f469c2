"""Where episodes come from: compiled for finite models, Gymnasium, logged; and which source an environment has."""

from riskgrad.sources.base import Source
from riskgrad.sources.compiled import CompiledSource
from riskgrad.sources.gymnasium.source import GymnasiumSource
from riskgrad.sources.logged.episodes import LoggedEpisodes
from riskgrad.sources.named_policy import named_policy
from riskgrad.sources.resolve import resolve_source
from riskgrad.sources.tabular import TabularSource

__all__ = [
    "CompiledSource",
    "GymnasiumSource",
    "LoggedEpisodes",
    "Source",
    "TabularSource",
    "named_policy",
    "resolve_source",
]

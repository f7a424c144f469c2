"""Where episodes come from: compiled for finite models, Gymnasium, logged; and which source an environment has."""

from riskgrad.episodes._named_policy import named_policy
from riskgrad.episodes.base import Source
from riskgrad.episodes.compiled import CompiledSource
from riskgrad.episodes.gymnasium import GymnasiumSource
from riskgrad.episodes.logged import LoggedEpisodes
from riskgrad.episodes.resolve import resolve_source
from riskgrad.episodes.tabular import TabularSource

__all__ = [
    "CompiledSource",
    "GymnasiumSource",
    "LoggedEpisodes",
    "Source",
    "TabularSource",
    "named_policy",
    "resolve_source",
]

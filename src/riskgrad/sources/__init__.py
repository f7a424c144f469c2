"""Sources of episodes: finite models, compiled environments, Gymnasium, logs; and how an environment gets its source.

`SOURCES` lists the sources that the files of this folder define: a source in a new file is exported, asked whether it
plays an environment, and tested, without an edit elsewhere. `rg.register` adds a source from outside.
"""

from typing import TYPE_CHECKING

from riskgrad.sources.base import SOURCES, EnvOptions, Source, check_fit
from riskgrad.sources.resolve import Environment, choose_policy, closing, make_policy, open_source, resolve_source

if TYPE_CHECKING:
    from riskgrad.sources.compiled import CompiledSource as CompiledSource
    from riskgrad.sources.gymnasium.source import GymnasiumSource as GymnasiumSource
    from riskgrad.sources.logged.episodes import LoggedEpisodes as LoggedEpisodes
    from riskgrad.sources.shared import SharedSource as SharedSource
    from riskgrad.sources.tabular import TabularSource as TabularSource

__all__: list[str] = [
    "SOURCES",
    "EnvOptions",
    "Environment",
    "Source",
    "check_fit",
    "choose_policy",
    "closing",
    "make_policy",
    "open_source",
    "resolve_source",
]

globals().update(SOURCES.exports())
__all__.extend(SOURCES.exports())  # pyright: ignore[reportUnsupportedDunderAll]

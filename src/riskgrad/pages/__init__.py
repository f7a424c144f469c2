"""Results for readers: pages about runs, comparisons, frontiers, and pictures in files of their own."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from riskgrad.pages.comparison import Comparison as Comparison
    from riskgrad.pages.comparison import Difference as Difference
    from riskgrad.pages.comparison import compare as compare
    from riskgrad.pages.family import Frontier as Frontier
    from riskgrad.pages.family import FrontierPoint as FrontierPoint
    from riskgrad.pages.family import frontier as frontier
    from riskgrad.pages.page import report as report
    from riskgrad.pages.plots import plot_bounds as plot_bounds
    from riskgrad.pages.plots import plot_distortions as plot_distortions
    from riskgrad.pages.plots import plot_frontier as plot_frontier
    from riskgrad.pages.run_figures import plot_run as plot_run

# loaded when asked for: matplotlib is slow to load, and a progress bar does not need it
_HOMES = {
    "Comparison": "comparison",
    "Difference": "comparison",
    "Frontier": "family",
    "FrontierPoint": "family",
    "compare": "comparison",
    "frontier": "family",
    "plot_bounds": "plots",
    "plot_distortions": "plots",
    "plot_frontier": "plots",
    "plot_run": "run_figures",
    "report": "page",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'riskgrad.pages' has no attribute {name!r}")
    return getattr(importlib.import_module(f"riskgrad.pages.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)

"""Experiments: trainings that differ only in measure and seed, statistics over the seeds, and a page about them."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from riskgrad.experiments.study import Experiment as Experiment
    from riskgrad.experiments.study import Improvement as Improvement
    from riskgrad.experiments.study import Reached as Reached
    from riskgrad.experiments.study import experiment as experiment

# loaded when asked for: they import matplotlib, which is slow to load
_HOMES = {"Experiment": "study", "Improvement": "study", "Reached": "study", "experiment": "study"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'riskgrad.experiments' has no attribute {name!r}")
    return getattr(importlib.import_module(f"riskgrad.experiments.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)

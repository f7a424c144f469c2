"""riskgrad: train policies on the risk of the return that you care about, not only on its mean.

    policy + environment -> episodes -> returns (and importance weights) -> risk -> gradient -> ascent -> run -> report

Each station of this flow is a folder: a `policy` plays episodes of one of the `sources` (a finite model of `mdp`, an
environment of `envs` or Gymnasium, a log); their returns, reweighted by `weights` when another policy acted, go into a
measure of `risk` (a `distortion` of the law, mean-variance, your own); `gradient` sees only a function of the
parameters; `ascent` takes the step; `algorithms` put these together as the paper does, and `training` is the loop
around them; `run` keeps what happened; `evaluation` and `pages` say how good the result is. Beside the flow, `exact`
computes the truth on finite models, and `theory` the constants, bounds and schedules of the paper.

Larger is better everywhere, the default attitude is averse, and alpha is the mass of the bad tail.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from riskgrad import algorithms as algorithms
    from riskgrad import ascent as ascent
    from riskgrad import backend as backend
    from riskgrad import distortion as distortion
    from riskgrad import envs as envs
    from riskgrad import errors as errors
    from riskgrad import evaluation as evaluation
    from riskgrad import exact as exact
    from riskgrad import experiments as experiments
    from riskgrad import gradient as gradient
    from riskgrad import mdp as mdp
    from riskgrad import pages as pages
    from riskgrad import paths as paths
    from riskgrad import policy as policy
    from riskgrad import random as random
    from riskgrad import risk as risk
    from riskgrad import run as run
    from riskgrad import settings as settings
    from riskgrad import sources as sources
    from riskgrad import testing as testing
    from riskgrad import theory as theory
    from riskgrad import training as training
    from riskgrad import types as types
    from riskgrad import weights as weights
    from riskgrad._evaluate import evaluate as evaluate
    from riskgrad._train import train as train
    from riskgrad.algorithms import Critic as Critic
    from riskgrad.algorithms import OffPSF as OffPSF
    from riskgrad.algorithms import OnPSF as OnPSF
    from riskgrad.algorithms import Score as Score
    from riskgrad.experiments import experiment as experiment
    from riskgrad.pages import compare as compare
    from riskgrad.pages import frontier as frontier
    from riskgrad.pages import plot_bounds as plot_bounds
    from riskgrad.pages import plot_distortions as plot_distortions
    from riskgrad.pages import plot_frontier as plot_frontier
    from riskgrad.pages import plot_run as plot_run
    from riskgrad.pages import report as report
    from riskgrad.registry import register as register
    from riskgrad.run import Run as Run
    from riskgrad.run import load as load
    from riskgrad.sources import LoggedEpisodes as LoggedEpisodes
    from riskgrad.types import DiscreteLaw as DiscreteLaw

__version__ = "0.2.0"

# every public name and its home, which is imported when the name is first used
_HOMES = {
    "algorithms": "riskgrad.algorithms",
    "ascent": "riskgrad.ascent",
    "backend": "riskgrad.backend",
    "distortion": "riskgrad.distortion",
    "envs": "riskgrad.envs",
    "errors": "riskgrad.errors",
    "evaluation": "riskgrad.evaluation",
    "exact": "riskgrad.exact",
    "experiments": "riskgrad.experiments",
    "gradient": "riskgrad.gradient",
    "mdp": "riskgrad.mdp",
    "pages": "riskgrad.pages",
    "paths": "riskgrad.paths",
    "policy": "riskgrad.policy",
    "random": "riskgrad.random",
    "risk": "riskgrad.risk",
    "run": "riskgrad.run",
    "settings": "riskgrad.settings",
    "sources": "riskgrad.sources",
    "testing": "riskgrad.testing",
    "theory": "riskgrad.theory",
    "training": "riskgrad.training",
    "types": "riskgrad.types",
    "weights": "riskgrad.weights",
    "DiscreteLaw": "riskgrad.types",
    "LoggedEpisodes": "riskgrad.sources",
    "OffPSF": "riskgrad.algorithms",
    "Critic": "riskgrad.algorithms",
    "OnPSF": "riskgrad.algorithms",
    "Run": "riskgrad.run",
    "Score": "riskgrad.algorithms",
    "evaluate": "riskgrad._evaluate",
    "load": "riskgrad.run",
    "compare": "riskgrad.pages",
    "experiment": "riskgrad.experiments",
    "frontier": "riskgrad.pages",
    "plot_bounds": "riskgrad.pages",
    "plot_distortions": "riskgrad.pages",
    "plot_frontier": "riskgrad.pages",
    "plot_run": "riskgrad.pages",
    "report": "riskgrad.pages",
    "register": "riskgrad.registry",
    "train": "riskgrad._train",
}

__all__ = list(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'riskgrad' has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name])
    value = home if home.__name__ == f"riskgrad.{name}" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

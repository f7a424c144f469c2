"""riskgrad: train policies on the risk of the return that you care about, not only on its mean.

    policy + environment -> episodes -> returns (and importance weights) -> risk -> gradient -> ascent -> run -> report

Each arrow is a folder: `policy` and `mdp` (or Gymnasium) make `episodes`; their returns, reweighted by `weights` when
another policy acted, go into a measure of `risk` (a `distortion` of the law, mean-variance, your own); `gradient` sees
only a function of the parameters; `ascent` takes the step; `algorithms` put these together as the paper does; `run`
keeps what happened; `evaluation` and `report` say what it bought. `exact` and `theory` are the truth behind it all.

Larger is better everywhere, the default attitude is averse, and alpha is the mass of the bad tail.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from riskgrad import ascent as ascent
    from riskgrad import backend as backend
    from riskgrad import distortion as distortion
    from riskgrad import envs as envs
    from riskgrad import episodes as episodes
    from riskgrad import evaluation as evaluation
    from riskgrad import exact as exact
    from riskgrad import gradient as gradient
    from riskgrad import mdp as mdp
    from riskgrad import policy as policy
    from riskgrad import risk as risk
    from riskgrad import run as run
    from riskgrad import theory as theory
    from riskgrad import weights as weights
    from riskgrad._train import train as train
    from riskgrad.algorithms import offp_sf as offp_sf
    from riskgrad.algorithms import onp_sf as onp_sf
    from riskgrad.algorithms import score_ascent as score_ascent
    from riskgrad.episodes import LoggedEpisodes as LoggedEpisodes
    from riskgrad.evaluation import evaluate as evaluate
    from riskgrad.report.distortions import plot_distortions as plot_distortions
    from riskgrad.run import Run as Run
    from riskgrad.run import load as load
    from riskgrad.types import DiscreteLaw as DiscreteLaw

__version__ = "0.2.0"

# public name -> the module that holds it; a folder is its own module
_HOMES = {
    "ascent": "riskgrad.ascent",
    "backend": "riskgrad.backend",
    "distortion": "riskgrad.distortion",
    "envs": "riskgrad.envs",
    "episodes": "riskgrad.episodes",
    "evaluation": "riskgrad.evaluation",
    "exact": "riskgrad.exact",
    "gradient": "riskgrad.gradient",
    "mdp": "riskgrad.mdp",
    "policy": "riskgrad.policy",
    "risk": "riskgrad.risk",
    "run": "riskgrad.run",
    "theory": "riskgrad.theory",
    "weights": "riskgrad.weights",
    "DiscreteLaw": "riskgrad.types",
    "LoggedEpisodes": "riskgrad.episodes",
    "Run": "riskgrad.run",
    "evaluate": "riskgrad.evaluation",
    "load": "riskgrad.run",
    "offp_sf": "riskgrad.algorithms",
    "onp_sf": "riskgrad.algorithms",
    "plot_distortions": "riskgrad.report.distortions",
    "score_ascent": "riskgrad.algorithms",
    "train": "riskgrad._train",
}

__all__ = [
    "DiscreteLaw",
    "LoggedEpisodes",
    "Run",
    "__version__",
    "ascent",
    "backend",
    "distortion",
    "envs",
    "episodes",
    "evaluate",
    "evaluation",
    "exact",
    "gradient",
    "load",
    "mdp",
    "offp_sf",
    "onp_sf",
    "plot_distortions",
    "policy",
    "risk",
    "run",
    "score_ascent",
    "theory",
    "train",
    "weights",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'riskgrad' has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name])
    value = home if home.__name__ == f"riskgrad.{name}" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

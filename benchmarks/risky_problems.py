"""The problems on which a learner of tail measures is chosen, and those on which it is judged: exact from end to end.

Defaults and designs are chosen on `CHOSEN` alone; `SET_ASIDE` is for one last look. All are finite models with integer
rewards, so that the law of the return is exact. A result is judged by its share of the gap between the uniform policy,
from which training starts, and the best policy that sees the state and nothing else; `best_policies.py` finds both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import risky_chosen as chosen
import risky_set_aside as aside

import riskgrad as rg
from riskgrad.mdp import FiniteMDP


@dataclass(frozen=True)
class RiskyProblem:
    """A finite model and a measure, with what the uniform and the best policy are worth.

    Attributes:
        name: what it is called in tables.
        make: builds the model.
        risk: the measure, as `rg.risk.parse` reads it.
        uniform: the value of the uniform policy.
        best: the value of the best policy known that sees the state alone.
        certified: whether no policy is better by 1% of the gap, not even one that knows the time and the return so far.
        origin: how the best policy was found.
    """

    name: str
    make: Callable[[], FiniteMDP]
    risk: str
    uniform: float
    best: float
    certified: bool
    origin: str


@cache
def model_of(problem: RiskyProblem) -> FiniteMDP:
    """Give the model, built once in this process."""
    return problem.make()


def value_of(problem: RiskyProblem, table: np.ndarray) -> float:
    """Give the exact value of a policy table [S, A]."""
    return rg.risk.parse(problem.risk).value(rg.exact.return_law(model_of(problem), table))


def share(problem: RiskyProblem, value: float) -> float:
    """Give how far a value is from the uniform policy's to the best: 0 to 1."""
    return (value - problem.uniform) / (problem.best - problem.uniform)


PROGRAM, SEARCH = "dynamic programming over the dual", "exact ascents from many starts, then state by state"

CHOSEN = (
    RiskyProblem("insurance", chosen.insurance, "cvar:0.05", -56.1667, -31.8054, False, SEARCH),
    RiskyProblem("queue", chosen.queue, "cvar:0.1", -21.427, 118.946, False, SEARCH),
    RiskyProblem("stopping", chosen.stopping, "cvar:0.25", -0.7635, 1.9901, True, PROGRAM),
    RiskyProblem("short cut", chosen.short_cut, "cvar:0.1", -50.0, -14.1271, True, SEARCH),
    RiskyProblem("stakes", chosen.stakes, "cvar:0.2", -100.0, 74.1205, True, PROGRAM),
    RiskyProblem("prospector", chosen.prospector, "mean-variance:0.01", -77.5558, 45.6668, False, SEARCH),
    RiskyProblem("lender", chosen.lender, "cvar:0.05", -319.2091, 43.4601, False, SEARCH),
    RiskyProblem("furnace", chosen.furnace, "cvar:0.01", -35.0889, 53.2764, True, SEARCH),
    RiskyProblem("quiz", chosen.quiz, "dual-power:4", 0.2642, 8.5563, True, SEARCH),
)

SET_ASIDE = (
    RiskyProblem("maintenance", aside.maintenance, "cvar:0.1", -82.8362, 81.4508, False, SEARCH),
    RiskyProblem("battery", aside.battery, "cvar:0.05", -210.0774, -34.1742, False, SEARCH),
    RiskyProblem("liquidation", aside.liquidation, "dual-power:4", 71.4879, 80.265, False, SEARCH),
    RiskyProblem("windy cliff", aside.windy_cliff, "cvar:0.01", -222.8133, -49.4944, False, SEARCH),
    RiskyProblem("wheel", aside.wheel, "cvar:0.2", -53.5289, 42.3826, True, PROGRAM),
    RiskyProblem("grower", aside.grower, "mean-variance:0.02", -129.9093, 33.7539, False, SEARCH),
    RiskyProblem("house sale", aside.house_sale, "cvar:0.25", -0.8572, 4.4535, True, PROGRAM),
    RiskyProblem("convoy", aside.convoy, "cvar:0.2", -45.2976, -28.0, True, SEARCH),
)

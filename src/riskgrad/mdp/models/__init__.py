"""Small finite models in which risk matters: the best policy for the mean is not the best one for the bad tail.

In Gymnasium's finite environments risk matters little: at discount 1 the return of FrozenLake is 0 or 1, so that every
risk measure of it is a function of the mean, and on slippery CliffWalking the best policy for the mean never falls.
"""

from collections.abc import Callable, Mapping

from riskgrad.mdp.model import FiniteMDP
from riskgrad.mdp.models.inventory import inventory
from riskgrad.mdp.models.risky_safe import risky_safe
from riskgrad.mdp.models.ruin import ruin
from riskgrad.mdp.models.slippery_grid import slippery_grid
from riskgrad.mdp.models.two_roads import two_roads

# the models by their names for `rg.train` and the command line
MODELS: Mapping[str, Callable[[], FiniteMDP]] = {
    "inventory": inventory,
    "risky-safe": risky_safe,
    "ruin": ruin,
    "slippery-grid": slippery_grid,
    "two-roads": two_roads,
}

__all__ = ["MODELS", "inventory", "risky_safe", "ruin", "slippery_grid", "two_roads"]

"""Small finite models in which risk matters: the best policy for the mean is not the best one for the bad tail."""

from riskgrad.mdp.models.inventory import inventory
from riskgrad.mdp.models.risky_safe import risky_safe
from riskgrad.mdp.models.ruin import ruin
from riskgrad.mdp.models.slippery_grid import slippery_grid
from riskgrad.mdp.models.two_roads import two_roads

__all__ = ["inventory", "risky_safe", "ruin", "slippery_grid", "two_roads"]

"""Finite MDPs: the model, a reader for Gymnasium environments, and small examples in which risk matters."""

from riskgrad.mdp.from_gym import from_gymnasium
from riskgrad.mdp.model import FiniteMDP
from riskgrad.mdp.models import inventory, risky_safe, ruin, slippery_grid, two_roads

__all__ = ["FiniteMDP", "from_gymnasium", "inventory", "risky_safe", "ruin", "slippery_grid", "two_roads"]

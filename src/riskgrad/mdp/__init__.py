"""Finite MDPs: the model, how to read one from Gymnasium, and small examples in which risk matters."""

from riskgrad.mdp.model import FiniteMDP

__all__ = ["FiniteMDP"]

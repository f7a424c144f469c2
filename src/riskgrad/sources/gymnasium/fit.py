"""Whether a policy fits an environment: it reads what that shows, and chooses among what that accepts.

A policy that does not say what it reads or chooses among, such as a user's own, is taken at its word. The others are
compiled, and would read past the end of an observation that is too short.
"""

import pickle
from typing import Any

from riskgrad.errors import InputError
from riskgrad.policy import LinearSoftmax, Policy
from riskgrad.sources.gymnasium.spaces import ActionWriter, ObservationReader


def check_fit(policy: Policy, reader: ObservationReader, writer: ActionWriter) -> None:
    """Refuse a policy that reads other observations or chooses among other actions."""
    inner: Any = policy
    while isinstance(getattr(inner, "policy", None), Policy):  # greedy, or normalized, or both
        inner = inner.policy
    _check_observations(inner, reader)
    _check_actions(inner, writer)


def refuse_unportable(policy: Policy, error: Exception) -> None:
    """Refuse a policy that other processes cannot read."""
    try:
        pickle.dumps(policy)
    except Exception:
        advice = "define what it is made of in a module, or leave out processes"
        raise InputError("policy", "be found by its name in each process", policy, advice) from error


def _check_observations(policy: Any, reader: ObservationReader) -> None:
    states = getattr(policy, "n_states", None)
    inputs = getattr(policy, "n_features", getattr(getattr(policy, "network", policy), "inputs", None))
    if reader.n_states is not None:
        size = inputs if states is None else states
        if isinstance(policy, LinearSoftmax) or size not in (None, reader.n_states):
            rule = f"read states, of which the environment has {reader.n_states}"
            raise InputError("policy", rule, policy, "see rg.policy.TabularGibbs and rg.policy.MLP")
    elif states is not None or inputs not in (None, reader.size):
        raise InputError("policy", f"read vectors of the environment's {reader.size} numbers", policy)


def _check_actions(policy: Any, writer: ActionWriter) -> None:
    n_actions, bounds = getattr(policy, "n_actions", None), getattr(policy, "bounds", None)
    if writer.kind == "numbers":
        size = getattr(bounds, "size", len(writer.low) if n_actions is None else None)
        if size != len(writer.low):
            raise InputError("policy", f"have actions of {len(writer.low)} numbers", policy, "see rg.policy.Gaussian")
        return
    wanted = writer.sizes[0] if writer.kind == "choice" else writer.sizes
    if n_actions is not None and n_actions != wanted:
        raise InputError("policy", f"have the environment's actions, {wanted}", policy)
    if n_actions is None and hasattr(bounds, "size"):
        raise InputError("policy", "have discrete actions", policy, "see rg.policy.MLP")

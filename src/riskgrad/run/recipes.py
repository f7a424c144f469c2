"""How a policy goes into a file and comes back: its kind and the numbers that its constructor takes, never code.

A policy that holds a function of the user's (`Gibbs`, features given as a function) has no recipe: its run is loaded
with `rg.load(path, policy=...)`. A new kind of policy is loadable where it has `recipe`.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from riskgrad.policy import Policy
from riskgrad.policy.base import describe_policy, rebuild_policy

Recipe = dict[str, Any]


def written(policy: Policy) -> Recipe:
    """Describe a policy; with its recipe, if it has one."""
    return describe_policy(policy)


def built(facts: Mapping[str, Any]) -> Policy | None:
    """Build the policy that `written` described; None where there is no recipe."""
    return rebuild_policy(facts)


def kept_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Give the settings of an environment's options: as they are where a file can hold them, otherwise in words."""
    if options is None:
        return {"env_options": None}
    plain = {name: plain_number(value) for name, value in options.items()}
    try:
        if json.loads(json.dumps(plain, allow_nan=False)) == plain:
            return {"env_options": plain}
    except (TypeError, ValueError):
        pass
    words = ", ".join(f"{name}={describe(value)}" for name, value in options.items())
    return {"env_options": None, "env_options_text": words}


def plain_number(value: Any) -> Any:
    """Give the plain number that a numpy scalar is; anything else as it is."""
    scalar: Any = value
    return scalar.item() if isinstance(value, np.generic) else value


def describe(thing: object) -> str:
    """Describe a thing in words, without the address that a bare object prints and that differs between processes."""
    words = str(thing)
    return type(thing).__name__ if " at 0x" in words else words

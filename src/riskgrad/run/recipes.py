"""How a policy goes into a file and comes back: its kind and the numbers that its constructor takes, never code.

A policy that holds a function of the user's (`Gibbs`, features given as a function) has no recipe: its run is loaded
with `rg.load(path, policy=...)`. To make a new kind of policy loadable, add it here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from riskgrad.policy import MLP, Gaussian, LinearSoftmax, Policy, TabularGibbs
from riskgrad.types import FloatArray

Recipe = dict[str, Any]


@dataclass(frozen=True)
class _Kind:
    """How to write and build one kind of policy."""

    policy: type[Policy]
    write: Callable[[Any], Recipe]
    build: Callable[[Mapping[str, Any]], Policy]


def _mlp(policy: MLP) -> Recipe:
    return {
        "inputs": policy.network.inputs,
        "n_actions": list(policy.n_actions) if isinstance(policy.n_actions, tuple) else policy.n_actions,
        "hidden": list(policy.network.hidden),
        "activation": policy.network.activation,
    }


def _gaussian(policy: Gaussian) -> Recipe:
    return {
        "inputs": policy.network.inputs,
        "low": _bounds(policy.bounds.low),
        "high": _bounds(policy.bounds.high),
        "hidden": list(policy.network.hidden),
        "activation": policy.network.activation,
        "squashed": policy.bounds.squashed,
        "initial_std": policy.initial_std,
    }


def _bounds(values: FloatArray) -> list[float | None]:
    """JSON has no infinity: a coordinate without a bound is null."""
    return [float(value) if np.isfinite(value) else None for value in values]


def _built_gaussian(recipe: Mapping[str, Any]) -> Policy:
    bounds = {
        "low": [-np.inf if value is None else value for value in recipe["low"]],
        "high": [np.inf if value is None else value for value in recipe["high"]],
    }
    options: dict[str, Any] = {**recipe, **bounds}
    return Gaussian(**options)


KINDS: Final = {
    kind.policy.__name__: kind
    for kind in (
        _Kind(
            TabularGibbs,
            lambda p: {"n_states": p.n_states, "n_actions": p.n_actions},
            lambda r: TabularGibbs(**r),
        ),
        _Kind(
            LinearSoftmax,
            lambda p: {"n_features": p.n_features, "n_actions": p.n_actions, "feature_bound": p.feature_norm},
            lambda r: LinearSoftmax(**r),
        ),
        _Kind(
            MLP,
            _mlp,
            lambda r: MLP(**r),
        ),
        _Kind(Gaussian, _gaussian, _built_gaussian),
    )
}


def written(policy: Policy) -> Recipe:
    """Describe a policy; with its recipe, if it has one."""
    name = type(policy).__name__
    kind = KINDS.get(name)
    recipe = kind.write(policy) if kind is not None and type(policy) is kind.policy else None
    return {"kind": name, "text": describe(policy), "recipe": recipe}


def built(facts: Mapping[str, Any]) -> Policy | None:
    """Build the policy that `written` described; None where there is no recipe."""
    kind = KINDS.get(facts.get("kind", ""))
    recipe = facts.get("recipe")
    return None if kind is None or recipe is None else kind.build(recipe)


def describe(thing: object) -> str:
    """Describe a thing in words, without the address that a bare object prints and that differs between processes."""
    words = str(thing)
    return type(thing).__name__ if " at 0x" in words else words

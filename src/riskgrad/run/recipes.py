"""How a policy goes into a file and comes back: its kind and the numbers that its constructor takes, never code.

A policy that holds a function of the user's (`Gibbs`, features given as a function) has no recipe: its run is loaded
with `rg.load(path, policy=...)`. To make a new kind of policy loadable, add it here.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from riskgrad.errors import InputError
from riskgrad.policy import (
    MLP,
    Deterministic,
    Gaussian,
    LinearSoftmax,
    Normalized,
    ObservationStatistics,
    Policy,
    TabularGibbs,
)
from riskgrad.types import FloatArray

Recipe = dict[str, Any]


@dataclass(frozen=True)
class _Kind:
    """How to write and build one kind of policy."""

    policy: type[Policy]
    write: Callable[[Any], Recipe | None]
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


def _built_bounded(kind: Callable[..., Policy]) -> Callable[[Mapping[str, Any]], Policy]:
    def build(recipe: Mapping[str, Any]) -> Policy:
        bounds = {
            name: recipe[name] and [missing if value is None else value for value in recipe[name]]
            for name, missing in (("low", -np.inf), ("high", np.inf))
        }
        options: dict[str, Any] = {**recipe, **bounds}
        return kind(**options)

    return build


def _deterministic(policy: Deterministic) -> Recipe:
    bounds = policy.bounds
    return {
        "inputs": policy.network.inputs,
        "n_actions": policy.network.outputs if bounds is None else None,
        "low": None if bounds is None else _bounds(bounds.low),
        "high": None if bounds is None else _bounds(bounds.high),
        "hidden": list(policy.network.hidden),
        "activation": policy.network.activation,
        "squashed": bounds is not None and bounds.squashed,
    }


def _normalized(policy: Normalized) -> Recipe | None:
    inner = written(policy.policy)
    numbers = {name: array.tolist() for name, array in policy.statistics.arrays().items()}
    limit = policy.limit if np.isfinite(policy.limit) else None
    return None if inner["recipe"] is None else {"policy": inner, "statistics": numbers, "limit": limit}


def _built_normalized(recipe: Mapping[str, Any]) -> Policy:
    inner = built(recipe["policy"])
    if inner is None:
        raise InputError("policy", "be one that can be rebuilt", recipe["policy"])
    limit = np.inf if recipe["limit"] is None else recipe["limit"]
    return Normalized(inner, ObservationStatistics.from_arrays(recipe["statistics"]), limit)


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
        _Kind(Gaussian, _gaussian, _built_bounded(Gaussian)),
        _Kind(Deterministic, _deterministic, _built_bounded(Deterministic)),
        _Kind(Normalized, _normalized, _built_normalized),
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

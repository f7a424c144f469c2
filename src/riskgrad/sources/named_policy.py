"""A policy by its name, made to fit what a source shows and accepts.

    name              discrete actions                    actions that are numbers
    "table"           one preference per state and action     -
    "linear"          linear softmax                      normal, linear mean
    "mlp"             softmax of a network                normal, mean of a network
    "deterministic"   the largest of linear outputs       a linear function, within the bounds

Without a name a finite model gets a table, and everything else a linear policy: few parameters, hence few directions.
"""

from typing import Final

from riskgrad.errors import InputError, UnknownNameError
from riskgrad.policy import MLP, Deterministic, Gaussian, LinearSoftmax, Policy, TabularGibbs
from riskgrad.sources.base import Source
from riskgrad.sources.compiled import CompiledSource
from riskgrad.sources.gymnasium.source import GymnasiumSource
from riskgrad.sources.tabular import TabularSource
from riskgrad.types import FloatArray

NAMES: Final = ("deterministic", "linear", "mlp", "table")
HIDDEN: Final = (32, 32)

Bounds = tuple[FloatArray, FloatArray]


def named_policy(source: Source, name: str | None = None) -> Policy:
    """Make a policy that fits a source.

    Args:
        source: where episodes come from.
        name: "table", "linear", "mlp" or "deterministic"; None chooses.

    Returns:
        the policy.
    """
    if name is not None and name not in NAMES:
        raise UnknownNameError("policy", name, NAMES, "or pass a policy")
    if isinstance(source, TabularSource):
        return _of_choices(name or "table", source.mdp.n_states, source.mdp.n_actions, source.mdp.n_states)
    if isinstance(source, CompiledSource):
        size, n_actions = source.env.n_features, source.env.n_actions
        # its loop skips the zeros of an observation, which a layer with biases cannot
        return LinearSoftmax(size, n_actions) if name in (None, "linear") else _of_choices(name, size, n_actions, None)
    if not isinstance(source, GymnasiumSource):
        raise InputError("policy", "be given for a source of your own", name)
    chosen = name or ("table" if source.n_states is not None and isinstance(source.n_actions, int) else "linear")
    if source.action_bounds is not None:
        return _of_numbers(chosen, source.observation_size, source.action_bounds)
    n_actions = source.n_actions
    if n_actions is None:
        raise InputError("policy", "be given for this environment", name)
    return _of_choices(chosen, source.observation_size, n_actions, source.n_states)


def _of_choices(name: str, size: int, n_actions: int | tuple[int, ...], n_states: int | None) -> Policy:
    if name == "table":
        if n_states is None or not isinstance(n_actions, int):
            raise InputError("policy", "not be a table where observations are no states", name, "try 'linear' or 'mlp'")
        return TabularGibbs(n_states, n_actions)
    if name == "deterministic":
        if not isinstance(n_actions, int):
            raise InputError("policy", "be random for actions of several components", name, "try 'linear' or 'mlp'")
        return Deterministic(size, n_actions)
    return MLP(size, n_actions, HIDDEN if name == "mlp" else ())


def _of_numbers(name: str, size: int, bounds: Bounds) -> Policy:
    if name == "table":
        raise InputError("policy", "not be a table where actions are numbers", name, "try 'linear' or 'mlp'")
    if name == "deterministic":
        return Deterministic(size, low=bounds[0], high=bounds[1])
    return Gaussian(size, *bounds, HIDDEN if name == "mlp" else ())

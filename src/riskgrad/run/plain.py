"""A trained policy as plain arrays, for use without riskgrad: a table, or a network and how its inputs are made.

    S states that the policy sees   k numbers that it sees   A outputs: probabilities of choices, or means of numbers

A policy of states becomes a table of its outputs, whatever computes them. A policy of vectors becomes layers:
observations less `mean`, times `scale`, clipped to +-`limit`, then weights and biases with tanh or relu between them.
With memory a policy sees more than the observation: the table has a block of rows for each cell of time and return, and
a vector is followed by the numbers and bumps that `shows`, `middles` and `widths` describe. docs/how-to/use.md has a
reader of ten lines.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskgrad.errors import InputError
from riskgrad.policy import Memory, Policy
from riskgrad.policy.bounds import Bounds
from riskgrad.policy.memory import RETURN_BUMPS, TIME_BUMPS
from riskgrad.policy.network import PlainLayers
from riskgrad.types import Choices, FloatArray, IntArray, ObservationKind, States


@dataclass(frozen=True, eq=False)
class MemoryNumbers:
    """The e numbers that a policy of vectors with memory is shown after the observation.

    Attributes:
        shows: 0 for the share of time left, 1 for the scaled return so far [e].
        middles: the middle of a bump over that number [e]; 0 where the number itself is shown.
        widths: the width of a bump over that number [e]; inf where the number itself is shown.
    """

    shows: IntArray
    middles: FloatArray
    widths: FloatArray


@dataclass(frozen=True, eq=False)
class PlainPolicy:
    """A policy at one theta as arrays; made by `make_plain`.

    Attributes:
        table: its outputs for each state that it sees [S, A]; None for vectors.
        layers: the layers from what it sees to its outputs; None for states.
        mean: what is subtracted from vectors [k].
        scale: by what they are then multiplied [k].
        limit: the size to which they are then clipped; inf for no limit.
        memory: how it is shown time and return; None for a policy without memory.
        sizes: how many choices each component of an action has; empty for numbers.
        sure: whether it always takes the likeliest action, or the mean.
        spread: the standard deviation of numbers [n].
        bounds: the bounds within which numbers are executed; None for choices.
        first_state: the number of the first state.
        first_action: the number of the first choice of each component [components].
    """

    table: FloatArray | None
    layers: PlainLayers | None
    mean: FloatArray
    scale: FloatArray
    limit: float
    memory: Memory | None
    sizes: tuple[int, ...]
    sure: bool
    spread: FloatArray
    bounds: Bounds | None
    first_state: int
    first_action: IntArray

    @property
    def shown(self) -> MemoryNumbers:
        """The numbers that follow an observation that is a vector; none without memory."""
        memory, rows = self.memory, list[tuple[int, float, float]]()
        if memory is not None:
            for which, held, bumps in ((0, memory.holds_time, TIME_BUMPS), (1, memory.holds_return, RETURN_BUMPS)):
                more = [(which, middle, bumps[1] - bumps[0]) for middle in bumps] if memory.bumps else []
                rows += [(which, 0.0, np.inf), *more] if held else []
        columns = np.array(rows, dtype=np.float64).reshape(-1, 3)
        return MemoryNumbers(columns[:, 0].astype(np.int64), columns[:, 1], columns[:, 2])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give the policy as named arrays, those of the .npz file."""
        found: dict[str, Any] = {"sizes": np.array(self.sizes, dtype=np.int64), "sure": self.sure}
        found |= {"first_state": self.first_state, "first_action": self.first_action}
        if self.bounds is not None:
            found |= {name: getattr(self.bounds, name) for name in ("low", "high", "center", "half", "squashed")}
            found["spread"] = self.spread
        if self.table is not None:
            found["table"] = self.table
        if self.layers is not None:
            found |= {"mean": self.mean, "scale": self.scale, "limit": self.limit, "relu": self.layers.relu}
            found["layers"] = len(self.layers.weights)
            for place, (weights, biases) in enumerate(zip(self.layers.weights, self.layers.biases, strict=True)):
                found |= {f"weights_{place}": weights, f"biases_{place}": biases}
        if self.memory is not None:
            found |= self._describe_memory(self.memory)
        return {name: np.asarray(value) for name, value in found.items()}

    def _describe_memory(self, memory: Memory) -> dict[str, Any]:
        if isinstance(memory.observations, States):
            cells = {"time_cells": memory.cells_of_times, "edges": memory.edges_of_returns}
            return {**cells, "states": memory.observations.n}
        scales = {"horizon": memory.horizon, "return_center": memory.center, "return_spread": memory.spread}
        return {**scales, **vars(self.shown)}


def make_plain(
    policy: Policy, theta: FloatArray, gives: ObservationKind, first_state: int = 0, first_action: Any = 0
) -> PlainPolicy:
    """Give a policy at theta [d] as arrays; refuse one that is neither a table nor a network.

    Args:
        policy: the policy.
        theta: its parameters [d].
        gives: what its environment shows.
        first_state: the number of the first state.
        first_action: the number of the first choice, one for all components or one for each.
    """
    sees = gives if policy.memory is None else policy.memory.shows
    core, limit = policy, np.inf
    while core.inner is not None:
        limit = min(limit, float(core.arrays().get("limit", np.array([np.inf]))[0]))
        core = core.inner
    layers, bounds, statistics = core.plain_layers(theta), policy.action_bounds, policy.statistics
    table = None
    if isinstance(sees, States):
        states = np.arange(sees.n)
        table = policy.probabilities(theta, states) if bounds is None else _tabulate(layers, policy)
    elif layers is None:
        _refuse_policy(policy)
    size = 0 if isinstance(sees, States) else sees.size
    acts = policy.acts
    sizes = acts.sizes if isinstance(acts, Choices) else () if bounds is not None else (getattr(acts, "n", 0),)
    spread = None if layers is None or not policy.has_density else layers.spread
    return PlainPolicy(
        table=table,
        layers=None if table is not None else layers,
        mean=np.zeros(size) if statistics is None else statistics.mean,
        scale=np.ones(size) if statistics is None else 1.0 / statistics.std,
        limit=limit,
        memory=policy.memory,
        sizes=sizes,
        sure=not policy.has_density,
        spread=np.zeros(0 if bounds is None else bounds.size) if spread is None else spread,
        bounds=bounds,
        first_state=first_state,
        first_action=np.broadcast_to(np.asarray(first_action, dtype=np.int64), max(len(sizes), 1)),
    )


def _tabulate(layers: PlainLayers | None, policy: Policy) -> FloatArray:
    """Give the outputs of layers for each state [S, A]; a state is a one-hot vector, so it picks a row of weights."""
    if layers is None:
        _refuse_policy(policy)
        return np.zeros((0, 0))
    found = layers.weights[0] + layers.biases[0]
    for weights, biases in zip(layers.weights[1:], layers.biases[1:], strict=True):
        found = (np.maximum(found, 0.0) if layers.relu else np.tanh(found)) @ weights + biases
    return found


def _refuse_policy(policy: Policy) -> None:
    advice = "run.act and run.player use any policy; a torch module has an export of its own, torch.onnx.export"
    raise InputError("policy", "be a table or a network to be exported", policy, advice)

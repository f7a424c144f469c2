"""A deterministic policy: the action is a linear function of the observation, or a network's output.

    a = weights . o + bias [n]     a discrete action is the index of the largest; a continuous one is a, brought within
                                   the bounds as in `gaussian`

It has no density and no score, hence no importance ratio. OnP-SF can train it, since the smoothed functional needs only
returns; OffP-SF and the score algorithm cannot, and refuse it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import check_count, check_thetas
from riskgrad.errors import InputError
from riskgrad.policy.base import Layers, WithoutDensity, drop_axes
from riskgrad.policy.bounds import Bounds, with_infinities
from riskgrad.policy.greedy import point_mass
from riskgrad.policy.network import Activation, Network, PlainLayers, check_hidden
from riskgrad.types import ActionKind, Both, Choice, Choices, FloatArray, IntArray, ObservationKind, States, Vectors


@final
class Deterministic(WithoutDensity):
    """The action is a function of the observation: linear, or a network.

    Args:
        inputs: length of an observation; or the number of states, which are then one-hot.
        n_actions: A, for discrete actions; without low and high.
        low: smallest value of each coordinate of an action [n], for continuous actions.
        high: largest value of each coordinate [n].
        hidden: units of each hidden layer; if empty, the function is linear.
        activation: "tanh" or "relu".
        squashed: bring actions within the bounds by tanh rather than by clipping; needs finite bounds.
    """

    name, sized_by = "deterministic", "inputs"

    def __init__(
        self,
        inputs: int,
        n_actions: int | None = None,
        *,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        hidden: Sequence[int] | int = (),
        activation: Activation = "tanh",
        squashed: bool = False,
    ) -> None:
        if (n_actions is None) == (low is None or high is None):
            raise InputError("n_actions", "be given, or else low and high", (n_actions, low, high))
        self._bounds = None if low is None or high is None else Bounds.of(low, high, squashed)
        outputs = n_actions if self._bounds is None else self._bounds.size
        outputs = check_count("n_actions", outputs)
        self.n_actions = outputs if self._bounds is None else None
        self.network = Network(inputs, check_hidden(hidden), outputs, activation)
        self.reads = Vectors(inputs), States(inputs)
        self.acts = Choice(outputs) if self._bounds is None else self._bounds.numbers
        self.layered = bool(self.network.hidden)

    @property
    def dim(self) -> int:
        """Number of parameters d."""
        return self.network.dim

    @property
    def action_bounds(self) -> Bounds | None:
        """The bounds within which continuous actions are executed; None for discrete ones."""
        return self._bounds

    @property
    def layers(self) -> Layers | None:
        """The network, for discrete actions; None for continuous ones."""
        if self._bounds is not None:
            return None
        return Layers(self.network.widths, bias=True, relu=self.network.relu, greedy=True)

    def act(
        self, thetas: FloatArray, rows: IntArray, observations: NDArray[Any], uniforms: FloatArray | None
    ) -> NDArray[Any]:
        """Give the action for each observation, [B] or [B, n]; see `Policy.act`."""
        del uniforms
        outputs = self.network.apply(thetas, rows, self.network.inputs_as_given(observations))
        return np.argmax(outputs, axis=-1) if self._bounds is None else outputs

    def execute(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Give the actions within the bounds of the environment."""
        return actions if self._bounds is None else self._bounds.apply(actions)

    def initial_theta(self, generator: np.random.Generator) -> FloatArray:
        """Give zeros [d] for a linear policy; draw the weights otherwise."""
        return self.network.draw_start(generator, last=0.01) if self.network.hidden else np.zeros(self.dim)

    def probabilities(self, theta: ArrayLike, observations: ArrayLike) -> FloatArray:
        """Give 1 for the action taken and 0 for others [B, A]; refuse where actions are continuous."""
        if self._bounds is not None:
            raise InputError("policy", "have finitely many actions for probabilities", self)
        thetas, flat = check_thetas(theta, self.dim)
        inputs, single = self.network.check_inputs(observations)
        return drop_axes(point_mass(self.network.apply_all(thetas, inputs)), flat, single)

    def plain_layers(self, theta: FloatArray) -> PlainLayers:
        """Give the layers of its network."""
        return PlainLayers(*self.network.cut(theta), self.network.relu)

    @classmethod
    def fit(cls, gives: ObservationKind, takes: ActionKind) -> "Deterministic":
        """Make a linear policy for a source; refuse actions of several components."""
        inputs = gives.n if isinstance(gives, States) else gives.size
        if isinstance(takes, Choices | Both):
            rule = "be random for actions of several components"
            raise InputError("policy", rule, cls.name, "try 'linear' or 'mlp'")
        return cls(inputs, takes.n) if isinstance(takes, Choice) else cls(inputs, low=takes.low, high=takes.high)

    def recipe(self) -> dict[str, Any]:
        """Give what the constructor takes."""
        if self._bounds is not None:
            return {**self.network.recipe(), "n_actions": None, **self._bounds.recipe()}
        none = {"low": None, "high": None, "squashed": False}
        return {**self.network.recipe(), "n_actions": self.network.outputs, **none}

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any]) -> "Deterministic":
        """Make the policy that a recipe describes."""
        return cls(**with_infinities(recipe))

    def __repr__(self) -> str:
        net = self.network
        hidden = f", hidden={net.hidden}, activation={net.activation!r}" if net.hidden else ""
        what = f"{net.outputs} actions" if self._bounds is None else f"{self._bounds}"
        return f"Deterministic({net.inputs}, {what}{hidden})"

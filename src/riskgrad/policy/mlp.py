"""A softmax whose preferences are the outputs of a network: pi_theta(a | o) = softmax(network(o))[a].

    P policies at once   B observations   k inputs   A actions   d parameters

The layout of the flat vector, for layers of n_0 = k, n_1, ..., n_L units (n_L = A, or the sum over the components):

    layer l = 1 .. L     weights [n_{l-1}, n_l], row by row: the weight from unit i to unit j at start_l + i * n_l + j
                         biases [n_l]                        the bias of unit j at start_l + n_{l-1} * n_l + j
    start_1 = 0          start_{l+1} = start_l + (n_{l-1} + 1) * n_l

The activation (tanh or relu) is applied between layers, not after the last. Without hidden layers the policy is a
linear softmax with biases.

Several components (a MultiDiscrete action) are chosen independently: the outputs of the components follow one another,
an action is a vector of indices, one per component, and its probability is the product of theirs.
"""

import re
from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import check_coefficients, check_count, check_theta, check_thetas
from riskgrad.errors import InputError
from riskgrad.kernels import network_passes
from riskgrad.kernels.formulas import exp_of, log_softmax, softmax, sum_over_actions
from riskgrad.policy.base import Layers, Linearization, Policy, drop_axes
from riskgrad.policy.gaussian import INITIAL_STD, Gaussian
from riskgrad.policy.network import Activation, Network, PlainLayers, check_hidden
from riskgrad.types import (
    ActionKind,
    Both,
    Choice,
    Choices,
    FloatArray,
    IntArray,
    Numbers,
    ObservationKind,
    States,
    Vectors,
)

HIDDEN: Final = (32, 32)


@final
class MLP(Policy):
    """A softmax over the outputs of a network.

    Args:
        inputs: length of an observation; or the number of states, which are then one-hot.
        n_actions: A, or the sizes of the components of an action.
        hidden: units of each hidden layer.
        activation: "tanh" or "relu".
    """

    name, sized_by = "mlp", "inputs"

    def __init__(
        self,
        inputs: int,
        n_actions: int | Sequence[int],
        hidden: Sequence[int] | int = HIDDEN,
        activation: Activation = "tanh",
    ) -> None:
        one = isinstance(n_actions, int | np.integer)
        self._parts = tuple(check_count("n_actions", part) for part in ([n_actions] if one else n_actions))
        if not self._parts:
            raise InputError("n_actions", "be an integer of at least 1, or several of them", n_actions)
        self.n_actions: int | tuple[int, ...] = self._parts[0] if one else self._parts
        self.network = Network(inputs, check_hidden(hidden), sum(self._parts), activation)
        self._begins = np.concatenate([[0], np.cumsum(self._parts)]).astype(np.int64)
        self._slices = [
            slice(begin, begin + part) for begin, part in zip(self._begins.tolist(), self._parts, strict=False)
        ]
        self._none = np.empty((0, 0))
        self.reads = Vectors(inputs), States(inputs)
        self.acts = Choice(self.n_actions) if isinstance(self.n_actions, int) else Choices(self.n_actions)
        self.layered, self.noise_size = bool(self.network.hidden), len(self._parts)

    @property
    def dim(self) -> int:
        """Number of parameters d."""
        return self.network.dim

    @property
    def layers(self) -> Layers | None:
        """The network, for an action of one component; None for several."""
        if not isinstance(self.n_actions, int):
            return None
        return Layers(self.network.widths, bias=True, relu=self.network.relu, greedy=False)

    def probabilities(self, theta: ArrayLike, observations: ArrayLike) -> FloatArray:
        """Give pi_theta(a | o) [B, A]; see `Policy.probabilities`.

        For several components A is the sum of their sizes: the probabilities of each follow one another.
        """
        thetas, flat = check_thetas(theta, self.dim)
        inputs, single = self.network.check_inputs(observations)
        return drop_axes(self._over_parts(softmax, self.network.apply_all(thetas, inputs)), flat, single)

    def log_prob(self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike) -> FloatArray:
        """Give log pi_theta(a_b | o_b) [B]; see `Policy.log_prob`."""
        thetas, flat = check_thetas(theta, self.dim)
        inputs, single = self.network.check_inputs(observations)
        places = self._find_places(actions, len(inputs))
        logs = self._over_parts(log_softmax, self.network.apply_all(thetas, inputs))
        return drop_axes(_sum_parts(np.take(logs.reshape(len(logs), -1), places, axis=1)), flat, single)

    def score_sum(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> FloatArray:
        """Give sum_b c_b grad log pi_theta(a_b | o_b) [d]."""
        vector = check_theta(theta, self.dim)
        inputs, _ = self.network.check_inputs(observations)
        places = self._find_places(actions, len(inputs))
        scale = check_coefficients(coefficients, len(inputs))[:, None]
        cotangents = self._over_parts(softmax, self.network.apply_all(vector[None], inputs)[0])
        cotangents *= -scale
        cotangents.reshape(-1)[places] += scale
        return self.network.pullback(vector, inputs, cotangents)

    def entropy_sum(self, theta: ArrayLike, observations: ArrayLike, coefficients: ArrayLike) -> FloatArray:
        """Give sum_b c_b grad H(pi_theta(. | o_b)) [d]; d H / d h(a) = - pi(a) (log pi(a) + H)."""
        vector = check_theta(theta, self.dim)
        inputs, _ = self.network.check_inputs(observations)
        scale = check_coefficients(coefficients, len(inputs))[:, None]
        slopes = self._over_parts(_entropy_slopes, self.network.apply_all(vector[None], inputs)[0])
        return self.network.pullback(vector, inputs, scale * slopes)

    def linearize(self, theta: FloatArray, observations: NDArray[Any], actions: NDArray[Any]) -> Linearization:
        """Give log pi_theta(a_b | o_b) [B] and gradients, with one forward pass for both; see `Policy.linearize`."""
        inputs, _ = self.network.check_inputs(observations)
        places = self._find_places(actions, len(inputs))
        outputs, pull_back = self.network.linearize(theta, inputs)
        logs = self._over_parts(log_softmax, outputs)

        def pull(scores: FloatArray, entropies: FloatArray) -> FloatArray:
            cotangents = -scores[:, None] * exp_of(logs)
            cotangents.reshape(-1)[places] += scores[:, None]
            cotangents += entropies[:, None] * self._over_parts(_entropy_slopes, outputs)
            gradient = np.zeros(self.dim)
            pull_back(cotangents, gradient)
            return gradient

        return Linearization(_sum_parts(logs.reshape(-1)[places]), pull)

    def sharpen(self, theta: FloatArray, factor: float) -> FloatArray:
        """Give parameters whose preferences are those of theta [d] times a factor: the last layer is multiplied."""
        sharper = theta.copy()
        sharper[self.network.last_layer] *= factor
        return sharper

    def act(
        self, thetas: FloatArray, rows: IntArray, observations: NDArray[Any], uniforms: FloatArray | None
    ) -> NDArray[Any]:
        """Choose an action for each observation; see `Policy.act`."""
        picked = np.empty((len(rows), len(self._parts)), dtype=np.int64)
        inputs = self.network.inputs_as_given(observations)
        numbers = self._none if uniforms is None else uniforms
        sizes, relu = self.network.sizes, self.network.relu
        network_passes.draw_choices(thetas, rows, inputs, sizes, relu, self._begins, numbers, uniforms is None, picked)
        return picked[:, 0] if isinstance(self.n_actions, int) else picked

    def initial_theta(self, generator: np.random.Generator) -> FloatArray:
        """Draw the weights [d]; the last layer is small, so that all actions begin with nearly the same probability."""
        return self.network.draw_start(generator, last=0.01)

    def plain_layers(self, theta: FloatArray) -> PlainLayers:
        """Give the layers of its network."""
        return PlainLayers(*self.network.cut(theta), self.network.relu)

    @classmethod
    def fit(cls, gives: ObservationKind, takes: ActionKind) -> Policy:
        """Make a policy with two hidden layers of 32 units for a source; see `fit_network`."""
        return fit_network(gives, takes, HIDDEN)

    @classmethod
    def fit_as(cls, gives: ObservationKind, takes: ActionKind, details: str) -> Policy:
        """Make a policy with the hidden layers of the details "64,64", or "64,64,std=1" to set the initial spread."""
        if not details:
            return cls.fit(gives, takes)
        found = re.fullmatch(r"(\d+(?:,\d+)*)(?:,std=([0-9.]+))?", details.replace(" ", ""))
        if found is None:
            raise InputError("policy", "look like mlp, mlp:64,64 or mlp:64,64,std=1", f"mlp:{details}")
        hidden, std = tuple(int(units) for units in found[1].split(",")), float(found[2] or INITIAL_STD)
        return fit_network(gives, takes, hidden, std)

    def recipe(self) -> dict[str, Any]:
        """Give what the constructor takes."""
        n_actions = self.n_actions if isinstance(self.n_actions, int) else list(self.n_actions)
        return {**self.network.recipe(), "n_actions": n_actions}

    def _over_parts(self, function: Any, outputs: FloatArray) -> FloatArray:
        """Apply a function of preferences to each component of the outputs [..., n]."""
        if len(self._parts) == 1:
            return function(outputs)
        return np.concatenate([function(outputs[..., part]) for part in self._slices], axis=-1)

    def _find_places(self, actions: ArrayLike, size: int) -> IntArray:
        """Give where in the outputs [B * n] each component of each action stands [B, components]."""
        given = np.asarray(actions)
        shape = (size,) if isinstance(self.n_actions, int) else (size, len(self._parts))
        if given.dtype.kind not in "iu" or (given.shape != shape and not (size == 1 and given.shape == shape[1:])):
            raise InputError("actions", f"be integers of shape {shape}", f"{given.dtype} of shape {given.shape}")
        indices = given.reshape(size, len(self._parts)).astype(np.int64)
        if np.min(indices, initial=0) < 0 or np.any(indices >= np.array(self._parts)):
            bad = (indices < 0) | (indices >= np.array(self._parts))
            raise InputError("actions", f"be in 0..{self.n_actions} - 1", int(indices[bad][0]))
        indices += self._begins[:-1] + self._begins[-1] * np.arange(size)[:, None]
        return indices

    def __repr__(self) -> str:
        net = self.network
        return f"MLP({net.inputs}, {self.n_actions}, hidden={net.hidden}, activation={net.activation!r})"


def fit_network(gives: ObservationKind, takes: ActionKind, hidden: tuple[int, ...], std: float = INITIAL_STD) -> Policy:
    """Make a policy whose preferences, or whose mean, are a network with these hidden layers, linear if empty.

    Choices get an `MLP`, numbers a `Gaussian`, and actions with both a `Factored` policy.
    """
    inputs = gives.n if isinstance(gives, States) else gives.size
    if isinstance(takes, Both):
        from riskgrad.policy.factored import Factored  # noqa: PLC0415 - it is made of this policy

        numbers = Gaussian(inputs, takes.numbers.low, takes.numbers.high, hidden, initial_std=std)
        return Factored(MLP(inputs, takes.choices.sizes, hidden), numbers)
    if isinstance(takes, Numbers):
        return Gaussian(inputs, takes.low, takes.high, hidden, initial_std=std)
    return MLP(inputs, takes.n if isinstance(takes, Choice) else takes.sizes, hidden)


def _sum_parts(logs: FloatArray) -> FloatArray:
    """Add up the log-probabilities of the components of each action [..., components]."""
    return logs[..., 0] if logs.shape[-1] == 1 else np.sum(logs, axis=-1)


def _entropy_slopes(preferences: FloatArray) -> FloatArray:
    logs = log_softmax(preferences)
    chances = exp_of(logs)
    return -chances * (logs - sum_over_actions(chances * logs))

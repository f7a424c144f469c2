"""Normal actions whose mean is a network of the observation and whose spread is a parameter of its own.

    a = mean_theta(o) + exp(log_std) * z,   z standard normal        a [n] is the action whose density is computed
    executed = low + (high - low) * (f(a) + 1) / 2                   f clips to [-1, 1], or squashes by tanh
    executed = clip(a, low, high)                                    in coordinates without two finite bounds

    P policies at once   B observations   k inputs   n coordinates of an action   d parameters

The flat vector holds the parameters of the network (see `mlp`; without hidden layers the mean is linear), then
log_std - log(initial_std) [n]. All zeros are a policy whose mean is 0, the middle of the bounds, and whose spread (the
standard deviation) is initial_std.

What is decided here, and why:

- The recorded action is a, before clipping or squashing. What is done to a afterwards does not depend on theta: scores
  and importance ratios of a serve in place of those of the executed action, and the logarithm of a Jacobian, which is
  inaccurate near the bounds, is not needed.
- Bounded coordinates of a are in units of half the range, so that one initial spread fits every environment.
- z is the inverse normal CDF at a uniform number of the episode's stream.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Never, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import as_reals, check_coefficients, check_theta, check_thetas
from riskgrad.errors import InputError
from riskgrad.kernels import network_passes
from riskgrad.kernels.formulas import exp_of, log_of
from riskgrad.policy.base import Linearization, Policy, drop_axes
from riskgrad.policy.bounds import Bounds, with_infinities
from riskgrad.policy.network import Activation, Network, PlainLayers, check_hidden
from riskgrad.types import FloatArray, IntArray, States, Vectors

HALF_LOG_TWO_PI: Final = 0.5 * np.log(2.0 * np.pi)
INITIAL_STD: Final = 0.5  # in units of half the range
SMALLEST: Final = 2.0**-54  # half of the step between uniform numbers; it keeps normal numbers within +-8.3


@final
class Gaussian(Policy):
    """Normal actions with a mean that is linear or a network, and a spread that does not depend on the observation.

    Args:
        inputs: length k of an observation; or the number of states, which are then one-hot.
        low: smallest value of each coordinate of an action [n]; -inf for none.
        high: largest value of each coordinate [n]; inf for none.
        hidden: units of each hidden layer of the mean; if empty, the mean is linear.
        activation: "tanh" or "relu".
        squashed: bring actions within the bounds by tanh rather than by clipping; needs finite bounds.
        initial_std: spread where the last n parameters are 0, in units of half the range.
    """

    sized_by = "inputs"

    def __init__(
        self,
        inputs: int,
        low: ArrayLike,
        high: ArrayLike,
        hidden: Sequence[int] | int = (),
        activation: Activation = "tanh",
        *,
        squashed: bool = False,
        initial_std: float = INITIAL_STD,
    ) -> None:
        self._bounds = Bounds.of(low, high, squashed)
        if not 0.0 < initial_std < np.inf:
            raise InputError("initial_std", "be finite and positive", initial_std)
        self.initial_std = float(initial_std)
        self.network = Network(inputs, check_hidden(hidden), self._bounds.size, activation)
        self.reads, self.acts = (Vectors(inputs), States(inputs)), self._bounds.numbers
        self.layered, self.noise_size = bool(self.network.hidden), self._bounds.size

    @property
    def dim(self) -> int:
        """Number of parameters d: those of the mean, and n for the spread."""
        return self.network.dim + self._bounds.size

    @property
    def action_bounds(self) -> Bounds:
        """The bounds within which actions are executed."""
        return self._bounds

    def probabilities(self, theta: ArrayLike, observations: ArrayLike) -> Never:
        """Refuse: there is a continuum of actions."""
        del theta, observations
        raise InputError("policy", "have finitely many actions for probabilities", self, "use log_prob")

    def mean(self, theta: ArrayLike, observations: ArrayLike) -> FloatArray:
        """Give the mean of the action [B, n], with the axes of `Policy.probabilities`."""
        thetas, flat = check_thetas(theta, self.dim)
        inputs, single = self.network.check_inputs(observations)
        return drop_axes(self.network.apply_all(thetas, inputs), flat, single)

    def std(self, theta: ArrayLike) -> FloatArray:
        """Give the spread of the action [n], or [P, n] for thetas [P, d]."""
        thetas, flat = check_thetas(theta, self.dim)
        found = self._std(thetas)
        return found[0] if flat else found

    def log_prob(self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike) -> FloatArray:
        """Give log pi_theta(a_b | o_b) [B], the density of a; see `Policy.log_prob`."""
        thetas, flat = check_thetas(theta, self.dim)
        inputs, single = self.network.check_inputs(observations)
        given = self._check_actions(actions, len(inputs))
        std = self._std(thetas)[:, None, :]
        z = (given - self.network.apply_all(thetas, inputs)) / std
        logs = np.sum(-0.5 * z * z - log_of(std) - HALF_LOG_TWO_PI, axis=-1)
        return drop_axes(logs, flat, single)

    def score_sum(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> FloatArray:
        """Give sum_b c_b grad log pi_theta(a_b | o_b) [d]."""
        vector = check_theta(theta, self.dim)
        inputs, _ = self.network.check_inputs(observations)
        given = self._check_actions(actions, len(inputs))
        scale = check_coefficients(coefficients, len(inputs))[:, None]
        std = self._std(vector[None])[0]
        z = (given - self.network.apply_all(vector[None], inputs)[0]) / std
        total = self.network.pullback(vector, inputs, scale * z / std)
        total[self.network.dim :] = np.sum(scale * (z * z - 1.0), axis=0)
        return total

    def entropy_sum(self, theta: ArrayLike, observations: ArrayLike, coefficients: ArrayLike) -> FloatArray:
        """Give sum_b c_b grad H [d]; see `Policy.entropy_sum`. H is the sum of log_std, plus a constant."""
        check_theta(theta, self.dim)
        inputs, _ = self.network.check_inputs(observations)
        total = np.zeros(self.dim)
        total[self.network.dim :] = np.sum(check_coefficients(coefficients, len(inputs)))
        return total

    def linearize(self, theta: FloatArray, observations: NDArray[Any], actions: NDArray[Any]) -> Linearization:
        """Give log pi_theta(a_b | o_b) [B] and gradients, with one forward pass for both; see `Policy.linearize`."""
        inputs, _ = self.network.check_inputs(observations)
        given, std = self._check_actions(actions, len(inputs)), self._std(theta[None])[0]
        means, pull_back = self.network.linearize(theta, inputs)
        z = (given - means) / std

        def pull(scores: FloatArray, entropies: FloatArray) -> FloatArray:
            gradient = np.zeros(self.dim)
            pull_back(scores[:, None] * z / std, gradient)
            gradient[self.network.dim :] = np.sum(scores[:, None] * (z * z - 1.0), axis=0) + np.sum(entropies)
            return gradient

        return Linearization(np.sum(-0.5 * z * z - log_of(std) - HALF_LOG_TWO_PI, axis=-1), pull)

    def sharpen(self, theta: FloatArray, factor: float) -> FloatArray:
        """Give parameters like theta [d] whose spread is divided by a factor."""
        sharper = theta.copy()
        sharper[self.network.dim :] -= log_of(np.array([factor]))
        return sharper

    def act(
        self, thetas: FloatArray, rows: IntArray, observations: NDArray[Any], uniforms: FloatArray | None
    ) -> NDArray[Any]:
        """Choose an action [B, n] for each observation; see `Policy.act`."""
        inputs, net = self.network.inputs_as_given(observations), self.network
        if uniforms is None:
            return net.apply(thetas, rows, inputs)
        actions, normals = np.empty((len(rows), net.outputs)), standard_normal(uniforms)
        network_passes.draw_normal_actions(
            thetas, rows, inputs, net.sizes, net.relu, self.initial_std, normals, actions
        )
        return actions

    def execute(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Give the actions within the bounds of the environment [B, n]."""
        return self._bounds.apply(actions)

    def initial_theta(self, generator: np.random.Generator) -> FloatArray:
        """Draw the weights [d]; the last layer is small, so that the mean begins near the middle of the bounds.

        A linear mean begins at 0, and the spread at initial_std.
        """
        if not self.network.hidden:
            return np.zeros(self.dim)
        return np.concatenate([self.network.draw_start(generator, last=0.01), np.zeros(self._bounds.size)])

    def plain_layers(self, theta: FloatArray) -> PlainLayers:
        """Give the layers of the mean, and the spread."""
        return PlainLayers(*self.network.cut(theta), self.network.relu, self.std(theta))

    def recipe(self) -> dict[str, Any]:
        """Give what the constructor takes."""
        return {**self.network.recipe(), **self._bounds.recipe(), "initial_std": self.initial_std}

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any]) -> "Gaussian":
        """Make the policy that a recipe describes."""
        return cls(**with_infinities(recipe))

    def _std(self, thetas: FloatArray) -> FloatArray:
        return self.initial_std * exp_of(thetas[:, self.network.dim :])

    def _check_actions(self, actions: ArrayLike, size: int) -> FloatArray:
        given = as_reals("actions", actions)
        shape = (size, self._bounds.size)
        if given.shape != shape and not (size == 1 and given.shape == shape[1:]):
            raise InputError("actions", f"have shape {shape}", f"shape {given.shape}")
        return given.reshape(shape)

    def __repr__(self) -> str:
        net = self.network
        hidden = f", hidden={net.hidden}, activation={net.activation!r}" if net.hidden else ""
        return f"Gaussian({net.inputs}, {self._bounds}{hidden}, initial_std={self.initial_std:g})"


def standard_normal(uniforms: FloatArray) -> FloatArray:
    """Give the inverse of the normal CDF at uniform numbers in [0, 1), in their shape."""
    from scipy.special import ndtri  # noqa: PLC0415 - scipy only where actions are drawn

    return np.asarray(ndtri(np.maximum(uniforms, SMALLEST)), dtype=np.float64)

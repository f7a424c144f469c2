"""A linear softmax: pi_theta(a | o) = exp l_a / sum_b exp l_b with logits l = W o for an observation o, a vector [k].

    theta[f * A + a] = W[a, f]          d = k * A

For one-hot observations it is the same as `TabularGibbs`. Its sums are compiled and skip the entries of an observation
that are zero (see `kernels.linear_softmax`); none goes through BLAS.

The feature of action a is o in the block of theta that belongs to a. If observations have norm at most M, features of
two actions are at most sqrt(2) M apart, so that the constants of `as:nabla_logpi` are sqrt(2) M and M^2 / 2.
"""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import check_actions, check_batch, check_coefficients, check_count, check_theta, check_thetas
from riskgrad.errors import InputError
from riskgrad.policy.base import Layers, Policy, choose_actions, drop_axes
from riskgrad.policy.mlp import fit_network
from riskgrad.policy.network import PlainLayers
from riskgrad.types import ActionKind, Choice, FloatArray, IntArray, ObservationKind, Vectors


@final
class LinearSoftmax(Policy):
    """A softmax over logits that are linear in the observation.

    Args:
        n_features: k, the length of an observation.
        n_actions: A; theta[f * A + a] is the weight of feature f for action a.
        feature_bound: the largest Euclidean norm M of an observation, where known. It is 1 for a soft one-hot, a vector
            that is not negative and sums to 1.
    """

    name, sized_by = "linear", "n_features"

    def __init__(self, n_features: int, n_actions: int, feature_bound: float | None = None) -> None:
        if feature_bound is not None and not 0.0 < feature_bound < np.inf:
            raise InputError("feature_bound", "be positive and finite, or None", feature_bound)
        self.n_features = check_count("n_features", n_features)
        self.n_actions = check_count("n_actions", n_actions)
        self.reads, self.acts = (Vectors(self.n_features),), Choice(self.n_actions)
        self._feature_bound = feature_bound

    @property
    def dim(self) -> int:
        """Number of parameters k * A."""
        return self.n_features * self.n_actions

    @property
    def layers(self) -> Layers:
        """One layer without biases."""
        return Layers((self.n_features, self.n_actions), bias=False, relu=False, greedy=False)

    @property
    def feature_norm(self) -> float | None:
        """The largest norm M of an observation, as it was given; None with memory, whose numbers are not bounded."""
        return self._feature_bound if self.memory is None else None

    @property
    def score_bounds(self) -> tuple[float, float] | None:
        """(M_d, M_h) of `as:nabla_logpi`; None where the norm of observations is not known."""
        if self.feature_norm is None:
            return None
        norm = self.feature_norm if self.n_actions > 1 else 0.0
        return float(np.sqrt(2.0)) * norm, 0.5 * norm * norm

    def probabilities(self, theta: ArrayLike, observations: ArrayLike) -> FloatArray:
        """Give pi_theta(a | o) [B, A]; see `Policy.probabilities`."""
        from riskgrad.kernels import linear_softmax  # noqa: PLC0415 - numba is imported only when it is needed

        thetas, flat = check_thetas(theta, self.dim)
        batch, single = self._check_observations(observations)
        return drop_axes(linear_softmax.all_probabilities(thetas, batch, self.n_actions), flat, single)

    def log_prob(self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike) -> FloatArray:
        """Give log pi_theta(a_b | o_b) [B]; see `Policy.log_prob`."""
        from riskgrad.kernels import linear_softmax  # noqa: PLC0415

        thetas, flat = check_thetas(theta, self.dim)
        batch, single = self._check_observations(observations)
        taken = check_actions(actions, len(batch), self.n_actions)
        return drop_axes(linear_softmax.all_log_probabilities(thetas, batch, taken, self.n_actions), flat, single)

    def score_sum(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> FloatArray:
        """Give sum_b c_b grad log pi_theta(a_b | o_b) [d]."""
        from riskgrad.kernels import linear_softmax  # noqa: PLC0415

        vector = check_theta(theta, self.dim)
        batch, _ = self._check_observations(observations)
        taken = check_actions(actions, len(batch), self.n_actions)
        return linear_softmax.score_total(
            vector, batch, taken, check_coefficients(coefficients, len(batch)), self.n_actions
        )

    def entropy_sum(self, theta: ArrayLike, observations: ArrayLike, coefficients: ArrayLike) -> FloatArray:
        """Give sum_b c_b grad H(pi_theta(. | o_b)) [d]."""
        from riskgrad.kernels import linear_softmax  # noqa: PLC0415

        vector = check_theta(theta, self.dim)
        batch, _ = self._check_observations(observations)
        return linear_softmax.entropy_total(vector, batch, check_coefficients(coefficients, len(batch)), self.n_actions)

    def act(
        self, thetas: FloatArray, rows: IntArray, observations: NDArray[Any], uniforms: FloatArray | None
    ) -> IntArray:
        """Choose an action for each observation; see `Policy.act`."""
        from riskgrad.kernels import linear_softmax  # noqa: PLC0415

        return choose_actions(
            linear_softmax.own_probabilities(thetas, rows, observations, self.n_actions),
            None if uniforms is None else uniforms[:, 0],
        )

    def plain_layers(self, theta: FloatArray) -> PlainLayers:
        """Give its one layer, whose biases are 0."""
        return PlainLayers((theta.reshape(self.n_features, self.n_actions),), (np.zeros(self.n_actions),), relu=False)

    @classmethod
    def fit(cls, gives: ObservationKind, takes: ActionKind) -> Policy:
        """Make the linear policy of a source: this one for a soft one-hot and one choice, else one with biases.

        Where the numbers of an observation sum to 1, biases would add nothing.
        """
        if isinstance(gives, Vectors) and gives.one_hot and isinstance(takes, Choice):
            return cls(gives.size, takes.n)
        return fit_network(gives, takes, ())

    def recipe(self) -> dict[str, Any]:
        """Give what the constructor takes."""
        return {"n_features": self.n_features, "n_actions": self.n_actions, "feature_bound": self._feature_bound}

    def _check_observations(self, observations: ArrayLike) -> tuple[FloatArray, bool]:
        batch, single = check_batch(observations, 1)
        if batch.shape[1] != self.n_features or batch.dtype.kind not in "fiub":
            got = f"{batch.dtype} of shape {batch.shape}"
            raise InputError("observations", f"be vectors of {self.n_features} numbers", got)
        return np.require(batch, np.float64, ["C", "W"]), single

    def __repr__(self) -> str:
        return f"LinearSoftmax({self.n_features}, {self.n_actions})"

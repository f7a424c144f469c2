"""The mode of a policy as a policy: always the likeliest action, for evaluation.

Training needs random actions; what is deployed is often the mode. Every source of episodes plays `Greedy`, since it is
a policy: `source.returns(Greedy(policy), thetas, ...)`. It has no density and no score.
"""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.policy.base import Layers, Policy, WithoutDensity
from riskgrad.policy.bounds import Bounds
from riskgrad.policy.normalized import ObservationStatistics
from riskgrad.types import FloatArray, IntArray


@final
class Greedy(WithoutDensity):
    """Take the likeliest action of another policy; the first where several are equally likely.

    Args:
        policy: the policy whose mode is taken.
    """

    def __init__(self, policy: Policy) -> None:
        self._inner = self.inner = policy
        self.reads, self.acts = policy.reads, policy.acts
        self.layered, self.statistics, self.memory = policy.layered, policy.statistics, policy.memory

    @property
    def dim(self) -> int:
        """Number of parameters d, those of the policy."""
        return self._inner.dim

    def with_statistics(self, statistics: ObservationStatistics) -> "Greedy":
        """Give the mode of the policy with other statistics."""
        return Greedy(self._inner.with_statistics(statistics))

    @property
    def action_bounds(self) -> Bounds | None:
        """The bounds of the policy."""
        return self._inner.action_bounds

    @property
    def layers(self) -> Layers | None:
        """The layers of the policy, with the largest output as the action."""
        layers = self._inner.layers
        return None if layers is None else layers._replace(greedy=True)

    def layer_thetas(self, thetas: FloatArray) -> FloatArray:
        """Give the parameters of the policy's layers."""
        return self._inner.layer_thetas(thetas)

    def probabilities(self, theta: ArrayLike, observations: ArrayLike) -> FloatArray:
        """Give 1 for the likeliest action and 0 for others [B, A]."""
        return point_mass(self._inner.probabilities(theta, observations))

    def act(
        self, thetas: FloatArray, rows: IntArray, observations: NDArray[Any], uniforms: FloatArray | None
    ) -> NDArray[Any]:
        """Give the likeliest action for each observation; see `Policy.act`."""
        del uniforms
        return self._inner.act(thetas, rows, observations, None)

    def execute(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Give the actions that the environment executes, as the policy does."""
        return self._inner.execute(actions)

    def __repr__(self) -> str:
        return f"Greedy({self._inner!r})"


def point_mass(scores: FloatArray) -> FloatArray:
    """Give 1 for the first of the largest scores along the last axis and 0 for the others, in the same shape."""
    return np.eye(scores.shape[-1])[np.argmax(scores, axis=-1)]

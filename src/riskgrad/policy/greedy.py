"""The mode of a policy as a policy: always the likeliest action, for evaluation.

A risk is trained on random actions; what is deployed is often the mode. Every source of episodes plays it, since it is
a policy: `source.returns(Greedy(policy), thetas, ...)`. It has no density and no score.
"""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.policy.base import Policy, WithoutDensity
from riskgrad.types import FloatArray, IntArray


@final
class Greedy(WithoutDensity):
    """Take the likeliest action of another policy; the first of them where several are.

    Args:
        policy: whose mode it is.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    @property
    def dim(self) -> int:
        """Number of parameters d, those of the policy."""
        return self.policy.dim

    @property
    def layered(self) -> bool:
        """Whether the policy is; see `Policy.layered`."""
        return self.policy.layered

    def probabilities(self, theta: ArrayLike, observations: ArrayLike) -> FloatArray:
        """Give 1 for the likeliest action and 0 for others [B, A]."""
        return certain(self.policy.probabilities(theta, observations))

    def act(
        self, thetas: FloatArray, rows: IntArray, observations: NDArray[Any], uniforms: FloatArray | None
    ) -> NDArray[Any]:
        """Give the likeliest action for each observation; see `Policy.act`."""
        del uniforms
        return self.policy.act(thetas, rows, observations, None)

    def executed(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Give what the environment is to do, as the policy does."""
        return self.policy.executed(actions)

    def __repr__(self) -> str:
        return f"Greedy({self.policy!r})"


def certain(scores: FloatArray) -> FloatArray:
    """Give 1 for the first of the largest scores along the last axis and 0 for others."""
    return np.eye(scores.shape[-1])[np.argmax(scores, axis=-1)]

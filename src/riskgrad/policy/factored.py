"""A policy for actions with discrete parts (choices) and continuous parts (numbers): one policy for each.

    pi_theta(a | o) = softmax part (choices of a | o) * normal part (numbers of a | o)

    P policies at once   B observations   c choices, n numbers of an action   d parameters

Both parts read the same observation, and are independent given it. An action is a row [c + n]: the indices of the
choices, and then the numbers. The flat vector is that of the policy of the choices (see `mlp`), then that of the policy
of the numbers (see `gaussian`).
"""

from collections.abc import Mapping
from typing import Any, Never, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import check_theta, check_thetas
from riskgrad.errors import InputError
from riskgrad.policy.base import Linearization, Policy
from riskgrad.policy.gaussian import Gaussian
from riskgrad.policy.mlp import MLP
from riskgrad.types import Both, Choices, FloatArray, IntArray, Numbers


@final
class Factored(Policy):
    """A softmax for the choices and a normal law for the numbers of an action.

    Args:
        choices: the policy of the choices, with n_actions given as a sequence of sizes.
        numbers: the policy of the numbers; it reads the same observations.
    """

    def __init__(self, choices: MLP, numbers: Gaussian) -> None:
        if not isinstance(choices.acts, Choices) or not isinstance(numbers.acts, Numbers):
            raise InputError("choices", "have several components beside numbers", choices)
        if choices.reads != numbers.reads:
            raise InputError("numbers", "read what the policy of the choices reads", numbers)
        self.choices, self.numbers = choices, numbers
        self._cut, self._width = choices.dim, len(choices.acts.sizes)
        self.reads, self.acts = choices.reads, Both(choices.acts, numbers.acts)
        self.layered, self.noise_size = choices.layered, choices.noise_size + numbers.noise_size

    @property
    def dim(self) -> int:
        """Number of parameters d: those of both policies."""
        return self.choices.dim + self.numbers.dim

    def probabilities(self, theta: ArrayLike, observations: ArrayLike) -> Never:
        """Refuse: some parts of an action are numbers."""
        del theta, observations
        raise InputError("policy", "have finitely many actions for probabilities", self)

    def log_prob(self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike) -> FloatArray:
        """Give log pi_theta(a_b | o_b) [B], the sum over both parts."""
        thetas, (picked, drawn) = check_thetas(theta, self.dim)[0], self._split(actions)
        both = self.choices.log_prob(thetas[:, : self._cut], observations, picked) + self.numbers.log_prob(
            thetas[:, self._cut :], observations, drawn
        )
        return both if np.ndim(theta) == 2 else both[0]

    def score_sum(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> FloatArray:
        """Give sum_b c_b grad log pi_theta(a_b | o_b) [d], part by part."""
        vector, (picked, drawn) = check_theta(theta, self.dim), self._split(actions)
        first = self.choices.score_sum(vector[: self._cut], observations, picked, coefficients)
        return np.concatenate([first, self.numbers.score_sum(vector[self._cut :], observations, drawn, coefficients)])

    def entropy_sum(self, theta: ArrayLike, observations: ArrayLike, coefficients: ArrayLike) -> FloatArray:
        """Give sum_b c_b grad H(pi_theta(. | o_b)) [d]; the entropies of both parts add up."""
        vector = check_theta(theta, self.dim)
        first = self.choices.entropy_sum(vector[: self._cut], observations, coefficients)
        return np.concatenate([first, self.numbers.entropy_sum(vector[self._cut :], observations, coefficients)])

    def linearize(self, theta: FloatArray, observations: NDArray[Any], actions: NDArray[Any]) -> Linearization:
        """Give log pi_theta(a_b | o_b) [B] and gradients; see `Policy.linearize`."""
        picked, drawn = self._split(actions)
        first = self.choices.linearize(theta[: self._cut], observations, picked)
        second = self.numbers.linearize(theta[self._cut :], observations, drawn)

        def pull(scores: FloatArray, entropies: FloatArray) -> FloatArray:
            return np.concatenate([first.pull(scores, entropies), second.pull(scores, entropies)])

        return Linearization(first.log_probs + second.log_probs, pull)

    def sharpen(self, theta: FloatArray, factor: float) -> FloatArray:
        """Give parameters like theta [d] with preferences multiplied, and the spread divided, by a factor."""
        parts = self.choices.sharpen(theta[: self._cut], factor), self.numbers.sharpen(theta[self._cut :], factor)
        return np.concatenate(parts)

    def act(
        self, thetas: FloatArray, rows: IntArray, observations: NDArray[Any], uniforms: FloatArray | None
    ) -> NDArray[Any]:
        """Choose an action for each observation [B, c + n]; see `Policy.act`."""
        cut = self.choices.noise_size
        early, late = (None, None) if uniforms is None else (uniforms[:, :cut].copy(), uniforms[:, cut:].copy())
        heads, tails = (np.ascontiguousarray(part) for part in (thetas[:, : self._cut], thetas[:, self._cut :]))
        picked = self.choices.act(heads, rows, observations, early)
        return np.concatenate([picked, self.numbers.act(tails, rows, observations, late)], axis=1)

    def execute(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Give the actions with their numbers within the bounds of the environment [B, c + n]."""
        inside = self.numbers.execute(np.ascontiguousarray(actions[:, self._width :]))
        return np.concatenate([actions[:, : self._width], inside], axis=1)

    def initial_theta(self, generator: np.random.Generator) -> FloatArray:
        """Give the initial parameters of both parts, one after the other [d]."""
        return np.concatenate([self.choices.initial_theta(generator), self.numbers.initial_theta(generator)])

    def recipe(self) -> dict[str, Any]:
        """Give the recipes of both parts."""
        return {"choices": self.choices.recipe(), "numbers": self.numbers.recipe()}

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any]) -> "Factored":
        """Make the policy that a recipe describes."""
        return cls(MLP.from_recipe(recipe["choices"]), Gaussian.from_recipe(recipe["numbers"]))

    def _split(self, actions: ArrayLike) -> tuple[IntArray, FloatArray]:
        """Give the choices [B, c] and the numbers [B, n] of actions [B, c + n]."""
        rows = np.atleast_2d(np.asarray(actions, dtype=np.float64))
        width = self._width + self.numbers.noise_size
        if rows.ndim != 2 or rows.shape[1] != width:
            raise InputError("actions", f"have shape (B, {width})", f"shape {np.shape(actions)}")
        return np.rint(rows[:, : self._width]).astype(np.int64), np.ascontiguousarray(rows[:, self._width :])

    def __repr__(self) -> str:
        return f"Factored({self.choices}, {self.numbers})"

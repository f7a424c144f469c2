"""Running normalization of observations: the statistics, how they are merged, and the policy that uses them.

    o' = clip((o - mean) / std, -limit, limit)       k coordinates of an observation   m episodes

Statistics are immutable: a count, a mean and a sum of squares about the mean. Each episode gives its own sums about the
mean that was in use, and these are added in the order of the episodes, so that the result does not depend on threads or
processes. A checkpoint stores the three arrays as they are.

Within an iteration all policies see the same statistics, so that their returns are comparable; new statistics are used
from the next iteration on. A policy that was trained with statistics must be used with them: `Normalized(policy,
statistics)`. How they change during a run is decided in `riskgrad.training.normalization`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import as_reals
from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls
from riskgrad.policy.base import Layers, Linearization, Policy, describe_policy, rebuild_policy
from riskgrad.policy.bounds import Bounds
from riskgrad.types import FloatArray, IntArray, Vectors

LIMIT: Final = 10.0
SMALLEST_STD: Final = 1e-8


@checks_calls
@dataclass(frozen=True, eq=False)
class ObservationStatistics:
    """The mean and variance of the observations seen so far.

    Attributes:
        count: how many were seen.
        mean: their mean [k].
        squares: the sum of their squared distances from the mean [k].
    """

    count: float
    mean: FloatArray
    squares: FloatArray

    @classmethod
    def none(cls, size: int) -> "ObservationStatistics":
        """Give the statistics of no observations, of `size` coordinates: mean 0 and standard deviation 1."""
        return cls(0.0, np.zeros(size), np.zeros(size))

    @classmethod
    def of(cls, observations: ArrayLike) -> "ObservationStatistics":
        """Give the statistics of a batch of observations [B, k]."""
        batch = np.asarray(observations, dtype=np.float64)
        if batch.ndim != 2:
            raise InputError("observations", "have shape [B, k]", f"shape {batch.shape}")
        if not len(batch):
            return cls.none(batch.shape[1])
        mean = np.mean(batch, axis=0)
        return cls(float(len(batch)), mean, np.sum((batch - mean) ** 2, axis=0))

    @classmethod
    def of_visits(cls, observations: ArrayLike, counts: ArrayLike) -> "ObservationStatistics":
        """Give the statistics of observations [V, k], of which the v-th was seen counts[v] times."""
        batch, times = np.asarray(observations), np.asarray(counts, dtype=np.float64)
        if batch.ndim != 2 or times.shape != batch.shape[:1]:
            raise InputError("observations", "be vectors [V, k] for statistics", f"shape {batch.shape}")
        if np.all(times == 1.0):
            return cls.of(batch)
        total = float(np.sum(times))
        mean = np.sum(times[:, None] * batch, axis=0) / total
        return cls(total, mean, np.sum(times[:, None] * (batch - mean) ** 2, axis=0))

    @property
    def std(self) -> FloatArray:
        """The standard deviation of each coordinate [k]; 1 where it is below 1e-8 or fewer than 2 were seen."""
        if self.count < 2:
            return np.ones(len(self.mean))
        found = np.sqrt(self.squares / self.count)
        return np.where(found > SMALLEST_STD, found, 1.0)

    def merge(self, other: "ObservationStatistics") -> "ObservationStatistics":
        """Give the statistics of both sets, by the formula of Chan, Golub and LeVeque, accurate for large means."""
        count = self.count + other.count
        if count == 0.0:
            return self
        gap = other.mean - self.mean
        mean = self.mean + gap * (other.count / count)
        squares = self.squares + other.squares + gap * gap * (self.count * other.count / count)
        return ObservationStatistics(count, mean, squares)

    def add(self, lengths: ArrayLike, sums: ArrayLike) -> "ObservationStatistics":
        """Give these statistics with the observations of episodes added.

        Args:
            lengths: how many observations each episode has, of any shape [...].
            sums: the sums of o - mean and of (o - mean)^2 over each episode, with the present mean [..., 2, k].
        """
        counts = np.asarray(lengths, dtype=np.float64).ravel()
        parts = np.asarray(sums, dtype=np.float64).reshape(len(counts), 2, len(self.mean))
        count = float(np.sum(counts))
        if count == 0.0:
            return self
        first, second = np.sum(parts, axis=0)
        squares = np.maximum(second - first * first / count, 0.0)
        return self.merge(ObservationStatistics(count, self.mean + first / count, squares))

    def arrays(self) -> dict[str, FloatArray]:
        """Give the arrays that a checkpoint holds, by their names."""
        return {"count": np.array([self.count]), "mean": self.mean, "squares": self.squares}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, ArrayLike]) -> "ObservationStatistics":
        """Make the statistics from the arrays that `arrays` gave."""
        count, mean, squares = (np.asarray(arrays[name], dtype=np.float64) for name in ("count", "mean", "squares"))
        if count.size != 1 or mean.ndim != 1 or mean.shape != squares.shape:
            raise InputError("arrays", "hold a count, a mean [k] and squares [k]", sorted(arrays))
        return cls(float(count.ravel()[0]), mean, squares)


@final
class Normalized(Policy):
    """A policy that sees normalized observations.

    Args:
        policy: the policy that acts on the normalized observations, which are vectors.
        statistics: the mean and variance by which observations are normalized; they do not change.
        limit: largest absolute value that the policy sees; larger ones are clipped.
    """

    def __init__(self, policy: Policy, statistics: ObservationStatistics, limit: float = LIMIT) -> None:
        self._inner = self.inner = policy
        self._statistics = self.statistics = statistics
        self.limit = float(limit)
        self._mean, self._scale = statistics.mean, 1.0 / statistics.std
        own = Vectors(len(self._mean))
        self.reads = (own,) if not policy.reads or own in policy.reads else policy.reads
        self.acts, self.has_density = policy.acts, policy.has_density
        self.layered, self.noise_size, self.memory = policy.layered, policy.noise_size, policy.memory

    @property
    def dim(self) -> int:
        """Number of parameters d of the policy."""
        return self._inner.dim

    @property
    def action_bounds(self) -> Bounds | None:
        """The bounds of the policy."""
        return self._inner.action_bounds

    @property
    def layers(self) -> Layers | None:
        """The layers of the policy, with biases, since the first layer includes the normalization."""
        layers = self._inner.layers
        return None if layers is None else layers._replace(bias=True)

    def layer_thetas(self, thetas: FloatArray) -> FloatArray:
        """Give the parameters with which the policy's layers act on observations that are not normalized.

        The first layer, weights [k, n] and biases [n], includes the normalization: w . ((o - mean) / std) + b is
        w' . o + b' with w' = w / std and b' = b - w' . mean. This is exact up to rounding if nothing is clipped, so
        that a finite limit is refused.
        """
        if np.isfinite(self.limit):
            advice = "write Normalized(policy, statistics, np.inf), or pass gymnasium.make(id) to play any policy"
            raise InputError("policy", "have no limit on normalized observations, to run compiled", self, advice)
        layers = self._inner.layers
        outputs = 0 if layers is None else layers.widths[1]
        inner, k = self._inner.layer_thetas(thetas), len(self._mean)
        size = k * outputs
        weights = inner[:, :size].reshape(-1, k, outputs) * self._scale[:, np.newaxis]
        has_bias = inner.shape[1] > size
        biases = inner[:, size : size + outputs].copy() if has_bias else np.zeros((len(inner), outputs))
        for feature, middle in enumerate(self._mean.tolist()):
            biases -= middle * weights[:, feature]
        return np.concatenate([weights.reshape(len(inner), size), biases, inner[:, size + outputs :]], axis=1)

    def with_statistics(self, statistics: ObservationStatistics) -> "Normalized":
        """Give the same policy with other statistics."""
        return Normalized(self._inner, statistics, self.limit)

    def rescale(self, observations: ArrayLike) -> FloatArray:
        """Give the observations as the policy sees them, vectors [..., k]."""
        given = as_reals("observations", observations)
        if given.ndim < 1 or given.shape[-1] != len(self._mean):
            raise InputError("observations", f"be vectors of {len(self._mean)} numbers", f"shape {given.shape}")
        return np.clip((given - self._mean) * self._scale, -self.limit, self.limit)

    def probabilities(self, theta: ArrayLike, observations: ArrayLike) -> FloatArray:
        """Give pi_theta(a | o); see `Policy.probabilities`."""
        return self._inner.probabilities(theta, self.rescale(observations))

    def log_prob(self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike) -> FloatArray:
        """Give log pi_theta(a | o); see `Policy.log_prob`."""
        return self._inner.log_prob(theta, self.rescale(observations), actions)

    def score_sum(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> FloatArray:
        """Give a sum of scores; see `Policy.score_sum`."""
        return self._inner.score_sum(theta, self.rescale(observations), actions, coefficients)

    def linearize(self, theta: FloatArray, observations: NDArray[Any], actions: NDArray[Any]) -> Linearization:
        """Give log-probabilities and gradients; see `Policy.linearize`."""
        return self._inner.linearize(theta, self.rescale(observations), actions)

    def sharpen(self, theta: FloatArray, factor: float) -> FloatArray | None:
        """Give parameters with preferences times a factor, as the policy does; see `Policy.sharpen`."""
        return self._inner.sharpen(theta, factor)

    def entropy_sum(self, theta: ArrayLike, observations: ArrayLike, coefficients: ArrayLike) -> FloatArray:
        """Give a sum of gradients of entropies; see `Policy.entropy_sum`."""
        return self._inner.entropy_sum(theta, self.rescale(observations), coefficients)

    def act(
        self, thetas: FloatArray, rows: IntArray, observations: NDArray[Any], uniforms: FloatArray | None
    ) -> NDArray[Any]:
        """Choose actions; see `Policy.act`."""
        return self._inner.act(thetas, rows, self.rescale(observations), uniforms)

    def execute(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Give the actions that the environment executes, as the policy does."""
        return self._inner.execute(actions)

    def initial_theta(self, generator: np.random.Generator) -> FloatArray:
        """Give the parameters [d] from which the policy starts."""
        return self._inner.initial_theta(generator)

    def recipe(self) -> dict[str, Any] | None:
        """Give the recipe of the policy, the statistics and the limit."""
        inner = describe_policy(self._inner)
        numbers = {name: array.tolist() for name, array in self._statistics.arrays().items()}
        limit = self.limit if np.isfinite(self.limit) else None
        return None if inner["recipe"] is None else {"policy": inner, "statistics": numbers, "limit": limit}

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any]) -> "Normalized":
        """Make the policy that a recipe describes."""
        inner = rebuild_policy(recipe["policy"])
        if inner is None:
            raise InputError("policy", "be one that can be rebuilt", recipe["policy"])
        limit = np.inf if recipe["limit"] is None else recipe["limit"]
        return cls(inner, ObservationStatistics.from_arrays(recipe["statistics"]), limit)

    def arrays(self) -> dict[str, FloatArray]:
        """Give the arrays that a checkpoint holds besides the parameters: the statistics and the limit."""
        return {**self._statistics.arrays(), "limit": np.array([self.limit])}

    @classmethod
    def from_arrays(cls, policy: Policy, arrays: Mapping[str, ArrayLike]) -> "Normalized":
        """Give the policy normalized by what `arrays` gave; a policy that is normalized already is unwrapped first."""
        limit = float(np.ravel(np.asarray(arrays["limit"], dtype=np.float64))[0])
        inner = policy.inner if policy.inner is not None and policy.statistics is not None else policy
        return cls(inner, ObservationStatistics.from_arrays(arrays), limit)

    def __repr__(self) -> str:
        return f"Normalized({self._inner!r}, {self._statistics.count:g} observations)"

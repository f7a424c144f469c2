"""Gibbs policies: pi_theta(a | o) = exp h(o, a, theta) / sum_b exp h(o, b, theta), for three kinds of preference h.

    TabularGibbs     h(s, a, theta) = theta[s * A + a]            d = S * A
    LinearGibbs      h(o, a, theta) = features(o)[a] . theta      d = k
    Gibbs            h is the user's own function

Each has `score_bounds` = (M_d, M_h), the bounds of `as:nabla_logpi` on the score and the Hessian of log pi. For a
linear h with feature spread D = max ||phi(o, a) - phi(o, b)|| they are D and D^2 / 4, since the Hessian is minus the
covariance of the features; for a table sqrt(2) and 1/2. These are sharp, and smaller than those of the paper.
No sum here goes through BLAS, so that the result of a row has the same bits whatever else is in the batch.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import (
    as_array,
    as_reals,
    check_actions,
    check_batch,
    check_coefficients,
    check_count,
    check_states,
    check_theta,
    check_thetas,
)
from riskgrad.errors import InputError
from riskgrad.kernels.formulas import action_log_softmax, softmax
from riskgrad.policy.base import Policy, drop_axes, preference_weights, sum_by_visit
from riskgrad.types import ActionKind, Choice, FloatArray, Numbers, ObservationKind, States

Features = Callable[[Any], ArrayLike]
Preference = Callable[[FloatArray, Any], ArrayLike]

LARGEST_TEMPORARY: Final = 1 << 20  # entries of a temporary array of features; larger batches are cut into pieces


class PreferencePolicy(Policy):
    """A softmax over preferences: what the Gibbs policies have in common."""

    n_actions: int

    @abstractmethod
    def check_observations(self, observations: ArrayLike) -> tuple[NDArray[Any], bool]:
        """Give observations with the batch axis in front, and whether the caller gave a single one."""

    @abstractmethod
    def preferences(self, thetas: FloatArray, batch: NDArray[Any]) -> FloatArray:
        """Give h(o_b, a, theta) [P, B, A] of checked parameters [P, d] and observations [B, ...]."""

    def probabilities(self, theta: ArrayLike, observations: ArrayLike) -> FloatArray:
        """Give pi_theta(a | o) [B, A]; see `Policy.probabilities`."""
        thetas, flat = check_thetas(theta, self.dim)
        batch, single = self.check_observations(observations)
        return drop_axes(softmax(self.preferences(thetas, batch)), flat, single)

    def log_prob(self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike) -> FloatArray:
        """Give log pi_theta(a_b | o_b) [B]; see `Policy.log_prob`."""
        thetas, flat = check_thetas(theta, self.dim)
        batch, single = self.check_observations(observations)
        chosen = check_actions(actions, len(batch), self.n_actions)
        return drop_axes(action_log_softmax(self.preferences(thetas, batch), chosen), flat, single)

    def check_visits(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> tuple[FloatArray, NDArray[Any], NDArray[np.intp], FloatArray]:
        """Check and give the parameters [d], observations [B, ...], actions [B] and coefficients [B] of a score sum."""
        vector = check_theta(theta, self.dim)
        batch, _ = self.check_observations(observations)
        chosen = check_actions(actions, len(batch), self.n_actions)
        return vector, batch, chosen, check_coefficients(coefficients, len(batch))


@final
class TabularGibbs(PreferencePolicy):
    """A softmax over one free preference per state and action.

    Args:
        n_states: S.
        n_actions: A; theta[s * A + a] is the preference for action a in state s.
    """

    name, sized_by, scales = "table", "n_states", True

    def __init__(self, n_states: int, n_actions: int) -> None:
        self.n_states = check_count("n_states", n_states)
        self.n_actions = check_count("n_actions", n_actions)
        self.reads, self.acts = (States(self.n_states),), Choice(self.n_actions)
        self.table_shape = self.n_states, self.n_actions

    @property
    def dim(self) -> int:
        """Number of parameters S * A."""
        return self.n_states * self.n_actions

    @property
    def score_bounds(self) -> tuple[float, float]:
        """(M_d, M_h) of `as:nabla_logpi`."""
        return (float(np.sqrt(2.0)), 0.5) if self.n_actions > 1 else (0.0, 0.0)

    @property
    def feature_norm(self) -> float:
        """The largest norm M of a feature: 1, since the features are unit vectors."""
        return 1.0

    def score_sum(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> FloatArray:
        """Give sum_b c_b grad log pi_theta(a_b | s_b) [d]."""
        vector, states, chosen, scale = self.check_visits(theta, observations, actions, coefficients)
        sums = sum_by_visit(states, chosen, scale, (self.n_states, self.n_actions))
        return preference_weights(sums, softmax(vector.reshape(sums.shape))).ravel()

    @classmethod
    def fit(cls, gives: ObservationKind, takes: ActionKind) -> "TabularGibbs":
        """Make a table of the states and actions of a source; refuse a source without states or discrete actions."""
        if isinstance(takes, Numbers):
            raise InputError("policy", "not be a table where actions are numbers", cls.name, "try 'linear' or 'mlp'")
        if not isinstance(gives, States) or not isinstance(takes, Choice):
            rule = "not be a table where observations are no states"
            raise InputError("policy", rule, cls.name, "try 'linear' or 'mlp'")
        return cls(gives.n, takes.n)

    def recipe(self) -> dict[str, Any]:
        """Give the numbers of states and actions."""
        return {"n_states": self.n_states, "n_actions": self.n_actions}

    def check_observations(self, observations: ArrayLike) -> tuple[NDArray[Any], bool]:
        """Give states [B], and whether the caller gave a single one."""
        return check_states(observations, self.n_states)

    def preferences(self, thetas: FloatArray, batch: NDArray[Any]) -> FloatArray:
        """Give the rows [P, B, A] of the tables for states [B]."""
        return thetas.reshape(len(thetas), self.n_states, self.n_actions)[:, batch]

    def __repr__(self) -> str:
        return f"TabularGibbs({self.n_states}, {self.n_actions})"


@final
class LinearGibbs(PreferencePolicy):
    """A softmax over preferences that are linear in features of the observation and the action.

    Args:
        features: an array [S, A, k] for a finite model, or a function from one observation to [A, k].
        example: for a function, an observation from which A, k and its shape are found; state 0 by default.
    """

    scales = True

    def __init__(self, features: ArrayLike | Features, example: Any = 0) -> None:
        self._function: Features | None = features if callable(features) else None
        made = _call_once("features", features, example) if callable(features) else features
        self._table, self._ndim = as_reals("features", made), np.ndim(example) if callable(features) else 0
        rule, axes = ("return [A, k]", 2) if callable(features) else ("have shape [S, A, k]", 3)
        if self._table.ndim != axes or self._table.size == 0:
            raise InputError("features", rule, f"shape {self._table.shape}")
        if not np.all(np.isfinite(self._table)):
            raise InputError("features", "be finite", float(self._table[~np.isfinite(self._table)][0]))
        self.n_actions, self._dim = (int(size) for size in self._table.shape[-2:])
        self.reads = () if callable(features) else (States(len(self._table)),)
        self.acts = Choice(self.n_actions)

    @property
    def dim(self) -> int:
        """Number of parameters k."""
        return self._dim

    @property
    def score_bounds(self) -> tuple[float, float] | None:
        """(M_d, M_h) of `as:nabla_logpi`; None for features given as a function, whose spread is not known."""
        return None if self._function is not None else self._spread_bounds

    @cached_property
    def _spread_bounds(self) -> tuple[float, float]:
        gaps = (self._table - self._table[:, a : a + 1] for a in range(self.n_actions))
        spread = max(float(np.sqrt(np.max(np.sum(gap * gap, axis=-1)))) for gap in gaps)
        return spread, spread * spread / 4.0

    @property
    def feature_norm(self) -> float | None:
        """The largest norm M of a feature; None for features given as a function."""
        if self._function is not None:
            return None
        return float(np.sqrt(np.max(np.sum(self._table * self._table, axis=-1))))

    def score_sum(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> FloatArray:
        """Give sum_b c_b grad log pi_theta(a_b | o_b) [d]."""
        vector, batch, chosen, scale = self.check_visits(theta, observations, actions, coefficients)
        distinct, where = _distinct_observations(batch)
        sums = sum_by_visit(where, chosen, scale, (len(distinct), self.n_actions))
        total = np.zeros(self.dim)
        for piece in self._pieces(len(distinct)):
            features = self._features(distinct[piece])
            weights = preference_weights(sums[piece], softmax(np.sum(features * vector, axis=-1)))
            total += np.sum(weights[:, :, None] * features, axis=(0, 1))
        return total

    def check_observations(self, observations: ArrayLike) -> tuple[NDArray[Any], bool]:
        """Give states [B], or the observations [B, ...] that the function takes, and whether it was a single one."""
        if self._function is None:
            return check_states(observations, len(self._table))
        return check_batch(observations, self._ndim)

    def _features(self, batch: NDArray[Any]) -> FloatArray:
        if self._function is None:
            return self._table[batch]
        found = [np.asarray(self._function(one), dtype=np.float64) for one in batch]
        for one in found:
            if one.shape != (self.n_actions, self.dim):
                raise InputError("features", f"return shape {(self.n_actions, self.dim)}", f"shape {one.shape}")
        return np.stack(found) if found else np.zeros((0, self.n_actions, self.dim))

    def preferences(self, thetas: FloatArray, batch: NDArray[Any]) -> FloatArray:
        """Give the products of features and parameters [P, B, A]."""
        found = np.empty((len(thetas), len(batch), self.n_actions))
        for piece in self._pieces(len(batch)):
            features = self._features(batch[piece])
            for p, theta in enumerate(thetas):
                found[p, piece] = np.sum(features * theta, axis=-1)
        return found

    def _pieces(self, size: int) -> list[slice]:
        step = max(1, LARGEST_TEMPORARY // (self.n_actions * self.dim))
        return [slice(begin, begin + step) for begin in range(0, size, step)]

    def __repr__(self) -> str:
        return f"LinearGibbs({self.n_actions} actions, {self.dim} features)"


@final
class Gibbs(PreferencePolicy):
    """A softmax over preferences that are any function of the parameters.

    Without `gradient`, sums of scores use central differences of h, with a relative error of about 1e-10 for a smooth h
    and 2 d calls of h for each observation: every estimator and the exact gradient then work for every h, only slower.

    Args:
        preference: h(theta [d], one observation) -> [A].
        dim: number of parameters d.
        gradient: grad h(theta [d], one observation) -> [A, d], where known.
        bounds: (M_d, M_h) of `as:nabla_logpi`, where known: bounds of ||grad log pi|| and ||hess log pi||.
        example: an observation from which A and the shape of an observation are found; state 0 by default.
    """

    def __init__(
        self,
        preference: Preference,
        dim: int,
        gradient: Preference | None = None,
        bounds: tuple[float, float] | None = None,
        example: Any = 0,
    ) -> None:
        self._dim, self._ndim = check_count("dim", dim), as_array("example", example).ndim
        self._preference, self._gradient = preference, gradient
        first = _call_once("preference", lambda one: preference(np.zeros(self._dim), one), example)
        if first.ndim != 1 or first.size == 0:
            raise InputError("preference", "return one number per action, [A]", f"shape {first.shape}")
        self.n_actions = len(first)
        self.acts = Choice(self.n_actions)
        ends = (0.0, 0.0) if bounds is None else as_reals("bounds", bounds)
        if np.shape(ends) != (2,) or not np.all(np.greater_equal(ends, 0.0) & np.less(ends, np.inf)):
            raise InputError("bounds", "be two finite numbers (M_d, M_h), not negative", bounds)
        self._bounds = None if bounds is None else (float(ends[0]), float(ends[1]))

    @property
    def dim(self) -> int:
        """Number of parameters d."""
        return self._dim

    @property
    def score_bounds(self) -> tuple[float, float] | None:
        """(M_d, M_h) as they were given."""
        return self._bounds

    def score_sum(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> FloatArray:
        """Give sum_b c_b grad log pi_theta(a_b | o_b) [d]."""
        vector, batch, chosen, scale = self.check_visits(theta, observations, actions, coefficients)
        distinct, where = _distinct_observations(batch)
        sums = sum_by_visit(where, chosen, scale, (len(distinct), self.n_actions))
        weights = preference_weights(sums, softmax(self.preferences(vector[None], distinct)[0]))
        if self._gradient is None:
            return self._differences(vector, distinct, weights)
        total = np.zeros(self.dim)
        for one, weight in zip(distinct, weights, strict=True):
            slopes = np.asarray(self._gradient(vector, one), dtype=np.float64)
            if slopes.shape != (self.n_actions, self.dim):
                raise InputError("gradient", f"return shape {(self.n_actions, self.dim)}", f"shape {slopes.shape}")
            total += np.sum(weight[:, None] * slopes, axis=0)
        return total

    def _differences(self, theta: FloatArray, batch: NDArray[Any], weights: FloatArray) -> FloatArray:
        slopes = np.empty(self.dim)
        for j in range(self.dim):
            # a step of the cube root of the rounding unit balances truncation against cancellation
            step = 6e-6 * max(1.0, abs(float(theta[j])))
            pair = np.stack([theta, theta])
            pair[0, j] += step
            pair[1, j] -= step
            above, below = self.preferences(pair, batch)
            slopes[j] = np.sum(weights * (above - below)) / (pair[0, j] - pair[1, j])
        return slopes

    def check_observations(self, observations: ArrayLike) -> tuple[NDArray[Any], bool]:
        """Give the observations [B, ...], and whether the caller gave a single one."""
        return check_batch(observations, self._ndim)

    def preferences(self, thetas: FloatArray, batch: NDArray[Any]) -> FloatArray:
        """Give the values [P, B, A] of the user's function, called once for each distinct state or each vector."""
        distinct, where = _distinct_observations(batch)
        found = np.empty((len(thetas), len(distinct), self.n_actions))
        for p, theta in enumerate(thetas):
            for b, one in enumerate(distinct):
                preferences = np.asarray(self._preference(theta, one), dtype=np.float64)
                if preferences.shape != (self.n_actions,) or not np.all(np.isfinite(preferences)):
                    raise InputError("preference", f"return {self.n_actions} finite numbers", preferences)
                found[p, b] = preferences
        return found[:, where]

    def __repr__(self) -> str:
        return f"Gibbs({self.n_actions} actions, {self.dim} parameters)"


def _distinct_observations(batch: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Give the distinct states [U] and the index of each observation among them [B]; vectors stay as they are."""
    if batch.ndim == 1 and batch.dtype.kind in "iu":
        distinct, where = np.unique(batch, return_inverse=True)
        return distinct, where
    return batch, np.arange(len(batch))


def _call_once(name: str, function: Features, example: Any) -> FloatArray:
    try:
        return np.asarray(function(example), dtype=np.float64)
    except Exception as error:
        advice, words = "pass example=, one observation of your environment", f"{type(error).__name__}: {error}"
        raise InputError(name, f"accept the observation {example!r}", words, advice) from error

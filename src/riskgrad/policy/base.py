"""What a policy is: a distribution over actions that is smooth in a flat vector of parameters.

    P policies at once   B observations   A actions   d parameters   u uniform numbers per action

A policy holds no parameters. They come in as `theta` [d] or as `thetas` [P, d], so that hundreds of perturbed policies
are evaluated by one call, and the same policy object serves every iteration of a run.

Actions are indices [B], or vectors [B, n] of numbers where there is a continuum of them. `act` turns uniform numbers of
an episode's own stream into actions by the inverse CDF: nearby policies then turn the same numbers into nearly the same
actions, which is what common random numbers live on. What an environment is given may differ from the action whose
density is known (it is squashed or clipped): `execute` says how.

What a policy can do, it declares: what it reads and how it acts, whether it has a density, whether compiled loops can
run it, and how it is rebuilt from a file. Whoever uses a policy asks these and never what kind it is.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Never, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.errors import InputError
from riskgrad.kernels.formulas import log_of
from riskgrad.registry import PartList
from riskgrad.types import ActionKind, FloatArray, IntArray, ObservationKind

if TYPE_CHECKING:
    from riskgrad.policy.bounds import Bounds
    from riskgrad.policy.normalize import ObservationStatistics


class Layers(NamedTuple):
    """A policy as a compiled loop runs it: a network from an observation to one number per action.

    Attributes:
        widths: units of each layer, the observation's length first and the number of actions last.
        bias: whether layers have biases.
        relu: whether the activation is relu; otherwise it is tanh.
        greedy: whether the action is the largest output; otherwise it is drawn from their softmax.
    """

    widths: tuple[int, ...]
    bias: bool
    relu: bool
    greedy: bool


class Policy(ABC):
    """A parametrized policy pi_theta(a | o).

    A policy with finitely many actions has to give `dim`, `probabilities`, `log_prob` and `score_sum`. Everything else
    has a default, which a policy overrides where it can do better or acts otherwise.
    """

    name: ClassVar[str] = ""  # how `rg.train(..., policy=name)` calls it; such a policy has `fit`

    @property
    @abstractmethod
    def dim(self) -> int:
        """Number of parameters d."""

    @property
    def reads(self) -> tuple[ObservationKind, ...]:
        """What it can read; empty where that is not known, and any observation is tried."""
        return ()

    @property
    def acts(self) -> ActionKind | None:
        """Among which actions it chooses; None where that is not known."""
        return None

    @property
    def has_density(self) -> bool:
        """Whether it has `log_prob` and `score_sum`, which ratios, scores and entropy are made of."""
        return True

    @property
    def inner(self) -> "Policy | None":
        """The policy that this one wraps, such as the one whose mode `Greedy` takes."""
        return None

    @property
    def statistics(self) -> "ObservationStatistics | None":
        """The statistics by which it normalizes observations; None where it takes them as they are."""
        return None

    def by(self, statistics: "ObservationStatistics") -> "Policy":
        """Give the same policy by other statistics; only for one that normalizes observations."""
        del statistics
        raise InputError("policy", "be one that normalizes observations", self)

    def arrays(self) -> dict[str, FloatArray]:
        """Give what a checkpoint holds besides the parameters."""
        return {}

    @property
    def score_bounds(self) -> tuple[float, float] | None:
        """(M_d, M_h) of `as:nabla_logpi`, which bound the score and the Hessian of log pi, where known."""
        return None

    @property
    def feature_norm(self) -> float | None:
        """The largest norm M of a feature, for preferences that are linear in features of a known norm."""
        return None

    @property
    def action_bounds(self) -> "Bounds | None":
        """The bounds within which actions that are numbers are executed; None for choices."""
        return None

    @property
    def layers(self) -> Layers | None:
        """The network that a compiled loop can run in its place; None where there is none."""
        return None

    def layer_thetas(self, thetas: FloatArray) -> FloatArray:
        """Give the parameters of `layers` [P, ...] for parameters [P, d] of the policy."""
        return thetas

    def preference_table(self, thetas: FloatArray) -> FloatArray | None:
        """Give preferences [P, S, A] whose softmax it is, where it is a table of them by state; otherwise None."""
        del thetas
        return None

    @classmethod
    def fit(cls, gives: ObservationKind, takes: ActionKind) -> "Policy":
        """Make a policy of this name for what a source gives and takes; refuse where there is none."""
        del gives, takes
        raise InputError("policy", "be given as a value, since this kind is made by no name", cls.__name__)

    def recipe(self) -> dict[str, Any] | None:
        """Give what JSON can hold and `from_recipe` makes it from; None where it holds a function of the user's."""
        return None

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any]) -> Self:
        """Make the policy that `recipe` told."""
        options: dict[str, Any] = dict(recipe)
        return cls(**options)

    @property
    def layered(self) -> bool:
        """Whether parameters multiply one another, as weights of layers do; such a policy takes shorter steps."""
        return False

    @abstractmethod
    def probabilities(self, theta: ArrayLike, observations: ArrayLike) -> FloatArray:
        """Give pi_theta(a | o) for every action.

        Args:
            theta: parameters [d], or [P, d] for P policies at once.
            observations: one observation, or B of them along the first axis.

        Returns:
            probabilities [B, A], without B for one observation; with P in front for thetas [P, d].
        """

    @abstractmethod
    def log_prob(self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike) -> FloatArray:
        """Give log pi_theta(a_b | o_b) for B observations and actions: [B], or [P, B] for thetas [P, d]."""

    @abstractmethod
    def score_sum(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> FloatArray:
        """Give the sum over b of coefficients[b] * grad log pi_theta(a_b | o_b), a vector [d].

        It is a vector-Jacobian product: the scores of the visits [B, d] are never stored.
        """

    @property
    def noise_size(self) -> int:
        """How many uniform numbers one action takes, u."""
        return 1

    def act(
        self, thetas: FloatArray, rows: IntArray, observations: NDArray[Any], uniforms: FloatArray | None
    ) -> NDArray[Any]:
        """Choose an action for each of B observations, each by its own policy.

        Args:
            thetas: parameters [P, d].
            rows: which row of thetas acts on each observation [B].
            observations: B observations along the first axis.
            uniforms: numbers in [0, 1) to choose by [B, u]; None takes the likeliest action of each.

        Returns:
            actions [B], or [B, n] for vectors.
        """
        actions = np.empty(len(rows), dtype=np.int64)
        for row in np.unique(rows):
            mine = np.flatnonzero(rows == row)
            chances = self.probabilities(thetas[row], observations[mine])
            actions[mine] = choose_actions(chances, None if uniforms is None else uniforms[mine, 0])
        return actions

    def execute(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Give what an environment is to do for these actions: the same, unless the policy squashes or clips them."""
        return actions

    def initial_theta(self, generator: np.random.Generator) -> FloatArray:
        """Give parameters to start training from [d]: zeros, unless the policy would not learn from there."""
        del generator
        return np.zeros(self.dim)

    def entropy_sum(self, theta: ArrayLike, observations: ArrayLike, coefficients: ArrayLike) -> FloatArray:
        """Give the sum over b of coefficients[b] * grad of the entropy of pi_theta(. | o_b), a vector [d].

        It is exact, over all actions: grad H = - sum_a pi(a | o) log pi(a | o) grad log pi(a | o).
        """
        batch = np.asarray(observations)
        chances = self.probabilities(theta, batch)
        surprise = -log_of(np.maximum(chances, np.finfo(np.float64).tiny))
        scale = checked_coefficients(coefficients, len(batch))[:, None] * chances * surprise
        actions = np.arange(chances.shape[1], dtype=np.int64)
        repeated = np.repeat(batch, len(actions), axis=0)
        return self.score_sum(theta, repeated, np.tile(actions, len(batch)), scale.ravel())


class WithoutDensity(Policy):
    """A policy whose action is a function of the observation: nothing to reweight and no score."""

    @property
    def has_density(self) -> bool:
        """Never."""
        return False

    @property
    def noise_size(self) -> int:
        """No random number."""
        return 0

    def log_prob(self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike) -> Never:
        """Refuse: there is no density."""
        del theta, observations, actions
        raise InputError("policy", "be random for ratios, scores and entropy", self, "OnP-SF needs none of them")

    def score_sum(
        self, theta: ArrayLike, observations: ArrayLike, actions: ArrayLike, coefficients: ArrayLike
    ) -> Never:
        """Refuse: there is no score."""
        del coefficients
        self.log_prob(theta, observations, actions)

    def entropy_sum(self, theta: ArrayLike, observations: ArrayLike, coefficients: ArrayLike) -> Never:
        """Refuse: there is no entropy."""
        self.log_prob(theta, observations, coefficients)


def choose_actions(chances: FloatArray, uniforms: FloatArray | None) -> IntArray:
    """Choose an action [B] from probabilities [B, A] by the inverse CDF at uniforms [B]; None takes the likeliest.

    The interval [0, 1) is cut in the order of the actions; one without a chance gets no part of it.
    """
    if uniforms is None:
        return np.asarray(np.argmax(chances, axis=-1), dtype=np.int64)
    sums = np.cumsum(chances, axis=-1)
    # scaled by the last sum, which may be one rounding away from 1, so that the last action is not favored
    passed = sums[:, :-1] <= (uniforms * sums[:, -1])[:, None]
    return np.asarray(np.sum(passed, axis=-1), dtype=np.int64)


def checked_thetas(theta: ArrayLike, dim: int) -> tuple[FloatArray, bool]:
    """Return thetas [P, d], and whether the caller gave one flat vector; refuse a wrong shape or NaN."""
    thetas = np.asarray(theta, dtype=np.float64)
    if thetas.ndim not in (1, 2) or thetas.shape[-1] != dim:
        raise InputError("theta", f"have shape ({dim},) or (P, {dim})", f"shape {thetas.shape}")
    if not np.all(np.isfinite(thetas)):
        raise InputError("theta", "be finite", float(thetas[~np.isfinite(thetas)][0]))
    return np.atleast_2d(thetas), thetas.ndim == 1


def checked_theta(theta: ArrayLike, dim: int) -> FloatArray:
    """Return one flat vector of parameters [d]."""
    thetas, flat = checked_thetas(theta, dim)
    if not flat:
        raise InputError("theta", f"be one vector of shape ({dim},)", f"shape {thetas.shape}")
    return thetas[0]


def checked_batch(observations: ArrayLike, ndim: int) -> tuple[NDArray[Any], bool]:
    """Return observations with the batch axis in front, and whether the caller gave a single one.

    Args:
        observations: one observation, or B of them.
        ndim: number of axes of one observation: 0 for a state, 1 for a vector.
    """
    batch = np.asarray(observations)
    if batch.ndim not in (ndim, ndim + 1):
        raise InputError("observations", f"have {ndim} axes each, or one more for a batch", f"shape {batch.shape}")
    return (batch[None], True) if batch.ndim == ndim else (batch, False)


def checked_states(observations: ArrayLike, n_states: int) -> tuple[NDArray[np.intp], bool]:
    """Return states [B], and whether the caller gave a single one; refuse what is not a state."""
    batch, single = checked_batch(observations, 0)
    if batch.dtype.kind not in "iu":
        raise InputError("observations", "be integer states", batch.dtype)
    if batch.size and (int(batch.min()) < 0 or int(batch.max()) >= n_states):
        bad = batch[(batch < 0) | (batch >= n_states)]
        raise InputError("observations", f"be states in 0..{n_states - 1}", int(bad[0]))
    return batch.astype(np.intp, copy=False), single


def checked_actions(actions: ArrayLike, size: int, n_actions: int) -> NDArray[np.intp]:
    """Return action indices [B]; refuse another number of them, or what is not an action."""
    chosen = np.atleast_1d(np.asarray(actions))
    if chosen.shape != (size,) or chosen.dtype.kind not in "iu":
        raise InputError("actions", f"be integers of shape ({size},)", f"{chosen.dtype} of shape {chosen.shape}")
    if chosen.size and (int(chosen.min()) < 0 or int(chosen.max()) >= n_actions):
        bad = chosen[(chosen < 0) | (chosen >= n_actions)]
        raise InputError("actions", f"be in 0..{n_actions - 1}", int(bad[0]))
    return chosen.astype(np.intp, copy=False)


def checked_coefficients(coefficients: ArrayLike, size: int) -> FloatArray:
    """Return the coefficients [B] of a sum of scores."""
    weights = np.atleast_1d(np.asarray(coefficients, dtype=np.float64))
    if weights.shape != (size,):
        raise InputError("coefficients", f"have shape ({size},)", f"shape {weights.shape}")
    return weights


def drop_axes(values: FloatArray, flat: bool, single: bool) -> FloatArray:
    """Drop the axis P of a flat theta and the axis B of a single observation."""
    without_batch = values[:, 0] if single else values
    return without_batch[0] if flat else without_batch


POLICIES = PartList("policy", Policy, "riskgrad.policy")


def describe_policy(policy: Policy) -> dict[str, Any]:
    """Say what a policy is, in what JSON can hold: its kind, its text, and its recipe where it has one."""
    text = str(policy)
    # a bare object prints its address, which differs between processes
    return {
        "kind": type(policy).__name__,
        "text": type(policy).__name__ if " at 0x" in text else text,
        "recipe": policy.recipe(),
    }


def rebuild_policy(facts: Mapping[str, Any]) -> Policy | None:
    """Make the policy that `describe_policy` described; None where it has no recipe or its kind is not known."""
    kind = POLICIES.exports().get(facts.get("kind", ""))
    recipe = facts.get("recipe")
    return None if kind is None or recipe is None else kind.from_recipe(recipe)

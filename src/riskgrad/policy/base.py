"""What a policy is: a distribution over actions that is smooth in a flat vector of parameters.

    P policies at once   B observations   A actions   d parameters   u uniform numbers per action

A policy holds no parameters. They come in as `theta` [d] or as `thetas` [P, d], so that hundreds of perturbed policies
are evaluated by one call, and the same policy object serves every iteration of a run.

Actions are indices [B], or vectors [B, n] of numbers where there is a continuum of them. `act` turns uniform numbers of
an episode's own stream into actions by the inverse CDF: nearby policies then turn the same numbers into nearly the same
actions, which is what makes common random numbers useful. The action that an environment executes may differ from the
one that was drawn, whose density is known, because it is squashed or clipped: `execute` says how.

A policy declares what it can do: what it reads, how it acts, whether it has a density, whether compiled loops can run
it, and how it is rebuilt from a file. The rest of riskgrad asks for these abilities, never for the policy's class.
"""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Never, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import as_reals, check_coefficients, check_theta
from riskgrad.errors import InputError
from riskgrad.kernels.formulas import log_of
from riskgrad.policy.memory import Memory
from riskgrad.random import Purpose, Stream
from riskgrad.registry import PartList
from riskgrad.types import ActionKind, FloatArray, IntArray, ObservationKind

if TYPE_CHECKING:
    from riskgrad.policy.bounds import Bounds
    from riskgrad.policy.network import PlainLayers
    from riskgrad.policy.normalized import ObservationStatistics


class Layers(NamedTuple):
    """A policy as a compiled loop runs it: a network from an observation to one number per action.

    Attributes:
        widths: units of each layer, the observation's length first and the number of actions last.
        bias: whether layers have biases.
        relu: whether the activation is relu; otherwise it is tanh.
        greedy: whether the action is that of the largest output; otherwise it is drawn from the softmax of the outputs.
    """

    widths: tuple[int, ...]
    bias: bool
    relu: bool
    greedy: bool


class Linearization(NamedTuple):
    """The log-probabilities of a batch of actions, and a function that gives gradients in theta.

    Attributes:
        log_probs: log pi_theta(a_b | o_b) [B].
        pull: (scores [B], entropies [B]) -> the sum over b of scores[b] times the gradient of log_probs[b] and of
            entropies[b] times that of the entropy of pi_theta(. | o_b), a vector [d].
    """

    log_probs: FloatArray
    pull: Callable[[FloatArray, FloatArray], FloatArray]


class Policy(ABC):
    """A parametrized policy pi_theta(a | o).

    A policy with finitely many actions gives `dim`, `probabilities`, `log_prob` and `score_sum`; the rest has defaults.

    Attributes:
        name: the name that `rg.train(..., policy=name)` takes, of a policy that has `fit`; empty where it has none.
        reads: the kinds of observation that it can read; if empty, any observation is tried.
        acts: the kind of action that it chooses; None where that is not known.
        has_density: whether it has `log_prob` and `score_sum`, which importance ratios, scores and entropy need.
        layered: whether parameters multiply one another, as weights of layers do; training then takes shorter steps.
        scales: whether multiplying the parameters by a factor multiplies all preferences by the same factor.
        noise_size: u, how many uniform numbers one action takes.
        table_shape: (S, A) of a policy whose parameters are a table of preferences [S, A]; None for any other.
        inner: the policy that this one wraps, such as the one whose mode `Greedy` takes; None where it wraps none.
        statistics: the statistics by which it normalizes observations; None where it takes them as they are.
        memory: how it is shown the time left and the return so far; None where it sees observations alone.
        sized_by: the entry of its recipe that is the number of its inputs; if empty, it cannot be given a memory.
    """

    name: ClassVar[str] = ""
    reads: tuple[ObservationKind, ...] = ()
    acts: ActionKind | None = None
    has_density: bool = True
    layered: bool = False
    scales: bool = False
    noise_size: int = 1
    table_shape: tuple[int, int] | None = None
    inner: "Policy | None" = None
    statistics: "ObservationStatistics | None" = None
    memory: Memory | None = None
    sized_by: ClassVar[str] = ""

    @property
    @abstractmethod
    def dim(self) -> int:
        """Number of parameters d."""

    def with_statistics(self, statistics: "ObservationStatistics") -> "Policy":
        """Give the same policy with other statistics; refuse where the policy does not normalize observations."""
        del statistics
        raise InputError("policy", "be one that normalizes observations", self)

    def arrays(self) -> dict[str, FloatArray]:
        """Give the arrays that a checkpoint holds besides the parameters, by their names."""
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
        """The bounds within which continuous actions are executed; None for discrete actions."""
        return None

    @property
    def layers(self) -> Layers | None:
        """The network that a compiled loop can run in place of this policy; None where there is none."""
        return None

    def layer_thetas(self, thetas: FloatArray) -> FloatArray:
        """Give the parameters of `layers` [P, ...] for parameters [P, d] of the policy."""
        return thetas

    def plain_layers(self, theta: FloatArray) -> "PlainLayers | None":  # noqa: ARG002
        """Give the layers of the policy at theta [d], to be written to a file; None where it is not a network."""
        return None

    @classmethod
    def fit(cls, gives: ObservationKind, takes: ActionKind) -> "Policy":
        """Make a policy of this kind for what a source gives and takes; refuse a source that it cannot serve."""
        del gives, takes
        raise InputError("policy", "be given as a value, since this kind is made by no name", cls.__name__)

    @classmethod
    def fit_as(cls, gives: ObservationKind, takes: ActionKind, details: str) -> "Policy":
        """Make a policy as `fit` does, with the details that follow its name and a colon; by default, refuse any."""
        if details:
            raise InputError("policy", f"have nothing after {cls.name!r}", f"{cls.name}:{details}")
        return cls.fit(gives, takes)

    def recipe(self) -> dict[str, Any] | None:
        """Give what `from_recipe` makes the policy from, in JSON's types; None where it holds a user's function."""
        return None

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any]) -> Self:
        """Make the policy that a recipe describes."""
        options: dict[str, Any] = dict(recipe)
        return cls(**options)

    @abstractmethod
    def probabilities(self, theta: ArrayLike, observations: ArrayLike) -> FloatArray:
        """Give pi_theta(a | o) for every action.

        Args:
            theta: parameters [d], or [P, d] for P policies at once.
            observations: one observation, or B of them along the first axis.

        Returns:
            probabilities [B, A], or [A] for one observation; with an axis P in front for thetas [P, d].
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

    def rescale(self, observations: ArrayLike) -> FloatArray:
        """Give vectors of observations [..., k] as the network sees them: normalized if this policy normalizes."""
        return as_reals("observations", observations)

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
        """Give the actions that an environment executes: the same, unless the policy squashes or clips them."""
        return actions

    def initial_theta(self, generator: np.random.Generator) -> FloatArray:  # noqa: ARG002
        """Give parameters to start training from [d]: zeros, unless the policy would not learn from there."""
        return np.zeros(self.dim)

    def first_theta(self, given: ArrayLike | None, seed: int) -> FloatArray:
        """Give theta_0 [d] of a run: a copy of the given one, or the policy's own start, drawn by the run's seed."""
        generator = Stream(seed, Purpose.INITIAL).generator()
        return self.initial_theta(generator) if given is None else check_theta(given, self.dim).copy()

    def sharpen(self, theta: FloatArray, factor: float) -> FloatArray | None:
        """Give parameters whose preferences are those of theta [d] times a factor; None where that is not possible."""
        return factor * theta if self.scales else None

    def entropy_sum(self, theta: ArrayLike, observations: ArrayLike, coefficients: ArrayLike) -> FloatArray:
        """Give the sum over b of coefficients[b] * grad of the entropy of pi_theta(. | o_b), a vector [d].

        It is exact, over all actions: grad H = - sum_a pi(a | o) log pi(a | o) grad log pi(a | o).
        """
        batch = np.asarray(observations)
        chances = self.probabilities(theta, batch)
        surprise = -log_of(np.maximum(chances, np.finfo(np.float64).tiny))
        scale = check_coefficients(coefficients, len(batch))[:, None] * chances * surprise
        actions = np.arange(chances.shape[1], dtype=np.int64)
        repeated = np.repeat(batch, len(actions), axis=0)
        return self.score_sum(theta, repeated, np.tile(actions, len(batch)), scale.ravel())

    def linearize(self, theta: FloatArray, observations: NDArray[Any], actions: NDArray[Any]) -> "Linearization":
        """Give log pi_theta(a_b | o_b) [B] and a function for gradients; a policy may share work between the two."""

        def pull(scores: FloatArray, entropies: FloatArray) -> FloatArray:
            found = self.score_sum(theta, observations, actions, scores)
            return found + self.entropy_sum(theta, observations, entropies) if np.any(entropies) else found

        return Linearization(self.log_prob(theta, observations, actions), pull)


class WithoutDensity(Policy):
    """A policy whose action is a function of the observation: it has no density, importance ratio or score."""

    has_density = False
    noise_size = 0

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

    The interval [0, 1) is cut in the order of the actions; an action of probability 0 gets no part of it.
    """
    if uniforms is None:
        return np.asarray(np.argmax(chances, axis=-1), dtype=np.int64)
    sums = np.cumsum(chances, axis=-1)
    # the last sum may differ from 1 by rounding; scaled by it, no action gets more than its share
    passed = sums[:, :-1] <= (uniforms * sums[:, -1])[:, None]
    return np.asarray(np.sum(passed, axis=-1), dtype=np.int64)


def drop_axes(values: FloatArray, flat: bool, single: bool) -> FloatArray:
    """Drop the axis P of a flat theta and the axis B of a single observation."""
    without_batch = values[:, 0] if single else values
    return without_batch[0] if flat else without_batch


POLICIES = PartList("policy", Policy, "riskgrad.policy")


def find_policy_name(policy: Policy, gives: ObservationKind | None, takes: ActionKind | None) -> str | None:
    """Give the name that makes the same policy for what a source gives and takes; None where no name does."""
    recipe = policy.recipe()
    if recipe is None or gives is None or takes is None:
        return None
    for name, kind in POLICIES.by_name().items():
        with contextlib.suppress(InputError):
            made = kind.fit(gives, takes)
            if type(made) is type(policy) and made.recipe() == recipe:
                return name
    return None


def describe_policy(policy: Policy) -> dict[str, Any]:
    """Describe a policy in JSON's types: its class, its text, its recipe, and its memory if it has one."""
    text = str(policy)
    # a bare object prints its address, which differs between processes
    kind = type(policy).__name__
    facts = {"kind": kind, "text": kind if " at 0x" in text else text, "recipe": policy.recipe()}
    return facts if policy.memory is None else {**facts, "memory": policy.memory.recipe()}


def rebuild_policy(facts: Mapping[str, Any]) -> Policy | None:
    """Make the policy that `describe_policy` described; None where it has no recipe or its class is not known."""
    kind = POLICIES.exports().get(facts.get("kind", ""))
    recipe, memory = facts.get("recipe"), facts.get("memory")
    if kind is None or recipe is None:
        return None
    made = kind.from_recipe(recipe)
    made.memory = None if memory is None else Memory.from_recipe(memory)
    return made


def sum_by_visit(
    where: NDArray[np.intp], actions: NDArray[np.intp], coefficients: FloatArray, shape: tuple[int, int]
) -> FloatArray:
    """Give the sums [U, A] = shape of the coefficients of the visits b to each pair where[b], actions[b], in order."""
    flat = np.bincount(where * shape[1] + actions, weights=coefficients, minlength=shape[0] * shape[1])
    return flat.astype(np.float64, copy=False).reshape(shape)


def preference_weights(sums: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Give w [U, A] with sum_{u, a} c[u, a] grad log pi(a | u) = sum_{u, a} w[u, a] grad h(u, a).

    That is w[u, a] = c[u, a] - pi(a | u) sum_b c[u, b], for coefficients c [U, A] and probabilities [U, A].
    """
    return sums - probabilities * np.sum(sums, axis=1, keepdims=True)

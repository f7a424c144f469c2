"""What a source of episodes is: it plays policies and gives their returns.

    P policies at once   m episodes each   d parameters

A source plays a fixed quota of episodes per policy; never "the first m that finish", which favors short episodes.
Every random number is a function of the stream, the row's pair and the episode, so that results do not depend on
threads, on the other rows or on the order of work. Vector forms of Gymnasium environments are an exception: their
starts depend on all rows that are asked for in one call.

A source declares which observations it gives and which actions it takes, who does its work, and which of the optional
methods it has. A new kind of source is one file in this folder, or one class that is registered; its `from_env` decides
which environments it plays.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike

from riskgrad.backend import Backend
from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.mdp import FiniteMDP
from riskgrad.policy import ObservationStatistics, Policy
from riskgrad.policy.normalized import LIMIT
from riskgrad.random import Stream
from riskgrad.registry import PartList
from riskgrad.types import (
    ActionKind,
    Both,
    Choice,
    Episodes,
    FloatArray,
    IntArray,
    Numbers,
    ObservationKind,
    Returns,
    States,
    Steps,
)


@checks_calls
@dataclass(frozen=True)
class EnvOptions:
    """The options that a user gives with an environment.

    Attributes:
        horizon: largest number of steps of an episode; None leaves it to the environment.
        discount: in (0, 1]; None takes that of a model, and 1 for an environment.
        options: for `gymnasium.make`, the class or the factory; empty where they are not needed any more.
        threads: how many threads compiled loops use; None for one for each core.
        backend: where a Gymnasium environment is played; None for this process.
        step_timeout: seconds after which an environment that does not answer is ended with its process; None for never.
        factory: the class or function that made the environment and can make more; None where there is none.
    """

    horizon: int | None = None
    discount: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    threads: int | None = None
    backend: str | Backend | None = None
    step_timeout: float | None = None
    factory: Callable[..., Any] | None = None

    def refuse_other(self, horizon: int | None, discount: float | None) -> None:
        """Refuse a horizon or discount that differs from that of a model or source, and options for it."""
        own = {"horizon": horizon, "discount": discount, "env_options": None}
        given = {"horizon": self.horizon, "discount": self.discount, "env_options": self.options or None}
        for name, value in given.items():
            if value is not None and value != own[name]:
                raise InputError(name, "be left to the model or source, which has its own", value)


class Source(ABC):
    """A source of episodes.

    A subclass has to define `returns` and `record`. If it also says what it `gives` and `takes`, policies can be made
    for it by name, and policies that do not fit are refused.
    """

    name: ClassVar[str] = ""  # the name of this kind of source in listings
    observes: bool = False  # whether it has `returns_and_statistics`
    keeps_steps: bool = False  # whether it has `record_steps`
    remembers: bool = False  # whether it shows a policy its memory, and has `returns_so_far`
    workers: ClassVar[Literal["threads", "backend", "none"]] = "none"  # who plays episodes at the same time
    logged: Episodes | None = None  # the episodes of a log; None for a source that plays
    makes_anew: bool = True  # whether `env_maker` makes a new environment at each call; a factory may not
    plays: ClassVar[tuple[type, ...]] = ()  # types of environment for which other kinds of source are not asked
    general: ClassVar[bool] = False  # whether it plays any environment, so that it is asked last

    @property
    def gives(self) -> ObservationKind | None:
        """The kind of observation that policies get; None where it is not known."""
        return None

    @property
    def takes(self) -> ActionKind | None:
        """The kind of action that policies choose; None where it is not known."""
        return None

    @property
    def spaces(self) -> dict[str, Any] | None:
        """What it gives and takes, as a run records it: "observation" and "action"; None where one is not known."""
        gives, takes = self.gives, self.takes
        if gives is None or takes is None:
            return None
        return {"observation": gives.description, "action": takes.description}

    @property
    def mdp(self) -> FiniteMDP | None:
        """The finite model that it plays; None where there is none, so that nothing can be computed exactly."""
        return None

    @property
    def horizon(self) -> int | None:
        """Steps after which an episode is cut; None where that is not known."""
        return None

    @property
    def discount(self) -> float | None:
        """The discount of its returns; None where it is not known."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for readers of a run on how episodes are played; playing episodes may add some."""
        return ()

    @property
    def return_range(self) -> tuple[float, float] | None:
        """Bounds (low, high) of the return of an episode; None where they are not known."""
        return None

    @property
    def env_id(self) -> str | None:
        """The Gymnasium id that a compiled environment stands for; None for other sources."""
        return None

    @property
    def env_maker(self) -> Callable[[], Any] | None:
        """A function that makes a Gymnasium environment like those that are played; None where there is none."""
        return None

    @property
    def observation_limit(self) -> float:
        """The largest absolute value of a normalized observation; inf where it is not clipped."""
        return LIMIT

    @abstractmethod
    def returns(
        self, policy: Policy, thetas: ArrayLike, episodes: int, stream: Stream, pairs: ArrayLike | None = None
    ) -> Returns:
        """Play m episodes of each of P policies.

        Args:
            policy: the policy that acts.
            thetas: parameters [P, d].
            episodes: m.
            stream: where the random numbers come from.
            pairs: which random numbers each row uses [P]; rows with the same pair see the same ones (common random
                numbers). By default all rows differ.
        """

    @abstractmethod
    def record(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream) -> Episodes:
        """Play m episodes of one policy and record their visits, so that they can be reweighted for other policies."""

    def record_steps(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream, pair: int = 0) -> Steps:
        """Play m episodes of one policy and keep their steps in order, with rewards; only where it `keeps_steps`.

        Args:
            policy: the policy that acts.
            theta: its parameters [d].
            episodes: m.
            stream: where the random numbers come from.
            pair: which of the stream's random numbers they use, as in `returns`.
        """
        del policy, theta, episodes, stream, pair
        raise InputError("source", "keep the steps of its episodes", self)

    def returns_and_statistics(
        self,
        policy: Policy,
        thetas: ArrayLike,
        episodes: int,
        stream: Stream,
        pairs: ArrayLike | None,
        statistics: ObservationStatistics,
    ) -> tuple[Returns, ObservationStatistics]:
        """Play as `returns` does, and add the observations to the statistics; only where the source `observes`.

        Args:
            policy: the policy that acts; to act by the statistics, `Normalized(policy, statistics,
                source.observation_limit)`.
            thetas: parameters [P, d].
            episodes: m.
            stream: where the random numbers come from.
            pairs: which random numbers each row uses [P].
            statistics: those of earlier observations.

        Returns:
            the returns, and the statistics of the earlier observations and of all on which a policy acted.
        """
        del policy, thetas, episodes, stream, pairs, statistics
        raise InputError("source", "tell what was observed", self)

    def returns_so_far(self, policy: Policy, theta: ArrayLike, episodes: int, stream: Stream) -> FloatArray:
        """Play m episodes of one policy and give the return so far before each step, episode after episode.

        Only where the source `remembers`: a memory is fitted to these returns.

        Args:
            policy: the policy that acts.
            theta: its parameters [d].
            episodes: m.
            stream: where the random numbers come from.
        """
        del policy, theta, episodes, stream
        raise InputError("source", "tell the return so far, for memory", self)

    def find_unseeded(self, policy: Policy, theta: ArrayLike, stream: Stream) -> str:
        """Play an episode twice and give a note that says what differs; empty if nothing does.

        This finds an environment whose `reset` does not use its seed, or that draws from a global generator. Sources
        that draw all random numbers themselves play nothing and give an empty note.

        Args:
            policy: the policy that acts.
            theta: its parameters [d].
            stream: where the random numbers come from.
        """
        del policy, theta, stream
        return ""

    def log_for(self, policy: Policy) -> Episodes | None:
        """Give the logged episodes as a policy reads them; None for a source that plays."""
        del policy
        return self.logged

    def note_lengths(self, lengths: IntArray) -> None:
        """Take note of the lengths of episodes that were played elsewhere; some sources add a note about them."""
        del lengths

    def close(self) -> None:
        """Close what was opened here, such as environments."""
        return

    def stop_workers(self) -> None:
        """End the processes that were started for its work; the next call that needs them starts new ones."""
        return

    def fingerprint(self) -> str:
        """Describe in one line what is played; a run can be resumed only with a source of the same fingerprint."""
        text = str(self)
        return type(self).__name__ if " at 0x" in text else text  # an address differs between processes

    @classmethod
    def from_env(cls, env: Any, options: EnvOptions) -> "Source | None":
        """Make the source of an environment; None where this kind of source does not play it.

        Args:
            env: a Gymnasium id with its version, an environment, or a model; of a class or factory, what it made.
            options: the options that the user gave with it.
        """
        del env, options
        return None


SOURCES = PartList("source", Source, "riskgrad.sources")


def kind_shown_to(policy: Policy, source: Source) -> ObservationKind | None:
    """Give the kind of observation that a policy gets from a source, with its memory; None where it is not known.

    Refuse a memory that the source cannot show, or that was made for other observations or for another discount.
    """
    gives, memory = source.gives, policy.memory
    if memory is None:
        return gives
    if not source.remembers or gives is None:
        raise InputError("policy", "have no memory, which this source does not show", policy)
    if memory.holds_return and source.discount != memory.discount:
        rule = f"be {memory.discount:g}, by which the policy remembers the return so far"
        raise InputError("discount", rule, source.discount)
    return memory.gives(gives)


@checks_kinds
def check_fit(policy: Policy, source: Source) -> None:
    """Refuse a policy that reads other observations than a source gives, or chooses among other actions.

    Both declare this in the types of `riskgrad.types`, which are compared here. Where one of them declares nothing, as
    a policy of the user's own may, the policy is tried as it is.
    """
    gives, takes, acts = kind_shown_to(policy, source), source.takes, policy.acts
    if gives is not None and policy.reads and gives not in policy.reads:
        if isinstance(gives, States):
            rule = f"read states, of which the environment has {gives.n}"
            raise InputError("policy", rule, policy, "see rg.policy.TabularGibbs and rg.policy.MLP")
        raise InputError("policy", f"read vectors of the environment's {gives.size} numbers", policy)
    if takes is None or acts is None or acts == takes:
        return
    if isinstance(takes, Both):
        rule = f"have actions of {len(takes.choices.sizes)} choices and {takes.numbers.size} numbers"
        raise InputError("policy", rule, policy, "see rg.policy.Factored")
    if isinstance(takes, Numbers):
        # a policy may have other bounds than the environment
        if not isinstance(acts, Numbers) or acts.size != takes.size:
            raise InputError("policy", f"have actions of {takes.size} numbers", policy, "see rg.policy.Gaussian")
    elif isinstance(acts, Numbers | Both):
        raise InputError("policy", "have discrete actions", policy, "see rg.policy.MLP")
    else:
        wanted = takes.n if isinstance(takes, Choice) else takes.sizes
        raise InputError("policy", f"have the environment's actions, {wanted}", policy)

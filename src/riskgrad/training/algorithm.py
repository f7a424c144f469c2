# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
"""What an algorithm is: its own options as fields, and a step from one iterate to the next.

    step(problem, state) -> (state, info)

All random numbers of a step are keyed by the seed and the iteration, so that training can stop after any step and go on
later with the same bits. An option that is not given is None until `fill_options` applies the rule of its field.

To add an algorithm: a file in `algorithms/` with a final, frozen dataclass that is an `Algorithm`.
"""

import dataclasses
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, cast

from riskgrad.ascent import Moments
from riskgrad.critic.log import StepLog
from riskgrad.critic.quantiles import QuantileCritic
from riskgrad.errors import InputError, find_nearest
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.policy import Policy
from riskgrad.registry import PartList
from riskgrad.risk import RiskMeasure
from riskgrad.settings import Rule, check_options, default_of, facts_of
from riskgrad.sources import Source
from riskgrad.theory import Schedule
from riskgrad.types import Choice, FloatArray, ObservationKind, States

if TYPE_CHECKING:
    from riskgrad.training.problem import Problem


@dataclass(frozen=True)
class Arm:
    """One ascent of a race.

    Attributes:
        theta: its current parameters [d].
        moments: what it remembers of the gradients so far.
    """

    theta: FloatArray
    moments: Moments


@checks_calls
@dataclass(frozen=True)
class State:
    """Where the ascent is.

    Attributes:
        iteration: iterations done, k.
        policy: the policy that theta is for; its statistics move where observations are normalized.
        theta: theta_k [d].
        moments: what the ascent remembers of the gradients so far.
        arms: the ascents of a race that are still in it, by name; empty without a race.
        log: the steps that were played, for an algorithm that learns from all of them; None for others.
        log_length: blocks of the log that belong to this state; later ones do not.
        sharpness: the factor of the policy's preferences that is best in the learned model; 1 where none is learned.
        critic: the critic of quantiles, for an algorithm that learns one; None for others.
    """

    iteration: int
    policy: Policy
    theta: FloatArray
    moments: Moments
    arms: Mapping[str, Arm] = field(default_factory=dict[str, Arm])
    log: StepLog | None = None
    log_length: int = 0
    sharpness: float = 1.0
    critic: QuantileCritic | None = None


@checks_calls
@dataclass(frozen=True)
class Info:
    """The record of one iteration.

    Attributes:
        line: what to record: risk, mean, gradient_norm, gradient_error, ess, events ...
        episodes: how many episodes were sampled.
        returns: returns of these episodes, for callbacks, of any shape; None where there are none.
        judging_episodes: how many further held-out episodes were played to compare ascents.
        notes: what a reader of the result must know.
    """

    line: Mapping[str, Any]
    episodes: int
    returns: FloatArray | None = None
    judging_episodes: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Circumstances:
    """What the rules for an algorithm's defaults may depend on.

    Attributes:
        schedule: "practical" or "paper".
        theorem: the numbers of the main theorem, for the paper's schedule; None for the practical one.
        dim: number of parameters d.
        has_density: whether the policy draws its actions.
        slope: about how many episodes it takes to tell the measure from the mean; see `training.plan.find_slope`.
        has_bonus: whether random actions are rewarded.
        max_episodes: the budget in episodes; None without one.
        is_log: whether episodes are logged, so that none can be played.
        source: where episodes come from.
        measure_length: gives the mean length of an episode of the untrained policy.
    """

    schedule: str
    theorem: Schedule | None
    dim: int
    has_density: bool
    slope: float
    has_bonus: bool
    max_episodes: int | None
    is_log: bool
    source: Source
    measure_length: Callable[[], float]


@dataclass(frozen=True)
class Defaults:
    """An algorithm's defaults for a kind of observation, where the general rules do not suit it.

    Attributes:
        policy: the name of a policy; None for the source's default.
        rescales: whether the policy is shown observations in units of their spread.
        step: the step size of Adam; None for the default of the policy.
        levels: the part of a run that the default path to a measure of a bad tail takes, through ever smaller tails;
            None for the general default.
    """

    policy: str | None = None
    rescales: bool = False
    step: float | None = None
    levels: float | None = None


TIMES_JUDGED: Final = 4  # how often iterates are judged by held-out episodes, besides the last

# the numbers of the main theorem (`tm:sf`)
PAPER_DIRECTIONS: Final = Rule("N^1/2", lambda case, _: case.theorem.directions)
PAPER_SMOOTHING: Final = Rule("N^-1/4", lambda case, _: case.theorem.smoothing)
PAPER_EPISODES: Final = Rule("N", lambda case, _: case.theorem.episodes)


class Algorithm(ABC):
    """An algorithm with its own options.

    Attributes:
        name: the name of the algorithm in a string.
        needs_influence: whether the measure must have an influence function.
        needs_density: whether the policy must have a density, for ratios or scores.
        needs_steps: whether the source must keep the steps of its episodes.
        takes_log: whether it can learn from logged episodes.
        races: whether several paths to the measure are tried side by side.
        sharpens: whether held-out episodes also choose how sharp the kept policy is.
        least_episodes: the fewest episodes of an estimate, however small the budget.
        preference: "auto" takes the largest among the algorithms that can train (`prefer`); 0 is never taken.
        episodes: m, the episodes of each estimate or batch.
        behavior: who acts: "current", or a pair (policy, theta).
        reuse_batch: whether one batch serves the whole run.
        ess_floor: least effective sample size of a reweighted batch, as a part of its episodes.
    """

    name: ClassVar[str] = ""
    needs_influence: ClassVar[bool] = False
    needs_density: ClassVar[bool] = True
    needs_steps: ClassVar[bool] = False
    takes_log: ClassVar[bool] = True
    races: ClassVar[bool] = False
    sharpens: ClassVar[bool] = False
    least_episodes: ClassVar[int] = 25
    preference: ClassVar[int] = 0

    episodes: int
    behavior: Any = "current"
    reuse_batch: bool = False
    ess_floor: float = 0.0

    @abstractmethod
    def step(self, problem: "Problem", state: State) -> tuple[State, Info]:
        """Take one iteration from theta_k to theta_{k+1}."""

    def count_estimates(self, has_bonus: bool) -> int:
        """Give how many batches of m episodes one iteration samples."""
        del has_bonus
        return 1

    def count_judgments(self, iterations: int, has_states: bool) -> int:
        """Give how many times held-out episodes are played in a run of N iterations, including for the last iterate."""
        del has_states
        return min(TIMES_JUDGED, iterations) + 1

    @classmethod
    def prefer(cls, gives: ObservationKind | None) -> int:
        """Give the preference of "auto" for this algorithm on these observations; the largest wins."""
        del gives
        return cls.preference

    @classmethod
    def defaults_for(cls, gives: ObservationKind | None) -> Defaults:
        """Give the algorithm's defaults for these observations."""
        del gives
        return Defaults()

    def fill_options(self, circumstances: Circumstances) -> Self:
        """Give the algorithm with every option that is None set by its rule, in the order of the fields."""
        own: Any = self
        for name, facts in facts_of(own).items():
            if getattr(own, name) is None:
                value = default_of(facts, circumstances.schedule, circumstances, own)
                own = dataclasses.replace(own, **{name: value})
        return own

    def __post_init__(self) -> None:
        check_options(self)

    def options(self) -> dict[str, Any]:
        """Give the algorithm's own options by name, as values that a file can hold."""
        plain = (bool, int, float, str, type(None))
        own: Any = self
        values = {name: getattr(own, name) for name in facts_of(own)}
        return {name: value if isinstance(value, plain) else _text(value) for name, value in values.items()}


ALGORITHMS = PartList("algorithm", Algorithm, "riskgrad.algorithms")
FORM: Final = "be a name such as 'score' or 'score:episodes=200', or an algorithm such as rg.Score(episodes=200)"


@checks_kinds
def choose_algorithm(
    given: str | Algorithm, risk: RiskMeasure, policy: Policy, source: Source, schedule: str = "practical"
) -> Algorithm:
    """Give the algorithm that trains a policy on a measure; refuse one that cannot.

    Args:
        given: an algorithm; a name, which options may follow, as in "score:episodes=200,steps_per_batch=4"; or "auto",
            with or without options, which takes the algorithm of the largest `preference` that can train: the critic
            for states and vectors, the score algorithm where vectors are a soft one-hot, OffP-SF, which needs
            estimates only, where the measure has no influence, and OnP-SF for a policy without a density, which can be
            neither scored nor reweighted.
        risk: the measure.
        policy: what is trained.
        source: where episodes come from.
        schedule: "practical" or "paper"; with the latter "auto" takes no algorithm that races.
    """
    kind = _choose_kind(given, risk, policy, source, schedule)
    words = given.partition(":")[2].lower() if isinstance(given, str) else ""
    algorithm = set_options(kind, _read_words(str(given), words)) if isinstance(given, str) else given
    _refuse_misfit(algorithm, risk, policy, source)
    return algorithm


def find_usual_policy(given: str | Algorithm, risk: RiskMeasure, source: Source, schedule: str) -> str | None:
    """Give the name of the algorithm's default policy for a source; None for the source's own default."""
    kind = _choose_kind(given, risk, None, source, schedule)
    return None if schedule == "paper" else kind.defaults_for(source.gives).policy


def _choose_kind(
    given: str | Algorithm, risk: RiskMeasure, policy: Policy | None, source: Source, schedule: str
) -> Any:
    """Give the class of the given algorithm, or the one that "auto" takes; no policy stands for a random one."""
    if isinstance(given, Algorithm):
        return type(given)
    if not isinstance(given, str):
        raise InputError("algorithm", FORM, given)
    name = given.strip().lower().partition(":")[0]
    if name != "auto":
        return ALGORITHMS.find(name, "or 'auto'")
    able = [kind for kind in ALGORITHMS.parts() if not _find_misfit(kind, risk, policy, source)]
    return max(able, key=lambda kind: 0 if kind.races and schedule == "paper" else kind.prefer(source.gives))


def _read_words(text: str, words: str) -> dict[str, Any]:
    """Read what follows the name of an algorithm: option=value, separated by commas."""
    options: dict[str, Any] = {}
    for word in filter(None, words.split(",")):
        key, _, value = word.partition("=")
        try:
            options[key.strip().replace("-", "_")] = json.loads(value)
        except json.JSONDecodeError as error:
            raise InputError("algorithm", FORM, text) from error
    return options


def _find_misfit(
    kind: Any, risk: RiskMeasure, policy: Policy | None, source: Source
) -> tuple[str, str, object, str] | None:
    """Give why an algorithm cannot train: argument, rule, value and advice for an `InputError`; None if it can."""
    if policy is not None and kind.needs_density and not policy.has_density:
        advice = "OnP-SF needs neither: rg.OnPSF() or algorithm='onp-sf'"
        return "policy", f"be random for the ratios and scores of {kind.name}", policy, advice
    if kind.needs_influence and not risk.has_influence:
        advice = "use onp-sf or offp-sf, which need only estimates"
        return "risk", f"have an influence function for {kind.name}", str(risk), advice
    if kind.needs_steps:
        advice, gives = "algorithm='score' learns from any source", source.gives
        if not source.keeps_steps or gives is None or source.takes is None:
            return "env", f"keep its steps, and say what it gives and takes, for {kind.name}", source, advice
        if isinstance(gives, States) and not isinstance(source.takes, Choice):
            return "env", f"have a choice among actions where it has states, for {kind.name}", source, advice
        reads = () if policy is None else policy.reads
        if policy is not None and isinstance(gives, States) and not any(isinstance(one, States) for one in reads):
            return "policy", f"read states for {kind.name}", policy, advice
    return None


def _refuse_misfit(algorithm: Algorithm, risk: RiskMeasure, policy: Policy, source: Source) -> None:
    misfit = _find_misfit(algorithm, risk, policy, source)
    if misfit is not None:
        raise InputError(*misfit)


def set_options(kind: Any, given: Mapping[str, Any]) -> Algorithm:
    """Make an algorithm with options by name; refuse those that it does not have."""
    known = facts_of(kind)
    for name, value in given.items():
        if name not in known and value is not None:
            near = find_nearest(name, known)
            advice = f"it has {', '.join(known)}" if near is None else f"did you mean {near!r}?"
            raise InputError(name, f"be an option of the algorithm {kind.name}, to which it was given", value, advice)
    return kind(**{name: value for name, value in given.items() if name in known})


def _text(value: Any) -> str:
    """Give the text of a value; for a pair (policy, theta) that of the policy."""
    return str(cast("tuple[Any, ...]", value)[0]) if isinstance(value, tuple) else str(value)

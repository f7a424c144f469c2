# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
"""The options of training that belong to no algorithm, each written once, with the facts about it beside it.

An option is a field of a frozen dataclass, made by `option`: its default (a value, or a rule in words and code), the
paper's value where that differs, and one line of help. `rg.train`, the command line, `config.toml`, `Run.settings`,
"to repeat it" in a report and the table of options in the docs are made from these fields. A new option is one line
here and the line where it acts. An algorithm's own options are the fields of its class, made by the same `option`.

    Options          what decides the result of a training
    TrainOptions     these and, without effect on it, how a training is run and kept: for `rg.train`
    Settings         the options, with what the rules of defaults decided, and what else identifies a run
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from riskgrad.checks import (
    MemoryKind,
    check_callback,
    check_count,
    check_discount,
    check_flag,
    check_integer,
    check_memory,
    check_not_negative,
    check_number,
    check_path,
    check_positive,
    check_switch,
    check_word,
)
from riskgrad.errors import InputError
from riskgrad.keywords import refuse_keyword_of_train
from riskgrad.kinds import checks_calls, checks_kinds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riskgrad.ascent import Ascent
    from riskgrad.backend import Backend
    from riskgrad.paths import RiskPath
    from riskgrad.policy import Policy
    from riskgrad.run.callbacks import Callback
    from riskgrad.training.algorithm import Algorithm

ScheduleName = Literal["practical", "paper"]
SCHEDULES: Final = get_args(ScheduleName)

HOW: Final = "How it is trained"
KEPT: Final = "What is kept and shown"
WORK: Final = "Who does the work"

# what a value must be, if an option has no check of its own; where a flag is a text, Python may give an object
CHECKS: Final[dict[type | None, Any]] = {bool: check_flag, int: check_integer, float: check_number}

_FACTS: Final = "facts"
_SAME: Final = object()


class Rule(NamedTuple):
    """A default that depends on the problem: in words, and as a function of the last two arguments of `default_of`."""

    text: str
    value: Callable[[Any, Any], Any]


@checks_calls
@dataclass(frozen=True, slots=True)
class OptionFacts:
    """What is known of an option besides its name.

    Attributes:
        default: the value, or the rule, that holds where none is given.
        paper: the same for `schedule="paper"`.
        flag: what a flag or a key of a file holds: int, float, str, bool or list; None where only Python can give it.
        help: one line.
        panel: the heading under which the command line lists the option.
        check: (name, value) -> value; refuses a value that is not allowed. None where another place checks.
        also: words of other libraries for the option, by which it is offered when one of them is given.
    """

    default: Any
    paper: Any
    flag: type | None
    help: str
    panel: str
    check: Callable[[str, Any], Any] | None
    also: tuple[str, ...]

    def default_text(self, schedule: ScheduleName = "practical") -> str:
        """Give the default in words."""
        value = self.paper if schedule == "paper" else self.default
        return value.text if isinstance(value, Rule) else str(value)


@checks_kinds
def option(
    default: Any,
    flag: type | None,
    help: str,  # noqa: A002
    *,
    paper: Any = _SAME,
    check: Callable[[str, Any], Any] | None = None,
    panel: str = HOW,
    also: tuple[str, ...] = (),
) -> Any:
    """Make the field of an option; None stands for a default that a rule or the schedule decides.

    Args:
        default: a value, or a `Rule`.
        flag: what a flag or a key of a file holds; None where only Python can give it.
        help: one line.
        paper: the value or the rule of `schedule="paper"`; by default the same.
        check: (name, value) -> value; refuses a value that is not allowed; by default any value of the flag's kind is.
        panel: the heading under which the command line lists the option.
        also: words of other libraries for the option.
    """
    decided_later = isinstance(default, Rule) or paper is not _SAME
    decided = default if paper is _SAME else paper
    facts = OptionFacts(default, decided, flag, help, panel, check or CHECKS.get(flag), also)
    return field(default=None if decided_later else default, metadata={_FACTS: facts})


@checks_kinds
def facts_of(kind: Any) -> dict[str, OptionFacts]:
    """Give the facts of the options of a dataclass, by name, in order."""
    return {one.name: one.metadata[_FACTS] for one in fields(kind) if _FACTS in one.metadata}


def check_options(options: Any) -> None:
    """Refuse options of a dataclass whose values their checks do not allow; None, a default, is not checked."""
    for name, facts in facts_of(options).items():
        value = getattr(options, name)
        if facts.check is not None and value is not None:
            facts.check(name, value)


def default_of(facts: OptionFacts, schedule: str, circumstances: Any = None, owner: Any = None) -> Any:
    """Give the default of an option under a schedule; a rule gets the circumstances and the owner of the option."""
    value = facts.paper if schedule == "paper" else facts.default
    return value.value(circumstances, owner) if isinstance(value, Rule) else value


@checks_calls
@dataclass(frozen=True, kw_only=True)
class Options:
    """What decides the result of a training, as it was given."""

    algorithm: "str | Algorithm" = option(
        "auto",
        str,
        "auto, critic, score, offp-sf, onp-sf or another that riskgrad parts lists; in Python also a value.",
        panel="",
    )
    iterations: int | None = option(
        Rule("200, or by the budget", lambda *_: 200), int, "Budget in iterations.", check=check_count, panel=""
    )
    max_episodes: int | None = option(
        None,
        int,
        "Budget in episodes instead, held-out ones included; never exceeded.",
        check=check_count,
        panel="",
        also=("total_timesteps", "total_episodes", "n_episodes", "num_episodes"),
    )
    patience: int | None = option(
        None,
        int,
        "Stop when the risk over this many iterations is no better than over as many before; by default never.",
        check=check_count,
        panel="",
    )
    policy: "Policy | str | None" = option(
        Rule("a table for states, mlp:64,64,std=1 for the critic's vectors, linear elsewhere", lambda *_: None),
        str,
        "table, linear, mlp, mlp:64,64, deterministic or another that riskgrad parts lists; in Python also a value.",
        panel="",
    )
    memory: MemoryKind | None = option(
        None,
        str,
        "What the policy sees besides the observation: time (left), return (so far) or both; by default nothing.",
        check=check_memory,
        panel="",
    )
    horizon: int | None = option(
        None, int, "Most steps of an episode; by default the environment's own limit.", check=check_count, panel=""
    )
    discount: float | None = option(
        None, float, "Discount in (0, 1]; 1 by default.", check=check_discount, panel="", also=("gamma",)
    )
    env_options: Mapping[str, Any] | None = option(
        None, list, "Option for the environment, name=value; may be repeated.", panel="", also=("env_kwargs",)
    )
    seed: int = option(0, int, "Seed; the same seed gives the same result.", panel="", also=("random_state",))
    normalize: bool | Literal["auto"] = option(
        "auto",
        bool,
        "Show the policy observations minus their mean, divided by their spread, both measured during the run; by "
        "default, auto, only where the critic trains on vectors that are no soft one-hot.",
        check=check_switch,
    )
    schedule: ScheduleName = option("practical", str, "practical, or paper for the schedule of its main theorem.")
    step_size: "float | str | Ascent | None" = option(
        Rule("adam:0.1, shorter for networks, adam:0.002 for the critic's", lambda length, _: f"adam:{length!r}"),
        str,
        "A number is the paper's constant step; adam:0.1 is Adam; in Python also an ascent.",
        paper=Rule("constant:N^-1/2", lambda theorem, _: f"constant:{theorem.step_size!r}"),
        also=("lr", "learning_rate"),
    )
    risk_path: "RiskPath | str | None" = option(
        "auto",
        str,
        "Part of the run that the path to the measure takes, such as 0.5 (from the mean), square:0.5 (the worse of two "
        "episodes) or levels:0.5 (through smaller tails); none; auto is a race of them for the critic's tables, "
        "levels:0.5 for its networks and a measure of a bad tail, otherwise square:0.5, and none for the paper's "
        "schedule or a measure that is neutral or no distortion.",
    )
    entropy: float | None = option(
        Rule("0.3, or 0 for a policy without a density", lambda has_density, _: 0.3 if has_density else 0.0),
        float,
        "Bonus for random actions at the start of the run, in standard deviations of the return; falls to 0.",
        paper=0.0,
        check=check_not_negative,
    )
    held_out: int | None = option(
        Rule(
            "a tenth of the training, at least 100, or a batch of the critic's vectors",
            lambda share, least: max(least, round(share)),
        ),
        int,
        "Episodes by which each of a few iterates is judged, to keep the best; 0 judges none and keeps the last.",
        check=partial(check_count, least=0),
    )


@checks_calls
@dataclass(frozen=True, kw_only=True)
class TrainOptions(Options):
    """All that `rg.train` takes by keyword: what decides the result, and how the training is run and kept."""

    theta: "ArrayLike | None" = option(None, None, "Where to start [d]; by default where the policy starts, mostly 0.")
    threads: int | None = option(
        None, int, "Threads for a finite model or a compiled environment; all cores by default.", panel=WORK
    )
    backend: "str | Backend | None" = option(
        None,
        str,
        "Who plays: serial, processes:4, ray or a value; by default threads, or processes for Gymnasium once it pays.",
        panel=WORK,
        also=("n_jobs", "workers", "num_workers"),
    )
    step_timeout: float | None = option(
        None,
        float,
        "Seconds after which an environment that does not answer is ended with its process; needs processes.",
        check=check_positive,
        panel=WORK,
    )
    folder: str | Path | None = option(
        None, None, "Folder that keeps the record and checkpoints of a new run.", check=check_path, also=("save_path",)
    )
    resume: str | Path | None = option(
        None, None, "Folder of a run to go on with; a new run begins where there is none.", check=check_path
    )
    callback: "Callback | Sequence[Callback] | None" = option(
        None,
        None,
        "Function, or several, called after each iteration with its line and the new theta; returns True to stop.",
        check=check_callback,
    )
    progress: bool | Literal["auto"] = option(
        "auto",
        None,
        "Show progress: True or False; by default, auto, on a terminal and in a notebook, not when piped or in a "
        "worker process.",
        check=check_switch,
        also=("verbose",),
    )
    checkpoint_seconds: float = option(
        5.0, None, "Least time between two checkpoints; 0 makes one each iteration.", check=check_not_negative
    )


@checks_calls
@dataclass(frozen=True, kw_only=True)
class Settings(Options):
    """What a run was asked to do, with what the rules of its defaults decided, as a file can hold it.

    `algorithm` and `policy` are names here, `step_size` and `risk_path` texts that read back; `policy` is None where no
    name gives the policy of the run.

    Attributes:
        own: the algorithm's own options, by name.
        given: the names of the options that were given; the others were settled by their rules.
        risk: the measure, as a string.
        estimator: its estimator, where it has several.
        env: the environment's name; None where it was given as an object.
        env_options_text: the environment's options, where a file cannot hold them.
        source: what identifies where episodes come from.
        return_range: bounds of every possible return, where that is known.
        start: what identifies theta_0.
        own_start: whether theta_0 was given.
        policy_facts: the policy: its kind, its text, and the recipe that rebuilds it, where there is one.
        spaces: what the environment shows and takes, as JSON; None where that is not known.
    """

    own: Mapping[str, Any] = field(default_factory=dict[str, Any])
    given: Sequence[str] = field(default=(), compare=False)
    risk: str = "mean"
    estimator: str | None = None
    env: str | None = None
    env_options_text: str | None = None
    source: str = ""
    return_range: Sequence[float] | None = field(default=None, compare=False)
    start: str = ""
    own_start: bool = False
    policy_facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    spaces: Mapping[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Give the settings by name, as JSON can hold them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Settings":
        """Read what `as_dict` gave; what is not known to this version is left out."""
        return cls(**{one.name: found[one.name] for one in fields(cls) if one.name in found})


def read_options(given: Mapping[str, Any]) -> TrainOptions:
    """Give the options of `rg.train` from keywords; a misspelled one names the nearest right one."""
    known = facts_of(TrainOptions)
    if not known.keys() >= given.keys():
        refuse_keyword_of_train(given, known)
    options = TrainOptions(**given)
    check_options(options)
    check_word("schedule", options.schedule, SCHEDULES)
    if options.iterations is not None and options.max_episodes is not None:
        raise InputError("iterations and max_episodes", "not both be given", (options.iterations, options.max_episodes))
    if options.max_episodes is not None and options.schedule == "paper":
        got = options.max_episodes
        raise InputError("max_episodes", "not be given with the paper's schedule", got, "give iterations=")
    return options

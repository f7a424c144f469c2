"""The source of episodes for whatever a user gives as an environment, and a policy that fits the source.

Each kind of source is asked in turn whether it plays the environment (`Source.from_env`): finite tables and compiled
twins run compiled, and any other Gymnasium environment is played as it is.

A policy that fits a source is made by its name:

    name              choices                                 numbers
    "table"           one preference per state and action     -
    "linear"          linear softmax                          normal, linear mean
    "mlp"             softmax of a network                    normal, mean of a network
    "deterministic"   the largest of linear outputs           a linear function, within the bounds

By default, a source that gives `States` and takes a `Choice` gets a table, and any other a linear policy, which has few
parameters. An algorithm may have another default (`Algorithm.defaults_for`), as the critic has for vectors.
Details may follow a name: "mlp:64,64,std=1" has two hidden layers of 64 units, and begins with a spread of 1.
"""

import contextlib
import difflib
import inspect
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import Any, Final

import gymnasium

from riskgrad.backend import Backend
from riskgrad.checks import check_env_options
from riskgrad.envs import CompiledEnv
from riskgrad.errors import InputError, TooLargeError, UnknownNameError
from riskgrad.kinds import checks_kinds
from riskgrad.making import close_or_warn, explain_failure, full_id
from riskgrad.mdp import FiniteMDP
from riskgrad.mdp.models import MODELS
from riskgrad.policy import POLICIES, Policy
from riskgrad.policy.base import find_policy_name
from riskgrad.settings import TrainOptions
from riskgrad.sources.base import SOURCES, EnvOptions, Source
from riskgrad.sources.shared import SharedSource
from riskgrad.types import Choice, States, Vectors

Environment = str | FiniteMDP | CompiledEnv | Source | gymnasium.Env[Any, Any] | Callable[..., Any]

MOST_PARAMETERS = 100_000_000  # of a policy made by name; they take 0.8 GB, and an algorithm holds several such vectors
MOST_UNASKED: Final = 10_000  # most numbers of an observation for which a policy is chosen by default
KINDS = "a Gymnasium id, class, factory or environment, a FiniteMDP, a CompiledEnv, or a source of episodes"


@checks_kinds
def resolve_source(
    env: Environment,
    horizon: int | None = None,
    discount: float | None = None,
    *,
    env_options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    backend: str | Backend | None = None,
    step_timeout: float | None = None,
) -> Source:
    """Give the source of episodes that an environment stands for.

    Args:
        env: a Gymnasium id, the name of a shipped model, an environment, a `FiniteMDP`, a `CompiledEnv`, a source, or a
            class or factory of these.
        horizon: largest number of steps of an episode; None takes the environment's. A model or source has its own.
        discount: in (0, 1]; None is 1. A model or source has its own.
        env_options: options for `gymnasium.make`, the class or the factory.
        threads: how many threads play a finite model or a compiled environment; None for one for each core.
        backend: where a Gymnasium environment is played, such as `riskgrad.backend.Processes(8)`; other sources do not
            use it here, but `open_source` shares their work too.
        step_timeout: seconds after which a Gymnasium environment that does not answer is ended with its process.
    """
    given = check_env_options(env_options)
    said = EnvOptions(horizon, discount, given, threads, backend, step_timeout)
    made: Any = MODELS.get(env, env) if isinstance(env, str) else env
    if callable(made) and not isinstance(made, Source | gymnasium.Env):
        made, said = _call_factory(made, said)
    if isinstance(made, Source):
        said.refuse_other(made.horizon, made.discount)
        return made
    if isinstance(made, str):
        _refuse_misspelled_model(made)
        made = full_id(made)
    kinds = sorted(SOURCES.parts(), key=lambda kind: kind.general)
    for kind in [kind for kind in kinds if isinstance(made, kind.plays)] or kinds:
        source = kind.from_env(made, said)
        if source is not None:
            return source
    raise InputError("env", f"be {KINDS}", env)


@checks_kinds
@contextlib.contextmanager
def open_source(env: Environment, options: TrainOptions) -> Generator[Source]:
    """Give the source of episodes for a training; afterwards end its processes and close its environments."""
    source = resolve_source(
        env,
        options.horizon,
        options.discount,
        env_options=options.env_options,
        threads=options.threads,
        backend="patient" if options.backend is None else options.backend,
        step_timeout=options.step_timeout,
    )
    if options.step_timeout is not None and (source.workers != "backend" or source is env):
        rule = "be left out for a source of your own, a finite model, a compiled environment or a log"
        raise InputError("step_timeout", rule, options.step_timeout)
    if options.backend is not None and source is env and source.workers == "backend":
        raise InputError("backend", "be left out for a source, which has a backend of its own", options.backend)
    # "serial" means this process, and a log plays nothing
    is_serial = isinstance(options.backend, str) and options.backend == "serial"
    if options.backend is not None and not is_serial and source.workers != "backend" and source.logged is None:
        source = SharedSource(source, options.backend, options.threads)
    with closing(source, env):
        yield source


@checks_kinds
@contextlib.contextmanager
def closing(source: Source, env: Environment) -> Generator[None]:
    """Close environments made from an id or a class, and end processes of a source made here, as the context ends."""
    try:
        yield
    finally:
        try:
            if isinstance(env, str | type):
                close_or_warn(source, source.fingerprint())
        finally:
            if source is not env:
                source.stop_workers()


def _call_factory(factory: Any, said: EnvOptions) -> tuple[Any, EnvOptions]:
    """Call a class or factory; give what it made, and the options that are left for its source."""
    _refuse_unknown_options(factory, said.options)
    with explain_failure(str(getattr(factory, "__name__", type(factory).__name__))):
        made = factory(**said.options)
    # a source plays several such environments, and the factory makes the others with the same options
    return made, replace(said, factory=factory, options=said.options if isinstance(made, gymnasium.Env) else {})


def _refuse_unknown_options(factory: Any, options: Mapping[str, Any]) -> None:
    try:
        inspect.signature(factory).bind(**options)
    except ValueError:  # some callables have no signature
        return
    except TypeError as error:
        raise InputError("env_options", "be what the environment takes", dict(options), str(error)) from error


def _refuse_misspelled_model(name: str) -> None:
    """Refuse a string that is close to the name of a shipped model, unless it is registered with Gymnasium."""
    if difflib.get_close_matches(name.lower(), MODELS, n=1, cutoff=0.7) and name not in gymnasium.registry:
        raise UnknownNameError("env", name, MODELS, "any Gymnasium id works too")


@checks_kinds
def choose_policy(source: Source, given: Policy | str | None) -> tuple[Policy, str | None]:
    """Give the policy to train, and the name that makes it; None where no name does."""
    if isinstance(given, Policy):
        return given, find_policy_name(given, source.gives, source.takes)
    name = usual_name(source) if given is None else given
    return make_policy(source, name), name


def refuse_huge(source: Source) -> None:
    """Refuse to choose a policy for observations of very many numbers, such as images."""
    gives = source.gives
    if isinstance(gives, Vectors) and gives.size > MOST_UNASKED:
        rule = f"be named for more than {MOST_UNASKED:,} inputs, each of which has a weight for every unit"
        advice = (
            "images: shrink them by gymnasium.wrappers.GrayscaleObservation and ResizeObservation, or name a policy"
        )
        raise InputError("policy", rule, f"{gives.size:,} numbers in an observation", advice)


@checks_kinds
def make_policy(source: Source, name: str | None = None) -> Policy:
    """Make a policy that fits a source.

    Args:
        source: where episodes come from.
        name: "table", "linear", "mlp", "mlp:64,64", "deterministic", or the name of a registered policy; None for the
            usual one.

    Returns:
        the policy.
    """
    gives, takes = source.gives, source.takes
    name = usual_name(source) if name is None else name
    if not isinstance(name, str):
        raise InputError("policy", "be a policy, or the name of one such as 'mlp'", name)
    name, _, details = name.partition(":")
    kind = POLICIES.find(name, "or, in Python, a policy")
    if gives is None or takes is None:
        raise InputError("policy", "be given for a source that does not say what it gives and takes", name)
    made = kind.fit_as(gives, takes, details)
    if made.dim > MOST_PARAMETERS:
        rule = f"have at most {MOST_PARAMETERS:,} parameters"
        advice = "pass a policy of your own, or an environment that says less"
        raise TooLargeError(f"policy {name!r} for {gives} and {takes}", rule, made.dim, advice)
    return made


def usual_name(source: Source) -> str:
    """Give the name of the policy that a source gets by default."""
    return "table" if isinstance(source.gives, States) and isinstance(source.takes, Choice) else "linear"

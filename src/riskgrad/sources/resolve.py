"""From what a user calls an environment to a source of episodes.

Each kind of source is asked in turn whether it plays the environment (`Source.from_env`): finite tables and compiled
twins run compiled, and any other Gymnasium environment is played as it is.
"""

import contextlib
import difflib
import inspect
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import Any

import gymnasium

from riskgrad.checks import check_env_options
from riskgrad.envs import CompiledEnv
from riskgrad.errors import InputError, UnknownNameError
from riskgrad.making import close_or_warn, explain_failure, full_id
from riskgrad.mdp import FiniteMDP
from riskgrad.mdp.models import MODELS
from riskgrad.sources.base import SOURCES, EnvOptions, Source, Workers

Environment = str | FiniteMDP | CompiledEnv | Source | gymnasium.Env[Any, Any] | Callable[..., Any]

KINDS = "a Gymnasium id, class, factory or environment, a FiniteMDP, a CompiledEnv, or a source of episodes"


def resolve_source(
    env: Environment,
    horizon: int | None = None,
    discount: float | None = None,
    *,
    env_options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    backend: Workers | None = None,
) -> Source:
    """Give the source of episodes that an environment stands for.

    Args:
        env: a source, a `FiniteMDP`, a `CompiledEnv`, a Gymnasium id, a class or factory of these, or an environment.
        horizon: largest number of steps of an episode; only for Gymnasium environments, where None takes their limit.
        discount: in (0, 1]; only for Gymnasium environments, where None is 1.
        env_options: options for `gymnasium.make`, the class or the factory.
        threads: for sampling a finite model or a compiled environment.
        backend: for playing a Gymnasium environment, such as `riskgrad.backend.Processes(8)`.
    """
    given = check_env_options(env_options)
    said = EnvOptions(horizon, discount, given, threads, backend)
    made: Any = MODELS.get(env, env) if isinstance(env, str) else env
    if callable(made) and not isinstance(made, Source | gymnasium.Env):
        made, said = _call_factory(made, said)
    if isinstance(made, Source):
        said.refuse_other(made.horizon, made.discount)
        return made
    if isinstance(made, str):
        _refuse_misspelled_model(made)
        made = full_id(made)
    for kind in sorted(SOURCES.parts(), key=lambda kind: kind.general):
        source = kind.from_env(made, said)
        if source is not None:
            return source
    raise InputError("env", f"be {KINDS}", env)


@contextlib.contextmanager
def closing(source: Source, env: Environment) -> Generator[None]:
    """Close the environments of a source afterwards, if they were made here, from an id or a class."""
    try:
        yield
    finally:
        if isinstance(env, str | type):
            close_or_warn(source, source.fingerprint())


def _call_factory(factory: Any, said: EnvOptions) -> tuple[Any, EnvOptions]:
    """Call a class or factory; give what it made, and the options that are left for who plays that."""
    _refuse_unknown_options(factory, said.options)
    with explain_failure(str(getattr(factory, "__name__", type(factory).__name__))):
        made = factory(**said.options)
    # one environment is played by many, which the factory makes with the same options
    return made, replace(said, factory=factory, options=said.options if isinstance(made, gymnasium.Env) else {})


def _refuse_unknown_options(factory: Any, options: Mapping[str, Any]) -> None:
    try:
        inspect.signature(factory).bind(**options)
    except ValueError:  # some callables do not tell what they take
        return
    except TypeError as problem:
        raise InputError("env_options", "be what the environment takes", dict(options), str(problem)) from problem


def _refuse_misspelled_model(name: str) -> None:
    """Offer the shipped model that a string nearly names, where Gymnasium has no environment of that name."""
    if difflib.get_close_matches(name.lower(), MODELS, n=1, cutoff=0.7) and name not in gymnasium.registry:
        raise UnknownNameError("env", name, MODELS, "any Gymnasium id works too")

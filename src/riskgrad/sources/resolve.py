"""From what a user calls an environment to a source of episodes.

Finite tables and compiled twins run compiled; any other Gymnasium environment is played as it is.
"""

import contextlib
import difflib
import inspect
from collections.abc import Callable, Generator, Mapping
from typing import Any

import gymnasium

from riskgrad.envs import CompiledEnv, compiled_twin
from riskgrad.errors import InputError, UnknownNameError
from riskgrad.making import building, close, full_id
from riskgrad.mdp import FiniteMDP, from_gymnasium
from riskgrad.mdp.from_gym import has_table
from riskgrad.mdp.models import MODELS
from riskgrad.sources.base import Source
from riskgrad.sources.compiled import CompiledSource
from riskgrad.sources.gymnasium.recipe import Recipe, checked_options
from riskgrad.sources.gymnasium.source import GymnasiumSource, Workers
from riskgrad.sources.tabular import TabularSource

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
    made: Any = env
    options = checked_options(env_options)
    if isinstance(made, str) and made in MODELS:
        made = MODELS[made]
    if isinstance(made, str):
        _refuse_misspelled_model(made)
        made = full_id(made)
        made = compiled_twin(made, options) or made
    if isinstance(made, CompiledEnv):
        return CompiledSource(made, horizon, 1.0 if discount is None else discount, threads)
    factory: Any = None
    if callable(made) and not isinstance(made, Source | FiniteMDP | gymnasium.Env):
        _refuse_unknown_options(made, options)
        with building(str(getattr(made, "__name__", type(made).__name__))):
            factory, made = made, made(**options)
        options = {} if isinstance(made, str) else options
    if isinstance(made, str | gymnasium.Env):
        return _of_gymnasium(made, factory, options, horizon, 1.0 if discount is None else discount, threads, backend)
    options = options if factory is None else {}
    if not isinstance(made, Source | FiniteMDP):
        raise InputError("env", f"be {KINDS}", env)
    for name, value in (("horizon", horizon), ("discount", discount), ("env_options", options or None)):
        if value is not None and value != _own(made, name):
            raise InputError(name, "be left to the model or source, which has its own", value)
    return TabularSource(made, threads) if isinstance(made, FiniteMDP) else made


@contextlib.contextmanager
def closing(source: Source, env: Environment) -> Generator[None]:
    """Close the environments of a source afterwards, if they were made here, from an id or a class."""
    try:
        yield
    finally:
        if isinstance(source, GymnasiumSource) and isinstance(env, str | type):
            close(source, source.name)


def _of_gymnasium(
    made: Any,
    factory: Any,
    options: dict[str, Any],
    horizon: int | None,
    discount: float,
    threads: int | None,
    backend: Workers | None,
) -> Source:
    """Give the compiled sampler to a table that tells all there is to an environment, and play any other.

    Args:
        made: an id or an environment.
        factory: what made the environment, or None; it makes more of them.
        options: for the id or the factory.
        horizon: largest number of steps.
        discount: discount.
        threads: for a table.
        backend: for an environment that is played.
    """
    again = made if isinstance(made, str) or factory is None else factory
    first = Recipe.of(made, options).make() if isinstance(made, str) else made
    try:
        if has_table(first):
            return TabularSource(from_gymnasium(first, horizon, discount), threads)
    finally:
        if isinstance(made, str) or isinstance(factory, type):  # not one that is the user's, or a factory's
            close(first, "the environment")
    return GymnasiumSource(again, horizon, discount, env_options=options, backend=backend)


def _refuse_unknown_options(factory: Any, options: Mapping[str, Any]) -> None:
    try:
        inspect.signature(factory).bind(**options)
    except ValueError:  # some callables do not tell what they take
        return
    except TypeError as problem:
        raise InputError("env_options", "be what the environment takes", dict(options), str(problem)) from problem


def _own(made: object, name: str) -> object:
    """The horizon or discount of a model, or of the model behind a source."""
    return getattr(made, name, getattr(getattr(made, "mdp", None), name, None))


def _refuse_misspelled_model(name: str) -> None:
    """Offer the shipped model that a string nearly names, where Gymnasium has no environment of that name."""
    if difflib.get_close_matches(name.lower(), MODELS, n=1, cutoff=0.7) and name not in gymnasium.registry:
        raise UnknownNameError("env", name, MODELS, "any Gymnasium id works too")

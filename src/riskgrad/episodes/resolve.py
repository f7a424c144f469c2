"""From what a user calls an environment to a source of episodes: finite tables and compiled twins run compiled."""

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium

from riskgrad.envs import CompiledEnv, compiled_twin
from riskgrad.episodes.base import Source
from riskgrad.episodes.compiled import CompiledSource
from riskgrad.episodes.tabular import TabularSource
from riskgrad.errors import InputError
from riskgrad.mdp import FiniteMDP, from_gymnasium
from riskgrad.mdp.models import MODELS

Environment = str | FiniteMDP | Source | gymnasium.Env[Any, Any] | Callable[..., Any]

KINDS = "a Gymnasium id, class, factory or environment with a table of outcomes, a FiniteMDP, or a source of episodes"


def resolve_source(
    env: Environment,
    horizon: int | None = None,
    discount: float | None = None,
    *,
    env_options: Mapping[str, Any] | None = None,
    threads: int | None = None,
) -> Source:
    """Give the source of episodes that an environment stands for.

    Args:
        env: a source, a `FiniteMDP`, a Gymnasium id, a class or factory of any of these, or an environment. For now
            Gymnasium environments need a table of outcomes, as the toy-text ones have.
        horizon: largest number of steps of an episode; only for Gymnasium environments, where None takes their limit.
        discount: in (0, 1]; only for Gymnasium environments, where None is 1.
        env_options: options for `gymnasium.make`, the class or the factory.
        threads: for sampling a finite model.
    """
    made: Any = env
    options = dict(env_options or {})
    if isinstance(made, str) and made in MODELS:
        made = MODELS[made]
    if isinstance(made, str):
        made = compiled_twin(made, options) or made
    if isinstance(made, CompiledEnv):
        return CompiledSource(made, horizon, 1.0 if discount is None else discount, threads)
    if callable(made) and not isinstance(made, Source | FiniteMDP | gymnasium.Env):
        made, options = made(**options), {}
    if isinstance(made, str | gymnasium.Env):
        table = from_gymnasium(made, horizon, 1.0 if discount is None else discount, **options)  # pyright: ignore[reportUnknownArgumentType]
        return TabularSource(table, threads)
    if not isinstance(made, Source | FiniteMDP):
        raise InputError("env", f"be {KINDS}", env)
    for name, value in (("horizon", horizon), ("discount", discount), ("env_options", options or None)):
        if value is not None and value != _own(made, name):
            raise InputError(name, "be left to the model or source, which has its own", value)
    return TabularSource(made, threads) if isinstance(made, FiniteMDP) else made


def _own(made: object, name: str) -> object:
    """The horizon or discount of a model, or of the model behind a source."""
    return getattr(made, name, getattr(getattr(made, "mdp", None), name, None))

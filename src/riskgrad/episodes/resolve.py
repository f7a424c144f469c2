"""From what a user calls an environment to a source of episodes: a finite table gets the compiled sampler."""

from collections.abc import Callable
from typing import Any, cast

from riskgrad.episodes.base import Source
from riskgrad.episodes.tabular import TabularSource
from riskgrad.errors import InputError
from riskgrad.mdp import FiniteMDP, from_gymnasium

KINDS = (
    "a source of episodes, a FiniteMDP, or a Gymnasium environment with a table of outcomes (id, factory or instance)"
)


def resolve_source(env: object, horizon: int | None = None, discount: float | None = None) -> Source:
    """Give the source of episodes that an environment stands for.

    Args:
        env: a source, a `FiniteMDP`, a Gymnasium id, a class or factory of an environment, or an environment. For now
            Gymnasium environments need a table of outcomes, as the toy-text ones have.
        horizon: largest number of steps of an episode; only for Gymnasium environments, where None takes their limit.
        discount: in (0, 1]; only for Gymnasium environments, where None is 1.
    """
    if isinstance(env, Source | FiniteMDP):
        for name, value in (("horizon", horizon), ("discount", discount)):
            if value is not None and value != _own(env, name):
                raise InputError(name, "be left to the source or model, which has its own", value)
        return TabularSource(env) if isinstance(env, FiniteMDP) else env
    gamma = 1.0 if discount is None else discount
    if isinstance(env, str) or _is_environment(env):
        return TabularSource(from_gymnasium(cast("Any", env), horizon=horizon, discount=gamma))
    if callable(env):
        made = cast("Callable[[], object]", env)()
        if callable(made) and not _is_environment(made):
            raise InputError("env", f"be {KINDS}", env, "calling it gave no environment")
        return resolve_source(made, horizon, discount)
    raise InputError("env", f"be {KINDS}", env)


def _is_environment(thing: object) -> bool:
    """Whether it is a Gymnasium environment; a class of environments is not one."""
    return not isinstance(thing, type) and hasattr(thing, "reset") and hasattr(thing, "step")


def _own(env: object, name: str) -> object:
    """The horizon or discount of a model, or of the model behind a source."""
    return getattr(env, name, getattr(getattr(env, "mdp", None), name, None))

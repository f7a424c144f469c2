"""Read a finite model from a Gymnasium environment that has a table of outcomes.

FrozenLake, CliffWalking and Taxi hold their dynamics in `unwrapped.P` and the distribution of the first state in
`unwrapped.initial_state_distrib`. The step limit, on which the return depends, is not in the table: on the same map
`gymnasium.make("FrozenLake-v1", map_name="8x8")` stops after 100 steps and "FrozenLake8x8-v1" after 200. So the horizon
is by default the step limit of the environment that is read; CliffWalking has none, and the horizon has to be given.

A wrapper may change rewards or observations without changing the table. So may an option of the environment (Taxi's
fickle passenger), or a derived class with its own `step` or `reset`. All of these are refused, since the model would
differ from its environment without a warning.
"""

from typing import Any

import gymnasium
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, RecordEpisodeStatistics, TimeLimit

from riskgrad.errors import InputError
from riskgrad.kinds import checks_kinds
from riskgrad.making import explain_failure, time_limit
from riskgrad.mdp.model import FiniteMDP

TOY_TEXT = "gymnasium.envs.toy_text."  # the environments there have complete tables
# wrappers that leave observations, rewards and dynamics as they are; the limit of TimeLimit is the model's horizon
HARMLESS = (OrderEnforcing, PassiveEnvChecker, RecordEpisodeStatistics, TimeLimit)


@checks_kinds
def from_gymnasium(
    env: "str | gymnasium.Env[Any, Any]", horizon: int | None = None, discount: float = 1.0, **kwargs: Any
) -> FiniteMDP:
    """Read a finite model from a Gymnasium toy-text environment.

    Args:
        env: an id such as "CliffWalking-v1", or an environment.
        horizon: largest number of steps of an episode; by default the step limit of the environment.
        discount: in (0, 1].
        kwargs: options for `gymnasium.make`, such as is_slippery=True; only with an id.

    Returns:
        the model; an environment without a table of outcomes is refused.
    """
    if not isinstance(env, str):
        if kwargs:
            raise InputError("options", "come with an id, not with an environment", sorted(kwargs))
        return _read_table(env, horizon, discount)
    with explain_failure(env):
        made = gymnasium.make(env, **kwargs)
    try:
        return _read_table(made, horizon, discount)
    finally:
        made.close()


def has_table(env: "gymnasium.Env[Any, Any]") -> bool:
    """Say whether an environment has a complete table of outcomes."""
    if not hasattr(env.unwrapped, "P") or not hasattr(env.unwrapped, "initial_state_distrib"):
        return False
    try:
        _refuse_what_the_table_lacks(env, "env")
    except InputError:
        return False
    return True


def _read_table(env: "gymnasium.Env[Any, Any]", horizon: int | None, discount: float) -> FiniteMDP:
    base: Any = env.unwrapped
    name = env.spec.id if env.spec is not None else type(base).__name__
    if not hasattr(base, "P") or not hasattr(base, "initial_state_distrib"):
        raise InputError(
            "env",
            "have a table of outcomes (unwrapped.P and unwrapped.initial_state_distrib)",
            name,
            "FrozenLake, CliffWalking and Taxi have one; others can only be sampled",
        )
    _refuse_what_the_table_lacks(env, name)
    steps = time_limit(env) if horizon is None else horizon
    if steps is None:
        raise InputError("horizon", f"be given, since {name} has no step limit of its own", horizon)
    return FiniteMDP.from_outcomes(base.P, base.initial_state_distrib, horizon=steps, discount=discount)


def _refuse_what_the_table_lacks(env: "gymnasium.Env[Any, Any]", name: str) -> None:
    base, layer = env.unwrapped, env
    while layer is not base:
        if not isinstance(layer, HARMLESS):
            raise InputError(
                "env",
                "have no wrapper that its table of outcomes does not know",
                type(layer).__name__,
                f"pass {name} without it",
            )
        layer: gymnasium.Env[Any, Any] = getattr(layer, "env")  # noqa: B009 - wrappers are only partly typed
    kind: Any = type(base)
    plays = (kind.step.__module__, kind.reset.__module__)
    derived = any(each.__module__.startswith(TOY_TEXT) for each in kind.__mro__)
    if derived and not all(module.startswith(TOY_TEXT) for module in plays):
        raise InputError(
            "env", "step and reset as its table of outcomes says", kind.__name__, f"pass {name} to be played"
        )
    if getattr(base, "fickle_passenger", False):
        raise InputError("fickle_passenger", "be False, since the table of outcomes leaves it out", True)

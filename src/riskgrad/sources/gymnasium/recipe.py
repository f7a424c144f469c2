"""How environments are made from what a user gives: an id, a class or factory, or an environment.

They are made with the wrappers of `gymnasium.make`. These cost more than the step of a small environment, so that the
player takes them off, from the outside up to the first wrapper of the user's own, and applies the time limit itself.
"""

import importlib
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import VectorEnv

from riskgrad.checks import check_env_options
from riskgrad.errors import InputError
from riskgrad.making import explain_failure, full_id

Env = gymnasium.Env[Any, Any]
Environment = str | EnvSpec | Env | Callable[..., Any]


@dataclass(frozen=True)
class EnvRecipe:
    """A recipe by which environments are made, in this process or in others.

    Attributes:
        what: a specification, a class or factory, or an environment.
        options: keyword arguments for the specification, class or factory.
    """

    what: Any
    options: Mapping[str, Any]

    @classmethod
    def of(cls, env: Environment, options: Mapping[str, Any] | None) -> "EnvRecipe":
        """Make the recipe of what a user gives; an id is looked up here, so that other processes need not know it."""
        given = check_env_options(options)
        if isinstance(env, gymnasium.Env) and given:
            raise InputError("env_options", "come with an id, a class or a factory, not an environment", sorted(given))
        if isinstance(env, str):
            with explain_failure(env, "be an environment that gymnasium.make can build"):
                return cls(_find_spec(env), given)
        if not isinstance(env, EnvSpec | gymnasium.Env) and not callable(env):
            raise InputError("env", "be a Gymnasium id, a class or factory, or an environment", env)
        return cls(env, given)

    @property
    def is_single(self) -> bool:
        """Whether the recipe is a single environment, which cannot be made again."""
        return _is_env(self.what)

    @property
    def makes_anew(self) -> bool:
        """Whether every call makes a new environment; a factory may return the same one again."""
        return isinstance(self.what, EnvSpec | type)

    def make(self, **more: Any) -> Env:
        """Make an environment, with its wrappers; a single one is given as it is."""
        what: Any = self.what
        if self.is_single:
            return what
        options = {**self.options, **more}
        with explain_failure(self.name):
            is_spec = isinstance(what, EnvSpec)
            made: Any = gymnasium.make(what, disable_env_checker=True, **options) if is_spec else what(**options)
        if not _is_env(made):
            raise InputError("env", "give a gymnasium.Env when it is called", type(made).__name__)
        return made

    @property
    def name(self) -> str:
        """The environment's name in messages."""
        if isinstance(self.what, EnvSpec):
            return self.what.id
        return name_of(self.what) if self.is_single else str(getattr(self.what, "__name__", self.what))

    def make_vector(self, lanes: int, horizon: int) -> VectorEnv[Any, Any, Any] | None:
        """Make the environment's own vector form with so many lanes; None if it has none, or if the id has wrappers."""
        spec = self.what
        if not isinstance(spec, EnvSpec) or spec.vector_entry_point is None or spec.additional_wrappers:
            return None
        options: dict[str, Any] = dict(self.options)
        if spec.max_episode_steps is not None:
            options["max_episode_steps"] = horizon
        return gymnasium.make_vec(spec, num_envs=lanes, vectorization_mode="vector_entry_point", **options)

    def check_portable(self, dumps: Callable[[Any], bytes]) -> None:
        """Refuse an environment that cannot be made in other processes, for which `dumps` pickles the recipe."""
        advice = "pass an id, or a class or function of a module"
        if self.is_single:
            raise InputError("env", "be made anew in each process", self.name, advice)
        try:
            dumps(self)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InputError("env", "be found by its name in each process", self.name, advice) from error


def name_of(env: Env) -> str:
    """Give an environment's id, or the name of its class."""
    return env.spec.id if env.spec is not None else type(env.unwrapped).__name__


def _find_spec(name: str) -> EnvSpec:
    """Look up an id; for one of the form "module:id", import the module first, which registers the id."""
    module, _, inner = name.rpartition(":")
    if module:
        importlib.import_module(module)
    return gymnasium.spec(full_id(inner))


def is_id_or_env(made: object) -> bool:
    """Say whether something is an id or an environment."""
    return isinstance(made, str) or _is_env(made)


def _is_env(made: object) -> bool:
    return isinstance(made, gymnasium.Env)

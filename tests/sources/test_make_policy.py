"""A policy by its name fits its source, and trains there."""

import gymnasium
import numpy as np
import pytest
from support.environments import Countdown, Spaced
from support.training import train_briefly

import riskgrad as rg
from riskgrad.errors import InputError, UnknownNameError
from riskgrad.mdp.models import two_roads
from riskgrad.policy import MLP, Deterministic, Gaussian, LinearSoftmax, TabularGibbs
from riskgrad.random import Purpose, Stream
from riskgrad.sources import GymnasiumSource, make_policy, resolve_source

CASES = [
    (two_roads(), None, TabularGibbs),
    (two_roads(), "mlp", MLP),
    ("CartPole-v1", None, MLP),
    ("riskgrad/GuardedMaze-v0", None, LinearSoftmax),
    ("Pendulum-v1", None, Gaussian),
    ("Pendulum-v1", "mlp", Gaussian),
    ("Pendulum-v1", "deterministic", Deterministic),
]


@pytest.mark.parametrize(("env", "name", "kind"), CASES)
def test_fits(env, name, kind):
    source = resolve_source(env)
    policy = make_policy(source, name)
    assert isinstance(policy, kind)
    theta = policy.initial_theta(np.random.default_rng(0))
    assert np.all(np.isfinite(source.returns(policy, theta[None], 2, Stream(0, Purpose.EXAMPLE)).values))


def test_states_get_a_table_and_components_their_parts():
    lake = GymnasiumSource("FrozenLake-v1")
    assert repr(make_policy(lake)) == "TabularGibbs(16, 4)"
    grid = rg.sources.GymnasiumSource(Spaced(Countdown.observation_space, _several(), np.zeros(2)), horizon=3)
    assert make_policy(grid, "mlp").n_actions == (2, 3)
    with pytest.raises(InputError, match="policy must be random for actions of several components"):
        make_policy(grid, "deterministic")


def _several():
    return gymnasium.spaces.MultiDiscrete([2, 3])


@pytest.mark.parametrize("name", ["CartPole-v1", "MountainCar-v0", "Acrobot-v1", "riskgrad/GuardedMaze-v0"])
@pytest.mark.parametrize("policy", [None, "linear", "mlp", "deterministic"])
def test_an_id_and_its_environment_get_the_same_policy(name, policy):
    compiled, played = resolve_source(name), resolve_source(gymnasium.make(name))
    assert compiled.name == "compiled"
    assert played.name == "gymnasium"
    assert repr(make_policy(compiled, policy)) == repr(make_policy(played, policy))


def test_what_a_wrapper_shows_is_no_longer_known_to_be_one_hot():
    maze = gymnasium.wrappers.TransformObservation(
        gymnasium.make("riskgrad/GuardedMaze-v0"), lambda seen: 2.0 * seen, None
    )
    assert isinstance(make_policy(resolve_source(maze)), MLP)


def test_refuses_in_one_line():
    with pytest.raises(UnknownNameError, match="policy must be one of deterministic, linear, mlp, shared-table, table"):
        make_policy(resolve_source("Pendulum-v1"), "mpl")
    with pytest.raises(InputError, match="policy must not be a table where actions are numbers"):
        make_policy(resolve_source("Pendulum-v1"), "table")
    with pytest.raises(InputError, match="policy must not be a table where observations are no states"):
        make_policy(GymnasiumSource(Countdown, horizon=3), "table")


def test_train_takes_a_name_and_an_environment_without_a_table():
    score = rg.Score(episodes=8)
    run = train_briefly(Countdown, "cvar:0.5", policy="mlp", horizon=20, iterations=2, algorithm=score, held_out=4)
    assert isinstance(run.policy, MLP)
    assert run.theta.shape == (MLP(2, 2, (32, 32)).dim,)
    table = rg.evaluate(run, Countdown, risk="mean", episodes=20, horizon=20)
    assert 1.0 <= table.rows[0].value <= 45.0

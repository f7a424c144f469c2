"""Environments as others write them: constructors that refuse, vector forms that fail, closing, options of any kind."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.classic_control.cartpole import CartPoleVectorEnv
from support.environments import Countdown, Marked, Odd, Spaced

import riskgrad as rg
from riskgrad.backend import Processes
from riskgrad.errors import EpisodeError, InputError
from riskgrad.policy import MLP, Deterministic, Gibbs
from riskgrad.random import Purpose, Stream
from riskgrad.sources import CompiledSource, GymnasiumSource, TabularSource, resolve_source

STREAM = Stream(2, Purpose.EXAMPLE)
SHORT = {"iterations": 1, "algorithm": rg.Score(episodes=4), "held_out": 0, "horizon": 9}


class Choosy(Countdown):
    """Refuses an option's value in its own words, remembers what it was made with, and counts what is open."""

    made: tuple = ()
    opened = 0

    def __init__(self, size=(2, 3), hook=None, stubborn=False):
        if size == "huge":
            raise KeyError(size)
        Choosy.made = (size, hook)
        Choosy.opened += 1
        self.stubborn = stubborn
        Countdown.__init__(self)

    def close(self):
        Choosy.opened -= 1
        if self.stubborn:
            raise OSError("the port is busy")


@pytest.mark.parametrize("env", [Choosy, lambda **options: Choosy(**options, stubborn=True)], ids=["class", "factory"])
def test_what_a_constructor_raises_is_one_line(env):
    for make in (GymnasiumSource, resolve_source):
        with pytest.raises(
            InputError, match=r"env must be an environment that can be built.*KeyError: 'huge'"
        ) as caught:
            make(env, 9, env_options={"size": "huge"})
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("read", [resolve_source, rg.mdp.from_gymnasium])
def test_what_the_constructor_of_an_id_raises_is_one_line(read):
    options = {"map_name": "5x5"}
    with pytest.raises(InputError, match="env must be an environment that can be built, got 'FrozenLake-v1'; KeyError"):
        read("FrozenLake-v1", **({"env_options": options} if read is resolve_source else options))


def broken_vector(num_envs, **options):
    raise RuntimeError(f"{num_envs} needs a GPU, {options}")


def test_a_vector_form_that_cannot_be_made_is_not_used():
    gymnasium.register("RiskgradTest/Broken-v0", Countdown, vector_entry_point=broken_vector, max_episode_steps=9)
    try:
        with pytest.warns(
            RuntimeWarning, match="cannot be made, single environments are played: RuntimeError: 1 needs"
        ):
            source = GymnasiumSource("RiskgradTest/Broken-v0")
        assert not source.native
        with pytest.raises(InputError, match="native must be None where the vector form cannot be made"):
            GymnasiumSource("RiskgradTest/Broken-v0", native=True)
    finally:
        del gymnasium.registry["RiskgradTest/Broken-v0"]


def test_a_vector_form_with_other_spaces_is_not_used():
    gymnasium.register("RiskgradTest/Other-v0", Countdown, vector_entry_point=CartPoleVectorEnv, max_episode_steps=9)
    try:
        assert not GymnasiumSource("RiskgradTest/Other-v0").native
        with pytest.raises(InputError, match="native must be None where the vector form has other spaces, got True"):
            GymnasiumSource("RiskgradTest/Other-v0", native=True)
    finally:
        del gymnasium.registry["RiskgradTest/Other-v0"]


def test_what_was_made_is_closed_and_what_is_the_users_is_not():
    Choosy.opened = 0
    run = rg.train(Choosy, "mean", **SHORT)
    rg.evaluate(run, Choosy, "mean", episodes=5)
    assert Choosy.opened == 0
    mine = Choosy()
    rg.train(mine, "mean", **SHORT)
    rg.train(lambda: mine, "mean", **SHORT)
    assert Choosy.opened == 1
    with pytest.warns(RuntimeWarning, match="could not be closed: OSError: the port is busy"):
        rg.train(Choosy, "mean", env_options={"stubborn": True}, **SHORT)


def test_other_processes_close_their_environments_when_they_end(tmp_path):
    with Processes(1) as backend:
        source = GymnasiumSource(Marked, 9, env_options={"folder": str(tmp_path)}, backend=backend, lanes=3)
        source.returns(MLP(2, 2, ()), np.zeros((1, 6)), 8, STREAM)
        assert not list(tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) == 3


def test_a_policy_that_cannot_travel_is_refused_by_name():
    policy = Gibbs(lambda theta, seen: theta * np.sum(seen), dim=2, example=np.zeros(2))
    with pytest.raises(InputError, match="policy must be found by its name in each process, got Gibbs"):
        rg.train(Countdown, "mean", policy=policy, backend="processes:2", **SHORT)


def test_options_are_any_and_come_back_as_they_were(tmp_path):
    options = {"size": (2, 3), "hook": len}
    run = rg.train(Choosy, "mean", env_options=options, folder=tmp_path / "run", **SHORT)
    Choosy.made = ()
    rg.evaluate(run, Choosy, "mean", episodes=5)
    assert Choosy.made == ((2, 3), len)
    rg.evaluate(run, Choosy(), "mean", episodes=5)  # which has its own
    loaded = rg.load(tmp_path / "run")
    with pytest.raises(InputError, match="env_options must be given again, since a file cannot hold those of this run"):
        rg.evaluate(loaded, Choosy, "mean", episodes=5)
    rg.evaluate(loaded, Choosy, "mean", episodes=5, env_options=options)
    text = (tmp_path / "run" / "config.toml").read_text()
    assert "env-option: size=(2, 3), hook=<built-in function len>" in text
    plain = rg.train(Choosy, "mean", env_options={"size": np.int64(4)}, **SHORT)
    assert plain.settings.env_options == {"size": 4}
    assert not plain.settings.env_options_text


def test_numbers_of_numpy_are_numbers():
    options = {"iterations": np.int64(1), "horizon": np.int64(5), "discount": np.float32(0.5)}
    run = rg.train(Countdown, "mean", **{**SHORT, **options})
    assert (run.settings.horizon, run.settings.discount, run.settings.iterations) == (5, 0.5, 1)


def test_an_id_without_a_version_is_the_latest():
    assert isinstance(resolve_source("CartPole"), CompiledSource)
    assert isinstance(resolve_source("FrozenLake"), TabularSource)
    assert GymnasiumSource("Pendulum").env_name == "Pendulum-v1"
    with pytest.raises(InputError, match=r"env must be an environment that gymnasium\.make can build, got 'Pendula'"):
        resolve_source("Pendula")


class OldReset(Odd):
    def reset(self, seed=None):
        return super().reset(seed)[0]


class Blind(gymnasium.Env):
    pass


class Rich(Countdown):
    reward = 1e308

    def step(self, action):
        seen, _, *rest = super().step(action)
        return seen, self.reward if self.age > 1 else 0.0, *rest


@pytest.mark.parametrize(
    ("env", "reason"),
    [
        (lambda: OldReset("three"), r"step 0 .*: TypeError in reset: it has to give \(observation, info\)"),
        (
            lambda: Odd("four"),
            r"step 0 .*; its `step` has to give \(observation, reward, terminated, truncated, info\)",
        ),
        (Rich, "step 3 .*: the sum of rewards is not finite"),
        (type("Ill", (Rich,), {"reward": np.inf}), "step 2 .*: the reward is not finite"),
    ],
)
def test_failures_say_where_and_what_to_do(env, reason):
    with pytest.raises(EpisodeError, match=reason) as caught:
        GymnasiumSource(env, 20).returns(MLP(2, 2, ()), np.zeros((1, 6)), 40, STREAM)
    assert "\n" not in str(caught.value)


def test_an_environment_without_spaces_and_a_discount_in_words_are_refused():
    with pytest.raises(
        InputError, match=r"env must have an `observation_space`, as a gymnasium\.Env does, got 'Blind'"
    ):
        GymnasiumSource(Blind, 5)
    with pytest.raises(InputError, match=r"discount must be in \(0, 1\], got '0.9'"):
        GymnasiumSource(Countdown, 5, "0.9")
    with pytest.raises(InputError, match=r"discount must be in \(0, 1\], got '0.9'"):
        resolve_source("CartPole-v1", discount="0.9")


@pytest.mark.parametrize("options", ["abc", [1], 3, {1: 2}])
@pytest.mark.parametrize("make", [resolve_source, GymnasiumSource])
def test_options_that_have_no_names_are_refused(options, make):
    with pytest.raises(InputError, match="env_options must be a dictionary from names to values, or None, got"):
        make("CartPole-v1", env_options=options)


def acted(space, theta):
    taken = []

    class Seeing(Spaced):
        def step(self, action):
            taken.append(action)
            return super().step(action)

    source = GymnasiumSource(Seeing(spaces.Box(-1.0, 1.0, (1,)), space, np.ones(1, dtype=np.float32)), horizon=1)
    low, high = source.takes.low, source.takes.high
    policy = Deterministic(1, low=low, high=high)
    source.returns(policy, np.full((1, policy.dim), theta), 1, STREAM)
    return taken[0]


def test_boxes_that_are_fixed_or_as_wide_as_their_numbers():
    largest, whole = np.finfo(np.float64).max, np.iinfo(np.int64)
    fixed = acted(spaces.Box(np.array([0.0, 1.0]), np.array([1.0, 1.0]), dtype=np.float64), 5.0)
    np.testing.assert_array_equal(fixed, [1.0, 1.0])
    assert acted(spaces.Box(-largest, largest, (1,), np.float64), 0.0) == 0.0
    assert acted(spaces.Box(-largest, largest, (1,), np.float64), 5.0) == 10.0  # as if it had no bounds
    assert acted(spaces.Box(whole.min, whole.max, (1,), np.int64), 5.0) > 9e18

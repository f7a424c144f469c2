"""Compiled environments against their Gymnasium twins, step by step from the same states and actions."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest

from riskgrad.envs import CompiledEnv, cart_pole, compiled_twin, maze
from riskgrad.envs.twins import TWINS
from riskgrad.errors import InputError
from riskgrad.kernels.compile import kernel

# how far states may be apart after one step: the same equations in another order, and other last bits of sines
CLASSIC = {"CartPole-v1": 2e-15, "MountainCar-v0": 1e-16, "Acrobot-v1": 1e-12}


def observed(env, state):
    indices, values = np.zeros(env.n_features, dtype=np.int64), np.zeros(env.n_features)
    if env.dense:
        env.observe(state, values)
        return values
    count = env.observe(state, indices, values)
    dense = np.zeros(env.n_features)
    dense[indices[:count]] = values[:count]
    return dense


@pytest.mark.parametrize("identifier", CLASSIC)
def test_a_step_is_the_same_as_in_gymnasium(identifier):
    twin, tolerance = compiled_twin(identifier), CLASSIC[identifier]
    env, rng = gymnasium.make(identifier).unwrapped, np.random.default_rng(0)
    none, steps, ends, seed = np.zeros(1, dtype=np.uint64), 0, 0, 0
    while steps < 1500:
        seed += 1
        observation, _ = env.reset(seed=seed)
        state = np.array(env.state, dtype=np.float64)
        # bold actions of one kind reach the far ends, random ones the middle
        action, persistence = int(rng.integers(twin.n_actions)), rng.uniform()
        for _ in range(120):
            assert np.allclose(observed(twin, state), observation, rtol=0.0, atol=1e-6)
            action = action if rng.uniform() < persistence else int(rng.integers(twin.n_actions))
            observation, reward, over, _, _ = env.step(action)
            mine = twin.step(state, action, none)
            assert mine == (reward, over)
            theirs = np.array(env.state, dtype=np.float64)
            assert np.allclose(state, theirs, rtol=0.0, atol=tolerance)
            state[:] = theirs  # differences must not pile up: one step at a time
            steps += 1
            if over:
                ends += 1
                break
    assert ends > 0 or identifier != "CartPole-v1"
    assert none[0] == 0  # nothing is drawn


def test_a_force_turns_the_pole_as_fast_as_the_quotient_says():
    angles = np.linspace(-0.22, 0.22, 20_001)
    quotients = 1.0 / (cart_pole.SWING - cart_pole.POLE_SHARE * np.cos(angles) ** 2)
    assert np.max(np.abs([cart_pole.agility(angle) for angle in angles] / quotients - 1.0)) < 1e-15


def test_hills_are_climbed_and_walls_hit_alike():
    """The energy policy of the mountain car, to its goal."""
    twin, env = compiled_twin("MountainCar-v0"), gymnasium.make("MountainCar-v0").unwrapped
    env.reset(seed=0)
    state, over, steps = np.array(env.state), False, 0
    while not over:
        action = 2 if state[1] >= 0.0 else 0
        _, reward, over, _, _ = env.step(action)
        assert twin.step(state, action, np.zeros(1, dtype=np.uint64)) == (reward, over)
        assert np.allclose(state, env.state, rtol=0.0, atol=1e-16)
        state[:] = env.state
        steps += 1
    assert 80 < steps < 200


def test_acrobot_reaches_its_height_alike():
    """A torque along the speed of the second link swings it up."""
    twin, env = compiled_twin("Acrobot-v1"), gymnasium.make("Acrobot-v1").unwrapped
    env.reset(seed=0)
    state, over, steps = np.array(env.state, dtype=np.float64), False, 0
    while not over and steps < 500:
        action = 2 if state[3] >= 0.0 else 0
        _, reward, over, _, _ = env.step(action)
        assert twin.step(state, action, np.zeros(1, dtype=np.uint64)) == (reward, over)
        assert np.allclose(state, env.state, rtol=0.0, atol=1e-12)
        state[:] = env.state
        steps += 1
    assert over
    assert reward == 0.0


def test_an_id_that_was_registered_anew_has_no_twin(monkeypatch):
    spec = gymnasium.spec("CartPole-v1")
    for changed in (replace(spec, entry_point="elsewhere:Pole"), replace(spec, max_episode_steps=50)):
        monkeypatch.setitem(gymnasium.registry, "CartPole-v1", changed)
        assert compiled_twin("CartPole-v1") is None


@pytest.mark.parametrize("identifier", TWINS)
def test_sizes_are_those_of_gymnasium(identifier):
    twin, env = compiled_twin(identifier), gymnasium.make(identifier)
    assert twin.id == identifier
    assert env.observation_space.shape == (twin.n_features,)
    assert env.action_space.n == twin.n_actions
    assert env.spec.max_episode_steps == twin.horizon


@pytest.mark.parametrize(
    ("identifier", "options"),
    [*((name, {}) for name in CLASSIC), ("riskgrad/GuardedMaze-v0", {"observation": "position"})],
)
def test_starts_have_the_law_of_gymnasium(identifier, options):
    """Means and spreads of 4,000 starts each within 5 standard errors, a fixed seed: a false-alarm rate below 1e-5."""
    twin, env = compiled_twin(identifier, options), gymnasium.make(identifier, **options).unwrapped
    stream, state, n = np.array([np.uint64(7)]), np.zeros(twin.state_size), 4000
    env.reset(seed=0)
    mine, theirs = np.empty((n, twin.n_features)), np.empty((n, twin.n_features))
    for i in range(n):
        twin.reset(state, stream)
        mine[i], theirs[i] = observed(twin, state), env.reset()[0]
    error = np.sqrt((mine.var(axis=0) + theirs.var(axis=0)) / n)
    assert np.all(np.abs(mine.mean(axis=0) - theirs.mean(axis=0)) <= 5.0 * error)
    for sign in (-1.0, 1.0):
        assert np.all(np.max(sign * mine, axis=0) <= np.max(sign * theirs, axis=0) + 0.1 * theirs.std(axis=0))
    assert np.allclose(mine.std(axis=0), theirs.std(axis=0), rtol=0.1)


def test_the_maze_steps_alike_given_the_same_numbers():
    """The Gymnasium class and the compiled functions share `start` and `move`; here their draws are shared as well."""
    env, twin = gymnasium.make("riskgrad/GuardedMaze-v0").unwrapped, compiled_twin("riskgrad/GuardedMaze-v0")
    rng, state = np.random.default_rng(0), np.zeros(4)
    for seed in range(50):
        observation, _ = env.reset(seed=seed)
        copy = np.random.default_rng(seed)
        x, y, guard = copy.random(3)
        maze.start(state, x, y, guard, copy.standard_exponential())
        for _ in range(60):
            assert np.array_equal(observed(twin, state), observation)
            action = int(rng.integers(4))
            observation, reward, over, _, _ = env.step(action)
            assert maze.move(state, action, *copy.standard_normal(2)) == (reward, over)
            if over:
                break


def test_what_observe_takes_says_whether_it_writes_all_entries():
    assert compiled_twin("CartPole-v1").dense
    assert not compiled_twin("riskgrad/GuardedMaze-v0").dense


def test_options_choose_the_twin():
    assert compiled_twin("riskgrad/GuardedMaze-v0", {"observation": "position"}).n_features == 2
    assert compiled_twin("CartPole-v1", {"sutton_barto_reward": True}) is None
    assert compiled_twin("LunarLander-v3") is None


def test_sizes_and_arguments_are_checked():
    @kernel
    def nothing():
        pass

    with pytest.raises(InputError, match="n_actions must be an integer of at least 1, got 0"):
        CompiledEnv("x", nothing, nothing, nothing, state_size=1, n_features=1, n_actions=0, horizon=1)
    with pytest.raises(InputError, match=r"observe must take \(state, values\) or \(state, indices, values\)"):
        CompiledEnv("x", nothing, nothing, nothing, state_size=1, n_features=1, n_actions=1, horizon=1)

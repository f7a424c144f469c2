"""The guarded maze: every sentence of its description, the Gymnasium contract, and the compiled twin."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import riskgrad.envs
from riskgrad.envs import maze
from riskgrad.errors import InputError, UnknownNameError

EAST, NORTH, WEST, SOUTH = range(4)


def at(x, y, cost=0.0, steps=0.0):
    return np.array([x, y, cost, steps])


def test_map():
    rows = ["".join("#" if maze.WALLS[x, y] else "." for x in range(8)) for y in range(7, -1, -1)]
    assert rows == [
        "########",
        "#......#",
        "#..###.#",
        "#....#.#",
        "#....#.#",
        "#....#.#",
        "#......#",
        "########",
    ]


def test_moves_go_where_they_say_with_their_noise():
    for action, (x, y) in enumerate([(3.0, 2.0), (2.0, 3.0), (1.0, 2.0), (2.0, 1.0)]):
        state = at(2.0, 2.0)
        assert maze.move(state, action, 0.5, -1.0) == (-1.0, False)
        assert np.allclose(state, [x + 0.1, y - 0.2, 0.0, 1.0], atol=1e-15)


@pytest.mark.parametrize(
    ("x", "y", "action"),
    [
        (1.0, 2.0, WEST),  # the end is in the ring
        (4.0, 3.0, EAST),  # the end is in the middle wall
        (4.45, 2.4, EAST),  # the midpoint is in it
        (3.0, 4.2, NORTH),  # the upper wall
        (6.4, 6.4, EAST),  # clipped at 7, in the ring
    ],
)
def test_moves_into_walls_do_not_happen(x, y, action):
    state = at(x, y, cost=5.0)
    assert maze.move(state, action, 0.0, 0.0) == (-1.0, False)
    assert np.array_equal(state, [x, y, 5.0, 1.0])


def test_a_move_past_a_corner_is_stopped_by_its_midpoint_alone():
    state = at(4.4, 1.4)
    # the end (6.0, 1.4) is free, the midpoint (5.2, 1.4) is the guarded cell; with more north it is the wall (5, 2)
    assert maze.move(state, EAST, 3.0, 0.0) == (-1.0, False)
    assert np.allclose(state[:2], [6.0, 1.4])
    state = at(4.4, 1.4)
    assert maze.move(state, EAST, 3.0, 2.0) == (-1.0, False)
    assert np.allclose(state[:2], [4.4, 1.4])


def test_goal_pays_sixteen_and_ends():
    state = at(6.0, 3.0)
    assert maze.move(state, SOUTH, 0.0, 0.0) == (16.0, True)
    state = at(6.0, 1.0, steps=100.0)
    assert maze.move(state, NORTH, 0.0, 0.0) == (16.0, True)


def test_steps_cost_one_each_for_the_first_32():
    state = at(2.0, 2.0)
    rewards = [maze.move(state, (EAST, WEST)[t % 2], 0.0, 0.0)[0] for t in range(40)]
    assert rewards == [-1.0] * 32 + [0.0] * 8


def test_the_guard_is_paid_once_at_the_end_or_the_midpoint_of_a_move():
    state = at(4.0, 1.0, cost=7.5)
    assert maze.move(state, EAST, 0.0, 0.0) == (-8.5, False)
    assert maze.move(state, WEST, 0.0, 0.0) == (-1.0, False)
    assert maze.move(state, EAST, 0.0, 0.0) == (-1.0, False)
    state = at(4.4, 1.0, cost=7.5)
    assert maze.move(state, EAST, 1.0, 0.0) == (-8.5, False)  # ends in (6, 1), by way of (5, 1)
    assert np.allclose(state, [5.6, 1.0, 0.0, 1.0])
    state = at(4.0, 1.0, cost=7.5, steps=50.0)
    assert maze.move(state, EAST, 0.0, 0.0) == (-7.5, False)


def test_a_move_that_does_not_happen_pays_no_guard():
    state = at(4.4, 0.9, cost=7.5)
    # the midpoint is in the guarded cell, the end (5.4, 0.4) in the ring
    assert maze.move(state, EAST, 0.0, -2.5) == (-1.0, False)
    assert state[2] == 7.5


def test_start_and_guard():
    state = np.zeros(4)
    maze.start(state, 0.0, 0.5, 0.1999, 1.5)
    assert np.allclose(state, [0.6, 2.1, 48.0, 0.0])
    maze.start(state, 0.99, 0.0, 0.2, 1.5)
    assert np.allclose(state, [3.57, 0.6, 0.0, 0.0])


def test_soft_one_hot_is_bilinear_and_finds_the_position_again():
    cells = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0), indexing="ij"), axis=-1).reshape(64, 2)
    rng = np.random.default_rng(0)
    for x, y in [(0.0, 0.0), (7.0, 7.0), (7.0, 0.3), (3.0, 4.0), *rng.uniform(0.0, 7.0, size=(50, 2))]:
        indices, values = np.zeros(4, dtype=np.int64), np.zeros(4)
        assert maze.observe(at(x, y), indices, values) == 4
        assert np.all(values >= 0.0)
        assert np.isclose(np.sum(values), 1.0, atol=1e-15)
        assert np.allclose(np.sum(values[:, None] * cells[indices], axis=0), [x, y], atol=1e-14)
        assert np.sum(values**2) <= 1.0 + 1e-15
    maze.observe(at(3.0, 4.0), indices, values)
    assert indices[np.argmax(values)] == 3 * 8 + 4


@pytest.mark.parametrize("observation", ["cells", "position"])
def test_gymnasium_contract(observation):
    env = gymnasium.make("riskgrad/GuardedMaze-v0", observation=observation)
    check_env(env.unwrapped, skip_render_check=True)
    assert env.observation_space.shape == ((64,) if observation == "cells" else (2,))
    env.reset(seed=0)
    ends = [env.step(WEST)[2:4] for _ in range(160)]
    assert ends == [(False, False)] * 159 + [(False, True)]


def test_gymnasium_start_and_guard_have_the_law_described():
    """4 standard errors each, a fixed seed: a false-alarm rate of about 6e-5 each."""
    env, n = riskgrad.envs.GuardedMaze("position"), 20_000
    env.reset(seed=1)
    states = np.array([(env.reset(), env._state.copy())[1] for _ in range(n)])
    assert states[:, :2].min() > 0.6
    assert states[:, :2].max() < 3.6
    assert np.all(np.abs(states[:, :2].mean(axis=0) - 2.1) < 4.0 * 3.0 / np.sqrt(12.0 * n))
    costs = states[states[:, 2] > 0.0, 2]
    assert abs(len(costs) / n - 0.2) < 4.0 * np.sqrt(0.16 / n)
    assert abs(costs.mean() - 32.0) < 4.0 * 32.0 / np.sqrt(len(costs))


def test_paid_cost_is_reported_and_leaves_the_reward():
    env = riskgrad.envs.GuardedMaze()
    env.reset(seed=0)
    env._state[:] = at(4.0, 1.0, cost=1000.0)
    for _ in range(20):
        _, reward, _, _, info = env.step(EAST)
        if info["paid"]:
            assert info["paid"] == 1000.0
            assert reward == -1001.0
            return
    pytest.fail("never came to the guarded cell")


def test_picture():
    env = gymnasium.make("riskgrad/GuardedMaze-v0", render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step(NORTH)
    after = env.render()
    assert before.shape == (384, 384, 3)
    assert before.dtype == np.uint8
    assert not np.array_equal(before, after)
    assert len(np.unique(after.reshape(-1, 3), axis=0)) == 7
    # the picture has y upwards: the guarded cell (5, 1) is in the lower right
    assert tuple(after[6 * 48 + 24, 5 * 48 + 24]) == (208, 92, 76)  # pyright: ignore[reportCallIssue]


def test_bad_input():
    with pytest.raises(UnknownNameError, match="observation must be one of cells, position, got 'pixels'"):
        riskgrad.envs.GuardedMaze("pixels")
    with pytest.raises(InputError, match="render_mode must be 'rgb_array' or None"):
        riskgrad.envs.GuardedMaze(render_mode="human")
    env = riskgrad.envs.GuardedMaze()
    with pytest.raises(InputError, match="step must come after reset"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(InputError, match="action must be 0, 1, 2 or 3, got 4"):
        env.step(4)


def test_importing_the_folder_registers_and_loads_no_compiler():
    asked = "'riskgrad/GuardedMaze-v0' in gymnasium.registry, 'numba' in sys.modules"
    script = f"import sys, gymnasium, riskgrad.envs; print({asked})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]

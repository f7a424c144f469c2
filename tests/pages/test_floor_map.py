"""Walks on floor plans: where they go by known answers, how a user's own environment joins, and how it is drawn."""

import gymnasium
import numpy as np
import pytest

import riskgrad as rg
from riskgrad.envs import FloorPlan, GuardedMaze, maze
from riskgrad.pages.floor_map import LINES, LONGEST, Walks, describe_walks, floor_map, walks_of
from riskgrad.pages.page import report
from riskgrad.pages.played import play_runs
from riskgrad.pages.style import VARIABLES, inline_svg


class Corridor(gymnasium.Env):
    """A user's own grid world: three cells in a row, the one in the middle hurts, the last is the goal."""

    observation_space = gymnasium.spaces.Discrete(3)
    action_space = gymnasium.spaces.Discrete(2)
    floor_plan = FloorPlan(3, 1, goals=frozenset([(2, 0)]), hazards={(1, 0): "wet"}, moves=((-1.0, 0.0), (1.0, 0.0)))

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        super().reset(seed=seed)
        self.position = (0.0, 0.0)
        return 0, {}

    def step(self, action):
        cell = int(self.position[0]) + (1 if action else -1)
        self.position = (float(max(cell, 0)), 0.0)
        return int(self.position[0]), -1.0, cell == 2, False, {}


@pytest.fixture(scope="module")
def corridor():
    theta = 30.0 * np.array([-1.0, 1.0] * 3)  # to the right everywhere
    run = rg.train(Corridor, "mean", iterations=1, horizon=9, theta=theta, step_size=1e-9, entropy=0.0)
    return {"mine": run}


def test_a_users_own_environment_joins_by_two_attributes(corridor, tmp_path):
    (one,) = play_runs(corridor, Corridor, episodes=20)
    walks = walks_of(one, 50)
    assert len(walks.routes) == 50
    for route, actions in zip(walks.routes, walks.actions, strict=True):
        np.testing.assert_array_equal(route, [[0, 0], [1, 0], [2, 0]])
        assert [int(action) for action in actions] == [1, 1]
    assert (walks.through((1, 0)), walks.share_in_goal, walks.steps) == (1.0, 1.0, 2.0)
    np.testing.assert_array_equal(walks.headings[:, 0], [[1, 0], [1, 0], [0, 0]])
    np.testing.assert_array_equal(walks.visit_shares[:, 0], [1, 1, 0])
    assert describe_walks(walks) == "100% pass the wet cell, 100% reach the goal, and they take 2 steps on average"
    text = report(corridor, tmp_path / "mine.html", Corridor, episodes=20).read_text()
    assert "Where it goes" in text
    assert "100% pass the wet cell" in text


def test_environments_without_a_plan_have_no_map(runs):
    pole = rg.train("CartPole-v1", "mean", algorithm=rg.Score(episodes=4), iterations=1, held_out=0)
    for run in (runs["neutral"], pole):
        (one,) = play_runs({"a": run}, episodes=10)
        assert walks_of(one) is None
        assert floor_map(one, 0) is None


def walked(*points):
    return Walks(GuardedMaze.floor_plan, (np.array(points, dtype=float),), ((0,) * (len(points) - 1),))


def test_a_cell_is_passed_by_the_end_or_the_midpoint_of_a_step():
    assert walked((4.0, 1.0), (5.0, 1.0)).through((5, 1)) == 1.0
    assert walked((4.45, 1.0), (5.55, 1.0)).through((5, 1)) == 1.0, "over it"
    assert walked((4.0, 1.0), (4.4, 1.0)).through((5, 1)) == 0.0
    assert walked((6.0, 3.0), (6.2, 2.1)).share_in_goal == 1.0


def test_passing_the_guard_is_what_the_maze_charges_for():
    """On random walks with a guard: the cost is paid in exactly those that come through the guarded cell."""
    env, rng, paid, passed = GuardedMaze(), np.random.default_rng(0), [], []
    for seed in range(400):
        env.reset(seed=seed)
        env._state[:3] = 4.0, 1.0, 5.0  # before the guarded cell, with a guard in every episode
        points, cost = [env.position], 0.0
        for action in rng.choice(4, size=6, p=[0.4, 0.2, 0.2, 0.2]):
            _, _, over, _, info = env.step(np.int64(action))
            points.append(env.position)
            cost += info["paid"]
            if over:
                break
        paid.append(cost > 0.0)
        passed.append(walked(*points).through(maze.GUARDED) == 1.0)
    assert paid == passed
    assert 40 < sum(paid) < 390, "both happen"


def test_what_is_played_is_what_the_compiled_maze_plays(maze_runs):
    """Mean lengths of the same policy by both ways agree; 5 standard errors, a false alarm in two million."""
    (one,) = play_runs({"a": maze_runs["mean"]}, episodes=10)
    walks = walks_of(one, 400)
    stream = rg.random.Stream(1, rg.random.Purpose.EVALUATION)
    lengths = one.source.returns(one.run.policy, one.run.theta[None], 4000, stream).lengths[0]
    error = np.std(lengths) * np.sqrt(1 / 400 + 1 / 4000)
    assert abs(walks.steps - lengths.mean()) < 5 * error


def test_the_drawing_is_small_and_follows_the_page(maze_runs):
    (one,) = play_runs({"a": maze_runs["cvar:0.05"]}, episodes=10)
    drawn = floor_map(one, 0)
    text = inline_svg(drawn.figure, drawn.key)
    assert len(text) < 120_000
    assert [color for color in VARIABLES if color in text] == []
    assert all(word in text for word in (">start<", ">goal<", ">guarded<"))
    (lines,) = [part for part in drawn.figure.axes[0].collections if len(part.get_paths()) == LINES]
    assert max(len(path.vertices) for path in lines.get_paths()) <= LONGEST + 1
    assert "walks" in drawn.alternative
    assert "pass the guarded cell" in drawn.alternative


def test_four_mazes_take_under_a_megabyte(maze_page):
    text = maze_page.read_text()
    assert len(text.encode()) < 1_000_000
    assert all(f'<figure id="map-{index}">' in text for index in range(4))
    assert 'href="#maps"' in text

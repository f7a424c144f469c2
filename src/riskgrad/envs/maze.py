"""The guarded maze, compiled: a short way past a guard is best on average, but now and then very costly.

    7  # # # # # # # #        cells are (x, y), a position is in [0, 7]^2 and its cell is the rounded position
    6  # . . . . . . #
    5  # . . # # # . #        start uniform on (0.6, 3.6)^2
    4  # . . . . # . #        goal G = (6, 2), pays 16 and ends the episode
    3  # . . . . # . #        guarded cell g = (5, 1), the short way
    2  # . . . . # G #
    1  # . . . . g . #        state = (x, y, the guard's cost or 0 once it is paid, steps made)
    0  # # # # # # # #
       0 1 2 3 4 5 6 7

The problem is that of Greenberg et al., Efficient Risk-Averse Reinforcement Learning (NeurIPS 2022). A move has length
1 and Gaussian noise of 0.2 in each coordinate, and its end is clipped to [0, 7]. A move whose end or midpoint is in a
wall does not happen. Each of the first 32 steps costs 1, but for the step that reaches the goal. In each episode the
guard is there with probability 0.2, and the cost is drawn once: 16 times an exponential number of mean 2. The first
move that happens and has its end or midpoint in the guarded cell pays it.

`start` and `move` are the whole dynamics, of the Gymnasium environment and of the compiled one. They take their random
numbers as arguments, since the Gymnasium environment draws from its own generator.
"""

import numpy as np

from riskgrad.checks import check_word
from riskgrad.envs.base import CompiledEnv
from riskgrad.kernels import streams
from riskgrad.kernels.compile import kernel
from riskgrad.kernels.lane_loop import Job, Trace, play_episodes
from riskgrad.kernels.streams import Words
from riskgrad.types import FloatArray, IntArray

SIZE = 8
STATE_SIZE = 4
N_ACTIONS = 4
LONGEST = 160
PAID_STEPS = 32
PRIZE = 16.0
GUARD_CHANCE = 0.2
GUARD_COST = 32.0  # mean of 16 times an exponential number of mean 2
NOISE = 0.2
START_LOW, START_HIGH = 0.6, 3.6
GOAL, GUARDED = (6, 2), (5, 1)
MOVES = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])  # east, north, west, south

WALLS = np.zeros((SIZE, SIZE), dtype=np.bool_)
WALLS[[0, -1], :] = WALLS[:, [0, -1]] = True
WALLS[[3, 4, 5, 5, 5, 5], [5, 5, 5, 2, 3, 4]] = True


@kernel
def start(state: FloatArray, x: float, y: float, guard: float, cost: float) -> None:
    """Begin an episode from random numbers: x, y and guard uniform on [0, 1), cost exponential with mean 1."""
    state[0] = START_LOW + (START_HIGH - START_LOW) * x
    state[1] = START_LOW + (START_HIGH - START_LOW) * y
    state[2] = GUARD_COST * cost if guard < GUARD_CHANCE else 0.0
    state[3] = 0.0


@kernel
def move(state: FloatArray, action: int, east: float, north: float) -> tuple[float, bool]:
    """Make a step with standard normal numbers east and north; give the reward and whether the goal is reached."""
    x, y = state[0], state[1]
    to_x = min(max(x + MOVES[action, 0] + NOISE * east, 0.0), SIZE - 1.0)
    to_y = min(max(y + MOVES[action, 1] + NOISE * north, 0.0), SIZE - 1.0)
    end_x, end_y = int(to_x + 0.5), int(to_y + 0.5)
    middle_x, middle_y = int(0.5 * (x + to_x) + 0.5), int(0.5 * (y + to_y) + 0.5)
    reward = -1.0 if state[3] < PAID_STEPS else 0.0
    state[3] += 1.0
    if WALLS[end_x, end_y] or WALLS[middle_x, middle_y]:
        return reward, False
    state[0], state[1] = to_x, to_y
    over = end_x == GOAL[0] and end_y == GOAL[1]
    if over:
        reward = PRIZE
    if (end_x == GUARDED[0] and end_y == GUARDED[1]) or (middle_x == GUARDED[0] and middle_y == GUARDED[1]):
        reward -= state[2]
        state[2] = 0.0
    return reward, over


@kernel
def observe(state: FloatArray, indices: IntArray, values: FloatArray) -> int:
    """Write the soft one-hot of the position: bilinear weights of the four cells around it, cell (i, j) at 8 i + j."""
    i, j = min(int(state[0]), SIZE - 2), min(int(state[1]), SIZE - 2)
    right, up = state[0] - i, state[1] - j
    corner = SIZE * i + j
    indices[0], indices[1], indices[2], indices[3] = corner, corner + 1, corner + SIZE, corner + SIZE + 1
    values[0], values[1] = (1.0 - right) * (1.0 - up), (1.0 - right) * up
    values[2], values[3] = right * (1.0 - up), right * up
    return 4


@kernel
def observe_position(state: FloatArray, values: FloatArray) -> None:
    """Write the position (x, y)."""
    values[0], values[1] = state[0], state[1]


@kernel
def reset(state: FloatArray, stream: Words) -> None:
    """Begin an episode."""
    start(state, streams.uniform(stream), streams.uniform(stream), streams.uniform(stream), streams.exponential(stream))


@kernel
def step(state: FloatArray, action: int, stream: Words) -> tuple[float, bool]:
    """Make a step."""
    return move(state, action, streams.normal(stream), streams.normal(stream))


@kernel
def play(first: int, last: int, job: Job, trace: Trace) -> None:
    """Play episodes on soft one-hot observations; see `play_episodes`."""
    play_episodes(reset, step, observe, first, last, job, trace)


@kernel
def play_on_positions(first: int, last: int, job: Job, trace: Trace) -> None:
    """Play episodes on positions; see `play_episodes`."""
    play_episodes(reset, step, observe_position, first, last, job, trace)


def check_observation(observation: str) -> str:
    """Check the name of an observation and give it."""
    check_word("observation", observation, ["cells", "position"])
    return observation


def compiled_maze(observation: str = "cells") -> CompiledEnv:
    """Give the compiled maze: a short way past a guard, who is seldom there and then costs dearly, and a long way.

    Args:
        observation: "cells", a soft one-hot of 64, or "position", which is (x, y).
    """
    cells = check_observation(observation) == "cells"
    return CompiledEnv(
        id="riskgrad/GuardedMaze-v0",
        reset=reset,
        step=step,
        observe=observe if cells else observe_position,
        state_size=STATE_SIZE,
        n_features=SIZE * SIZE if cells else 2,
        n_actions=N_ACTIONS,
        horizon=LONGEST,
        one_hot=cells,
        play=play if cells else play_on_positions,
    )

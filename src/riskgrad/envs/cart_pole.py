"""CartPole-v1, compiled: a pole is to be kept upright on a cart that is pushed left (0) or right (1).

    state = (position x, its speed, angle of the pole, its speed)          reward 1 for each step, at most 500

The equations are those of Barto, Sutton and Anderson (1983) without friction, by Euler steps of 0.02 s, computed in the
order in which Gymnasium computes them, so that both agree to the last bit. As there, the state is kept in double
precision and observed in single.
"""

import math

import numpy as np

from riskgrad.compiled import kernel
from riskgrad.envs import draws
from riskgrad.envs._play import Job, Trace, play_episodes
from riskgrad.envs.base import CompiledEnv
from riskgrad.envs.draws import Words
from riskgrad.types import FloatArray, IntArray

GRAVITY = 9.8
POLE_MASS, TOTAL_MASS = 0.1, 0.1 + 1.0
HALF_LENGTH = 0.5
POLE_MOMENT = POLE_MASS * HALF_LENGTH
FORCE = 10.0
SECONDS = 0.02
FARTHEST, STEEPEST = 2.4, 12 * 2 * math.pi / 360
START = 0.05


@kernel
def reset(state: FloatArray, stream: Words) -> None:
    """Begin an episode near the middle."""
    for i in range(4):
        state[i] = START * (2.0 * draws.uniform(stream) - 1.0)


@kernel
def step(state: FloatArray, action: int, stream: Words) -> tuple[float, bool]:  # noqa: ARG001
    """Push for one step."""
    x, speed, angle, spin = state[0], state[1], state[2], state[3]
    cosine, sine = math.cos(angle), math.sin(angle)
    pushed = ((FORCE if action == 1 else -FORCE) + POLE_MOMENT * (spin * spin) * sine) / TOTAL_MASS
    turning = (GRAVITY * sine - cosine * pushed) / (
        HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * (cosine * cosine) / TOTAL_MASS)
    )
    moving = pushed - POLE_MOMENT * turning * cosine / TOTAL_MASS
    state[0], state[1] = x + SECONDS * speed, speed + SECONDS * moving
    state[2], state[3] = angle + SECONDS * spin, spin + SECONDS * turning
    return 1.0, abs(state[0]) > FARTHEST or abs(state[2]) > STEEPEST


@kernel
def observe(state: FloatArray, indices: IntArray, values: FloatArray) -> int:
    """Write the state in single precision."""
    for i in range(4):
        indices[i], values[i] = i, np.float64(np.float32(state[i]))
    return 4


@kernel
def play(first: int, last: int, job: Job, trace: Trace | None) -> None:
    """Play episodes; see `play_episodes`."""
    play_episodes(reset, step, observe, first, last, job, trace)


def compiled_cart_pole() -> CompiledEnv:
    """Give the compiled CartPole-v1."""
    return CompiledEnv(
        id="CartPole-v1",
        reset=reset,
        step=step,
        observe=observe,
        state_size=4,
        n_features=4,
        n_actions=2,
        horizon=500,
        reward_range=(1.0, 1.0),
        play=play,
    )

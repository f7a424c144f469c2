"""CartPole-v1, compiled: a pole has to be kept upright on a cart that is pushed left (0) or right (1).

    state = (position x, its speed, angle of the pole, its speed)          reward 1 for each step, at most 500

The equations are those of Barto, Sutton and Anderson (1983) without friction, by Euler steps of 0.02 s; a step agrees
with Gymnasium's within 2e-15. As there, the state is kept in double precision and observed in single.

A step has no branches, divisions or calls of the C library, so that four or eight episodes are processed at a time.
While an episode goes on, the angle of the pole is at most 0.21, so that short polynomials give its sine, its cosine and
`agility`.
"""

import math

from riskgrad.envs.base import EnvShape
from riskgrad.kernels import streams
from riskgrad.kernels.compile import kernel
from riskgrad.kernels.elementary import fma, round_to_single, sin_cos_small
from riskgrad.kernels.lane_loop import Job, Trace, play_episodes
from riskgrad.kernels.streams import Words
from riskgrad.types import FloatArray

GRAVITY = 9.8
POLE_MASS, TOTAL_MASS, HALF_LENGTH = 0.1, 1.1, 0.5
POLE_SHARE = POLE_MASS * HALF_LENGTH / TOTAL_MASS
SWING = HALF_LENGTH * 4.0 / 3.0
PUSH = 10.0 / TOTAL_MASS
SECONDS = 0.02
FARTHEST, STEEPEST = 2.4, 12 * 2 * math.pi / 360
START = 0.05
SHAPE = EnvShape("CartPole-v1", state_size=4, n_features=4, n_actions=2, horizon=500, reward_range=(1.0, 1.0))


@kernel
def reset(state: FloatArray, stream: Words) -> None:
    """Begin an episode near the middle, with the pole nearly upright."""
    for i in range(4):
        state[i] = START * (2.0 * streams.uniform(stream) - 1.0)


@kernel
def agility(angle: float) -> float:
    """Give 1 / (SWING - POLE_SHARE cos(angle)^2), how fast a force turns the pole, within 1e-15 up to an angle of 0.22.

    It is a minimax polynomial in the square of the angle, computed while the force is; a division would have to wait
    for the force.
    """
    z = angle * angle
    w = z * z
    low = fma(z, -0.11778703152733783, 1.6097560975609746)
    middle = fma(z, -0.011611282307326701, 0.047880906759945496)
    high = fma(z, -0.0006619809517453075, 0.0027731173195730827)
    return fma(w, fma(w, high, middle), low)


@kernel
def step(state: FloatArray, action: int, stream: Words) -> tuple[float, bool]:  # noqa: ARG001
    """Push for one step."""
    x, speed, angle, spin = state[0], state[1], state[2], state[3]
    sine, cosine = sin_cos_small(angle)
    share = POLE_SHARE * cosine
    pushed = fma(POLE_SHARE * (spin * spin), sine, PUSH if action == 1 else -PUSH)
    turning = fma(-cosine, pushed, GRAVITY * sine) * agility(angle)
    moving = fma(-share, turning, pushed)
    x, angle = fma(SECONDS, speed, x), fma(SECONDS, spin, angle)
    state[0], state[1], state[2], state[3] = x, fma(SECONDS, moving, speed), angle, fma(SECONDS, turning, spin)
    return 1.0, (abs(x) > FARTHEST) | (abs(angle) > STEEPEST)


@kernel
def observe(state: FloatArray, values: FloatArray) -> None:
    """Write the state in single precision."""
    for i in range(4):
        values[i] = round_to_single(state[i])


@kernel
def play(first: int, last: int, job: Job, trace: Trace) -> None:
    """Play episodes; see `play_episodes`."""
    play_episodes(reset, step, observe, first, last, job, trace)

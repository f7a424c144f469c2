"""MountainCar-v0, compiled: a car too weak for its hill has to swing up; it is pushed left (0), right (2) or not (1).

    state = (position, speed)          reward -1 for each step, at most 200; over at position 0.5

The equations are those of Moore (1990), computed in the same order as in Gymnasium; results differ at most by the last
bit of a cosine. As there, the state is kept in double precision and observed in single.
"""

from riskgrad.envs.base import EnvShape
from riskgrad.kernels import streams
from riskgrad.kernels.compile import kernel
from riskgrad.kernels.elementary import round_to_single, sin_cos
from riskgrad.kernels.lane_loop import Job, Trace, play_episodes
from riskgrad.kernels.streams import Words
from riskgrad.types import FloatArray

LEFT_END, RIGHT_END, GOAL = -1.2, 0.6, 0.5
FASTEST = 0.07
FORCE, GRAVITY = 0.001, 0.0025
START_LOW, START_HIGH = -0.6, -0.4
SHAPE = EnvShape("MountainCar-v0", state_size=2, n_features=2, n_actions=3, horizon=200, reward_range=(-1.0, -1.0))


@kernel
def reset(state: FloatArray, stream: Words) -> None:
    """Begin an episode at rest, near the bottom."""
    state[0] = START_LOW + (START_HIGH - START_LOW) * streams.uniform(stream)
    state[1] = 0.0


@kernel
def step(state: FloatArray, action: int, stream: Words) -> tuple[float, bool]:  # noqa: ARG001
    """Push for one step; at the left end the speed becomes 0."""
    position, speed = state[0], state[1]
    speed += (action - 1) * FORCE + sin_cos(3.0 * position)[1] * (-GRAVITY)
    speed = min(max(speed, -FASTEST), FASTEST)
    position = min(max(position + speed, LEFT_END), RIGHT_END)
    speed = 0.0 if (position == LEFT_END) & (speed < 0.0) else speed
    state[0], state[1] = position, speed
    return -1.0, (position >= GOAL) & (speed >= 0.0)


@kernel
def observe(state: FloatArray, values: FloatArray) -> None:
    """Write the state in single precision."""
    for i in range(2):
        values[i] = round_to_single(state[i])


@kernel
def play(first: int, last: int, job: Job, trace: Trace) -> None:
    """Play episodes; see `play_episodes`."""
    play_episodes(reset, step, observe, first, last, job, trace)

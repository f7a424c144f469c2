"""Acrobot-v1, compiled: a motor between two hanging links (-1, 0 or 1) has to swing the free end above a height.

    state = (angle of the first link, angle of the second relative to the first, their speeds)
    reward -1 for each step, 0 for the step that reaches the height; at most 500 steps

The equations are those of Sutton and Barto's book, for links of length and mass 1, solved by one Runge-Kutta step of
fourth order over 0.2 s. Results agree with Gymnasium's within rounding: the same terms are summed in another order.
"""

import math

from riskgrad.envs.base import EnvShape
from riskgrad.kernels import streams
from riskgrad.kernels.compile import kernel
from riskgrad.kernels.elementary import round_to_single, sin_cos
from riskgrad.kernels.lane_loop import Job, Trace, play_episodes
from riskgrad.kernels.streams import Words
from riskgrad.types import FloatArray

GRAVITY = 9.8
CENTER = 0.5  # distance from a link's joint to its center of mass
INERTIA = 1.0
SECONDS = 0.2
FASTEST_FIRST, FASTEST_SECOND = 4.0 * math.pi, 9.0 * math.pi
START = 0.1
SHAPE = EnvShape("Acrobot-v1", state_size=4, n_features=6, n_actions=3, horizon=500, reward_range=(-1.0, 0.0))


@kernel
def reset(state: FloatArray, stream: Words) -> None:
    """Begin an episode with the links nearly at rest; the state is rounded to single precision, as in Gymnasium."""
    for i in range(4):
        state[i] = round_to_single(START * (2.0 * streams.uniform(stream) - 1.0))


@kernel
def accelerations(first: float, second: float, spin: float, bend: float, torque: float) -> tuple[float, float]:
    """Give the accelerations of both angles, where `spin` is the speed of the first and `bend` that of the second."""
    sine, cosine = sin_cos(second)
    inertia = CENTER**2 + (1.0 + CENTER**2 + 2.0 * CENTER * cosine) + 2.0 * INERTIA
    coupling = (CENTER**2 + CENTER * cosine) + INERTIA
    outer = CENTER * GRAVITY * sin_cos(first + second)[0]
    whole = (
        -CENTER * bend * bend * sine
        - 2.0 * CENTER * bend * spin * sine
        + (CENTER + 1.0) * GRAVITY * sin_cos(first)[0]
        + outer
    )
    ratio = coupling / inertia
    bending = (torque + ratio * whole - CENTER * spin * spin * sine - outer) / (
        CENTER**2 + INERTIA - coupling * coupling / inertia
    )
    return -(coupling * bending + whole) / inertia, bending


@kernel
def wrap_angle(angle: float) -> float:
    """Bring an angle into [-pi, pi] by at most one whole turn; in one step an angle changes by less."""
    angle = angle - 2.0 * math.pi if angle > math.pi else angle
    return angle + 2.0 * math.pi if angle < -math.pi else angle


@kernel
def step(state: FloatArray, action: int, stream: Words) -> tuple[float, bool]:  # noqa: ARG001
    """Apply the motor for one step."""
    a, b, c, d = state[0], state[1], state[2], state[3]
    torque, half = action - 1.0, 0.5 * SECONDS
    c1, d1 = accelerations(a, b, c, d, torque)
    c2, d2 = accelerations(a + half * c, b + half * d, c + half * c1, d + half * d1, torque)
    a2, b2 = c + half * c1, d + half * d1
    c3, d3 = accelerations(a + half * a2, b + half * b2, c + half * c2, d + half * d2, torque)
    a3, b3 = c + half * c2, d + half * d2
    c4, d4 = accelerations(a + SECONDS * a3, b + SECONDS * b3, c + SECONDS * c3, d + SECONDS * d3, torque)
    a4, b4 = c + SECONDS * c3, d + SECONDS * d3
    sixth = SECONDS / 6.0
    state[0] = wrap_angle(a + sixth * (c + 2.0 * a2 + 2.0 * a3 + a4))
    state[1] = wrap_angle(b + sixth * (d + 2.0 * b2 + 2.0 * b3 + b4))
    state[2] = min(max(c + sixth * (c1 + 2.0 * c2 + 2.0 * c3 + c4), -FASTEST_FIRST), FASTEST_FIRST)
    state[3] = min(max(d + sixth * (d1 + 2.0 * d2 + 2.0 * d3 + d4), -FASTEST_SECOND), FASTEST_SECOND)
    over = -sin_cos(state[0])[1] - sin_cos(state[1] + state[0])[1] > 1.0
    return (0.0 if over else -1.0), over


@kernel
def observe(state: FloatArray, values: FloatArray) -> None:
    """Write cosine and sine of both angles, and both speeds, in single precision."""
    for i in range(2):
        values[2 * i + 1], values[2 * i] = sin_cos(state[i])
        values[4 + i] = state[2 + i]
    for i in range(6):
        values[i] = round_to_single(values[i])


@kernel
def play(first: int, last: int, job: Job, trace: Trace) -> None:
    """Play episodes; see `play_episodes`."""
    play_episodes(reset, step, observe, first, last, job, trace)

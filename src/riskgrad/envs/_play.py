"""The loop that plays episodes of a compiled environment: observe, choose, step, until it is over.

    P policies   m episodes each   d parameters   A actions   V visits

The policy runs inside the loop: a network of layers from one flat vector, whose first layer reads the observation's
entries that are not zero; a linear softmax is the network of one layer. An action is drawn by the inverse CDF of the
softmax at one uniform number of the episode's own stream, so that nearby policies turn the same number into the same
action nearly always; a greedy policy takes the first of the largest logits, and draws the number all the same.

An episode is a function of the environment, the parameters, the pair's key and its index, never of what else is played.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from riskgrad.compiled import inlined, kernel
from riskgrad.envs import draws
from riskgrad.envs.draws import Words
from riskgrad.types import FloatArray, IntArray

ROUNDING = 6755399441055744.0 + 1023.0  # 1.5 * 2^52: adding it rounds to an integer; 1023 is the bias of an exponent


class Job(NamedTuple):
    """What is to be played, and where the answer goes.

    Attributes:
        keys: the key of each row [P].
        thetas: parameters [P, d]; layer by layer, weights [in, out] and then, with `bias`, one number per output.
        widths: features, units of each hidden layer, actions.
        bias: whether layers have one.
        relu: what stands between layers, otherwise tanh.
        greedy: take the likeliest action instead of drawing one.
        state_size: numbers in the environment's state.
        horizon: steps after which an episode is cut.
        discount: discount.
        episodes: m.
        values: discounted returns, flat [P * m].
        lengths: steps, flat [P * m].
    """

    keys: Words
    thetas: FloatArray
    widths: IntArray
    bias: bool
    relu: bool
    greedy: bool
    state_size: int
    horizon: int
    discount: float
    episodes: int
    values: FloatArray
    lengths: IntArray


class Trace(NamedTuple):
    """Where to write what the episodes of a single policy met.

    Attributes:
        offsets: where each episode's visits begin [m + 1].
        observations: zeros, to be filled [V, features].
        actions: [V].
    """

    offsets: IntArray
    observations: FloatArray
    actions: IntArray


@inlined
def linear(
    theta: FloatArray,
    first: int,
    bias: bool,
    indices: IntArray,
    values: FloatArray,
    count: int,
    n_in: int,
    n_out: int,
    units: FloatArray,
    row: int,
) -> None:
    """Write the sums of a layer, whose numbers begin at theta[first], for an input of `count` entries: units[row]."""
    for j in range(n_out):
        total = theta[first + n_in * n_out + j] if bias else 0.0
        for k in range(count):
            total += values[k] * theta[first + indices[k] * n_out + j]
        units[row, j] = total


@kernel
def dense(theta: FloatArray, first: int, bias: bool, n_in: int, n_out: int, units: FloatArray, row: int) -> None:
    """Write the sums of a layer, whose numbers begin at theta[first], for the input units[1 - row]: units[row]."""
    for j in range(n_out):
        units[row, j] = theta[first + n_in * n_out + j] if bias else 0.0
    for i in range(n_in):
        entry = units[1 - row, i]
        for j in range(n_out):
            units[row, j] += entry * theta[first + i * n_out + j]


@kernel
def bend(units: FloatArray, row: int, count: int, relu: bool) -> None:
    """Apply the activation to units[row, :count].

    tanh |x| = (1 - e) / (1 + e) with e = exp(-2 |x|) = 2^k exp(r), a polynomial for exp(r), and k put into the exponent
    of a double. It is right within 3e-16 and, unlike the C library's, runs several at a time: networks take half the
    time.
    """
    if relu:
        for i in range(count):
            units[row, i] = max(units[row, i], 0.0)
        return
    for i in range(count):
        x = units[row, i]
        y = -2.0 * min(abs(x), 20.0)
        shifted = y * 1.4426950408889634 + ROUNDING  # the last bits are now k + 1023
        k = shifted - ROUNDING
        r = (y - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
        tail = 1.0 / 39916800.0 + r * (1.0 / 479001600.0 + r / 6227020800.0)
        tail = 1.0 / 40320.0 + r * (1.0 / 362880.0 + r * (1.0 / 3628800.0 + r * tail))
        tail = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0 + r * tail))
        tail = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * tail))))
        e = tail * np.int64(np.float64(shifted).view(np.int64) << 52).view(np.float64)
        units[row, i] = math.copysign((1.0 - e) / (1.0 + e), x)


@inlined
def network(
    theta: FloatArray,
    widths: IntArray,
    bias: bool,
    relu: bool,
    indices: IntArray,
    values: FloatArray,
    count: int,
    units: FloatArray,
) -> int:
    """Run the network on an observation of `count` entries; give the row of units [2, width] that holds the logits."""
    linear(theta, 0, bias, indices, values, count, widths[0], widths[1], units, 0)
    row, first = 0, widths[0] * widths[1] + (widths[1] if bias else 0)
    for layer in range(1, len(widths) - 1):
        n_in, n_out = widths[layer], widths[layer + 1]
        bend(units, row, n_in, relu)
        row = 1 - row
        dense(theta, first, bias, n_in, n_out, units, row)
        first += n_in * n_out + (n_out if bias else 0)
    return row


@inlined
def choose(units: FloatArray, row: int, n_actions: int, u: float, greedy: bool) -> int:
    """Give the action at the uniform number u for the logits units[row, :A], which become sums of weights.

    As u is at most 1 - 2^-53, u times the last sum is below it: an action without weight is never chosen. Of two
    actions the second is chosen if u >= 1 / (1 + exp(l_1 - l_0)), that is log(u / (1 - u)) >= l_0 - l_1; the logarithm
    does not wait for the state, so that the processor has it ready in time.
    """
    if n_actions == 2 and not greedy:
        return 1 if math.log(u / (1.0 - u)) >= units[row, 0] - units[row, 1] else 0
    best, top = 0, units[row, 0]
    for a in range(1, n_actions):
        if units[row, a] > top:
            best, top = a, units[row, a]
    if greedy:
        return best
    total = 0.0
    for a in range(n_actions):
        total += math.exp(units[row, a] - top)
        units[row, a] = total
    # a count has no branch to be predicted wrongly
    action, target = 0, u * total
    for a in range(n_actions - 1):
        action += 1 if units[row, a] <= target else 0
    return action


@inlined
def play_episodes(
    reset: Callable[..., None],
    step: Callable[..., tuple[float, bool]],
    observe: Callable[..., int],
    first: int,
    last: int,
    job: Job,
    trace: Trace | None,
) -> None:
    """Play the episodes first:last of all P * m, counted row by row.

    With a trace, which is for a single policy, what they met is kept.
    """
    actions, stream = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.uint64)
    state = np.zeros(job.state_size)
    indices, entries = np.zeros(job.widths[0], dtype=np.int64), np.zeros(job.widths[0])
    units = np.zeros((2, job.widths[1:].max()))
    thetas, keys, widths, bias, relu, greedy = job.thetas, job.keys, job.widths, job.bias, job.relu, job.greedy
    n_actions, horizon, discount, values, lengths = widths[-1], job.horizon, job.discount, job.values, job.lengths
    for item in range(first, last):
        p, e = item // job.episodes, item % job.episodes
        theta = thetas[p]
        draws.begin(keys[p], e, actions, stream)
        reset(state, stream)
        total, factor, t, over = 0.0, 1.0, 0, False
        while not over and t < horizon:
            count = observe(state, indices, entries)
            row = network(theta, widths, bias, relu, indices, entries, count, units)
            action = choose(units, row, n_actions, draws.uniform(actions), greedy)
            if trace is not None:
                visit = trace.offsets[e] + t
                for k in range(count):
                    trace.observations[visit, indices[k]] = entries[k]
                trace.actions[visit] = action
            reward, over = step(state, action, stream)
            total += factor * reward
            factor *= discount
            t += 1
        values[item], lengths[item] = total, t

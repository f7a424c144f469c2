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


@kernel
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
    row, at = 0, 0
    for layer in range(len(widths) - 1):
        n_in, n_out = widths[layer], widths[layer + 1]
        shift = at + n_in * n_out
        for j in range(n_out):
            units[row, j] = theta[shift + j] if bias else 0.0
        for k in range(count if layer == 0 else n_in):
            entry = values[k] if layer == 0 else units[1 - row, k]
            first = at + (indices[k] if layer == 0 else k) * n_out
            for j in range(n_out):
                units[row, j] += entry * theta[first + j]
        if layer < len(widths) - 2:
            for j in range(n_out):
                units[row, j] = max(units[row, j], 0.0) if relu else math.tanh(units[row, j])
            row = 1 - row
        at = shift + (n_out if bias else 0)
    return row


@kernel
def choose(logits: FloatArray, n_actions: int, u: float, greedy: bool) -> int:
    """Give the action at the uniform number u; logits [A] become weights."""
    best = 0
    for a in range(1, n_actions):
        if logits[a] > logits[best]:
            best = a
    if greedy:
        return best
    top, total = logits[best], 0.0
    for a in range(n_actions):
        logits[a] = math.exp(logits[a] - top)
        total += logits[a]
    target, reached, action = u * total, 0.0, best
    for a in range(n_actions):
        reached += logits[a]
        if logits[a] > 0.0:
            action = a
            if reached > target:
                break
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
    for item in range(first, last):
        p, e = item // job.episodes, item % job.episodes
        theta = job.thetas[p]
        draws.begin(job.keys[p], e, actions, stream)
        reset(state, stream)
        total, factor, t, over = 0.0, 1.0, 0, False
        while not over and t < job.horizon:
            count = observe(state, indices, entries)
            row = network(theta, job.widths, job.bias, job.relu, indices, entries, count, units)
            action = choose(units[row], job.widths[-1], draws.uniform(actions), job.greedy)
            if trace is not None:
                visit = trace.offsets[e] + t
                for k in range(count):
                    trace.observations[visit, indices[k]] = entries[k]
                trace.actions[visit] = action
            reward, over = step(state, action, stream)
            total += factor * reward
            factor *= job.discount
            t += 1
        job.values[item], job.lengths[item] = total, t

"""The fit of a network of quantiles: a step of Adam on the quantile loss of each minibatch; and sums along episodes."""

import math
from typing import NamedTuple

import numpy as np

from riskgrad.kernels.arrays import FLOAT, ZERO, full_array
from riskgrad.kernels.batch_passes import forward_and_keep, pull_back_kept
from riskgrad.kernels.compile import kernel
from riskgrad.types import FloatArray, IntArray

MEAN_DECAY, SQUARE_DECAY = 0.9, 0.999


class FitState(NamedTuple):
    """Parameters and what Adam remembers; all are changed in place.

    Attributes:
        theta: parameters [d].
        mean: running mean of the gradient [d].
        square: running mean of its square [d].
        powers: the two decays to the power of the steps taken [2].
    """

    theta: FloatArray
    mean: FloatArray
    square: FloatArray
    powers: FloatArray


@kernel
def fit_quantiles(
    state: FitState,
    inputs: FloatArray,
    targets: FloatArray,
    order: IntArray,
    minibatch: int,
    sizes: IntArray,
    relu: bool,
    step: float,
    longest: float,
    bend: float,
) -> float:
    """Go once through the rows order [B] of inputs [N, k] and targets [N, c], in minibatches; give the mean loss.

    Quantile i of n has the level (i + 1 / 2) / n. Its loss at a target is the distance between the two, weighted by the
    level if the target is above the quantile and by 1 minus the level if it is below; within `bend` of 0 the distance
    is replaced by a parabola (quantile Huber loss). A gradient longer than `longest` is shortened to this length.
    """
    theta, mean, square, powers = state
    n_out, n_in, loss = sizes[-1], sizes[0], 0.0
    width = ZERO
    for layer in range(1, len(sizes)):
        width += sizes[layer]
    gradient = np.empty(len(theta), FLOAT)
    for first in range(0, len(order), minibatch):
        size = min(minibatch, len(order) - first)
        batch, kept = np.empty(size * n_in, FLOAT).reshape(size, n_in), np.empty(size * width, FLOAT)
        for b in range(size):
            for i in range(n_in):
                batch[b, i] = inputs[order[first + b], i]
        forward_and_keep(theta, batch, sizes, relu, kept)
        outputs = kept[len(kept) - size * n_out :].reshape(size, n_out)
        cotangents, scale = full_array(size * n_out, 0.0).reshape(size, n_out), 1.0 / (size * targets.shape[1])
        for b in range(size):
            for c in range(targets.shape[1]):
                target = targets[order[first + b], c]
                for i in range(n_out):
                    gap, level = target - outputs[b, i], (i + 0.5) / n_out
                    weight = level if gap > 0.0 else 1.0 - level
                    slope = min(max(gap / bend, -1.0), 1.0)
                    cotangents[b, i] -= weight * slope * scale
                    loss += weight * slope * (gap - 0.5 * bend * slope) * scale * size / n_out
        for i in range(len(gradient)):
            gradient[i] = 0.0
        pull_back_kept(theta, batch, sizes, relu, kept, cotangents, gradient)
        norm = 0.0
        for i in range(len(theta)):
            norm += gradient[i] * gradient[i]
        norm = math.sqrt(norm)
        shrink = longest / norm if norm > longest else 1.0
        powers[0] *= MEAN_DECAY
        powers[1] *= SQUARE_DECAY
        for i in range(len(theta)):
            slope = gradient[i] * shrink
            mean[i] = MEAN_DECAY * mean[i] + (1.0 - MEAN_DECAY) * slope
            square[i] = SQUARE_DECAY * square[i] + (1.0 - SQUARE_DECAY) * slope * slope
            root = math.sqrt(square[i] / (1.0 - powers[1]))
            if root > 0.0:
                theta[i] -= step * mean[i] / (1.0 - powers[0]) / root
    return loss / len(order)


@kernel
def sum_differences(values: FloatArray, ends: FloatArray, offsets: IntArray, decay: float, sums: FloatArray) -> None:
    """Write A_t = (V_{t+1} - V_t) + decay A_{t+1} to sums [N], with V in values [N], and in ends [m] at the end."""
    for episode in range(len(ends)):
        following, total = ends[episode], 0.0
        for t in range(offsets[episode + 1] - 1, offsets[episode] - 1, -1):
            total = following - values[t] + decay * total
            sums[t], following = total, values[t]


@kernel
def sum_rewards(rewards: FloatArray, offsets: IntArray, discount: float, so_far: FloatArray, scale: FloatArray) -> None:
    """Write the discounted return before each step to so_far [N], and discount ** t to scale [N]."""
    for episode in range(len(offsets) - 1):
        total, factor = 0.0, 1.0
        for t in range(offsets[episode], offsets[episode + 1]):
            so_far[t], scale[t] = total, factor
            total += factor * rewards[t]
            factor *= discount

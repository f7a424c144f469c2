"""The compiled network: forward and backward through layers that are read from a flat vector.

Sums run in the order of the units, one observation at a time, so that an answer has the same bits whatever else is in
the batch. The innermost loop runs over the outputs of a layer, which are next to each other in memory.
"""

import math

import numpy as np

from riskgrad.compiled import kernel
from riskgrad.types import FloatArray, IntArray

ROUNDING = 6755399441055744.0 + 1023.0  # 1.5 * 2^52: adding it rounds to an integer; 1023 is the bias of an exponent


@kernel
def _layer(theta: FloatArray, start: int, inputs: FloatArray, n_in: int, outputs: FloatArray, n_out: int) -> None:
    """Write weights . inputs + bias of the layer whose numbers begin at `start`.

    Four inputs are added at a time, in their order, so that an output is read and written once for all four.
    """
    end, whole = start + n_in * n_out, n_in - n_in % 4
    outputs[:n_out] = theta[end : end + n_out]
    # slices, since an index that begins at 0 is known to be no negative one, and the loops run several at a time
    for i in range(0, whole, 4):
        w, x, y, z = inputs[i], inputs[i + 1], inputs[i + 2], inputs[i + 3]
        if w != 0.0 or x != 0.0 or y != 0.0 or z != 0.0:  # one-hot observations and resting units cost little
            first = start + i * n_out
            a, b = theta[first : first + n_out], theta[first + n_out : first + 2 * n_out]
            c, d = theta[first + 2 * n_out : first + 3 * n_out], theta[first + 3 * n_out : first + 4 * n_out]
            for j in range(n_out):
                outputs[j] = (((outputs[j] + w * a[j]) + x * b[j]) + y * c[j]) + z * d[j]
    for i in range(whole, n_in):
        x, a = inputs[i], theta[start + i * n_out : start + (i + 1) * n_out]
        for j in range(n_out):
            outputs[j] += x * a[j]


@kernel
def _bend(units: FloatArray, count: int, relu: bool) -> None:
    """Apply the activation in place.

    tanh |x| = (1 - e) / (1 + e) with e = exp(-2 |x|) = 2^k exp(r), a polynomial for exp(r), and k put into the exponent
    of a double. It is right within 3e-16 and, unlike the C library's, runs several at a time.
    """
    if relu:
        for j in range(count):
            units[j] = max(units[j], 0.0)
        return
    for j in range(count):
        x = units[j]
        y = -2.0 * min(abs(x), 20.0)
        shifted = y * 1.4426950408889634 + ROUNDING  # the last bits are now k + 1023
        k = shifted - ROUNDING
        r = (y - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
        tail = 1.0 / 39916800.0 + r * (1.0 / 479001600.0 + r / 6227020800.0)
        tail = 1.0 / 40320.0 + r * (1.0 / 362880.0 + r * (1.0 / 3628800.0 + r * tail))
        tail = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0 + r * tail))
        tail = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * tail))))
        e = tail * np.int64(np.float64(shifted).view(np.int64) << 52).view(np.float64)
        units[j] = math.copysign((1.0 - e) / (1.0 + e), x)


@kernel
def _through(
    theta: FloatArray, inputs: FloatArray, sizes: IntArray, relu: bool, room: FloatArray, outputs: FloatArray
) -> None:
    """Write the outputs [n] of one observation [k]; `room` holds two layers of units."""
    last = len(sizes) - 2
    here, there = room[0], room[1]
    here[: sizes[0]] = inputs
    start = 0
    for layer in range(last + 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        _layer(theta, start, here, n_in, there, n_out)
        if layer < last:
            _bend(there, n_out, relu)
        here, there = there, here
        start += (n_in + 1) * n_out
    outputs[:] = here[: sizes[last + 1]]


@kernel
def forward(
    thetas: FloatArray, rows: IntArray, inputs: FloatArray, sizes: IntArray, relu: bool, outputs: FloatArray
) -> None:
    """Write the outputs [B, n] of B observations [B, k], each through the network thetas[rows[b]]."""
    room = np.empty((2, np.max(sizes)))
    for b in range(len(rows)):
        _through(thetas[rows[b]], inputs[b], sizes, relu, room, outputs[b])


@kernel
def draw_normal(
    thetas: FloatArray,
    rows: IntArray,
    inputs: FloatArray,
    sizes: IntArray,
    relu: bool,
    spread: float,
    normals: FloatArray,
    actions: FloatArray,
) -> None:
    """Write the outputs [B, n] plus spread * exp(log_std) * normals [B, n]; log_std follows the network in thetas."""
    room, n = np.empty((2, np.max(sizes))), sizes[-1]
    begin = 0
    for layer in range(len(sizes) - 1):
        begin += (sizes[layer] + 1) * sizes[layer + 1]
    for b in range(len(rows)):
        theta = thetas[rows[b]]
        _through(theta, inputs[b], sizes, relu, room, actions[b])
        for j in range(n):
            actions[b, j] += spread * math.exp(theta[begin + j]) * normals[b, j]


@kernel
def forward_all(
    begin: int, end: int, thetas: FloatArray, inputs: FloatArray, sizes: IntArray, relu: bool, outputs: FloatArray
) -> None:
    """Write the outputs [P, B, n] of the observations begin:end, each through all networks thetas [P, d]."""
    room = np.empty((2, np.max(sizes)))
    for p in range(len(thetas)):
        for b in range(begin, end):
            _through(thetas[p], inputs[b], sizes, relu, room, outputs[p, b])


@kernel
def _largest(logits: FloatArray, begin: int, end: int) -> int:
    """Where the first of the largest logits begin:end is."""
    best = begin
    for a in range(begin + 1, end):
        if logits[a] > logits[best]:
            best = a
    return best


@kernel
def choose(
    thetas: FloatArray,
    rows: IntArray,
    inputs: FloatArray,
    sizes: IntArray,
    relu: bool,
    parts: IntArray,
    uniforms: FloatArray,
    greedy: bool,
    actions: IntArray,
) -> None:
    """Write the actions [B, c] of B observations, by the inverse CDF of the softmax of each part at uniforms [B, c].

    The parts of the outputs begin at parts [c + 1]; a greedy action is the first of the largest.
    """
    room, logits = np.empty((2, np.max(sizes))), np.empty(sizes[-1])
    for b in range(len(rows)):
        _through(thetas[rows[b]], inputs[b], sizes, relu, room, logits)
        for c in range(len(parts) - 1):
            begin, end = parts[c], parts[c + 1]
            best = _largest(logits, begin, end)
            if greedy:
                actions[b, c] = best - begin
                continue
            highest, total = logits[best], 0.0
            for a in range(begin, end):
                total += math.exp(logits[a] - highest)
                logits[a] = total
            a = begin
            while a < end - 1 and logits[a] <= uniforms[b, c] * total:
                a += 1
            actions[b, c] = a - begin


@kernel
def pullback(
    theta: FloatArray, inputs: FloatArray, sizes: IntArray, relu: bool, cotangents: FloatArray, gradient: FloatArray
) -> None:
    """Add the sum over b of cotangents[b] . d outputs[b] / d theta to the gradient [d], by back-propagation."""
    last = len(sizes) - 2
    units = np.empty((last + 1, np.max(sizes)))  # what goes into each layer
    slope, below = np.empty(np.max(sizes)), np.empty(np.max(sizes))
    for b in range(len(inputs)):
        units[0, : sizes[0]] = inputs[b]
        start = 0
        for layer in range(last):
            _layer(theta, start, units[layer], sizes[layer], units[layer + 1], sizes[layer + 1])
            _bend(units[layer + 1], sizes[layer + 1], relu)
            start += (sizes[layer] + 1) * sizes[layer + 1]
        slope[: sizes[last + 1]] = cotangents[b]
        for layer in range(last, -1, -1):
            n_in, n_out = sizes[layer], sizes[layer + 1]
            for j in range(n_out):
                gradient[start + n_in * n_out + j] += slope[j]
            for i in range(n_in):
                x, first, total = units[layer, i], start + i * n_out, 0.0
                for j in range(n_out):
                    gradient[first + j] += x * slope[j]
                if layer > 0:
                    for j in range(n_out):
                        total += theta[first + j] * slope[j]
                    below[i] = (total if x > 0.0 else 0.0) if relu else total * (1.0 - x * x)
            slope, below = below, slope
            if layer > 0:
                start -= (sizes[layer - 1] + 1) * n_in

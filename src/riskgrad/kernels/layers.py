"""The layers of a compiled network, which are read from a flat vector, for several observations at once.

    units[j] = bias[j] + inputs[0] * weights[0, j] + inputs[1] * weights[1, j] + ...

bent by tanh or relu are the inputs of the next layer. Sums run in the order of the inputs, each observation by itself,
so that an answer has the same bits on every machine, and whatever else is taken through the network with it.
"""

from typing import NamedTuple

import numpy as np

from riskgrad.kernels.compile import helper, inline_helper
from riskgrad.kernels.elementary import tanh
from riskgrad.types import FloatArray, IntArray

Index = np.uint64

TOGETHER = 16  # observations at most that are taken through a network together
NONE, ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT = (np.uint64(number) for number in range(9))


class Room(NamedTuple):
    """What a layer is computed in, for n observations at most and w units at most.

    Attributes:
        units: what comes out of the layer [n, w].
        values, counts: what goes in, without zeros [n, w + 1], [n]; with room for one too many.
        indices: which inputs these are [n, w + 1].
    """

    units: FloatArray
    values: FloatArray
    counts: IntArray
    indices: IntArray


@helper
def empty_room(size: int, sizes: IntArray) -> Room:
    """Make room for at most `size` observations."""
    n, width = max(1, min(size, TOGETHER)), np.max(sizes)
    return Room(
        units=np.empty((n, width)),
        values=np.empty((n, width + 1)),
        counts=np.zeros(n, dtype=np.int64),
        indices=np.empty((n, width + 1), dtype=np.int64),
    )


@inline_helper
def gather_entries(room: Room, b: int, inputs: FloatArray, row: int, n_in: int) -> None:
    """Note which of inputs[row, :n_in] are not zero, for observation b: one-hot observations cost little."""
    count = 0
    for i in range(n_in):
        room.indices[b, count], room.values[b, count] = i, inputs[row, i]
        count += 1 if inputs[row, i] != 0.0 else 0
    room.counts[b] = count


@inline_helper
def _add_all(
    theta: FloatArray, first: Index, values: FloatArray, count: Index, n_out: Index, units: FloatArray
) -> None:
    """Add values[k] * weights[k, :] to units, for all inputs k; the weights [count, n_out] begin at theta[first].

    Eight inputs at a time, so that a sum is fetched and stored once for all of them. Unsigned indices need no question
    whether they count from the end.
    """
    whole = count - count % EIGHT
    for k in range(NONE, whole, EIGHT):
        x0, x1, x2, x3 = values[k], values[k + ONE], values[k + TWO], values[k + THREE]
        x4, x5, x6, x7 = values[k + FOUR], values[k + FIVE], values[k + SIX], values[k + SEVEN]
        for j in range(n_out):
            total = units[j]
            total += x0 * theta[k * n_out + j + first]
            total += x1 * theta[(k + ONE) * n_out + j + first]
            total += x2 * theta[(k + TWO) * n_out + j + first]
            total += x3 * theta[(k + THREE) * n_out + j + first]
            total += x4 * theta[(k + FOUR) * n_out + j + first]
            total += x5 * theta[(k + FIVE) * n_out + j + first]
            total += x6 * theta[(k + SIX) * n_out + j + first]
            total += x7 * theta[(k + SEVEN) * n_out + j + first]
            units[j] = total
    if count - whole >= FOUR:
        k = whole
        x0, x1, x2, x3 = values[k], values[k + ONE], values[k + TWO], values[k + THREE]
        for j in range(n_out):
            total = units[j]
            total += x0 * theta[k * n_out + j + first]
            total += x1 * theta[(k + ONE) * n_out + j + first]
            total += x2 * theta[(k + TWO) * n_out + j + first]
            total += x3 * theta[(k + THREE) * n_out + j + first]
            units[j] = total
        whole += FOUR
    for k in range(whole, count):
        x0 = values[k]
        for j in range(n_out):
            units[j] += x0 * theta[k * n_out + j + first]


@inline_helper
def _add_all_to_two(
    theta: FloatArray,
    first: Index,
    values: FloatArray,
    others: FloatArray,
    count: Index,
    n_out: Index,
    units: FloatArray,
    more: FloatArray,
) -> None:
    """Do what `_add_all` does for two observations at once, which share each weight that is fetched."""
    whole = count - count % FOUR
    for k in range(NONE, whole, FOUR):
        x0, x1, x2, x3 = values[k], values[k + ONE], values[k + TWO], values[k + THREE]
        y0, y1, y2, y3 = others[k], others[k + ONE], others[k + TWO], others[k + THREE]
        for j in range(n_out):
            w0, w1 = theta[k * n_out + j + first], theta[(k + ONE) * n_out + j + first]
            w2, w3 = theta[(k + TWO) * n_out + j + first], theta[(k + THREE) * n_out + j + first]
            total, other = units[j], more[j]
            total += x0 * w0
            other += y0 * w0
            total += x1 * w1
            other += y1 * w1
            total += x2 * w2
            other += y2 * w2
            total += x3 * w3
            other += y3 * w3
            units[j], more[j] = total, other
    for k in range(whole, count):
        x0, y0 = values[k], others[k]
        for j in range(n_out):
            w0 = theta[k * n_out + j + first]
            units[j] += x0 * w0
            more[j] += y0 * w0


@inline_helper
def _add_some(
    theta: FloatArray, first: int, indices: IntArray, values: FloatArray, count: int, n_out: int, units: FloatArray
) -> None:
    """Add values[k] * weights[indices[k], :] to units, for the first `count` entries, as `_add_all` does."""
    wide = np.uint64(n_out)
    for k in range(0, count - 7, 8):
        x0, x1, x2, x3 = values[k], values[k + 1], values[k + 2], values[k + 3]
        x4, x5, x6, x7 = values[k + 4], values[k + 5], values[k + 6], values[k + 7]
        w0, w1 = np.uint64(first + indices[k] * n_out), np.uint64(first + indices[k + 1] * n_out)
        w2, w3 = np.uint64(first + indices[k + 2] * n_out), np.uint64(first + indices[k + 3] * n_out)
        w4, w5 = np.uint64(first + indices[k + 4] * n_out), np.uint64(first + indices[k + 5] * n_out)
        w6, w7 = np.uint64(first + indices[k + 6] * n_out), np.uint64(first + indices[k + 7] * n_out)
        for j in range(wide):
            total = units[j]
            total += x0 * theta[w0 + j]
            total += x1 * theta[w1 + j]
            total += x2 * theta[w2 + j]
            total += x3 * theta[w3 + j]
            total += x4 * theta[w4 + j]
            total += x5 * theta[w5 + j]
            total += x6 * theta[w6 + j]
            total += x7 * theta[w7 + j]
            units[j] = total
    if count % 8 >= 4:
        k = count - count % 8
        x0, x1, x2, x3 = values[k], values[k + 1], values[k + 2], values[k + 3]
        w0, w1 = np.uint64(first + indices[k] * n_out), np.uint64(first + indices[k + 1] * n_out)
        w2, w3 = np.uint64(first + indices[k + 2] * n_out), np.uint64(first + indices[k + 3] * n_out)
        for j in range(wide):
            total = units[j]
            total += x0 * theta[w0 + j]
            total += x1 * theta[w1 + j]
            total += x2 * theta[w2 + j]
            total += x3 * theta[w3 + j]
            units[j] = total
    for k in range(count - count % 4, count):
        x0, w0 = values[k], np.uint64(first + indices[k] * n_out)
        for j in range(wide):
            units[j] += x0 * theta[w0 + j]


@inline_helper
def write_layer(theta: FloatArray, start: int, room: Room, n: int, n_in: int, n_out: int, every: bool) -> None:
    """Write bias + weights . inputs of the layer whose numbers begin at `start`, for the first n observations.

    With `every` all inputs are there, in order; otherwise those which the room's indices name. Each unit is one sum,
    added up in the order of the entries and rounded after every product and every sum.
    """
    units, values, counts, indices = room.units, room.values, room.counts, room.indices
    biases, wide = np.uint64(start + n_in * n_out), np.uint64(n_out)
    for b in range(n):
        row = units[b]
        for j in range(wide):
            row[j] = theta[biases + j] + 0.0  # no negative zero, which adding the product of a zero would change
        if not every:
            _add_some(theta, start, indices[b], values[b], counts[b], n_out, row)
    if every:
        for b in range(0, n - 1, 2):
            _add_all_to_two(
                theta, np.uint64(start), values[b], values[b + 1], np.uint64(counts[b]), wide, units[b], units[b + 1]
            )
        if n % 2 == 1:
            _add_all(theta, np.uint64(start), values[n - 1], np.uint64(counts[n - 1]), wide, units[n - 1])


@inline_helper
def bend_row(units: FloatArray, b: int, count: int, relu: bool, bent: FloatArray, row: int) -> None:
    """Write the activation of units[b, :count]."""
    if relu:
        for j in range(count):
            bent[row, j] = max(units[b, j], 0.0)
        return
    for j in range(count):
        bent[row, j] = tanh(units[b, j])


@helper
def run_layers(theta: FloatArray, room: Room, n: int, sizes: IntArray, relu: bool) -> None:
    """Take the inputs of n observations, which are in the room, through all layers; leave the outputs in its units."""
    last, start = len(sizes) - 2, 0
    for layer in range(last + 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        write_layer(theta, start, room, n, n_in, n_out, every=layer > 0)
        start += (n_in + 1) * n_out
        if layer < last:
            for b in range(n):
                bend_row(room.units, b, n_out, relu, room.values, b)
                room.counts[b] = n_out

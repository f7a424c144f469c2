"""The layers of a compiled network, which are read from a flat vector, for several observations at once.

    units = weights . inputs + bias, bent by tanh or relu, are the inputs of the next layer

Sums run in the order of the units, each observation by itself, so that an answer has the same bits whatever else is
taken through the network with it.
"""

from typing import NamedTuple

import numpy as np

from riskgrad.kernels.columns import write_1, write_2, write_4, write_8, write_32
from riskgrad.kernels.compile import helper, woven
from riskgrad.kernels.elementary import tanh
from riskgrad.types import FloatArray, IntArray

TOGETHER = 16  # observations at most that are taken through a network together


class Room(NamedTuple):
    """What a layer is computed in, for n observations at most and w units at most.

    Attributes:
        units: what comes out of the layer [n, w].
        values, counts: what goes in, without zeros [n, w + 1], [n]; with room for one too many.
        indices: which inputs these are [n + 1, w + 1]; the last row names them all, in order.
    """

    units: FloatArray
    values: FloatArray
    counts: IntArray
    indices: IntArray


@helper
def empty_room(size: int, sizes: IntArray) -> Room:
    """Make room for at most `size` observations."""
    n, width = max(1, min(size, TOGETHER)), np.max(sizes)
    indices = np.empty((n + 1, width + 1), dtype=np.int64)
    indices[n] = np.arange(width + 1)
    return Room(
        units=np.empty((n, width)),
        values=np.empty((n, width + 1)),
        counts=np.zeros(n, dtype=np.int64),
        indices=indices,
    )


@woven
def gather(room: Room, b: int, inputs: FloatArray, row: int, n_in: int) -> None:
    """Note which of inputs[row, :n_in] are not zero, for observation b: one-hot observations cost little."""
    count = 0
    for i in range(n_in):
        room.indices[b, count], room.values[b, count] = i, inputs[row, i]
        count += 1 if inputs[row, i] != 0.0 else 0
    room.counts[b] = count


@woven
def write_layer(theta: FloatArray, start: int, room: Room, n: int, n_in: int, n_out: int, every: bool) -> None:
    """Write weights . inputs + bias of the layer whose numbers begin at `start`, for the first n observations.

    With `every` all inputs are there, in order; otherwise those which the room's indices name.
    """
    units, values, counts, indices = room.units, room.values, room.counts, room.indices
    j = 0
    while j + 32 <= n_out:
        for b in range(n):
            named = len(indices) - 1 if every else b
            write_32(theta, start, n_in, n_out, indices, named, values, counts[b], units, b, j)
        j += 32
    while j + 8 <= n_out:
        for b in range(n):
            named = len(indices) - 1 if every else b
            write_8(theta, start, n_in, n_out, indices, named, values, counts[b], units, b, j)
        j += 8
    for b in range(n):
        named, k = len(indices) - 1 if every else b, j
        if k + 4 <= n_out:
            write_4(theta, start, n_in, n_out, indices, named, values, counts[b], units, b, k)
            k += 4
        if k + 2 <= n_out:
            write_2(theta, start, n_in, n_out, indices, named, values, counts[b], units, b, k)
            k += 2
        if k < n_out:
            write_1(theta, start, n_in, n_out, indices, named, values, counts[b], units, b, k)


@woven
def bend(units: FloatArray, b: int, count: int, relu: bool, bent: FloatArray, row: int) -> None:
    """Write the activation of units[b, :count]."""
    if relu:
        for j in range(count):
            bent[row, j] = max(units[b, j], 0.0)
        return
    for j in range(count):
        bent[row, j] = tanh(units[b, j])


@helper
def through(theta: FloatArray, room: Room, n: int, sizes: IntArray, relu: bool) -> None:
    """Take the inputs of n observations, which are in the room, through all layers; leave the outputs in its units."""
    last, start = len(sizes) - 2, 0
    for layer in range(last + 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        write_layer(theta, start, room, n, n_in, n_out, every=layer > 0 and not relu)
        start += (n_in + 1) * n_out
        if layer < last:
            for b in range(n):
                if relu:
                    bend(room.units, b, n_out, relu, room.units, b)
                    gather(room, b, room.units, b, n_out)  # resting units cost little
                else:
                    bend(room.units, b, n_out, relu, room.values, b)
                    room.counts[b] = n_out

"""The layers of a compiled network, which are read from a flat vector, for several observations at once.

    units = weights . inputs + bias, bent by tanh or relu, are the inputs of the next layer

Sums run in the order of the units, each observation by itself, so that an answer has the same bits whatever else is
taken through the network with it.
"""

import math
from typing import NamedTuple

import numpy as np

from riskgrad.compiled import helper
from riskgrad.elementary import exp
from riskgrad.policy._columns import add_1, add_2, add_4, add_8, add_32
from riskgrad.types import FloatArray, IntArray

TOGETHER = 16  # observations at most that are taken through a network together


class Room(NamedTuple):
    """What a layer is computed in, for n observations at most and w units at most.

    Attributes:
        units: what comes out of the layer [n, w].
        indices, values, counts: what goes in, without zeros [n, w + 1], [n, w + 1], [n]; with room for one too many.
    """

    units: FloatArray
    indices: IntArray
    values: FloatArray
    counts: IntArray


@helper
def empty_room(size: int, sizes: IntArray) -> Room:
    """Make room for at most `size` observations."""
    n, width = max(1, min(size, TOGETHER)), np.max(sizes)
    return Room(
        units=np.empty((n, width)),
        indices=np.empty((n, width + 1), dtype=np.int64),
        values=np.empty((n, width + 1)),
        counts=np.zeros(n, dtype=np.int64),
    )


@helper
def gather(room: Room, b: int, inputs: FloatArray, n_in: int) -> None:
    """Note the inputs of observation b that are not zero: one-hot observations and resting units cost little."""
    indices, values, count = room.indices[b], room.values[b], 0
    for i in range(n_in):
        indices[count], values[count] = i, inputs[i]
        count += 1 if inputs[i] != 0.0 else 0
    room.counts[b] = count


@helper
def take(room: Room, b: int, n_in: int) -> None:
    """Note all units of observation b as inputs of the next layer, which is quicker where hardly any are zero."""
    units, indices, values = room.units[b], room.indices[b], room.values[b]
    for i in range(n_in):
        indices[i] = i
    for i in range(n_in):
        values[i] = units[i]
    room.counts[b] = n_in


@helper
def write_layer(theta: FloatArray, start: int, room: Room, n: int, n_in: int, n_out: int) -> None:
    """Write weights . inputs + bias of the layer whose numbers begin at `start`, for the first n observations."""
    units, indices, values, counts = room.units, room.indices, room.values, room.counts
    end, j = start + n_in * n_out, 0
    for b in range(n):
        for k in range(n_out):
            units[b, k] = theta[end + k] + 0.0  # no negative zero, which adding the product of a zero would change
    while j + 32 <= n_out:
        for b in range(n):
            add_32(theta, start, n_out, indices[b], values[b], counts[b], units[b], j)
        j += 32
    while j + 8 <= n_out:
        for b in range(n):
            add_8(theta, start, n_out, indices[b], values[b], counts[b], units[b], j)
        j += 8
    for b in range(n):
        k = j
        if k + 4 <= n_out:
            add_4(theta, start, n_out, indices[b], values[b], counts[b], units[b], k)
            k += 4
        if k + 2 <= n_out:
            add_2(theta, start, n_out, indices[b], values[b], counts[b], units[b], k)
            k += 2
        if k < n_out:
            add_1(theta, start, n_out, indices[b], values[b], counts[b], units[b], k)


@helper
def bend(units: FloatArray, count: int, relu: bool) -> None:
    """Apply the activation in place; tanh |x| = (1 - e) / (1 + e) with e = exp(-2 |x|) is right within 3e-16."""
    if relu:
        for j in range(count):
            units[j] = max(units[j], 0.0)
        return
    for j in range(count):
        e = exp(-2.0 * min(abs(units[j]), 20.0))
        units[j] = math.copysign((1.0 - e) / (1.0 + e), units[j])


@helper
def through(theta: FloatArray, inputs: FloatArray, which: IntArray, sizes: IntArray, relu: bool, room: Room) -> None:
    """Leave the outputs [n, w] of some observations, which [n], in the room's units."""
    last, start, n = len(sizes) - 2, 0, len(which)
    for b in range(n):
        gather(room, b, inputs[which[b]], sizes[0])
    for layer in range(last + 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        write_layer(theta, start, room, n, n_in, n_out)
        start += (n_in + 1) * n_out
        if layer < last:
            for b in range(n):
                bend(room.units[b], n_out, relu)
                if relu:
                    gather(room, b, room.units[b], n_out)
                else:
                    take(room, b, n_out)

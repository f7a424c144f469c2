"""The layers of a compiled network, which are read from a flat vector, for several observations at once.

    units[j] = bias[j] + inputs[0] * weights[0, j] + inputs[1] * weights[1, j] + ...

bent by tanh or relu are the inputs of the next layer. Sums run in the order of the inputs, each observation by itself,
so that an answer has the same bits on every machine, and whatever else is taken through the network with it.
"""

from typing import NamedTuple

import numpy as np

from riskgrad.kernels.arrays import ZERO, largest
from riskgrad.kernels.compile import helper, inline_helper
from riskgrad.kernels.elementary import TANHS_AT_ONCE, write_tanhs
from riskgrad.kernels.layer_sums import (
    FEW_OUTPUTS,
    FOUR,
    NONE,
    ONE,
    TWO,
    Index,
    add_entries,
    add_to_one,
    add_to_two,
    add_two_outputs_to_four,
)
from riskgrad.types import FloatArray, IntArray

TOGETHER = 16  # observations at most that are taken through a network together


class Room(NamedTuple):
    """What a layer is computed in, for n observations at most and w units at most.

    Attributes:
        values, counts: what goes into the first layer, without zeros [n, w + 1], [n]; with room for one too many.
        indices: which inputs these are [n, w + 1].
        inputs: what goes into a later layer, flat: the units of an observation, then those of the next.
        units: what comes out of a layer, likewise.
        powers, rests: for the hyperbolic tangent (see `write_tanhs`).
    """

    values: FloatArray
    counts: IntArray
    indices: IntArray
    inputs: FloatArray
    units: FloatArray
    powers: FloatArray
    rests: FloatArray


@helper
def empty_room(size: int, sizes: IntArray) -> Room:
    """Make room for at most `size` observations."""
    n, width = max(1, min(size, TOGETHER)), largest(sizes)
    return Room(
        values=np.empty((n, width + 1)),
        counts=np.zeros(n, dtype=np.int64),
        indices=np.empty((n, width + 1), dtype=np.int64),
        inputs=np.empty(n * width),
        units=np.empty(n * width),
        powers=np.empty(TANHS_AT_ONCE),
        rests=np.empty(TANHS_AT_ONCE),
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
def _write_biases(theta: FloatArray, start: Index, units: FloatArray, n: Index, n_out: Index) -> None:
    for b in range(n):
        for j in range(n_out):
            # no negative zero, which adding the product of a zero would change
            units[b * n_out + j] = theta[start + j] + 0.0


@inline_helper
def _add_later_layer(
    theta: FloatArray, start: Index, inputs: FloatArray, n: Index, n_in: Index, units: FloatArray, n_out: Index
) -> None:
    """Add weights . inputs to the units of n observations, whose inputs are all there, in order."""
    done = NONE
    if n_out < FEW_OUTPUTS:
        while done + FOUR <= n:
            for j in range(NONE, n_out - n_out % TWO, TWO):
                add_two_outputs_to_four(theta, start, inputs, done * n_in, n_in, units, done * n_out, n_out, j, j + ONE)
            if n_out % TWO == ONE:  # the same output twice
                j = n_out - ONE
                add_two_outputs_to_four(theta, start, inputs, done * n_in, n_in, units, done * n_out, n_out, j, j)
            done += FOUR
    while done + TWO <= n:
        add_to_two(theta, start, inputs, done * n_in, n_in, units, done * n_out, n_out)
        done += TWO
    if done < n:
        add_to_one(theta, start, inputs, done * n_in, n_in, units, done * n_out, n_out)


@inline_helper
def _bend(room: Room, count: int, relu: bool) -> None:
    """Write the activations of the first units to where the next layer finds them."""
    if relu:
        for j in range(count):
            room.inputs[j] = max(room.units[j], 0.0)
        return
    write_tanhs(room.units, count, room.inputs, room.powers, room.rests)


@helper
def run_layers(theta: FloatArray, room: Room, n: int, sizes: IntArray, relu: bool) -> None:
    """Take the inputs of n observations, which are in the room, through all layers; leave the outputs in its units."""
    last, start, units = len(sizes) - 2, ZERO, room.units
    for layer in range(last + 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        _write_biases(theta, np.uint64(start + n_in * n_out), units, np.uint64(n), np.uint64(n_out))
        if layer == 0:
            for b in range(n):
                add_entries(theta, start, room.indices[b], room.values[b], room.counts[b], units, b * n_out, n_out)
        else:
            _add_later_layer(
                theta, np.uint64(start), room.inputs, np.uint64(n), np.uint64(n_in), units, np.uint64(n_out)
            )
        start += (n_in + 1) * n_out
        if layer < last:
            _bend(room, n * n_out, relu)

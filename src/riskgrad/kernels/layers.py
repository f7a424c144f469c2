"""The layers of compiled networks, whose parameters are read from flat vectors, for several observations at once.

    units[j] = bias[j] + inputs[0] * weights[0, j] + inputs[1] * weights[1, j] + ...

The units, after tanh or relu, are the inputs of the next layer. Sums run in the order of the inputs, each observation
by itself, so that an answer has the same bits on every machine, and whatever else is taken through the layers with it.

Observations of different networks go through their layers side by side: within one observation each addition waits for
the one before, and so do the steps of a tanh, while the processor can work on another observation.
"""

from typing import NamedTuple

import numpy as np

from riskgrad.kernels.arrays import FLOAT, INTEGER, ZERO, aligned_zeros, full_integers, largest
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

TOGETHER = 16  # observations at most that are taken through the layers together


class Workspace(NamedTuple):
    """The arrays in which layers are computed, for n observations at most and w units at most.

    Attributes:
        rows: which network each observation goes through [n]; neighbors of one network share its weights.
        values, counts: inputs of the first layer that are not zero [n, w + 1], and how many there are [n]; the room for
            one more takes a zero, which the next input overwrites.
        indices: which inputs these are [n, w + 1].
        inputs: inputs of a later layer, flat [n * w]: those of an observation, then those of the next.
        units: outputs of a layer before the activation, likewise.
        powers, rests: for the hyperbolic tangent (see `write_tanhs`).
    """

    rows: IntArray
    values: FloatArray
    counts: IntArray
    indices: IntArray
    inputs: FloatArray
    units: FloatArray
    powers: FloatArray
    rests: FloatArray


@helper
def make_workspace(size: int, sizes: IntArray) -> Workspace:
    """Make the arrays for at most `size` observations."""
    n, width = max(1, min(size, TOGETHER)), largest(sizes)
    return Workspace(
        rows=full_integers(n, ZERO),
        values=np.empty(n * (width + 1), FLOAT).reshape(n, width + 1),
        counts=full_integers(n, ZERO),
        indices=np.empty(n * (width + 1), INTEGER).reshape(n, width + 1),
        inputs=aligned_zeros(n * width),
        units=aligned_zeros(n * width),
        powers=aligned_zeros(np.int64(TANHS_AT_ONCE)),
        rests=aligned_zeros(np.int64(TANHS_AT_ONCE)),
    )


@inline_helper
def gather_entries(work: Workspace, b: int, inputs: FloatArray, row: int, n_in: int) -> None:
    """Write those of inputs[row, :n_in] that are not zero to observation b of the workspace: one-hots cost little."""
    count = 0
    for i in range(n_in):
        work.indices[b, count], work.values[b, count] = i, inputs[row, i]
        count += 1 if inputs[row, i] != 0.0 else 0
    work.counts[b] = count


@inline_helper
def _write_biases(
    thetas: FloatArray, dim: Index, start: Index, rows: IntArray, n: Index, units: FloatArray, n_out: Index
) -> None:
    """Set the units of n observations to the biases of their networks, which begin at `start` of each network."""
    for b in range(n):
        at = np.uint64(rows[b]) * dim + start
        for j in range(n_out):
            # + 0.0 makes a negative zero positive, as adding the product of a zero, which is skipped, would do
            units[b * n_out + j] = thetas[at + j] + 0.0


@inline_helper
def _add_first_layer(
    thetas: FloatArray,
    dim: int,
    rows: IntArray,
    indices: IntArray,
    values: FloatArray,
    counts: IntArray,
    n: int,
    units: FloatArray,
    n_out: int,
) -> None:
    """Add weights . inputs to the units of n observations, for the inputs that are not zero."""
    for b in range(n):
        add_entries(thetas, rows[b] * dim, indices[b], values[b], counts[b], units, b * n_out, n_out)


@inline_helper
def _same_network(rows: IntArray, begin: Index, count: Index, end: Index) -> bool:
    """Tell whether there are `count` observations from `begin` on before `end`, and all go through one network."""
    if begin + count > end:
        return False
    same = True
    for b in range(begin + ONE, begin + count):
        same = same and rows[b] == rows[begin]
    return same


@inline_helper
def _add_later_layer(
    thetas: FloatArray,
    dim: Index,
    start: Index,
    rows: IntArray,
    inputs: FloatArray,
    n: Index,
    n_in: Index,
    units: FloatArray,
    n_out: Index,
) -> None:
    """Add weights . inputs to the units of n observations, for all inputs in order, zeros included.

    Neighbors of one network share each weight that is fetched: two of them, or four where there are few outputs.
    """
    done = NONE
    while done < n:
        first, x, u = np.uint64(rows[done]) * dim + start, done * n_in, done * n_out
        if n_out < FEW_OUTPUTS and _same_network(rows, done, FOUR, n):
            for j in range(NONE, n_out - n_out % TWO, TWO):
                add_two_outputs_to_four(thetas, first, inputs, x, n_in, units, u, n_out, j, j + ONE)
            if n_out % TWO == ONE:  # the last of an odd number of outputs is given twice
                j = n_out - ONE
                add_two_outputs_to_four(thetas, first, inputs, x, n_in, units, u, n_out, j, j)
            done += FOUR
        elif _same_network(rows, done, TWO, n):
            add_to_two(thetas, first, inputs, x, n_in, units, u, n_out)
            done += TWO
        else:
            add_to_one(thetas, first, inputs, x, n_in, units, u, n_out)
            done += ONE


@inline_helper
def _activate(work: Workspace, count: int, relu: bool) -> None:
    """Write the activations of the first `count` units to the inputs, for the next layer."""
    if relu:
        for j in range(count):
            work.inputs[j] = max(work.units[j], 0.0)
        return
    write_tanhs(work.units, count, work.inputs, work.powers, work.rests)


@helper
def run_layers(thetas: FloatArray, work: Workspace, n: int, sizes: IntArray, relu: bool) -> None:
    """Take the inputs of n observations in the workspace through the layers of their networks in thetas [P, d].

    The outputs are left in the workspace's units.
    """
    flat, dim = thetas.ravel(), thetas.shape[1]
    last, start, rows, units = len(sizes) - 2, ZERO, work.rows, work.units
    for layer in range(last + 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        biases = np.uint64(start + n_in * n_out)
        _write_biases(flat, np.uint64(dim), biases, rows, np.uint64(n), units, np.uint64(n_out))
        if layer == 0:
            _add_first_layer(flat, dim, rows, work.indices, work.values, work.counts, n, units, n_out)
        else:
            _add_later_layer(
                flat,
                np.uint64(dim),
                np.uint64(start),
                rows,
                work.inputs,
                np.uint64(n),
                np.uint64(n_in),
                units,
                np.uint64(n_out),
            )
        start += (n_in + 1) * n_out
        if layer < last:
            _activate(work, n * n_out, relu)

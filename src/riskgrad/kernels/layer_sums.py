"""The sums of products in a layer of a compiled network: inputs times weights, added to the units.

    units[b, j] += inputs[b, 0] * weights[0, j] + inputs[b, 1] * weights[1, j] + ...

Each unit is one sum, added up in the order of the inputs and rounded after every product and every sum, whichever of
these functions does it. Where outputs are many, the compiler does four or more of them at a time; where they are few,
sums of four observations are kept in registers. Arrays are flat, and indices unsigned: for a signed index, numba would
check whether it counts from the end.
"""

import numpy as np

from riskgrad.kernels.compile import inline_helper
from riskgrad.types import FloatArray, IntArray

Index = np.uint64

NONE, ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT = (np.uint64(number) for number in range(9))
FEW_OUTPUTS = EIGHT  # fewer outputs of one observation do not keep the processor busy


@inline_helper
def add_to_one(
    theta: FloatArray,
    first: Index,
    inputs: FloatArray,
    begin: Index,
    n_in: Index,
    units: FloatArray,
    u: Index,
    n_out: Index,
) -> None:
    """Add the inputs from `begin` on, times the weights [n_in, n_out] from theta[first] on, to the units from u on.

    Eight inputs are taken at a time, so that a sum is fetched and stored once for all of them.
    """
    whole = n_in - n_in % EIGHT
    for k in range(NONE, whole, EIGHT):
        x, w = begin + k, first + k * n_out
        x0, x1, x2, x3 = inputs[x], inputs[x + ONE], inputs[x + TWO], inputs[x + THREE]
        x4, x5, x6, x7 = inputs[x + FOUR], inputs[x + FIVE], inputs[x + SIX], inputs[x + SEVEN]
        for j in range(n_out):
            total = units[u + j]
            total += x0 * theta[w + j]
            total += x1 * theta[w + n_out + j]
            total += x2 * theta[w + TWO * n_out + j]
            total += x3 * theta[w + THREE * n_out + j]
            total += x4 * theta[w + FOUR * n_out + j]
            total += x5 * theta[w + FIVE * n_out + j]
            total += x6 * theta[w + SIX * n_out + j]
            total += x7 * theta[w + SEVEN * n_out + j]
            units[u + j] = total
    for k in range(whole, n_in):
        x0, w = inputs[begin + k], first + k * n_out
        for j in range(n_out):
            units[u + j] += x0 * theta[w + j]


@inline_helper
def add_to_two(
    theta: FloatArray,
    first: Index,
    inputs: FloatArray,
    begin: Index,
    n_in: Index,
    units: FloatArray,
    u: Index,
    n_out: Index,
) -> None:
    """Do what `add_to_one` does for an observation and the next one, which share each weight that is fetched."""
    whole, other, v = n_in - n_in % FOUR, begin + n_in, u + n_out
    for k in range(NONE, whole, FOUR):
        x, y, w = begin + k, other + k, first + k * n_out
        x0, x1, x2, x3 = inputs[x], inputs[x + ONE], inputs[x + TWO], inputs[x + THREE]
        y0, y1, y2, y3 = inputs[y], inputs[y + ONE], inputs[y + TWO], inputs[y + THREE]
        for j in range(n_out):
            w0, w1 = theta[w + j], theta[w + n_out + j]
            w2, w3 = theta[w + TWO * n_out + j], theta[w + THREE * n_out + j]
            total, second = units[u + j], units[v + j]
            total += x0 * w0
            second += y0 * w0
            total += x1 * w1
            second += y1 * w1
            total += x2 * w2
            second += y2 * w2
            total += x3 * w3
            second += y3 * w3
            units[u + j], units[v + j] = total, second
    for k in range(whole, n_in):
        x0, y0, w = inputs[begin + k], inputs[other + k], first + k * n_out
        for j in range(n_out):
            units[u + j] += x0 * theta[w + j]
            units[v + j] += y0 * theta[w + j]


@inline_helper
def add_two_outputs_to_four(
    theta: FloatArray,
    first: Index,
    inputs: FloatArray,
    begin: Index,
    n_in: Index,
    units: FloatArray,
    u: Index,
    n_out: Index,
    j: int | Index,
    i: int | Index,
) -> None:
    """Do what `add_to_one` does for four neighboring observations, but for their outputs j and i alone."""
    x, y, z = begin + n_in, begin + TWO * n_in, begin + THREE * n_in
    v, w, t = u + n_out, u + TWO * n_out, u + THREE * n_out
    a0, a1, a2, a3 = units[u + j], units[v + j], units[w + j], units[t + j]
    b0, b1, b2, b3 = units[u + i], units[v + i], units[w + i], units[t + i]
    for k in range(n_in):
        weight, other = theta[first + k * n_out + j], theta[first + k * n_out + i]
        x0, x1, x2, x3 = inputs[begin + k], inputs[x + k], inputs[y + k], inputs[z + k]
        a0 += x0 * weight
        b0 += x0 * other
        a1 += x1 * weight
        b1 += x1 * other
        a2 += x2 * weight
        b2 += x2 * other
        a3 += x3 * weight
        b3 += x3 * other
    units[u + j], units[v + j], units[w + j], units[t + j] = a0, a1, a2, a3
    units[u + i], units[v + i], units[w + i], units[t + i] = b0, b1, b2, b3


@inline_helper
def add_entries(
    theta: FloatArray,
    first: int,
    indices: IntArray,
    values: FloatArray,
    count: int,
    units: FloatArray,
    u: int,
    n_out: int,
) -> None:
    """Add values[k] * weights[indices[k], :] to the units from u on, for k < count; weights begin at theta[first]."""
    wide, at = np.uint64(n_out), np.uint64(u)
    for k in range(0, count - 7, 8):
        x0, x1, x2, x3 = values[k], values[k + 1], values[k + 2], values[k + 3]
        x4, x5, x6, x7 = values[k + 4], values[k + 5], values[k + 6], values[k + 7]
        w0, w1 = np.uint64(first + indices[k] * n_out), np.uint64(first + indices[k + 1] * n_out)
        w2, w3 = np.uint64(first + indices[k + 2] * n_out), np.uint64(first + indices[k + 3] * n_out)
        w4, w5 = np.uint64(first + indices[k + 4] * n_out), np.uint64(first + indices[k + 5] * n_out)
        w6, w7 = np.uint64(first + indices[k + 6] * n_out), np.uint64(first + indices[k + 7] * n_out)
        for j in range(wide):
            total = units[at + j]
            total += x0 * theta[w0 + j]
            total += x1 * theta[w1 + j]
            total += x2 * theta[w2 + j]
            total += x3 * theta[w3 + j]
            total += x4 * theta[w4 + j]
            total += x5 * theta[w5 + j]
            total += x6 * theta[w6 + j]
            total += x7 * theta[w7 + j]
            units[at + j] = total
    if count % 8 >= 4:
        k = count - count % 8
        x0, x1, x2, x3 = values[k], values[k + 1], values[k + 2], values[k + 3]
        w0, w1 = np.uint64(first + indices[k] * n_out), np.uint64(first + indices[k + 1] * n_out)
        w2, w3 = np.uint64(first + indices[k + 2] * n_out), np.uint64(first + indices[k + 3] * n_out)
        for j in range(wide):
            total = units[at + j]
            total += x0 * theta[w0 + j]
            total += x1 * theta[w1 + j]
            total += x2 * theta[w2 + j]
            total += x3 * theta[w3 + j]
            units[at + j] = total
    for k in range(count - count % 4, count):
        x0, w0 = values[k], np.uint64(first + indices[k] * n_out)
        for j in range(wide):
            units[at + j] += x0 * theta[w0 + j]

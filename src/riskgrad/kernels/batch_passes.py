"""A whole batch through a compiled network at once, forward and back, for networks that are fitted step after step.

    B observations   n_0 = k, n_1, ..., n_L units of the layers   d parameters

A layer takes three products of matrices, and `add_products` computes each of them: inputs times weights on the way
forward; on the way back slopes times the transposed weights, and transposed inputs times slopes. Sums run in the order
of their terms and each product is rounded, so that an answer has the same bits on every machine.

`forward_and_keep` keeps the outputs of each layer, so that `pull_back_kept` need not compute them again.
"""

import numpy as np

from riskgrad.kernels.arrays import FLOAT, ZERO, full_array
from riskgrad.kernels.compile import helper, inline_helper, kernel
from riskgrad.kernels.elementary import tanh
from riskgrad.types import FloatArray, IntArray

NONE, ONE, TWO, THREE, FOUR = (np.uint64(number) for number in range(5))


@inline_helper
def _add_to_two(
    left: FloatArray, other: FloatArray, right: FloatArray, first: int, wide: int, out: FloatArray, more: FloatArray
) -> None:
    """Add left . right to out and other . right to more; right [len(left), wide] begins at right[first]."""
    count, width, start = np.uint64(len(left)), np.uint64(wide), np.uint64(first)
    whole = count - count % FOUR
    for k in range(NONE, whole, FOUR):
        x0, x1, x2, x3 = left[k], left[k + ONE], left[k + TWO], left[k + THREE]
        y0, y1, y2, y3 = other[k], other[k + ONE], other[k + TWO], other[k + THREE]
        for j in range(width):
            w0, w1 = right[k * width + j + start], right[(k + ONE) * width + j + start]
            w2, w3 = right[(k + TWO) * width + j + start], right[(k + THREE) * width + j + start]
            total, second = out[j], more[j]
            total += x0 * w0
            second += y0 * w0
            total += x1 * w1
            second += y1 * w1
            total += x2 * w2
            second += y2 * w2
            total += x3 * w3
            second += y3 * w3
            out[j], more[j] = total, second
    for k in range(whole, count):
        x0, y0 = left[k], other[k]
        for j in range(width):
            w0 = right[k * width + j + start]
            out[j] += x0 * w0
            more[j] += y0 * w0


@helper
def add_products(left: FloatArray, right: FloatArray, first: int, out: FloatArray) -> None:
    """Add left [m, k] times right [k, n], which begins at right[first] of a flat array, to out [m, n]."""
    rows, wide = out.shape
    for row in range(0, rows - 1, 2):
        _add_to_two(left[row], left[row + 1], right, first, wide, out[row], out[row + 1])
    if rows % 2 == 1:
        spare = full_array(wide, 0.0)
        _add_to_two(left[rows - 1], left[rows - 1], right, first, wide, out[rows - 1], spare)


@helper
def _transpose(matrix: FloatArray) -> FloatArray:
    """Give the transposed matrix, laid out row by row."""
    rows, columns = matrix.shape
    swapped = np.empty(columns * rows, FLOAT).reshape(columns, rows)
    for i in range(rows):
        for j in range(columns):
            swapped[j, i] = matrix[i, j]
    return swapped


@kernel
def forward_and_keep(theta: FloatArray, inputs: FloatArray, sizes: IntArray, relu: bool, kept: FloatArray) -> None:
    """Write the outputs of each layer, layer after layer, each [B, n_l], to kept [B (n_1 + ... + n_L)]."""
    below, start, place, size = inputs, ZERO, ZERO, len(inputs)
    for layer in range(len(sizes) - 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        flat = kept[place : place + size * n_out]
        units = flat.reshape(size, n_out)
        bias = start + n_in * n_out
        for b in range(size):
            for j in range(n_out):
                units[b, j] = theta[bias + j] + 0.0
        add_products(below, theta, start, units)
        if layer < len(sizes) - 2:
            if relu:
                for i in range(len(flat)):
                    flat[i] = max(flat[i], 0.0)
            else:
                for i in range(len(flat)):
                    flat[i] = tanh(flat[i])
        below, start, place = units, start + (n_in + 1) * n_out, place + size * n_out


@kernel
def pull_back_kept(
    theta: FloatArray,
    inputs: FloatArray,
    sizes: IntArray,
    relu: bool,
    kept: FloatArray,
    cotangents: FloatArray,
    gradient: FloatArray,
) -> None:
    """Add the sum over b of cotangents[b] . d outputs[b] / d theta to the gradient [d], from the outputs kept."""
    last, size = len(sizes) - 2, len(inputs)
    start, place = ZERO, ZERO  # where the parameters of a layer begin in theta, and its inputs in kept
    for layer in range(last):
        start += (sizes[layer] + 1) * sizes[layer + 1]
        place += size * sizes[layer]
    place -= size * sizes[0] if last > 0 else 0
    slope = cotangents
    for layer in range(last, -1, -1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        end = start + n_in * n_out
        below = inputs if layer == 0 else kept[place : place + size * n_in].reshape(size, n_in)
        add_products(_transpose(below), slope.ravel(), ZERO, gradient[start:end].reshape(n_in, n_out))
        biases = gradient[end : end + n_out]
        for b in range(size):
            for j in range(n_out):
                biases[j] += slope[b, j]
        if layer > 0:
            pulled = full_array(size * n_in, 0.0).reshape(size, n_in)
            add_products(slope, _transpose(theta[start:end].reshape(n_in, n_out)).ravel(), ZERO, pulled)
            flat, units = pulled.ravel(), below.ravel()
            if relu:
                for i in range(len(flat)):
                    flat[i] = flat[i] if units[i] > 0.0 else 0.0
            else:
                for i in range(len(flat)):
                    flat[i] *= 1.0 - units[i] * units[i]
            slope = pulled
            start -= (sizes[layer - 1] + 1) * n_in
            place -= size * sizes[layer - 1]

"""The compiled network: forward through its layers (see `layers`), and actions drawn from its outputs.

Several observations are taken through their networks together, one layer after the other. Those of one network are
made neighbors, so that they share the weights that are fetched. An answer has the same bits whatever else is in the
batch.
"""

from typing import cast

import numpy as np

from riskgrad.kernels.arrays import INTEGER
from riskgrad.kernels.compile import helper, kernel
from riskgrad.kernels.elementary import exp
from riskgrad.kernels.layers import TOGETHER, gather_entries, make_workspace, run_layers
from riskgrad.types import FloatArray, IntArray

NO_CHANCE = -708.0  # an action whose logit, minus the largest one, is not above this is never chosen
SORTED = cast("int", np.int64(64))  # observations that are sorted by their networks together

FEW_INPUTS = 32  # up to so many inputs of a network of one layer are all added, zeros included


@helper
def _sort_by_row(rows: IntArray, begin: int, end: int, order: IntArray) -> None:
    """Write the observations begin:end, sorted by row, to `order`, by insertion: they are few and nearly sorted."""
    for b in range(begin, end):
        i = b - begin
        while i > 0 and rows[order[i - 1]] > rows[b]:
            order[i] = order[i - 1]
            i -= 1
        order[i] = b


@kernel
def forward(
    thetas: FloatArray, rows: IntArray, inputs: FloatArray, sizes: IntArray, relu: bool, outputs: FloatArray
) -> None:
    """Write the outputs [B, n] of B observations [B, k], each through the network thetas[rows[b]]."""
    work, order = make_workspace(len(rows), sizes), np.empty(SORTED, INTEGER)
    for begin in range(0, len(rows), SORTED):
        end = min(begin + SORTED, len(rows))
        _sort_by_row(rows, begin, end, order)
        for first in range(0, end - begin, TOGETHER):
            size = min(TOGETHER, end - begin - first)
            for b in range(size):
                work.rows[b] = rows[order[first + b]]
                gather_entries(work, b, inputs, order[first + b], sizes[0])
            run_layers(thetas, work, size, sizes, relu)
            for b in range(size):
                for j in range(sizes[-1]):
                    outputs[order[first + b], j] = work.units[b * sizes[-1] + j]


@kernel
def draw_normal_actions(
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
    forward(thetas, rows, inputs, sizes, relu, actions)
    begin = 0
    for layer in range(len(sizes) - 1):
        begin += (sizes[layer] + 1) * sizes[layer + 1]
    for b in range(len(rows)):
        theta = thetas[rows[b]]
        for j in range(sizes[-1]):
            actions[b, j] += spread * exp(theta[begin + j]) * normals[b, j]


@helper
def _run_linear(theta: FloatArray, inputs: FloatArray, begin: int, end: int, outputs: FloatArray) -> None:
    """Write bias + weights . inputs of the observations begin:end for one layer of few inputs, as `run_layers` does."""
    n_in, n_out = inputs.shape[1], outputs.shape[1]
    for b in range(begin, end):
        for j in range(n_out):
            total = theta[n_in * n_out + j] + 0.0
            for i in range(n_in):
                total += inputs[b, i] * theta[i * n_out + j]
            outputs[b, j] = total


@kernel
def forward_all(
    begin: int, end: int, thetas: FloatArray, inputs: FloatArray, sizes: IntArray, relu: bool, outputs: FloatArray
) -> None:
    """Write the outputs [P, B, n] of the observations begin:end, each through all networks thetas [P, d]."""
    if len(sizes) == 2 and sizes[0] <= FEW_INPUTS:
        for p in range(len(thetas)):
            _run_linear(thetas[p], inputs, begin, end, outputs[p])
        return
    count = len(thetas) * (end - begin)
    work = make_workspace(count, sizes)
    for first in range(0, count, TOGETHER):
        size = min(TOGETHER, count - first)
        for i in range(size):
            p, b = divmod(first + i, end - begin)
            work.rows[i] = p
            gather_entries(work, i, inputs, begin + b, sizes[0])
        run_layers(thetas, work, size, sizes, relu)
        for i in range(size):
            p, b = divmod(first + i, end - begin)
            for j in range(sizes[-1]):
                outputs[p, begin + b, j] = work.units[i * sizes[-1] + j]


@helper
def _first_largest(logits: FloatArray, begin: int, end: int) -> int:
    """Give the index of the first of the largest of logits[begin:end]."""
    best = begin
    for a in range(begin + 1, end):
        if logits[a] > logits[best]:
            best = a
    return best


@helper
def _count_passed(chances: FloatArray, begin: int, end: int, u: float) -> int:
    """Give the inverse CDF at u of chances[begin:end], which need not add up to 1: an index, counted from `begin`."""
    total = 0.0
    for a in range(begin, end):
        total += chances[a]
    a, passed = begin, chances[begin]
    while a < end - 1 and passed <= u * total:
        a += 1
        passed += chances[a]
    return a - begin


@kernel
def draw_choices(
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

    The outputs parts[i]:parts[i + 1] are the logits of choice i, with parts [c + 1]. A greedy action is the first of
    the largest logits.
    """
    outputs = np.empty((len(rows), sizes[-1]))
    forward(thetas, rows, inputs, sizes, relu, outputs)
    for b in range(len(rows)):
        for c in range(len(parts) - 1):
            best = _first_largest(outputs[b], parts[c], parts[c + 1])
            actions[b, c] = best - parts[c]
            highest = outputs[b, best]
            for a in range(parts[c], parts[c + 1]):
                outputs[b, a] -= highest
    if greedy:
        return
    chances = outputs.ravel()
    for i in range(len(chances)):  # a flat loop, which the compiler runs several at a time
        chances[i] = exp(chances[i]) if chances[i] > NO_CHANCE else 0.0
    for b in range(len(rows)):
        for c in range(len(parts) - 1):
            actions[b, c] = _count_passed(outputs[b], parts[c], parts[c + 1], uniforms[b, c])

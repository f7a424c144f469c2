"""The compiled recursions over (time, state, accumulated return): mass forward, adjoints backward.

A node is a state, or the end of episodes; an edge is a step from node to node with its reward and its chance. A layer
holds, for every node, the returns accumulated by the episodes that are there after t steps, in increasing order, with
their probability mass; each of these returns is an atom. Shifting a list of atoms by a reward keeps it in order, so a
new list is a merge of its predecessors' lists, by a heap over the edges into the node: no sort, no hash, no rounding to
a lattice.

While merging, atoms that lie within `width` of the first atom of a cluster are added to it, and the cluster keeps the
value of that first, smallest atom. The cluster of a value is thus the largest kept atom that is not above it, by
which the backward pass finds the cluster of each atom: no map from atoms to atoms is stored.
"""

import numpy as np

from riskgrad.kernels.compile import kernel
from riskgrad.types import FloatArray, IntArray


@kernel
def advance_mass(
    values: FloatArray,
    masses: FloatArray,
    begin: IntArray,
    incoming: IntArray,
    source: IntArray,
    shift: FloatArray,
    weight: FloatArray,
    width: float,
    limit: int,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Move all mass by one step.

    Args:
        values: accumulated returns, node after node, increasing within each [n].
        masses: their probabilities [n].
        begin: atoms of node j are begin[j]:begin[j + 1] [nodes + 1].
        incoming: edges into node j are incoming[j]:incoming[j + 1] [nodes + 1].
        source: node where each edge begins [E].
        shift: discounted reward of each edge [E].
        weight: chance of each edge [E].
        width: atoms at most so far above the first of a cluster are merged into it.
        limit: stop once there are more atoms than this.

    Returns:
        the next layer (values, masses, begin); cut short if it has more than `limit` atoms.
    """
    nodes = len(incoming) - 1
    next_begin = np.zeros(nodes + 1, np.int64)
    capacity = max(16, 2 * len(values))
    out_values, out_masses = np.empty(capacity), np.empty(capacity)
    degree = 1
    for node in range(nodes):
        degree = max(degree, incoming[node + 1] - incoming[node])
    keys, tops, position = np.empty(degree), np.empty(degree, np.int64), np.empty(len(source), np.int64)
    count = 0
    for node in range(nodes):
        size, arriving = 0, 0
        for edge in range(incoming[node], incoming[node + 1]):
            first = begin[source[edge]]
            number = begin[source[edge] + 1] - first
            if number > 0:
                position[edge] = first
                _push(keys, tops, size, values[first] + shift[edge], edge)
                size += 1
                arriving += number
        if count + arriving > capacity:
            capacity = max(2 * capacity, count + arriving)
            grown_values, grown_masses = np.empty(capacity), np.empty(capacity)
            grown_values[:count], grown_masses[:count] = out_values[:count], out_masses[:count]
            out_values, out_masses = grown_values, grown_masses
        opened = count
        while size > 0:
            edge, value = int(tops[0]), float(keys[0])
            at = int(position[edge])
            mass = masses[at] * weight[edge]
            if count == opened or value - out_values[count - 1] > width:
                out_values[count], out_masses[count] = value, mass
                count += 1
            else:
                out_masses[count - 1] += mass
            at += 1
            if at < begin[source[edge] + 1]:
                position[edge] = at
                _sink(keys, tops, size, values[at] + shift[edge], edge)
            else:
                size -= 1
                if size > 0:
                    _sink(keys, tops, size, keys[size], tops[size])
        next_begin[node + 1] = count
        if count > limit:
            break
    return out_values[:count].copy(), out_masses[:count].copy(), next_begin


@kernel
def _push(keys: FloatArray, tops: IntArray, size: int, key: float, edge: int) -> None:
    """Add an entry to a heap of `size` entries."""
    hole = size
    while hole > 0 and keys[(hole - 1) // 2] > key:
        keys[hole], tops[hole] = keys[(hole - 1) // 2], tops[(hole - 1) // 2]
        hole = (hole - 1) // 2
    keys[hole], tops[hole] = key, edge


@kernel
def _sink(keys: FloatArray, tops: IntArray, size: int, key: float, edge: int) -> None:
    """Replace the smallest entry of a heap of `size` entries."""
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[hole], tops[hole] = keys[child], tops[child]
        hole = child
    keys[hole], tops[hole] = key, edge


@kernel
def pull_adjoints_back(
    values: FloatArray,
    masses: FloatArray,
    begin: IntArray,
    next_values: FloatArray,
    next_adjoint: FloatArray,
    next_begin: IntArray,
    incoming: IntArray,
    source: IntArray,
    shift: FloatArray,
    weight: FloatArray,
    edge_totals: FloatArray,
) -> FloatArray:
    """Pull adjoints back by one step, and add up mass times adjoint over each edge.

    The adjoint of an atom is the expected influence of the final return, given that an episode is at that node with
    that accumulated return.

    Args:
        values: accumulated returns of this layer [n].
        masses: their probabilities [n].
        begin: atoms of node j are begin[j]:begin[j + 1] [nodes + 1].
        next_values: accumulated returns of the next layer [n'].
        next_adjoint: their adjoints [n'].
        next_begin: atoms of node j in the next layer are next_begin[j]:next_begin[j + 1] [nodes + 1].
        incoming: edges into node j are incoming[j]:incoming[j + 1] [nodes + 1].
        source: node where each edge begins [E].
        shift: discounted reward of each edge [E].
        weight: chance of each edge [E].
        edge_totals: receives, for each edge, sum over atoms of mass * adjoint after the edge [E]; changed in place.

    Returns:
        adjoints of this layer [n].
    """
    adjoint = np.zeros(len(values))
    for node in range(len(incoming) - 1):
        stop = next_begin[node + 1]
        for edge in range(incoming[node], incoming[node + 1]):
            cluster, move, chance, total = next_begin[node], shift[edge], weight[edge], 0.0
            for at in range(begin[source[edge]], begin[source[edge] + 1]):
                value = values[at] + move
                while cluster + 1 < stop and next_values[cluster + 1] <= value:
                    cluster += 1
                adjoint[at] += chance * next_adjoint[cluster]
                total += masses[at] * next_adjoint[cluster]
            edge_totals[edge] += total
    return adjoint


@kernel
def merge_atoms(values: FloatArray, masses: FloatArray, width: float) -> tuple[FloatArray, FloatArray]:
    """Merge atoms in increasing order as `advance_mass` does; give the clusters (values, masses)."""
    out_values, out_masses = np.empty(len(values)), np.empty(len(values))
    count = 0
    for at in range(len(values)):
        if count == 0 or values[at] - out_values[count - 1] > width:
            out_values[count], out_masses[count] = values[at], masses[at]
            count += 1
        else:
            out_masses[count - 1] += masses[at]
    return out_values[:count].copy(), out_masses[:count].copy()

"""Episodes by their distinct returns, and in bins where there are too many of them to be resampled one by one.

A million returns are a million atoms, and drawing one resample of them takes as long as a whole table of intervals
should. So neighbors are put into bins, each of which stands for its mean. What a resample then leaves out is where in
its bin each draw falls: the variance of the influence within bins, as a part of the whole. Bins are narrow enough that
this part does not count, in rank and in value at once:

- in rank: the SINGLE smallest and largest returns stay alone; then a bin holds GROWTH of the episodes beyond it, and at
  most 1 / MIDDLE of all. A heavy tail, of which few episodes decide, is thus kept nearly as it is.
- in value: a bin lies within one of CELLS equal parts of the range, so that none bridges a gap, as between ruin and
  the rest.
- a return that many episodes have is a bin of its own.

The part left out was at most 0.001 for every measure and law that was tried, from uniform to Cauchy, with ruin and
without (tests/evaluation/test_masses.py), so that an interval is too short by 0.05% of its width. Resampling itself
moves the ends of an interval by 3% of its width, with 1,000 resamples. What a measure says of the bins differs from
what it says of the returns by a number that is known, and every resample is shifted by it.
"""

from dataclasses import dataclass

import numpy as np

from riskgrad.types import FloatArray, IntArray

MOST_ATOMS = 2048  # distinct returns that are resampled one by one
SINGLE = 32
GROWTH = 0.1
MIDDLE = 96
CELLS = 96


@dataclass(frozen=True, eq=False)
class Masses:
    """Episodes by their distinct returns, with weights scaled so that equal ones are 1.

    Attributes:
        atoms: the distinct returns, or the means of bins of them [K], increasing.
        masses: the sum of the weights at each [K]; how many episodes, where all are equal.
        squares: the sum of the squares of the weights at each [K].
        fourths: the sum of the fourth powers of the weights at each [K].
        size: how many episodes the weights are worth.
    """

    atoms: FloatArray
    masses: FloatArray
    squares: FloatArray
    fourths: FloatArray
    size: float


def count_atoms(values: FloatArray) -> Masses:
    """Give the masses of returns [m] that all have weight 1."""
    if np.all(values[:-1] < values[1:]):  # sorted, and all different
        ones = np.ones(len(values))
        return Masses(values, ones, ones, ones, float(len(values)))
    ordered = values if np.all(values[:-1] <= values[1:]) else np.sort(values)
    starts = np.concatenate([[0], 1 + np.flatnonzero(ordered[1:] != ordered[:-1])])
    counts = np.diff(starts, append=len(ordered)).astype(np.float64)
    return Masses(ordered[starts], counts, counts, counts, float(len(ordered)))


def weigh_atoms(values: FloatArray, weights: FloatArray) -> Masses:
    """Give the masses of returns [m] with importance weights [m]."""
    shares = weights / np.max(weights)  # the square of a huge weight is too large for a double
    size = float(np.sum(shares)) ** 2 / float(np.sum(shares * shares))
    scaled = shares * (size / float(np.sum(shares)))
    atoms, where = np.unique(values, return_inverse=True)
    masses, squares, fourths = (np.bincount(where, scaled**power).astype(np.float64) for power in (1, 2, 4))
    return Masses(atoms, masses, squares, fourths, size)


def put_in_bins(masses: Masses) -> Masses:
    """Put returns of weight 1 into bins and give their masses; give few atoms as they are."""
    if len(masses.atoms) <= MOST_ATOMS:
        return masses
    starts = _find_bins(masses)
    # about the middle of the range, so that returns that are large and alike keep their digits
    center = (masses.atoms[0] + masses.atoms[-1]) / 2.0
    counts = np.add.reduceat(masses.masses, starts)
    moments = np.add.reduceat(masses.masses * (masses.atoms - center), starts)
    return Masses(center + moments / counts, counts, counts, counts, masses.size)


def _find_bins(masses: Masses) -> IntArray:
    """Give the atoms at which bins begin, the first among them."""
    atoms, size, below, edges = masses.atoms, masses.size, 0.0, list[float]()
    ends = np.arange(1.0, size + 1.0) if len(atoms) == size else np.cumsum(masses.masses)
    while below < size / 2.0:
        below += max(1.0, min(GROWTH * (below - SINGLE), size / MIDDLE))
        edges.append(below)
    by_rank = np.searchsorted(ends, np.concatenate([edges, size - np.array(edges)]), side="right")
    cells: FloatArray = np.linspace(float(atoms[0]), float(atoms[-1]), CELLS + 1)
    by_value = np.searchsorted(atoms, cells[1:-1])
    several = np.flatnonzero(masses.masses > 1.0)
    counts, beyond = masses.masses[several], np.minimum(ends[several], size - ends[several] + masses.masses[several])
    heavy = several[counts > 0.5 * GROWTH * (beyond - counts)]
    found = np.unique(np.concatenate([[0], by_rank, by_value, heavy, heavy + 1]))
    return found[found < len(atoms)].astype(np.int64)

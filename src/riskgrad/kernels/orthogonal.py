"""Orthonormal rows by Gram-Schmidt, compiled: the same bits on every machine, where LAPACK's depend on the processor.

Modified Gram-Schmidt is run twice: the first run loses the more digits the closer the vectors are to each other, the
second begins with vectors that are nearly orthogonal and loses none. Every sum is in the order of the coordinates, and
every product, quotient and square root is rounded once.
"""

import numpy as np

from riskgrad.kernels.compile import kernel
from riskgrad.types import FloatArray


@kernel
def orthonormal_rows(vectors: FloatArray) -> FloatArray:
    """Give orthonormal rows [r, d] from r <= d independent columns [d, r].

    The first i rows span the same space as the first i columns, and a row has a positive inner product with its column.
    Four coordinates at a time are processed for all columns that are left: the projection on the current column is
    subtracted, and their inner products with the next column are added up in the same loop.
    """
    d, r = vectors.shape
    columns = np.zeros((d + -d % 4, r))  # coordinates that are zero change no sum
    columns[:d] = vectors
    products, shares, norms, rows = np.empty(r), np.empty(r), np.empty(r), np.empty((r, d))
    for _ in range(2):
        products[:] = 0.0
        for k in range(d):
            for j in range(r):
                products[j] += columns[k, 0] * columns[k, j]
        for i in range(r):
            square, following = products[i], min(i + 1, r - 1)
            for j in range(i + 1, r):
                shares[j], products[j] = products[j] / square, 0.0
            for k in range(0, d, 4):
                x0, x1, x2, x3 = columns[k, i], columns[k + 1, i], columns[k + 2, i], columns[k + 3, i]
                y0 = columns[k, following] - x0 * shares[following]
                y1 = columns[k + 1, following] - x1 * shares[following]
                y2 = columns[k + 2, following] - x2 * shares[following]
                y3 = columns[k + 3, following] - x3 * shares[following]
                for j in range(i + 1, r):
                    share, total = shares[j], products[j]
                    a0, a1 = columns[k, j] - x0 * share, columns[k + 1, j] - x1 * share
                    a2, a3 = columns[k + 2, j] - x2 * share, columns[k + 3, j] - x3 * share
                    total += y0 * a0
                    total += y1 * a1
                    total += y2 * a2
                    products[j] = total + y3 * a3
                    columns[k, j], columns[k + 1, j], columns[k + 2, j], columns[k + 3, j] = a0, a1, a2, a3
            norms[i] = np.sqrt(square)
    for i in range(r):
        for k in range(d):
            rows[i, k] = columns[k, i] / norms[i]
    return rows

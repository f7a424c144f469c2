"""Directions v on the unit sphere of R^d, independent or orthogonal in blocks.

Independent rows are normalized Gaussian vectors. Orthogonal ones come in blocks of d (the last block may be shorter):
each block is made from Gaussian vectors by Gram-Schmidt (see `kernels.orthogonal`) and is then Haar-distributed, so
every single row is uniform on the sphere and the estimate of `lm:del_rho_mu_2` stays unbiased. Blocks are independent
of each other. One whole block is an orthonormal basis: for a linear function the estimate is then exact.
"""

import numpy as np

from riskgrad.checks import LARGEST_COUNT
from riskgrad.errors import InputError
from riskgrad.kernels.orthogonal import orthonormal_rows
from riskgrad.kinds import checks_kinds
from riskgrad.types import FloatArray


@checks_kinds
def sphere(rng: np.random.Generator, n: int, d: int, orthogonal: bool = False) -> FloatArray:
    """Draw n directions, each uniform on the unit sphere of R^d.

    Args:
        rng: where the random numbers come from.
        n: number of directions, at least 1.
        d: number of parameters, at least 1.
        orthogonal: make each block of d consecutive directions orthogonal.

    Returns:
        directions [n, d], rows of norm 1.
    """
    for name, size in (("n", n), ("d", d)):
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 1 <= size <= LARGEST_COUNT:
            raise InputError(name, "be a positive integer", size)
    if not orthogonal:
        rows = rng.standard_normal((n, d))
        return rows / np.sqrt(np.sum(rows * rows, axis=1, keepdims=True))
    return np.concatenate([orthonormal_rows(rng.standard_normal((d, min(d, n - start)))) for start in range(0, n, d)])

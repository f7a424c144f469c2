"""What one step of many lanes gave, put where it belongs by one call."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskgrad.compiled import kernel
from riskgrad.types import FloatArray

COMPILED = frozenset({np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)})


def settle(
    rewards: FloatArray,
    discount: float,
    totals: FloatArray,
    factors: FloatArray,
    seen: NDArray[Any],
    observations: NDArray[Any],
) -> bool:
    """Add discounted rewards [B] to totals [B], move factors [B] on, and copy what was seen [B, k].

    Returns:
        whether all that was seen is finite.
    """
    # a type of its own for every sort of image would be compiled for each
    plain = seen if seen.dtype in COMPILED else seen.astype(np.float64)
    return _settle(rewards, discount, totals, factors, plain, observations)


@kernel
def _settle(
    rewards: FloatArray,
    discount: float,
    totals: FloatArray,
    factors: FloatArray,
    seen: NDArray[Any],
    observations: NDArray[Any],
) -> bool:
    gaps = 0.0  # stays 0 unless something is not finite
    for b in range(len(rewards)):
        totals[b] += factors[b] * rewards[b]
        factors[b] *= discount
        for k in range(observations.shape[1]):
            observations[b, k] = seen[b, k]
            gaps += seen[b, k] - seen[b, k]
    return gaps == 0.0

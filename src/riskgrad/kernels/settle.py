"""What one step of many lanes gave, added up and looked at by one call."""

from typing import Any

from numpy.typing import NDArray

from riskgrad.kernels.compile import kernel
from riskgrad.types import FloatArray


@kernel
def settle(
    rewards: FloatArray, discount: float, totals: FloatArray, factors: FloatArray, observations: NDArray[Any]
) -> bool:
    """Add discounted rewards [B] to totals [B], and move factors [B] on.

    Returns:
        whether all totals, and all observations, one after the other [B * k], are finite.
    """
    finite = True
    for b in range(len(rewards)):
        totals[b] += factors[b] * rewards[b]
        factors[b] *= discount
        finite &= totals[b] - totals[b] == 0.0
    for number in observations:
        finite &= number - number == 0.0  # several at a time
    return finite

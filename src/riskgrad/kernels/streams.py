"""Uniform numbers of many episodes at once, each from its own stream of SplitMix64."""

import numpy as np
from numpy.typing import NDArray

from riskgrad.kernels.compile import kernel
from riskgrad.kernels.tabular import STEP, mix
from riskgrad.types import FloatArray

UNIT = 2.0**-53


@kernel
def draw(states: NDArray[np.uint64], uniforms: FloatArray) -> None:
    """Fill uniforms [B, u] in [0, 1) from the streams at states [B], which move on."""
    for b in range(len(states)):
        for c in range(uniforms.shape[1]):
            states[b] += STEP
            uniforms[b, c] = np.float64(mix(states[b]) >> np.uint64(11)) * UNIT

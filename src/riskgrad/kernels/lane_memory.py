"""What lanes remember: the time left and the return so far of each episode, written after its observation.

It is what `riskgrad.policy.memory.Memory.extend` writes for vectors, to the same bits.
"""

import math
from typing import NamedTuple

import numpy as np

from riskgrad.kernels.compile import helper
from riskgrad.kernels.elementary import exp, log
from riskgrad.kernels.lane_state import LaneState
from riskgrad.types import FloatArray


class ShownMemory(NamedTuple):
    """A memory as the loop over lanes reads it.

    Attributes:
        extra: how many numbers it adds; 0 for no memory.
        time: whether the share of time left is among them.
        so_far: whether the scaled return so far is.
        horizon: T.
        center: of the returns so far.
        spread: of the returns so far.
        time_bumps: where bumps over the time are, a bump as wide as they are apart; or nothing.
        return_bumps: where bumps over the scaled return are; or nothing.
    """

    extra: int
    time: bool
    so_far: bool
    horizon: int
    center: float
    spread: float
    time_bumps: FloatArray
    return_bumps: FloatArray


NO_MEMORY = ShownMemory(0, False, False, 1, 0.0, 1.0, np.zeros(0), np.zeros(0))


@helper
def _show_number(lanes: LaneState, lane: int, index: int, dense: bool, number: float, bumps: FloatArray) -> int:
    """Write a number and the bumps over it from an index of the observation on; give the index after them."""
    for i in range(len(bumps) + 1):
        shown = number
        if i > 0:
            gap = (number - bumps[i - 1]) / (bumps[1] - bumps[0])
            shown = exp(-0.5 * gap * gap)
        place = index
        if not dense:
            place = lanes.counts[lane]
            lanes.indices[place, lane] = index
            lanes.counts[lane] = place + 1
        lanes.entries[0, place, lane] = shown
        index += 1
    return index


@helper
def remember_lanes(memory: ShownMemory, lanes: LaneState, n_features: int, dense: bool, live: int, clock: int) -> None:
    """Write what the first lanes remember to the last of their n_features entries."""
    for lane in range(live):
        index = n_features - memory.extra
        if memory.time:
            share = max(memory.horizon - (clock - lanes.starts[lane]), 0) / memory.horizon
            index = _show_number(lanes, lane, index, dense, share, memory.time_bumps)
        if memory.so_far:
            gap = (lanes.totals[lane] - memory.center) / memory.spread
            size = abs(gap)
            scaled = math.copysign(log(size + math.sqrt(size * size + 1.0)), gap)
            _show_number(lanes, lane, index, dense, scaled, memory.return_bumps)

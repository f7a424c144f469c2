"""The memory of policies in lanes: the time left and the return so far of each episode, written after its observation.

The numbers have the same bits as those that `riskgrad.policy.memory.Memory.extend` gives for vectors.
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
        extra: how many numbers it adds to an observation; 0 for no memory.
        time: whether the share of time left is among them.
        so_far: whether the scaled return so far is.
        horizon: T.
        center: the return so far y is shown as asinh((y - center) / spread).
        spread: see center.
        time_bumps: centers of Gaussian bumps over the share of time left, as wide as they are apart; may be empty.
        return_bumps: centers of such bumps over the scaled return; may be empty.
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
    """Write a number and the bumps at it to an observation, from `index` on; give the index after them."""
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
    """Write the memory of the first `live` lanes to the last `memory.extra` of their n_features entries."""
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

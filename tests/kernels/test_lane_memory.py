"""What lanes remember, against NumPy, and to the bit against what memory shows elsewhere."""

import numpy as np
import pytest

from riskgrad.kernels.compile import fresh_kernel
from riskgrad.kernels.lane_memory import ShownMemory, remember_lanes
from riskgrad.kernels.lane_state import LANES, make_lanes
from riskgrad.policy.memory import RETURN_BUMPS, TIME_BUMPS, Memory
from riskgrad.types import Vectors

SEEN, HORIZON, CENTER, SPREAD, CLOCK = 3, 10, -1.0, 2.0, 1000


@fresh_kernel
def remember(memory, n_features, dense, counts, times, totals):
    lanes = make_lanes(1, n_features, 1, 0)
    for lane in range(len(times)):
        lanes.starts[lane], lanes.totals[lane] = CLOCK - times[lane], totals[lane]
        if not dense:
            lanes.counts[lane] = counts[lane]
    remember_lanes(memory, lanes, n_features, dense, len(times), CLOCK)
    return lanes.indices, lanes.entries[0], lanes.counts


def plainly(kind, bumps, times, totals):
    columns = []
    for name, number, centers in (
        ("time", np.maximum(HORIZON - times, 0) / HORIZON, TIME_BUMPS),
        ("return", np.arcsinh((totals - CENTER) / SPREAD), RETURN_BUMPS),
    ):
        if kind in (name, "both"):
            width = centers[1] - centers[0]
            columns += [number, *(np.exp(-0.5 * ((number - at) / width) ** 2) for at in centers if bumps)]
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("live", [0, 1, LANES])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("bumps", [False, True])
@pytest.mark.parametrize("kind", ["time", "return", "both"])
def test_lanes_show_the_time_left_and_the_scaled_return(kind, bumps, dense, live):
    rng = np.random.default_rng(live)
    times, totals, counts = rng.integers(0, 13, live), 30.0 * rng.normal(size=live), rng.integers(0, SEEN + 1, live)
    totals[::5] = CENTER
    memory = Memory(kind, Vectors(SEEN), HORIZON, 1.0, center=CENTER, spread=SPREAD, bumps=bumps)
    centers = [np.array(part if bumps else ()) for part in (TIME_BUMPS, RETURN_BUMPS)]
    shown = ShownMemory(memory.extra, kind != "return", kind != "time", HORIZON, CENTER, SPREAD, *centers)
    indices, entries, after = remember(shown, SEEN + memory.extra, dense, counts, times, totals)
    begins = np.full(live, SEEN) if dense else counts
    assert np.array_equal(after[:live], begins + memory.extra)
    where = begins + np.arange(memory.extra)[:, None]
    found = entries[where, np.arange(live)].T
    np.testing.assert_allclose(found, plainly(kind, bumps, times, totals), rtol=1e-12, atol=1e-14)
    assert np.array_equal(found, memory.extend(np.zeros((live, SEEN)), times, totals)[:, SEEN:])
    assert np.all(indices[where, np.arange(live)] == SEEN + np.arange(memory.extra)[:, None])

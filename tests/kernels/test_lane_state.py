"""Lanes whose episodes are over, found and cut, against the same in a sentence of numpy."""

import numpy as np
import pytest

from riskgrad.kernels.compile import fresh_kernel
from riskgrad.kernels.lane_state import LANES, cut_late_lanes, last_lane_over, make_lanes


@fresh_kernel
def found(over, live):
    lanes, lane = [np.int64(-1)], last_lane_over(over, live)
    while lane >= 0:
        lanes.append(lane)
        lane = last_lane_over(over, lane)
    return np.array(lanes[1:])


@fresh_kernel
def cut_lanes(starts, over, live, horizon, clock):
    lanes = make_lanes(1, 1, 1, 0)
    lanes.starts[:live], lanes.over[:live] = starts, over
    ended, due = cut_late_lanes(lanes, live, horizon, clock)
    return lanes.over, ended, due


@pytest.mark.parametrize("live", [1, 7, 8, 9, 64, 127, LANES])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.5, 1.0])
def test_every_lane_that_is_over_is_found_from_the_last_to_the_first(live, share):
    over = (np.random.default_rng(live).uniform(size=LANES) < share).astype(np.int64)
    assert found(over, live).tolist() == np.flatnonzero(over[:live])[::-1].tolist()


@pytest.mark.parametrize("live", [1, 9, LANES])
@pytest.mark.parametrize("horizon", [1, 50, 100])
def test_lanes_are_cut_when_they_have_had_their_time(live, horizon):
    """None has had more: the next may be due when the oldest that goes on has had its time."""
    rng, clock = np.random.default_rng(horizon), 1000
    starts = rng.integers(clock - horizon, clock, size=live)
    over = (rng.uniform(size=live) < 0.1).astype(np.int64)
    all_over, ended, due = cut_lanes(starts, over, live, horizon, clock)
    late = starts == clock - horizon
    assert np.array_equal(all_over[:live], over | late)
    assert ended == np.sum(over | late)
    assert due == horizon + np.min(starts[~late], initial=clock)

import math

import pytest

from riskgrad.errors import InputError
from riskgrad.theory import schedule


def test_the_numbers_of_the_theorem():
    plan = schedule(256)
    assert (plan.step_size, plan.smoothing, plan.directions, plan.episodes) == (1 / 16, 1 / 4, 16, 256)
    assert plan.onp_sf_episodes == 2 * 16 * 256 * 256
    assert plan.offp_sf_episodes == 256 * 256


@pytest.mark.parametrize("iterations", [1, 2, 3, 4, 5, 9, 10, 99, 100, 101, 10**12 + 1])
def test_directions_are_rounded_up(iterations):
    n = schedule(iterations).directions
    assert (n - 1) ** 2 < iterations <= n**2


def test_one_iteration_still_has_a_smoothing_of_one():
    assert schedule(1).smoothing == 1.0


def test_multipliers_scale_step_and_smoothing():
    plan = schedule(100, step_multiplier=10.0, smoothing_multiplier=0.5)
    assert math.isclose(plan.step_size, 1.0)
    assert math.isclose(plan.smoothing, 0.5 / 100**0.25)


@pytest.mark.parametrize("iterations", [0, -3, 2.5, True, "10"])
def test_bad_iterations_get_one_line(iterations):
    with pytest.raises(InputError, match="iterations must be an integer of at least 1"):
        schedule(iterations)


@pytest.mark.parametrize(
    ("name", "value"), [("step_multiplier", -1.0), ("step_multiplier", math.nan), ("smoothing_multiplier", 9.0)]
)
def test_bad_multipliers_get_one_line(name, value):
    with pytest.raises(InputError, match=name):
        schedule(16, **{name: value})

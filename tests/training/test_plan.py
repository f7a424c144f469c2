"""The numbers of the practical schedule, by the kind of policy."""

import math

import pytest
from riskgrad.algorithms.practical import PRACTICAL
from riskgrad.algorithms.schedule import default_numbers

import riskgrad as rg
from riskgrad.policy import MLP, Deterministic, Gaussian, Normalized, ObservationStatistics, TabularGibbs

MEAN = rg.risk.Mean()
ONE = {"low": [-1.0], "high": [1.0]}


@pytest.mark.parametrize(
    ("policy", "step"),
    [
        (TabularGibbs(3, 2), PRACTICAL.step_size),
        (MLP(3, 2, ()), PRACTICAL.step_size),
        (MLP(3, 2, (2,)), PRACTICAL.step_size),
        (MLP(3, 2, (20, 20)), 0.4 / math.sqrt(80 + 420 + 42)),
        (Normalized(MLP(3, 2, (20, 20)), ObservationStatistics.none(3)), 0.4 / math.sqrt(80 + 420 + 42)),
        (Gaussian(3, **ONE), PRACTICAL.step_size),
        (Gaussian(3, **ONE, hidden=(20, 20)), 0.4 / math.sqrt(80 + 420 + 21 + 1)),
    ],
    ids=str,
)
@pytest.mark.parametrize("off_policy", [False, True])
def test_networks_with_hidden_layers_take_shorter_steps(policy, step, off_policy):
    assert default_numbers(policy, MEAN, off_policy=off_policy).ascent == rg.ascent.Adam(step)


@pytest.mark.parametrize("hidden", [(), (4,), (64, 64)])
def test_a_step_of_a_policy_without_density_stays_within_the_ball_that_is_smoothed_over(hidden):
    policy = Deterministic(3, **ONE, hidden=hidden)
    numbers = default_numbers(policy, MEAN, off_policy=False)
    assert numbers.ascent == rg.ascent.Adam(min(PRACTICAL.step_size, numbers.smoothing / math.sqrt(policy.dim)))

"""The numbers of the practical schedule, by the kind of policy."""

import math

import pytest

import riskgrad as rg
from riskgrad.policy import MLP, Deterministic, Gaussian, Normalized, ObservationStatistics, TabularGibbs
from riskgrad.settings import TrainOptions
from riskgrad.training.plan import plan_training

STEP = 0.1
ONE = {"low": [-1.0], "high": [1.0]}


class Nowhere(rg.sources.Source):
    """A source that is never played."""

    returns = record = None  # pyright: ignore[reportAssignmentType]


def planned(policy, algorithm):
    return plan_training(Nowhere(), policy, None, rg.risk.Mean(), TrainOptions(algorithm=algorithm), None)


@pytest.mark.parametrize(
    ("policy", "step"),
    [
        (TabularGibbs(3, 2), STEP),
        (MLP(3, 2, ()), STEP),
        (MLP(3, 2, (2,)), STEP),
        (MLP(3, 2, (20, 20)), 0.4 / math.sqrt(80 + 420 + 42)),
        (Normalized(MLP(3, 2, (20, 20)), ObservationStatistics.none(3)), 0.4 / math.sqrt(80 + 420 + 42)),
        (Gaussian(3, **ONE), STEP),
        (Gaussian(3, **ONE, hidden=(20, 20)), 0.4 / math.sqrt(80 + 420 + 21 + 1)),
    ],
    ids=str,
)
@pytest.mark.parametrize("algorithm", ["onp-sf", "offp-sf", "score"])
def test_networks_with_hidden_layers_take_shorter_steps(policy, step, algorithm):
    assert planned(policy, algorithm).problem.ascent == rg.ascent.Adam(step)


@pytest.mark.parametrize("hidden", [(), (4,), (64, 64)])
def test_a_step_of_a_policy_without_density_stays_within_the_ball_that_is_smoothed_over(hidden):
    policy = Deterministic(3, **ONE, hidden=hidden)
    plan = planned(policy, "onp-sf")
    assert plan.problem.ascent == rg.ascent.Adam(min(STEP, plan.algorithm.smoothing / math.sqrt(policy.dim)))

"""The numbers of the practical schedule, by the kind of policy."""

import math

import pytest

import riskgrad as rg
from riskgrad.policy import MLP, Deterministic, Gaussian, Normalized, ObservationStatistics, TabularGibbs

STEP = 0.1
ONE = {"low": [-1.0], "high": [1.0]}


class Nowhere(rg.sources.Source):
    """A source that is never played."""

    returns = record = None  # pyright: ignore[reportAssignmentType]


class PlannedError(Exception):
    """All is settled, and the first episode would be played."""


@pytest.fixture
def planned(monkeypatch):
    """Give what `rg.train` plans for a policy and an algorithm."""

    def stop(plan, *_):
        raise PlannedError(plan)

    def plan_of(policy, algorithm):
        with pytest.raises(PlannedError) as caught:
            rg.train(Nowhere(), "mean", policy=policy, algorithm=algorithm)
        return caught.value.args[0]

    monkeypatch.setattr("riskgrad._train.run_training", stop)
    return plan_of


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
def test_networks_with_hidden_layers_take_shorter_steps(planned, policy, step, algorithm):
    assert planned(policy, algorithm).problem.ascent == rg.ascent.Adam(step)


@pytest.mark.parametrize("hidden", [(), (4,), (64, 64)])
def test_a_step_of_a_policy_without_density_stays_within_the_ball_that_is_smoothed_over(planned, hidden):
    policy = Deterministic(3, **ONE, hidden=hidden)
    plan = planned(policy, "onp-sf")
    assert plan.problem.ascent == rg.ascent.Adam(min(STEP, plan.algorithm.smoothing / math.sqrt(policy.dim)))

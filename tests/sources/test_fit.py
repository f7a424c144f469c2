"""A policy for other observations or actions than the environment's is refused, however it is wrapped."""

import numpy as np
import pytest
from gymnasium import spaces
from support.environments import Spaced

from riskgrad.errors import InputError
from riskgrad.policy import (
    MLP,
    Deterministic,
    Gaussian,
    Greedy,
    LinearSoftmax,
    Normalized,
    ObservationStatistics,
    TabularGibbs,
)
from riskgrad.random import Purpose, Stream
from riskgrad.sources import GymnasiumSource

STATES, FOUR = spaces.Discrete(4), spaces.Box(-1.0, 1.0, (4,), np.float64)
TWO, ONE_NUMBER = spaces.Discrete(2), spaces.Box(-1.0, 1.0, (1,), np.float64)
SEEN = ObservationStatistics.of(np.random.default_rng(0).normal(size=(9, 4)))
WIDE = Gaussian(4, [-1.0, -1.0], [1.0, 1.0])

READS = r"policy must read vectors of the environment's 4 numbers"
STEPS = r"policy must read states, of which the environment has 4"


def played(space, actions, policy):
    env = Spaced(space, actions, 1 if space is STATES else np.zeros(4))
    return GymnasiumSource(env, horizon=3).returns(policy, np.zeros((1, policy.dim)), 2, Stream(0, Purpose.EXAMPLE))


@pytest.mark.parametrize(
    ("space", "actions", "policy", "message"),
    [
        (FOUR, TWO, MLP(6, 2), READS),
        (FOUR, TWO, LinearSoftmax(3, 2), READS),
        (FOUR, TWO, Deterministic(5, 2), READS),
        (FOUR, TWO, Greedy(MLP(6, 2)), READS),
        (FOUR, TWO, TabularGibbs(4, 2), READS),
        (FOUR, ONE_NUMBER, Gaussian(3, [-1.0], [1.0]), READS),
        (STATES, TWO, TabularGibbs(5, 2), STEPS),
        (STATES, TWO, MLP(3, 2), STEPS),
        (STATES, TWO, LinearSoftmax(4, 2), STEPS),
        (FOUR, ONE_NUMBER, WIDE, "policy must have actions of 1 numbers"),
        (FOUR, ONE_NUMBER, Greedy(Normalized(WIDE, SEEN)), "policy must have actions of 1 numbers"),
        (FOUR, ONE_NUMBER, Deterministic(4, 3), "policy must have actions of 1 numbers"),
        (FOUR, TWO, Deterministic(4, 3), "policy must have the environment's actions, 2"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(space, actions, policy, message):
    with pytest.raises(InputError, match=f"^{message}") as caught:
        played(space, actions, policy)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("space", "actions", "policy"),
    [
        (FOUR, TWO, Greedy(Normalized(MLP(4, 2), SEEN))),
        (FOUR, TWO, LinearSoftmax(4, 2)),
        (FOUR, TWO, Deterministic(4, 2)),
        (FOUR, ONE_NUMBER, Normalized(Gaussian(4, [-1.0], [1.0]), SEEN)),
        (STATES, TWO, TabularGibbs(4, 2)),
        (STATES, TWO, MLP(4, 2)),
        (STATES, ONE_NUMBER, Deterministic(4, low=[-1.0], high=[1.0])),
    ],
    ids=str,
)
def test_what_fits_plays(space, actions, policy):
    assert np.all(played(space, actions, policy).lengths >= 1)

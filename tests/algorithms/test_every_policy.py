"""Every algorithm trains every policy that it can; one without a density is left to OnP-SF, and that is said.

The task has a known best: one step, an observation x uniform on [-1, 1], and 1 for its sign, or 1 - (action - x)^2.
"""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from support.training import train_briefly

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.policy import MLP, Deterministic, Gaussian, Gibbs, LinearSoftmax, Policy
from riskgrad.random import Purpose, Stream
from riskgrad.sources import GymnasiumSource


class Aim(gymnasium.Env):
    """Guess the sign of what is shown, or the number itself."""

    observation_space = spaces.Box(-1.0, 1.0, (1,), np.float64)

    def __init__(self, numbers: bool) -> None:
        self.numbers = numbers
        self.action_space = spaces.Box(-2.0, 2.0, (1,), np.float64) if numbers else spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):  # noqa: ARG002
        super().reset(seed=seed)
        self.shown = self.np_random.uniform(-1.0, 1.0)
        return np.array([self.shown]), {}

    def step(self, action):
        miss = float(action[0]) - self.shown if self.numbers else float(action != (self.shown > 0.0))
        return np.array([self.shown]), 1.0 - miss * miss, True, False, {}


def preference(theta, observation):
    return np.array([0.0, theta[0] * observation[0] + theta[1]])


def with_torch():
    torch = pytest.importorskip("torch")
    from riskgrad.policy.torch_module import TorchModule  # noqa: PLC0415

    return TorchModule(torch.nn.Linear(1, 2), 1)


RANDOM = {
    "linear softmax": lambda: LinearSoftmax(1, 2),
    "own preference": lambda: Gibbs(preference, 2, example=np.zeros(1)),
    "network": lambda: MLP(1, 2, (4,)),
    "relu": lambda: MLP(1, 2, (4,), "relu"),
    "linear gaussian": lambda: Gaussian(1, -2.0, 2.0),
    "squashed gaussian network": lambda: Gaussian(1, -2.0, 2.0, (4,), squashed=True),
    "torch module": with_torch,
}
FIXED = {
    "deterministic": lambda: Deterministic(1, 2),
    "deterministic numbers": lambda: Deterministic(1, low=-2, high=2),
}


def source_for(policy: Policy) -> GymnasiumSource:
    sample = policy.act(np.zeros((1, policy.dim)), np.zeros(1, dtype=np.int64), np.zeros((1, 1)), None)
    return GymnasiumSource(lambda: Aim(sample.ndim == 2), 1)


def mean_of(source, policy, theta):
    return float(np.mean(source.returns(policy, theta[None], 300, Stream(9, Purpose.EVALUATION)).values))


@pytest.mark.parametrize("algorithm", ["onp-sf", "offp-sf", "score"])
@pytest.mark.parametrize("build", RANDOM.values(), ids=RANDOM.keys())
def test_random_policies(build, algorithm):
    policy = build()
    source = source_for(policy)
    budget = {"episodes": 10, "directions": 6} if algorithm == "onp-sf" else {"episodes": 60}
    budget["iterations"] = 40 if algorithm == "onp-sf" else 20
    run = train_briefly(source, "mean", policy=policy, algorithm=algorithm, entropy=0.0, held_out=0, **budget)
    before = mean_of(source, policy, run.policy.initial_theta(Stream(0, Purpose.INITIAL).generator()))
    after = mean_of(source, policy, run.theta)
    assert after > before + 0.5 * (1.0 - before), "less than half of the way to the best"


@pytest.mark.parametrize("build", FIXED.values(), ids=FIXED.keys())
def test_policies_without_a_density(build):
    policy = build()
    source = source_for(policy)
    run = train_briefly(source, "mean", policy=policy, iterations=30, episodes=10, directions=4, held_out=0)
    assert run.settings.algorithm == "onp-sf"
    assert mean_of(source, policy, run.theta) > 0.9
    for algorithm in ("offp-sf", "score"):
        with pytest.raises(InputError, match="policy must"):
            rg.train(source, "mean", policy=policy, algorithm=algorithm, iterations=1)

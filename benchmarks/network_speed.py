"""What networks take, in this version and in another one, which take turns.

    python benchmarks/network_speed.py
    python benchmarks/network_speed.py --other ../earlier/src

A figure is processor time on one core, the best of many short rounds: of a step of a compiled environment with 64
policies of 64 episodes each, from parameters to returns, and of `act` for 128 observations of 8 numbers. `turns.py`
says how two versions are timed.
"""

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
from turns import Cases, main

import riskgrad as rg
from riskgrad.policy import MLP
from riskgrad.random import Purpose, Stream

POLICIES, EPISODES, OBSERVATIONS, ACTS = 64, 64, 128, 200


def cases() -> Cases:
    """Give what is timed, by name: functions that do some work and say how much it was."""
    # the folder was called episodes before 0.2.0
    name = "sources" if importlib.util.find_spec("riskgrad.sources") else "episodes"
    sources: Any = importlib.import_module(f"riskgrad.{name}")
    rng = np.random.default_rng(0)

    def steps(identifier: str, hidden: tuple[int, ...]) -> Callable[[], int]:
        source = sources.CompiledSource(rg.envs.compiled_twin(identifier), threads=1)
        policy = MLP(source.env.n_features, source.env.n_actions, hidden=hidden)
        thetas, stream = 0.3 * rng.normal(size=(POLICIES, policy.dim)), Stream(0, Purpose.EXAMPLE)
        return lambda: int(np.sum(source.returns(policy, thetas, EPISODES, stream).lengths))

    def acts(policies: int) -> Callable[[], int]:
        policy = MLP(8, 4)
        thetas, seen = 0.3 * rng.normal(size=(policies, policy.dim)), rng.normal(size=(OBSERVATIONS, 8))
        rows, noise = np.arange(OBSERVATIONS) * policies // OBSERVATIONS, rng.uniform(size=(OBSERVATIONS, 1))

        def act() -> int:
            for _ in range(ACTS):
                policy.act(thetas, rows, seen, noise)
            return ACTS

        return act

    return {
        "CartPole-v1, MLP 16 x 16, a step": steps("CartPole-v1", (16, 16)),
        "CartPole-v1, MLP 32 x 32, a step": steps("CartPole-v1", (32, 32)),
        "riskgrad/GuardedMaze-v0, MLP 32 x 32, a step": steps("riskgrad/GuardedMaze-v0", (32, 32)),
        "act of MLP 32 x 32, 1 policy": acts(1),
        "act of MLP 32 x 32, 16 policies": acts(16),
        "act of MLP 32 x 32, 128 policies": acts(128),
    }


if __name__ == "__main__":
    main(__doc__, cases)

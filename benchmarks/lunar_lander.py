"""LunarLander-v3 in wind: training on CVaR(0.1) against training on the mean, at equal episodes.

    pip install "riskgrad[box2d]"
    python benchmarks/lunar_lander.py

The engines are continuous and the policy is linear and deterministic, 18 parameters, trained by OnP-SF. The wind blows
with its default power and turbulence, and an episode ends after 300 steps, so that hovering ends. Each seed first
learns to fly on the mean, from single episodes; that policy is what both trainings begin with. Then one goes on with
the mean and the other with CVaR(0.1), by the same options and with the same number of episodes. Both are tested on the
same fresh episodes. The last line is the mean over seeds of the difference, and its standard error.
"""

import argparse
import multiprocessing
import os
from typing import Any, Final

import numpy as np

import riskgrad as rg
from riskgrad.ascent import Adam
from riskgrad.episodes.gymnasium import GymnasiumSource
from riskgrad.random import Purpose, Stream

HORIZON: Final = 300
WIND: Final = {"continuous": True, "enable_wind": True}
RISKS: Final = ("mean", "cvar:0.1")
FLYING: Final[dict[str, Any]] = {"risk": "mean", "policy": "deterministic", "held_out": 20}
GOING_ON: Final[dict[str, Any]] = {
    "policy": "deterministic",
    "episodes": 10,
    "directions": 4,
    "step_size": Adam(0.05),
    "risk_path": None,
    "held_out": 100,
}
TEST_EPISODES: Final = 500
TAIL: Final = rg.risk.CVaR(0.1)

Result = tuple[float, float, int]


def trained(work: tuple[int, int, int]) -> tuple[int, dict[str, Result]]:
    """Train with one seed; give the mean, CVaR(0.1) and the episodes used, by the measure that was trained."""
    seed, first, then = work
    source = GymnasiumSource("LunarLander-v3", HORIZON, env_options=WIND)
    flying = rg.train(source, max_episodes=first, seed=seed, **FLYING)
    found = {"the first part alone": tested(source, flying, flying.episodes_used)}
    for risk in RISKS:
        run = rg.train(source, risk=risk, theta=flying.theta, max_episodes=then, seed=seed, **GOING_ON)
        found[risk] = tested(source, run, flying.episodes_used + run.episodes_used)
    return seed, found


def tested(source: GymnasiumSource, run: rg.Run, used: int) -> Result:
    """Give the mean and CVaR(0.1) of a policy on fresh episodes, the same ones for every policy."""
    returns = source.returns(run.policy, run.theta[None], TEST_EPISODES, Stream(0, Purpose.EVALUATION)).values[0]
    return float(np.mean(returns)), float(TAIL.estimate(returns)), used


def alone() -> None:
    """Let two trainings share two cores, each on one thread."""
    os.environ["NUMBA_NUM_THREADS"] = "1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1_500, help="episodes on the mean that both begin with")
    parser.add_argument("--then", type=int, default=3_000, help="episodes on each measure after that")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    print("| LunarLander-v3 in wind | trained on | episodes | mean | CVaR(0.1) |")
    print("|---|---|---|---|---|")
    gaps: list[float] = []
    works = [(seed, given.first, given.then) for seed in range(given.seeds)]
    with multiprocessing.get_context("spawn").Pool(given.workers, alone) as pool:
        for seed, found in pool.imap(trained, works):
            for name, (mean, tail, used) in found.items():
                print(f"| seed {seed} | {name} | {used:,} | {mean:.1f} | {tail:.1f} |", flush=True)
            gaps.append(found["cvar:0.1"][1] - found["mean"][1])
    error = np.std(gaps, ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.nan
    print(f"\nCVaR(0.1), averse less neutral: {np.mean(gaps):.1f}, standard error {error:.1f}")


if __name__ == "__main__":
    main()

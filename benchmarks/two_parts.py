"""Averse training against neutral training at equal episodes, both from the same policy that has learned to move.

A deterministic policy first learns on the mean, from single episodes. That policy is what two trainings begin with: one
goes on with the mean and the other with CVaR(0.1), by the same options and with the same number of episodes. All three
are tested on the same fresh episodes. The difference in CVaR(0.1) is taken seed by seed.
"""

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

import riskgrad as rg
from riskgrad.ascent import Adam
from riskgrad.random import Purpose, Stream
from riskgrad.sources.gymnasium.source import GymnasiumSource

TEST_EPISODES: Final = 1_000
NEUTRAL, AVERSE, BEFORE = "mean", "cvar:0.1", "the first part alone"
TAIL: Final = rg.risk.CVaR(0.1)
GOING_ON: Final[dict[str, Any]] = {
    "algorithm": rg.OnPSF(directions=4, episodes=10),
    "step_size": Adam(0.05),
    "risk_path": None,
    "held_out": 200,
}

Result = tuple[float, float, int]


@dataclass(frozen=True)
class Study:
    """What is compared.

    Attributes:
        name: of the environment, in the table.
        env: what `GymnasiumSource` takes.
        env_options: its options.
        horizon: largest number of steps.
        first: episodes of the first part.
        then: episodes of each of the two trainings after it.
        options: of `rg.train`, of all parts.
    """

    name: str
    env: str | Callable[..., Any]
    env_options: dict[str, Any]
    horizon: int
    first: int
    then: int
    options: dict[str, Any] = field(default_factory=dict[str, Any])


def train_parts(work: tuple[Study, int]) -> dict[str, Result]:
    """Train with one seed; give the mean, CVaR(0.1) and the episodes used, by what was trained."""
    study, seed = work
    source = GymnasiumSource(study.env, study.horizon, env_options=study.env_options)
    options = {"policy": "deterministic", "seed": seed, **study.options}
    before = rg.train(source, NEUTRAL, max_episodes=study.first, held_out=20, **options)
    found = {BEFORE: test_run(source, before, before.episodes_used)}
    # where observations are normalized, by the statistics that the policy now has
    options |= {"policy": before.policy, "theta": before.theta, "normalize": False, **GOING_ON}
    for risk in (NEUTRAL, AVERSE):
        run = rg.train(source, risk, max_episodes=study.then, **options)
        found[risk] = test_run(source, run, before.episodes_used + run.episodes_used)
    return found


def test_run(source: GymnasiumSource, run: rg.Run, used: int) -> Result:
    """Give the mean and CVaR(0.1) of a policy on fresh episodes, and how many episodes it was trained with."""
    returns = source.returns(run.policy, run.theta[None], TEST_EPISODES, Stream(0, Purpose.EVALUATION)).values[0]
    return float(np.mean(returns)), float(TAIL.estimate(returns)), used


def compare(studies: list[Study], seeds: int, workers: int) -> None:
    """Print the table of several studies, two trainings at a time."""
    print("| environment | seed | trained on | episodes | mean | CVaR(0.1) |")
    print("|---|---|---|---|---|---|")
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        answers = pool.imap(train_parts, [(study, seed) for study in studies for seed in range(seeds)])
        for study in studies:
            gaps: list[float] = []
            for seed in range(seeds):
                found = next(answers)
                for name, (mean, tail, used) in found.items():
                    print(f"| {study.name} | {seed} | {name} | {used:,} | {mean:.1f} | {tail:.1f} |", flush=True)
                gaps.append(found[AVERSE][1] - found[NEUTRAL][1])
            error = float(np.std(gaps, ddof=1) / np.sqrt(seeds)) if seeds > 1 else np.nan
            gap = f"{np.mean(gaps):.1f}, standard error {error:.1f}"
            print(f"| {study.name} | all | averse less neutral | | | {gap} |", flush=True)

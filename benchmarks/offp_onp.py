"""How many episodes OffP-SF and OnP-SF need for the same exact risk, both tuned by the same search.

    python benchmarks/offp_onp.py

Two finite models, CVaR(0.1), from the uniform policy. A run ends when the exact risk of its iterate has come `TARGET`
of the way from the uniform policy to the best one; its cost is the episodes it has sampled until then. For each
algorithm every setting of the grid below is tried on the tuning seeds; the one with the smallest mean cost is then run
on five others, and their median counts. OffP-SF draws a fresh batch of the current policy in each iteration and takes
one step on it; there is no path, no entropy bonus and no held-out episode. OnP-SF uses common random numbers.
"""

import argparse
from dataclasses import replace
from itertools import product
from typing import Any, Final

import numpy as np
from problems import Problem, problem

import riskgrad as rg

PROBLEMS: Final = ("two-roads, cvar:0.1", "inventory, cvar:0.1")
ALGORITHMS: Final = {"OnP-SF": rg.OnPSF(orthogonal=True), "OffP-SF": rg.OffPSF(orthogonal=True, steps_per_batch=1)}
TARGET: Final = 0.7
LIMIT: Final = 100_000  # a run that has not arrived by then costs this
STEPS, SMOOTHINGS, EPISODES = (0.1, 0.2, 0.4), (0.1, 0.5), (25, 50, 100, 200)
TUNING_SEEDS, SEEDS = (100, 101), (0, 1, 2, 3, 4)


def cost(task: Problem, algorithm: str, seed: int, step: float, smoothing: float, n: int, m: int) -> int:
    """Give the episodes that a run needs to arrive."""
    arrived: list[int] = []

    def stop(line: dict[str, Any], theta: np.ndarray) -> bool:
        if task.reach(theta) >= TARGET:
            arrived.append(line["episodes"])
        return bool(arrived) or line["episodes"] >= LIMIT

    rg.train(
        task.source,
        task.risk,
        algorithm=replace(ALGORITHMS[algorithm], directions=n, smoothing=smoothing, episodes=m),
        policy=task.policy,
        iterations=10_000,
        step_size=rg.ascent.Adam(step),
        risk_path=None,
        entropy=0.0,
        held_out=0,
        seed=seed,
        callback=stop,
    )
    return arrived[0] if arrived else LIMIT


def compare_algorithms(name: str) -> None:
    """Tune both algorithms on one model and print their rows."""
    task = problem(name)
    grid = list(product(STEPS, SMOOTHINGS, (2, task.policy.dim // 2, task.policy.dim), EPISODES))
    medians: dict[str, float] = {}
    for algorithm in ALGORITHMS:
        tried = {s: float(np.mean([cost(task, algorithm, seed, *s) for seed in TUNING_SEEDS])) for s in grid}
        best = min(tried, key=lambda setting: tried[setting])
        costs = [cost(task, algorithm, seed, *best) for seed in SEEDS]
        medians[algorithm] = float(np.median(costs))
        step, smoothing, n, m = best
        ratio = "" if algorithm == "OnP-SF" else f"{medians['OnP-SF'] / medians['OffP-SF']:.1f}"
        print(
            f"| {name} | {algorithm} | {step:g} | {smoothing:g} | {n} | {m} | {medians[algorithm]:,.0f} "
            f"| {min(costs):,}-{max(costs):,} | {ratio} |",
            flush=True,
        )


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    print("| problem | algorithm | step of Adam | smoothing | n | m | episodes, median | range | OnP / OffP |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in PROBLEMS:
        compare_algorithms(name)


if __name__ == "__main__":
    main()

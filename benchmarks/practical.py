"""The search that chose the practical defaults, and what they reach.

    python benchmarks/practical.py search results.jsonl     every setting below on every problem: about an hour
    python benchmarks/practical.py chosen                   the score algorithm's defaults on every problem, five seeds
    python benchmarks/practical.py small                    batches of several sizes with 2,000 episodes, three seeds

The search changes one thing at a time from a center and gives every setting the same number of episodes, few enough for
settings to differ. All train by the score algorithm, whose defaults these are. Finished trainings are kept as lines of
JSON, and what is there is not done again.
"""

import argparse
import json
import multiprocessing
import os
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import numpy as np
from problems import MAKERS, problem

import riskgrad as rg

BUDGET: Final = 30_000
BUDGETS: Final = {"guarded maze, cvar:0.05": 50_000, "CartPole, mean": 20_000}
SEEDS: Final = 2
SMALL: Final = 2_000
BATCHES: Final = (25, 50, 100, 200, 400)
FAILED: Final = 0.5  # of the way from the start to the best
CENTER: Final[dict[str, Any]] = {
    "step": 0.1,
    "memory": 0.999,
    "episodes": 400,
    "steps_per_batch": 4,
    "ess_floor": 0.9,
    "path": 0.5,
    "start": "square",
    "entropy": 0.3,
}
SETTINGS: Final[list[dict[str, Any]]] = [
    {},
    {"steps_per_batch": 1},
    {"steps_per_batch": 2},
    {"steps_per_batch": 8},
    {"ess_floor": 0.7},
    {"ess_floor": 0.95},
    {"path": None},
    {"path": 0.25},
    {"path": 0.75},
    {"start": "mean"},
    {"start": "mean", "path": 0.25},
    {"entropy": 0.0},
    {"entropy": 0.1},
    {"entropy": 0.2},
    {"entropy": 0.5},
    {"step": 0.05},
    {"step": 0.2},
    {"episodes": 200},
    {"episodes": 800},
    {"memory": 0.99},
    {"start": "mean", "path": 0.25, "entropy": 0.1, "ess_floor": 0.7},
]


def train_setting(work: tuple[str, dict[str, Any], int]) -> dict[str, Any]:
    """Train with one setting on one problem with one seed."""
    name, setting, seed = work
    task, full = problem(name), {**CENTER, **setting}
    path = None if full["path"] is None or task.risk == "mean" else float(full["path"])
    own = {option: full[option] for option in ("episodes", "steps_per_batch", "ess_floor")}
    run = rg.train(
        task.source,
        task.risk,
        algorithm=rg.Score(**own),
        policy=task.policy,
        iterations=int(BUDGETS.get(name, BUDGET) / 1.1 / full["episodes"]),
        step_size=rg.ascent.Adam(full["step"], square_decay=full["memory"]),
        risk_path=rg.paths.SquarePath(path) if path is not None and full["start"] == "square" else path,
        entropy=full["entropy"],
        seed=seed,
    )
    return {"problem": name, "setting": setting, "seed": seed, "reach": task.reach(run.theta)}


def search(results: Path, seeds: int) -> None:
    """Do what is not done yet, on two processes of one core each, and print the table of settings."""
    done = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    have = {json.dumps([row["problem"], row["setting"], row["seed"]]) for row in done}
    works = [(name, setting, seed) for setting in SETTINGS for seed in range(seeds) for name in MAKERS]
    left = [work for work in works if json.dumps(work) not in have]
    context = multiprocessing.get_context("spawn")
    turns = context.Value("i", 0)
    with context.Pool(2, keep_to_one_core, (turns,)) as pool, results.open("a") as file:
        for row in pool.imap_unordered(train_setting, left):
            file.write(json.dumps(row) + "\n")
            file.flush()
            done.append(row)
    wanted = {json.dumps(work) for work in works}
    print_settings([row for row in done if json.dumps([row["problem"], row["setting"], row["seed"]]) in wanted])


def keep_to_one_core(turns: Any) -> None:
    """Keep a worker to a core of its own, so that it starts no threads; results do not depend on it."""
    with turns.get_lock():
        turn, turns.value = turns.value, turns.value + 1
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[turn % len(cores)]})


def print_settings(rows: list[dict[str, Any]]) -> None:
    """Print a row for each setting, the best first: fewest failures, then the mean reach."""
    reaches: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        text = ", ".join(f"{name} {value}" for name, value in row["setting"].items()) or "center"
        reaches[text][row["problem"]].append(row["reach"])
    hard = [name for name in MAKERS if "cvar" in name]
    print("| change | failures | mean reach |", " | ".join(hard), "|")
    print("|---|---|---|" + "---|" * len(hard))

    def order(text: str) -> tuple[int, float]:
        found = reaches[text].values()
        return sum(reach < FAILED for each in found for reach in each), -np.mean([np.mean(each) for each in found])

    for text in sorted(reaches, key=order):
        failures, mean = order(text)
        total = sum(len(each) for each in reaches[text].values())
        cells = " | ".join(f"{min(reaches[text][name], default=np.nan):.2f}" for name in hard)
        print(f"| {text} | {failures} of {total} | {-mean:.3f} | {cells} |")


def print_defaults(seeds: int) -> None:
    """Print what the defaults of the score algorithm reach."""
    print("| problem | start | best known | reached, worst to best seed | reach, worst seed |")
    print("|---|---|---|---|---|")
    for name in MAKERS:
        task = problem(name)
        budget = 20_000 if "CartPole" in name else 100_000
        runs = [
            rg.train(task.source, task.risk, algorithm="score", policy=task.policy, max_episodes=budget, seed=seed)
            for seed in range(seeds)
        ]
        values = sorted(task.value(run.theta) for run in runs)
        worst = (values[0] - task.start) / (task.best - task.start)
        reached = ", ".join(f"{value:.3g}" for value in values)
        print(f"| {name} | {task.start:.3g} | {task.best:.3g} | {reached} | {worst:.2f} |", flush=True)


def print_small_budgets(seeds: int) -> None:
    """Print what few episodes reach, by how they are cut into batches."""
    print("| batch | failures | mean reach, neutral | mean reach, averse |")
    print("|---|---|---|---|")
    for episodes in BATCHES:
        reaches: dict[str, list[float]] = {}
        for name in MAKERS:
            task, options = problem(name), {"algorithm": f"score:episodes={episodes}", "max_episodes": SMALL}
            runs = [rg.train(task.source, task.risk, policy=task.policy, seed=seed, **options) for seed in range(seeds)]
            reaches[name] = [task.reach(run.theta) for run in runs]
        failures = sum(reach < FAILED for each in reaches.values() for reach in each)
        neutral, averse = (
            np.mean([np.mean(each) for name, each in reaches.items() if (", mean" in name) == wanted])
            for wanted in (True, False)
        )
        print(f"| {episodes} | {failures} of {seeds * len(reaches)} | {neutral:.2f} | {averse:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["search", "chosen", "small"])
    parser.add_argument("results", nargs="?", type=Path, default=Path("practical.jsonl"))
    parser.add_argument("--seeds", type=int)
    given = parser.parse_args()
    if given.what == "search":
        search(given.results, given.seeds or SEEDS)
    elif given.what == "chosen":
        print_defaults(given.seeds or 5)
    else:
        print_small_budgets(given.seeds or 3)


if __name__ == "__main__":
    main()

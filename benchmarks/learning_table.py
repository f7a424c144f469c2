"""The table of learners on environments that are no tables: riskgrad by default, its score algorithm, PPO, and an aim.

PPO is that of Stable-Baselines3 at its defaults (`reference/ppo.py`). It is run by `measure_peers`, by the interpreter
that RISKGRAD_PEERS_PYTHON names, and what it reached is kept in `reference/ppo.json`, since that takes long.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from learning_problems import EnvProblem

import riskgrad as rg

TEST_SEED: Final = 1_000  # of fresh episodes; no run is trained with it
PEER: Final = Path(__file__).parent / "reference" / "ppo.py"
STORED: Final = PEER.with_suffix(".json")


@dataclass(frozen=True)
class Reached:
    """What a learner reached in several seeds.

    Attributes:
        values: by measure, that of the problem first, one of each seed.
        seconds: of training, the mean over seeds.
        first: episodes until a batch had the level of the problem, one of each seed; None where none had.
    """

    values: dict[str, list[float]]
    seconds: float
    first: list[int | None]


def train_seeds(problem: EnvProblem, seeds: Sequence[int], algorithm: str | None) -> Reached:
    """Train with each seed, by default or by an algorithm, and test what is kept on fresh episodes."""
    values: dict[str, list[float]] = {risk: [] for risk in (problem.risk, *problem.also)}
    taken: list[float] = []
    first: list[int | None] = []
    given = {} if algorithm is None else {"algorithm": algorithm}
    for seed in seeds:
        began = time.perf_counter()
        run = rg.train(problem.env, problem.risk, max_episodes=problem.episodes, seed=seed, **given)
        taken.append(time.perf_counter() - began)
        fresh = rg.evaluate(run, problem.env, list(values), problem.tested, seed=TEST_SEED + seed)
        for found, row in zip(values.values(), fresh.rows, strict=True):
            found.append(row.value)
        level = np.inf if problem.level is None else problem.level
        first.append(next((line["episodes"] for line in run.history if line["mean"] >= level), None))
    return Reached(values, float(np.mean(taken)), first)


def print_table(problems: Sequence[EnvProblem], seeds: Sequence[int], beside: Sequence[int]) -> None:
    """Print a row for each problem that can be played here, and below the table what each seed reached.

    Args:
        problems: what is trained on.
        seeds: of training by default.
        beside: seeds of the score algorithm, beside it.
    """
    stored = json.loads(STORED.read_text()) if STORED.exists() else []
    notes: list[str] = []
    print("| environment | measure | episodes | aim | median | least | share | s | score | s | PPO | s | steps |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for problem in problems:
        if not problem.playable:
            notes.append(f"- {problem.name}: {problem.needs} is not installed")
            continue
        ours, score = train_seeds(problem, seeds, None), train_seeds(problem, beside, "score")
        found, theirs = ours.values[problem.risk], score.values[problem.risk]
        median = float(np.median(found))
        what = f"{problem.name} | {problem.risk} | {problem.episodes:,} | {problem.aim:g}, {problem.origin}"
        told = f"{median:.4g} | {min(found):.4g} | {problem.share(median):.2f} | {ours.seconds:.0f}"
        others = f"{np.median(theirs):.4g} | {score.seconds:.0f} | {peer_cells(problem, stored)}"
        print(f"| {what} | {told} | {others} |", flush=True)
        seen = [f"{risk} {', '.join(f'{value:.4g}' for value in values)}" for risk, values in ours.values.items()]
        notes.append(f"- {problem.name}: {'; '.join(seen)}")
        if problem.level is not None:
            notes[-1] += f"; {problem.level:g} first in a batch after {', '.join(map(str, ours.first))} episodes"
    print("\nBy default, seed by seed:\n", *notes, sep="\n")


def peer_cells(problem: EnvProblem, stored: Sequence[dict[str, Any]]) -> str:
    """Give the cells of PPO: what its policies, which learn for the mean, are worth in the measure of a problem."""
    found = [row for row in stored if problem.risk in row["values"] and row["env"] == name_env(problem)]
    if not found:
        return "- | - | -"
    median = round(float(np.median([row["values"][problem.risk] for row in found])), 4)
    seconds, steps = (np.mean([row[key] for row in found]) for key in ("seconds", "steps"))
    return f"{median + 0.0:.4g} | {seconds:.0f} | {steps:,.0f}"


def measure_peers(problems: Sequence[EnvProblem], seeds: Sequence[int], seconds: int, steps: int) -> None:
    """Run PPO once for each environment and seed, one process at a time, and keep what it reached."""
    python = os.environ.get("RISKGRAD_PEERS_PYTHON", sys.executable)
    risks: dict[str, set[str]] = {}
    for problem in problems:
        risks.setdefault(name_env(problem), {"mean"}).update((problem.risk, *problem.also))
    for env, measures in risks.items():
        problem = next(each for each in problems if name_env(each) == env)
        for seed in seeds:
            limits = [str(each) for each in (seed, problem.episodes, steps, seconds)]
            done = subprocess.run([python, PEER, problem.name, *limits], capture_output=True, text=True, check=True)
            row = json.loads(done.stdout)
            returns = np.array(row.pop("returns"))
            values = {risk: float(rg.risk.parse(risk).estimate(returns)) for risk in sorted(measures)}
            kept = json.loads(STORED.read_text()) if STORED.exists() else []
            kept = [each for each in kept if (each["env"], each["seed"]) != (env, seed)]
            row = {"env": env, "seed": seed, **row, "values": values}
            STORED.write_text(json.dumps([*kept, row], indent=1) + "\n")
    print_peers()


def print_peers() -> None:
    """Print what is stored of PPO, by environment and seed."""
    print("| environment | seed | episodes | steps | s | level first after | reached |")
    print("|---|---|---|---|---|---|---|")
    for row in sorted(json.loads(STORED.read_text()), key=lambda row: (row["env"], row["seed"])):
        reached = ", ".join(f"{risk} {round(value, 4) + 0.0:.4g}" for risk, value in row["values"].items())
        first = "-" if row["first"] is None else f"{row['first']} episodes"
        spent = f"{row['episodes']:,} | {row['steps']:,} | {row['seconds']:.0f}"
        print(f"| {row['env'].split('/')[-1]} | {row['seed']} | {spent} | {first} | {reached} |")


def name_env(problem: EnvProblem) -> str:
    """Give the name of a problem's environment."""
    return problem.env if isinstance(problem.env, str) else problem.name

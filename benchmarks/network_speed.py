"""What networks take, in this version and in another one, which take turns.

    python benchmarks/network_speed.py
    python benchmarks/network_speed.py --other ../earlier/src

A figure is processor time on one core, the best of many short rounds: of a step of a compiled environment with 64
policies of 64 episodes each, from parameters to returns, and of `act` for 128 observations of 8 numbers. The other
version is the `src` folder of another checkout; it runs in a process of its own, and both make a round in turn, so that
a machine that is noisy for a while is not so for one of them alone.
"""

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import riskgrad as rg
from riskgrad.policy import MLP
from riskgrad.random import Purpose, Stream

POLICIES, EPISODES, OBSERVATIONS, ACTS = 64, 64, 128, 200
ROUND = 0.1  # seconds of each case in a round


def cases() -> dict[str, Callable[[], int]]:
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
        "CartPole-v1, MLP 16 x 16, ns/step": steps("CartPole-v1", (16, 16)),
        "CartPole-v1, MLP 32 x 32, ns/step": steps("CartPole-v1", (32, 32)),
        "riskgrad/GuardedMaze-v0, MLP 32 x 32, ns/step": steps("riskgrad/GuardedMaze-v0", (32, 32)),
        "act of MLP 32 x 32, 1 policy, ns": acts(1),
        "act of MLP 32 x 32, 16 policies, ns": acts(16),
        "act of MLP 32 x 32, 128 policies, ns": acts(128),
    }


def work() -> None:
    """Make a round whenever a line comes in, and print the best nanoseconds of each case as one line."""
    timed = cases()
    for case in timed.values():
        case()  # compiles
    for _ in sys.stdin:
        best = dict.fromkeys(timed, float("inf"))
        for name, case in timed.items():
            stop = time.perf_counter() + ROUND
            while time.perf_counter() < stop:
                begin = time.thread_time_ns()
                done = case()
                best[name] = min(best[name], (time.thread_time_ns() - begin) / done)
        print(json.dumps(best), flush=True)


def start(source: str | None) -> "subprocess.Popen[str]":
    """Start a process that works on the version in this folder, or on the installed one."""
    environment = os.environ | ({} if source is None else {"PYTHONPATH": source})
    command = [sys.executable, __file__, "--work"]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def make_round(process: "subprocess.Popen[str]") -> dict[str, float]:
    """Give the times of one round."""
    process.stdin.write("\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def compare(other: str | None, rounds: int) -> None:
    """Print the best times, and their ratio to those of the other version."""
    processes = [start(None)] + ([start(other)] if other else [])
    best: list[dict[str, float]] = [{} for _ in processes]
    for _ in range(rounds):
        for times, process in zip(best, processes, strict=True):
            for name, time_taken in make_round(process).items():
                times[name] = min(times.get(name, float("inf")), time_taken)
    for process in processes:
        process.communicate()
    print("| | this version |" + (" other version | ratio |" if other else ""))
    print("|---|---|" + ("---|---|" if other else ""))
    for name, mine in best[0].items():
        theirs = f" {best[1][name]:,.0f} | {mine / best[1][name]:.2f} |" if other else ""
        print(f"| {name} | {mine:,.0f} |{theirs}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--other", help="the src folder of another version")
    parser.add_argument("--rounds", type=int, default=30, help="how often each version has its turn")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.work:
        work()
    else:
        compare(chosen.other, chosen.rounds)

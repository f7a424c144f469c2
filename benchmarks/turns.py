"""Two versions of riskgrad that take turns, so that a machine that is noisy for a while is not so for one alone.

A script defines its cases, functions that do some work and return how much it was, and ends with

    main(__doc__, cases)

The other version is the `src` folder of another checkout. Each version runs in a process of its own, on one core. In a
round each process works through all cases, first one version, then the other; a figure is processor time over the work
done, the best of all rounds. A case whose name ends in "by the clock" is timed by the clock on the wall instead, since
other processes or threads do a part of its work.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

ROUND = 0.1  # seconds of each case in a round

Cases = dict[str, Callable[[], float]]


def main(about: str, cases: Callable[[], Cases]) -> None:
    """Compare this version with the one that `--other` names, or time this one alone."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--other", help="the src folder of another version")
    parser.add_argument("--rounds", type=int, default=30, help="how often each version has its turn")
    parser.add_argument("--only", default="", help="cases with this text in their name")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.work:
        work({name: case for name, case in cases().items() if chosen.only in name})
    else:
        compare(chosen.other, chosen.rounds, chosen.only)


def work(cases: Cases) -> None:
    """Make a round whenever a line comes in, and print the best nanoseconds of each case as one line."""
    for case in cases.values():
        case()  # compiles
    for _ in sys.stdin:
        best = dict.fromkeys(cases, float("inf"))
        for name, case in cases.items():
            read = time.perf_counter_ns if name.endswith("by the clock") else time.process_time_ns
            stop = time.perf_counter() + ROUND
            while time.perf_counter() < stop:
                begin = read()
                done = case()
                best[name] = min(best[name], (read() - begin) / done)
        print(json.dumps(best), flush=True)


def start(source: str | None, only: str) -> "subprocess.Popen[str]":
    """Start a process that works on the version in this folder, or on the installed one."""
    environment = os.environ | ({} if source is None else {"PYTHONPATH": source})
    command = [sys.executable, sys.argv[0], "--work", "--only", only]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def make_round(process: "subprocess.Popen[str]") -> dict[str, float]:
    """Give the times of one round."""
    process.stdin.write("\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def compare(other: str | None, rounds: int, only: str) -> None:
    """Print the best times, and their ratio to those of the other version."""
    processes = [start(None, only)] + ([start(other, only)] if other else [])
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
        theirs = f" {write(best[1][name])} | {mine / best[1][name]:.2f} |" if other else ""
        print(f"| {name} | {write(mine)} |{theirs}")


def write(nanoseconds: float) -> str:
    """Write a time in the unit that suits it."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"

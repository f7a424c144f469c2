"""Trainings that are killed at any moment, and pools that lose workers: is anything lost, does anything wait?

    python benchmarks/stopping.py

Each sampled algorithm is ended without a word at every call that touches the disk, and at random moments of its
processor time, in a process of its own; then it is resumed, and everything is compared to the bit with a run that was
never ended. A pool is given what cannot be pickled, again and again, and loses workers, while every core has other
work to do.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import riskgrad as rg
from riskgrad.backend import Processes
from riskgrad.errors import WorkerError
from riskgrad.run.store import HISTORY

CASES = {
    "onp-sf": ("two-roads", "onp-sf:directions=2,episodes=20"),
    "offp-sf": ("two-roads", "offp-sf:directions=4,episodes=30"),
    "score": ("two-roads", "score:episodes=30"),
    "critic, states": ("two-roads", "critic:episodes=20"),
    "critic, vectors": ("CartPole-v1", "critic:episodes=8"),
}
CALLS = ("fsync", "replace", "truncate")  # of os, by which a run touches the disk
THETAS = ("theta", "random_theta", "last_theta")


def train(name: str, **where):
    env, algorithm = CASES[name]
    options = {"iterations": 5, "held_out": 20, "seed": 7, "threads": 1, "checkpoint_seconds": 0.0, **where}
    return rg.train(env, "cvar:0.2", algorithm=algorithm, **options)


def same(name: str, folder: Path, whole: Path) -> bool:
    """Resume a run that was ended, and compare it with one that was not."""
    run, other = train(name, resume=folder), rg.load(whole)
    equal = all(getattr(run, theta).tobytes() == getattr(other, theta).tobytes() for theta in THETAS)
    counted = (run.episodes_used, run.held_out_risk, run.finished) == (other.episodes_used, other.held_out_risk, True)
    return equal and counted and (folder / HISTORY).read_bytes() == (whole / HISTORY).read_bytes()


def count_calls(at: int = 0) -> list[int]:
    """Count the calls that touch the disk; end this process without a word before the one of this number."""
    count = [0]
    for name in CALLS:
        real = getattr(os, name)

        def call(*args, real=real, **options):
            count[0] += 1
            if count[0] == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **options)

        setattr(os, name, call)
    return count


def end_early(name: str, folder: Path, call: int = 0, seconds: float = 0.0) -> bool:
    """Train in a process that ends at a call or after some processor time; tell whether it ended that way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks: the loops here have one thread
        child = os.fork()
    if child == 0:
        try:
            if call:
                count_calls(call)
            else:
                signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends a process as SIGKILL does
                signal.setitimer(signal.ITIMER_PROF, seconds)
            train(name, resume=folder)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def measure(name: str, place: Path) -> tuple[int, float]:
    """Train once to its end; give how many calls touch the disk, and its processor time."""
    train(name)  # compiles
    real, began = {one: getattr(os, one) for one in CALLS}, time.process_time()
    count = count_calls()
    try:
        train(name, folder=place)
    finally:
        for one, function in real.items():
            setattr(os, one, function)
    return count[0], time.process_time() - began


def kill_all(name: str, place: Path, every: int, moments: int, seed: int = 3) -> tuple[int, int, int]:
    """End a training at every so-many-th call and at random moments; give how often, and how often bits differed."""
    calls, seconds = measure(name, place / "whole")
    chance, at_calls, at_moments, wrong = random.Random(f"{seed} {name}"), 0, 0, 0  # noqa: S311
    for call in range(1 + chance.randrange(every), calls + 1, every):
        folder = place / f"call-{call}"
        at_calls += end_early(name, folder, call=call)
        wrong += not same(name, folder, place / "whole")
    for moment in range(moments):
        folder = place / f"moment-{moment}"
        at_moments += end_early(name, folder, seconds=chance.uniform(1e-3, 0.9 * seconds))
        wrong += not same(name, folder, place / "whole")
    return at_calls, at_moments, wrong


def give_lambda(number):
    return lambda: number


def die(number):
    del number
    os.kill(os.getpid(), signal.SIGKILL)


@contextlib.contextmanager
def busy_cores():
    """Give every core other work to do."""
    command = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for one in others:
            one.kill()
            one.wait()


def use_pool(rounds: int, deaths: int) -> tuple[int, int, float]:
    """Give a pool what cannot be pickled, both ways, and kill workers; give what was told, and the longest wait."""
    refused, told, longest = 0, 0, 0.0
    with busy_cores(), Processes(2) as backend:
        for turn in range(rounds + deaths):
            began = time.monotonic()
            try:
                if turn >= rounds:
                    backend.map(die, range(4))
                else:
                    backend.map(give_lambda if turn % 2 else abs, [1, 2] if turn % 2 else [1, lambda: 2])
            except WorkerError:
                told += 1
            except (AttributeError, TypeError):
                refused += 1
            if backend.map(abs, [-1, -2, -3]) != [1, 2, 3]:
                raise SystemExit("the work after it was not done")
            longest = max(longest, time.monotonic() - began)
    return refused, told, longest


def main() -> None:
    print(f"load of the machine: {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores")
    print("\n| algorithm | killed at a call to the disk | killed at a random moment | resumed to other bits |")
    print("|---|---|---|---|")
    for name in CASES:
        with tempfile.TemporaryDirectory() as place:
            print(f"| {name} | {' | '.join(str(count) for count in kill_all(name, Path(place), 1, 20))} |", flush=True)
    rounds, deaths = 200, 10
    refused, told, longest = use_pool(rounds, deaths)
    print("\n| a pool of two processes | times | told rightly | longest wait with the work after it, s |")
    print("|---|---|---|---|")
    print(f"| a task or an answer that cannot be pickled | {rounds} | {refused} | |")
    print(f"| a worker killed | {deaths} | {told} | {longest:.1f} |")


if __name__ == "__main__":
    main()

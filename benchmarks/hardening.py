"""What becomes of inputs that nobody should give, of flipped bits and of damaged files, counted.

    python benchmarks/hardening.py
    python benchmarks/hardening.py --inputs 100 --bits 20 --damaged 50

The trials are those of `tests/support/fuzz.py`, `flips.py` and `surface.py`, of which the tests do a part: each is a
function of its seed. A trial that ends in anything but an answer or an error of riskgrad in one printable line is a
fault, and so is a flipped bit that changes what is read without a word, and an import that a file asks for.
"""

import argparse
import contextlib
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.flips import flip_bits, train_runs
from support.fuzz import PARSERS, Trials, fuzz
from support.surface import Prepared, list_calls, try_strange

from riskgrad.mdp import FiniteMDP


def chain(size: int) -> list:
    """Give a chain of states, of which each leads to the next."""
    steps = [
        [[(0.5, s, 0.0, False), (0.5, s + 1, 1.0, s + 1 == size)], [(1.0, s + 1, 0.0, s + 1 == size)]]
        for s in range(size)
    ]
    return [*steps, [[], []]]


def count_inputs(folder: str, inputs: int, damaged: int) -> int:
    """Print a row for each parser; give the number of faults."""
    trials, total = Trials(folder), 0
    print("| parser | inputs | taken | refused in one line | anything else |\n|---|---|---|---|---|")
    for parser in PARSERS:
        count = damaged if parser == "Parquet files" else inputs
        ended, faults = fuzz(trials, parser, count)
        total += len(faults)
        print(f"| {parser} | {count:,} | {ended['taken']:,} | {ended['refused']:,} | {len(faults)} |", flush=True)
        for index, text in faults[:20]:
            print(f"{parser} {index}: {text}", file=sys.stderr)
    return total


def count_bits(folder: str, bits: int) -> int:
    """Print a row for each file of a run; give the number of faults."""
    total = 0
    print("\n| file | bits flipped | refused | told | without effect | silently wrong, or else |")
    print("|---|---|---|---|---|---|")
    for path in train_runs(folder):
        ended, faults = flip_bits(path, bits)
        total += len(faults)
        counts = " | ".join(f"{ended[kind]:,}" for kind in ("refused", "told", "no effect"))
        name = path.relative_to(folder)
        print(f"| {name} | {sum(ended.values()):,} | {counts} | {len(faults)} |", flush=True)
        for bit, text in faults[:20]:
            print(f"{name} {bit}: {text}", file=sys.stderr)
    return total


def count_calls(folder: str) -> int:
    """Print a row for the arguments of all public functions; give the number of faults."""
    calls, ended, faults = list_calls(Prepared(folder)), Counter(), []
    for name, call in calls.items():
        some, wrong = try_strange(name, *call)
        ended += some
        faults += [(name, *one) for one in wrong]
    count = sum(ended.values()) + len(faults)
    row = f"| {count:,} | {ended['taken']:,} | {ended['refused']:,} | {len(faults)} |"
    print(f"| arguments of {len(calls)} public functions {row}", flush=True)
    for fault in faults[:20]:
        print(*fault, file=sys.stderr)
    return len(faults)


def time_models() -> None:
    """Print how long chains take to become models."""
    times = {}
    for size in (1_000, 16_000):
        table = chain(size)
        best = float("inf")
        for _ in range(5):
            begin = time.process_time()
            FiniteMDP.from_outcomes(table, 0, horizon=5)
            best = min(best, time.process_time() - begin)
        times[size] = best
    ratio = times[16_000] / times[1_000]
    print(f"\nA chain of 16,000 states takes {ratio:.0f} times as long to become a model as one of 1,000.")


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--inputs", type=int, default=10_000, help="of each parser")
    reader.add_argument("--bits", type=int, default=500, help="of each file")
    reader.add_argument("--damaged", type=int, default=3_000, help="Parquet files")
    given = reader.parse_args()
    with contextlib.ExitStack() as stack:
        places = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(3)]
        stack.enter_context(contextlib.chdir(places[2]))  # a name may be a path
        faults = count_bits(places[0], given.bits) + count_inputs(places[1], given.inputs, given.damaged)
        faults += count_calls(places[2])
    time_models()
    raise SystemExit(f"{faults} faults" if faults else 0)


if __name__ == "__main__":
    main()

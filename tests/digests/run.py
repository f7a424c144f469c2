"""Run all cases and print the digests of the bits that they end with; with --write, keep them in digests.json.

The script starts itself anew with the oldest instructions, so that the digests do not depend on the processor, even
where an environment, NumPy or SciPy computes.
"""

import argparse
import hashlib
import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np

import riskgrad as rg

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.machines import oldest

from digests.cases import Case, all_cases

STORED = Path(__file__).with_name("digests.json")
MARK = "RISKGRAD_DIGESTS"  # set where the switches already are


def prefix(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def digest(case: Case) -> dict[str, str | int]:
    run = rg.train(case.env, case.risk, **case.options)
    thetas = {
        name: prefix(np.float64(getattr(run, name)).tobytes()) for name in ("theta", "last_theta", "random_theta")
    }
    numbers = [{name: value for name, value in line.items() if name != "events"} for line in run.history]
    history = prefix(json.dumps(numbers, sort_keys=True).encode())
    return {**thetas, "history": history, "episodes_used": run.episodes_used}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {STORED.name} instead of printing")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [f"{json.dumps(case.name)}: {json.dumps(digest(case))}" for case in all_cases()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    if given.write:
        STORED.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    if MARK in os.environ:
        main()
    else:
        switches = {**oldest(), "OPENBLAS_CORETYPE": "Nehalem", MARK: "1"}
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **switches})  # noqa: S606

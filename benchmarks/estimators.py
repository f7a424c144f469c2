"""Speed of the risk estimators, as ratios to the NumPy operation they cannot do without, measured in one run.

python benchmarks/estimators.py

Each figure is the smallest of several interleaved repetitions, so that a noisy machine disturbs both sides alike.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

import riskgrad as rg

ROWS, EPISODES = 256, 10_000


def best(functions: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Smallest seconds of each function, interleaved."""
    seconds = dict.fromkeys(functions, np.inf)
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=(ROWS, EPISODES)), rng.exponential(size=(ROWS, EPISODES))
    shared = values[0].copy()
    levels = rng.random((ROWS, EPISODES))
    square = rg.risk.parse("dual-power:2")

    seconds = best(
        {
            "sort": lambda: np.sort(values, axis=-1),
            "estimate": lambda: square.estimate(values),
            "argsort": lambda: np.argsort(values, axis=-1),
            "both per row": lambda: square.estimate(values, weights),
            "cumsum": lambda: np.cumsum(weights, axis=-1),
            "shared": lambda: square.estimate(shared, weights),
        },
        repeats,
    )
    print(
        f"values and weights of {ROWS} policies x {EPISODES} episodes; smallest of {repeats} interleaved repetitions\n"
    )
    print("| estimator | ms | against | ms | ratio | limit |")
    print("|---|---|---|---|---|---|")
    row("dual-power:2, no weights", seconds["estimate"], "numpy.sort", seconds["sort"], 1.3)
    row("dual-power:2, values and weights per row", seconds["both per row"], "numpy.argsort", seconds["argsort"], 1.3)
    row("dual-power:2, shared values", seconds["shared"], "numpy.cumsum", seconds["cumsum"], 3.0)
    for text in (
        "dual-power:3",
        "quadratic:0.5",
        "exponential:3",
        "square-root:5",
        "logarithmic:5",
        "cvar:0.1",
        "smooth-cvar:0.1",
    ):
        measure = rg.risk.parse(text)
        g = measure.function
        timed = best(
            {"g": lambda g=g: g(levels), "all": lambda r=measure: r.estimate(shared, weights)}, max(3, repeats // 2)
        )
        allowed = 3.0 * seconds["cumsum"] + 1.5 * timed["g"]
        row(f"{text}, shared values", timed["all"], "3 cumsum + 1.5 g", allowed, 1.0)


def row(name: str, mine: float, against: str, other: float, limit: float) -> None:
    print(f"| {name} | {1e3 * mine:.1f} | {against} | {1e3 * other:.1f} | {mine / other:.2f} | {limit} |")


if __name__ == "__main__":
    main()

"""Two roads to work, exactly: the best policy by each risk measure, and whether training finds it.

    python examples/two_roads.py

A commuter drives over a pass (short, with a rare rockfall) or through a valley (long and safe). The model is finite, so
no number in the table is estimated: the law of the return of every policy is exact, the best policy by every measure is
known, and trained policies are judged by their exact values. About 6 seconds on 2 cores.
"""

import argparse

import numpy as np

import riskgrad as rg

MEASURES = ("mean", "mean-variance:0.1", "cvar:0.1")


def main() -> None:
    """Print the best policy by each measure and the trained one, each judged by all measures."""
    options = argparse.ArgumentParser(description="Two roads to work, exactly.")
    options.add_argument("--iterations", type=int, default=100)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()

    roads = rg.mdp.two_roads()
    judged = {name: rg.risk.parse(name) for name in MEASURES}
    print("Minus the minutes to work, exact. Rows: what a policy was chosen by. Columns: how it is judged.\n")
    print(f"{'':28}" + "".join(f"{name:>19}" for name in MEASURES) + f"{'takes the valley':>19}")

    for name, risk in judged.items():
        actions, _ = rg.exact.best_deterministic(roads, risk)
        best = show(f"best      {name}", roads, np.eye(roads.n_actions)[actions], judged)[name]
        run = rg.train(roads, risk=risk, iterations=given.iterations, seed=given.seed)
        table = run.policy.probabilities(run.theta, range(roads.n_states))
        value = show(f"trained   {name}", roads, table, judged)[name]
        print(f"{'':10}{run.episodes_used:,} episodes, {best - value:.3f} short of the best\n")


def show(label: str, roads: rg.mdp.FiniteMDP, table: np.ndarray, judged: dict) -> dict[str, float]:
    """Print the value of a policy [S, A] by each measure, and how often it leaves home for the valley."""
    law = rg.exact.return_law(roads, table)
    values = {name: float(risk.value(law)) for name, risk in judged.items()}
    print(f"{label:28}" + "".join(f"{value:19.3f}" for value in values.values()) + f"{table[0, 1]:19.1%}")
    return values


if __name__ == "__main__":
    main()

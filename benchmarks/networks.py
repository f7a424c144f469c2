"""What networks learn with the default step, which is shorter than that of tables and linear policies.

    python benchmarks/networks.py inventory
    pip install "riskgrad[box2d]"
    python benchmarks/networks.py lander

`inventory` trains a network on CVaR(0.1) with the default step and with that of tables, in exact values: 0 is the
policy that is best on average, 1 the one with the best tail. `lander` is one line, by the score
algorithm: 88,000 episodes, judged by 1,000 fresh ones.
"""

import argparse
import time
from typing import Any

import numpy as np

import riskgrad as rg
from riskgrad.exact.optimal import best_deterministic
from riskgrad.mdp.models import inventory

TAIL = rg.risk.CVaR(0.1)
SEEDS = range(4)


def inventories() -> None:
    """Print how much of the gap between the neutral and the averse optimum is closed."""
    mdp = inventory()
    low, high = (TAIL.value(best_deterministic(mdp, rho)[1]) for rho in (rg.risk.Mean(), TAIL))

    def part_closed(seed: int, **step: Any) -> float:
        run = rg.train(mdp, TAIL, algorithm="score", policy="mlp", max_episodes=30_000, seed=seed, **step)
        chances = run.policy.probabilities(run.theta, np.arange(mdp.n_states))
        return (TAIL.value(rg.exact.return_law(mdp, chances)) - low) / (high - low)

    print("| inventory, cvar:0.1, 30,000 episodes | " + " | ".join(f"seed {seed}" for seed in SEEDS) + " |")
    print("|---" * (len(SEEDS) + 1) + "|")
    for name, step in (("default", {}), ("0.1, as for tables", {"step_size": "adam:0.1"})):
        print(f"| {name} | " + " | ".join(f"{part_closed(seed, **step):.2f}" for seed in SEEDS) + " |", flush=True)


def lander() -> None:
    """Print what one line learns, by held-out episodes along the run and by fresh ones at its end."""
    begin = time.perf_counter()

    def show(line: dict[str, Any], theta: Any) -> None:
        del theta
        if line["held_out"] is not None:
            tail, minutes = line["held_out"], (time.perf_counter() - begin) / 60.0
            print(f"| {line['episodes']:,} | | {tail:.1f} | {minutes:.0f} |", flush=True)

    print("| LunarLander-v3, episodes | mean | CVaR(0.1) | minutes |\n|---|---|---|---|")
    run = rg.train("LunarLander-v3", risk="cvar:0.1", algorithm="score", policy="mlp", callback=show)
    mean, tail = (row.value for row in rg.evaluate(run, "LunarLander-v3", risk=["mean", TAIL], episodes=1_000).rows)
    print(f"| {run.episodes_used:,}, fresh episodes | {mean:.1f} | {tail:.1f} | |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["inventory", "lander"])
    {"inventory": inventories, "lander": lander}[parser.parse_args().what]()


if __name__ == "__main__":
    main()

"""What the algorithms reach with 20,000 episodes, by the number of parameters d.

    python benchmarks/reach.py [--seeds 3] [--most 10002]

A family of finite problems of one difficulty and any size. From a hub, chance leads to one of n situations, all equally
likely; there one of two actions is paid, and the next step is back at the hub. An episode passes five situations.
Situations are of five kinds, bets and insurances, of which there are equally many; which of the two actions is the bold
one is drawn for each by itself. The measure is CVaR(0.1).

A table has two parameters for each state, d = 2 (n + 1), of which those of the hub do nothing. What is learned in one
situation says nothing about another. The law of the return depends on a policy by its mean over the situations of a
kind alone, so that the uniform policy, which has reach 0, and the best one, which has reach 1, are worth the same for
every n. All values are exact.
"""

import argparse
from functools import cache

import numpy as np

import riskgrad as rg
from riskgrad.exact.optimal import best_deterministic
from riskgrad.mdp import FiniteMDP

RISK, EPISODES, VISITS = rg.risk.CVaR(0.1), 20_000, 5
PARAMETERS = (12, 102, 1_002, 10_002)
NAMES = {"critic": "critic", "score": "score", "offp-sf": "OffP-SF", "onp-sf": "OnP-SF"}

# what the cautious and the bold action pay in a situation of each kind: chances and rewards
KINDS = (
    ([(1.0, 0.0)], [(0.9, 2.0), (0.1, -1.0)]),  # a bet that is better in every respect that matters
    ([(1.0, 0.0)], [(0.8, 4.0), (0.2, -10.0)]),  # one that is better on average, and ruins the tail
    ([(1.0, 1.0)], [(0.7, 3.0), (0.3, -4.0)]),  # one that is worse on average, too
    ([(1.0, -2.0)], [(0.95, 0.0), (0.05, -20.0)]),  # an insurance that costs more than it pays
    ([(1.0, -1.0)], [(0.9, 0.0), (0.1, -20.0)]),  # one that costs less
)


@cache
def situations(d: int) -> FiniteMDP:
    """Give the problem of d parameters; state 0 is the hub, and situation i is of kind i modulo 5."""
    n = d // 2 - 1
    swapped = np.random.default_rng(0).permuted(np.arange(n) % 2)
    hub = [(1.0 / n, 1 + i, 0.0, False) for i in range(n)]
    outcomes = {0: {0: hub, 1: hub}}
    for i in range(n):
        pays = [[(chance, 0, reward, False) for chance, reward in action] for action in KINDS[i % len(KINDS)]]
        outcomes[1 + i] = {0: pays[swapped[i]], 1: pays[1 - swapped[i]]}
    return FiniteMDP.from_outcomes(outcomes, start=0, horizon=2 * VISITS)


def value(d: int, table: np.ndarray) -> float:
    """Give the exact risk of a policy table [S, 2]."""
    return RISK.value(rg.exact.return_law(situations(d), table))


@cache
def ends() -> tuple[float, float]:
    """Give what the uniform and the best policy are worth, by trying all policies of the smallest problem."""
    least = PARAMETERS[0]
    return value(least, np.full((least // 2, 2), 0.5)), RISK.value(best_deterministic(situations(least), RISK)[1])


def reach(algorithm: str, d: int, seed: int) -> float:
    """Train with the defaults, and give the share of the way from the uniform to the best policy."""
    run = rg.train(situations(d), RISK, algorithm=algorithm, max_episodes=EPISODES, seed=seed)
    low, high = ends()
    return (value(d, run.policy.probabilities(run.theta, np.arange(d // 2))) - low) / (high - low)


def main(seeds: int, most: int) -> None:
    tried = [d for d in PARAMETERS if d <= most]
    print(f"| reach, {EPISODES:,} episodes | " + " | ".join(f"d = {d:,}" for d in tried) + " |")
    print("|---" * (len(tried) + 1) + "|")
    for algorithm, name in NAMES.items():
        means = [np.mean([reach(algorithm, d, seed) for seed in range(seeds)]) for d in tried]
        print(f"| {name} | " + " | ".join(f"{mean:.2f}" for mean in means) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=PARAMETERS[-1], help="the most parameters that are tried")
    chosen = parser.parse_args()
    main(chosen.seeds, chosen.most)

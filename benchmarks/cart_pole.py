"""CartPole-v1 from few episodes, by the score algorithm and a linear policy.

    python benchmarks/cart_pole.py

Each seed trains with a budget of 2,000 episodes, held-out ones included, and all other options at their defaults. The
policy that it ends with is tested on 1,000 fresh episodes as it was trained, with random actions, and greedily; 500 is
the largest return of an episode. The size of batches was chosen on seeds 0 to 9, not on the others.
"""

import argparse
import time
from typing import Final

import riskgrad as rg

ENV: Final = "CartPole-v1"
BUDGET: Final = 2_000
TEST_EPISODES: Final = 1_000
TARGET: Final = 475.0


def mean_return(run: rg.Run, greedy: bool) -> float:
    """Give the mean return of a trained policy on fresh episodes."""
    return rg.evaluate(run, ENV, risk="mean", episodes=TEST_EPISODES, greedy=greedy)[0].value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=15)
    seeds = parser.parse_args().seeds
    rg.train(ENV, risk="mean", algorithm="score", iterations=2)  # compiles
    print("| CartPole-v1 | episodes | seconds | mean | mean, greedy |")
    print("|---|---|---|---|---|")
    reached = 0
    for seed in range(seeds):
        began = time.perf_counter()
        run = rg.train(ENV, risk="mean", algorithm="score", max_episodes=BUDGET, seed=seed)
        seconds = time.perf_counter() - began
        mean, greedy = mean_return(run, False), mean_return(run, True)
        reached += mean >= TARGET
        print(f"| seed {seed} | {run.episodes_used:,} | {seconds:.1f} | {mean:.1f} | {greedy:.1f} |", flush=True)
    print(f"\n{reached} of {seeds} seeds at {TARGET:g} or more")


if __name__ == "__main__":
    main()

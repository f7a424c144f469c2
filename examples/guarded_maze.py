"""The guarded maze: a short way past a guard who is seldom there, and a long way around.

    python examples/guarded_maze.py
    python examples/guarded_maze.py --out maze.html     a page about both policies, with their walks on the map

The environment is that of Greenberg et al., Efficient Risk-Averse Reinforcement Learning (NeurIPS 2022). A policy
trained on the mean walks past the guard, who is there one time in five and then costs a lot; a policy trained on the
mean of the worst twentieth walks around. Both are evaluated with their likeliest actions. The environment runs
compiled. About 20 seconds on 2 cores.
"""

import argparse

import gymnasium
import numpy as np

import riskgrad as rg
from riskgrad.envs.maze import GUARDED

MAZE, RISK = "riskgrad/GuardedMaze-v0", "cvar:0.05"


def main() -> None:
    """Train a neutral and an averse policy, and say which way they walk."""
    options = argparse.ArgumentParser(description="The guarded maze: past the guard, or round.")
    options.add_argument("--max-episodes", type=int, default=100_000, help="of each training")
    options.add_argument("--episodes", type=int, default=10_000, help="of the evaluation")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--out", help="where to write a page about both policies")
    given = options.parse_args()

    print(f"{'trained on':12}{'mean':>8}{RISK:>12}{'past the guard':>17}{'arrives':>10}")
    runs = {}
    for risk in ("mean", RISK):
        run = runs[risk] = rg.train(MAZE, risk=risk, max_episodes=given.max_episodes, seed=given.seed)
        table = rg.evaluate(run, MAZE, risk=["mean", RISK], episodes=given.episodes, greedy=True)
        guarded, arrived = ways(run, walks=200)
        print(f"{risk:12}{table['mean'].value:8.2f}{table[RISK].value:12.2f}{guarded:17.0%}{arrived:10.0%}", flush=True)
    if given.out:
        print(f"\nThe page is {rg.report(runs, given.out, title='The guarded maze')}.")


def ways(run: rg.Run, walks: int) -> tuple[float, float]:
    """Walk through the maze by the likeliest actions; give the share of walks past the guard, and to the goal."""
    env = gymnasium.make(MAZE)
    guarded = arrived = 0
    for seed in range(walks):
        observation, info = env.reset(seed=seed)
        seen, over, late = False, False, False
        while not (over or late):
            action = int(np.argmax(run.policy.probabilities(run.theta, observation)))
            before = np.array(info["position"])
            observation, _, over, late, info = env.step(action)
            after = np.array(info["position"])
            seen |= any(np.array_equal(np.rint(point), GUARDED) for point in ((before + after) / 2.0, after))
        guarded, arrived = guarded + seen, arrived + over
    env.close()
    return guarded / walks, arrived / walks


if __name__ == "__main__":
    main()

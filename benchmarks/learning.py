"""What training with the defaults of `rg.train` reaches where neutral and averse optima differ, in exact values.

    python benchmarks/learning.py
    python benchmarks/learning.py maze
    python benchmarks/learning.py chosen
    python benchmarks/learning.py set-aside
    python benchmarks/learning.py batches
    python benchmarks/learning.py memory
    python benchmarks/learning.py limit
    python benchmarks/learning.py ruin
    python benchmarks/learning.py environments
    python benchmarks/learning.py environments-aside
    python benchmarks/learning.py times
    python benchmarks/learning.py trading
    RISKGRAD_PEERS_PYTHON=/path/to/python python benchmarks/learning.py peers
    python benchmarks/learning.py gymnasium

The gap is that between the best policy for the mean and the best one for CVaR(0.1), in CVaR(0.1); a row says which
part of it is closed. Doing nothing and ruin have rows of their own, to show that neither closes the gap.
In `two-roads` nothing can be left undone; going on as one began, and the worst policy, stand there.

The second command trains in the guarded maze on CVaR(0.05), for 88,000 episodes, and tests the greedy policy on 50,000.
Standing still costs 32; CeSoR, the method published with the maze, has a mean of 2.0, a CVaR(0.1) of -4.6 and a
CVaR(0.05) of -6.7.

`chosen` and `set-aside` train by default with 50,000 episodes on problems with exact answers (see `risky_problems`):
those on which the critic was chosen, with the shipped models, and those that were set aside until it was. A row has the
share of the gap from the uniform policy to the best one of the same memory, over five seeds, and beside it that of the
score algorithm. `batches` says how long an iteration takes at the end of such a run, when the log holds all of it;
`--other` names the `src` folder of another version, whose score algorithm then stands beside it.
`memory` trains with `memory="both"` and 100,000 episodes where it pays to know the time and the return so far, beside
the best policy that does not know them and the best one that does (see `memory_best`). `limit`
works out how many episodes the mean of `ruin` takes, whoever learns (see `ruin_limit`); `ruin` learns with more.

`environments` trains on environments that are no tables (see `learning_problems`), by default with a budget of episodes
each, and tests what is kept on fresh episodes; five seeds, beside the score algorithm and PPO. Those of
`environments-aside` are for one last look. `peers` runs PPO, which is Stable-Baselines3's at its defaults, and keeps
what it reached for the table; its interpreter may be another one. `--only` names some of the problems. `trading` says
how much its environment can be worth. `times` counts seconds of one processor: until CartPole's pole is kept up, and
for 1,000 episodes of the pendulum.

`gymnasium` trains on Gymnasium's toy texts with 20,000 episodes and one seed, and tests the kept policy on 20,000 more.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import learning_problems
import numpy as np
from learning_problems import EnvProblem
from learning_table import measure_peers, print_table
from memory_best import best_with_memory, law_with_memory
from problems import MAZE, maze_test
from risky_problems import CHOSEN, SET_ASIDE, RiskyProblem
from ruin_limit import print_limit
from trading_best import best_mean, best_tail

import riskgrad as rg
from riskgrad.exact.optimal import best_deterministic, deterministic_laws
from riskgrad.mdp import FiniteMDP
from riskgrad.mdp.models import MODELS, inventory, two_roads
from riskgrad.types import DiscreteLaw

SEEDS: Final = range(5)
MAZE_SEEDS: Final = (*SEEDS, 10, 11, 12, 13, 14)  # the latter were not looked at while the defaults were chosen
TOY_TEXTS: Final[dict[str, dict[str, int]]] = {
    "FrozenLake-v1": {},
    "Taxi-v4": {},
    "CliffWalking-v1": {"horizon": 200},  # it has none of its own
    "Blackjack-v1": {"horizon": 20},  # nor has this one
}
REMEMBERED: Final = (("inventory", "cvar:0.1"), ("risky-safe", "mean-variance:0.1"))
MEAN, TAIL = rg.risk.Mean(), rg.risk.CVaR(0.1)


def same_action(mdp: FiniteMDP, action: int) -> DiscreteLaw:
    """Give the law of the return when one action is taken throughout."""
    table = np.zeros((mdp.n_states, mdp.n_actions))
    table[:, action] = 1.0
    return rg.exact.return_law(mdp, table)


def train_laws(mdp: FiniteMDP, risk: str) -> list[DiscreteLaw]:
    """Give the exact law of the return after training with the defaults, for each seed."""
    laws: list[DiscreteLaw] = []
    for seed in SEEDS:
        run = rg.train(mdp, risk=risk, seed=seed)
        laws.append(rg.exact.return_law(mdp, run.policy.probabilities(run.theta, np.arange(mdp.n_states))))
    return laws


def finite(name: str, mdp: FiniteMDP, fixed: dict[str, int]) -> None:
    """Print the rows of one model."""
    laws = [law for _, law in deterministic_laws(mdp)]
    neutral, averse, worst = (
        max(laws, key=MEAN.value),
        max(laws, key=TAIL.value),
        min(laws, key=TAIL.value),
    )
    low, high = TAIL.value(neutral), TAIL.value(averse)

    def row(policy: str, law: DiscreteLaw) -> None:
        tail = TAIL.value(law)
        closed = round((tail - low) / (high - low), 2) + 0.0  # no minus before a zero
        print(f"| {name} | {policy} | {law.mean:.2f} | {tail:.2f} | {closed:.0%} |")

    row("best mean", neutral)
    row("best CVaR(0.1)", averse)
    row(
        "uniform, from where training starts",
        rg.exact.return_law(mdp, np.full((mdp.n_states, mdp.n_actions), 1 / mdp.n_actions)),
    )
    for text, action in fixed.items():
        row(text, same_action(mdp, action))
    row("worst", worst)
    for seed, law in enumerate(train_laws(mdp, "cvar:0.1")):
        row(f"trained on cvar:0.1, seed {seed}", law)
    for seed, law in enumerate(train_laws(mdp, "mean")):
        row(f"trained on mean, seed {seed}", law)


def models() -> None:
    """Print the table of the finite models."""
    print("| model | policy | mean | CVaR(0.1) | gap closed |")
    print("|---|---|---|---|---|")
    finite("two-roads", two_roads(), {"always the pass": 0, "always the valley": 1})
    finite("inventory", inventory(), {"order nothing": 0, "always fill up": 4})


def mazes() -> None:
    """Print the table of the guarded maze."""
    print("| guarded maze | episodes | seconds | mean | CVaR(0.1) | CVaR(0.05) |")
    print("|---|---|---|---|---|---|")
    rg.train(MAZE, risk="cvar:0.05", iterations=2)  # compiles
    for seed in MAZE_SEEDS:
        began = time.perf_counter()
        run = rg.train(MAZE, risk="cvar:0.05", seed=seed)
        seconds = time.perf_counter() - began
        returns = maze_test(run.theta)
        tails = " | ".join(f"{rg.risk.CVaR(alpha).estimate(returns):.2f}" for alpha in (0.1, 0.05))
        print(f"| seed {seed} | {run.episodes_used:,} | {seconds:.1f} | {np.mean(returns):.2f} | {tails} |", flush=True)


def shares(name: str, mdp: FiniteMDP, risk: str, uniform: float, best: float) -> None:
    """Print the row of one problem."""
    cells: list[str] = []
    for algorithm in ("auto", "score"):
        found: list[float] = []
        began = time.perf_counter()
        for seed in SEEDS:
            run = rg.train(mdp, risk, max_episodes=50_000, seed=seed, algorithm=algorithm)
            table = run.policy.probabilities(run.theta, np.arange(mdp.n_states))
            value = rg.risk.parse(risk).value(rg.exact.return_law(mdp, table))
            found.append((value - uniform) / (best - uniform))
        seconds = (time.perf_counter() - began) / len(SEEDS)
        cells.append(f"{np.mean(found):.3f} | {min(found):.3f} | {seconds:.1f}")
    size = f"{mdp.n_states * mdp.n_actions:,} | {mdp.horizon}"
    print(f"| {name} | {risk} | {size} | {' | '.join(cells)} |", flush=True)


def problems(some: tuple[RiskyProblem, ...], shipped: bool) -> None:
    """Print the table of problems with exact answers, and of the shipped models."""
    print("| problem | measure | d | T | mean | least | s | score: mean | least | s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    rg.train(two_roads(), "cvar:0.1", max_episodes=2_000)  # compiles
    for one in some:
        shares(one.name, one.make(), one.risk, one.uniform, one.best)
    for name, make in MODELS.items() if shipped else ():
        for risk in ("mean", "cvar:0.1"):
            mdp, rho = make(), rg.risk.parse(risk)
            uniform = rg.exact.return_law(mdp, np.full((mdp.n_states, mdp.n_actions), 1 / mdp.n_actions))
            shares(name, mdp, risk, rho.value(uniform), rho.value(best_deterministic(mdp, rho)[1]))


def toy_texts() -> None:
    """Print what training with few words reaches on Gymnasium's toy texts, by fresh episodes."""
    print("| environment | measure | auto | s | score | s |")
    print("|---|---|---|---|---|---|")
    for env, options in TOY_TEXTS.items():
        for risk in ("mean", "cvar:0.1"):
            cells: list[str] = []
            for algorithm in ("auto", "score"):
                began = time.perf_counter()
                run = rg.train(env, risk, max_episodes=20_000, algorithm=algorithm, **options)
                seconds = time.perf_counter() - began
                row = rg.evaluate(run, env, risk=[risk], episodes=20_000)[0]
                cells.append(f"{row.value:.3f} | {seconds:.0f}")
            print(f"| {env} | {risk} | {' | '.join(cells)} |", flush=True)


def batches(other: str | None) -> None:
    """Print how long the last iterations of a run take: median of 24, best of three runs that take turns."""
    here = {"critic": ("critic", None), "score": ("score", None)}
    asked = here | ({"score of the other version": ("score", other)} if other else {})
    names = list(asked)
    print("| model | measure | " + " | ".join(f"{name}, ms" for name in names) + " | critic / " + names[-1] + " |")
    print("|" + "---|" * (len(names) + 3))
    for model in MODELS:
        for risk in ("mean", "cvar:0.1"):
            best = dict.fromkeys(names, np.inf)
            for _ in range(3):
                for name, (algorithm, version) in asked.items():
                    best[name] = min(best[name], measure_batch(model, risk, algorithm, version))
            cells = " | ".join(f"{time_taken:.1f}" for time_taken in best.values())
            print(f"| {model} | {risk} | {cells} | {best['critic'] / best[names[-1]]:.2f} |", flush=True)


def measure_batch(model: str, risk: str, algorithm: str, version: str | None) -> float:
    """Give the milliseconds of `batch_time`, by this version or by that of another `src` folder."""
    script = str(Path(__file__).with_name("batch_time.py"))
    environment = os.environ | ({} if version is None else {"PYTHONPATH": version})
    command = [sys.executable, script, model, risk, algorithm]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def remembering() -> None:
    """Print what policies that know the time and the return so far are worth, in exact values."""
    print("| model | measure | best without memory | best with it | by seed | least | s |")
    print("|---|---|---|---|---|---|---|")
    for name, risk in REMEMBERED:
        mdp, rho = MODELS[name](), rg.risk.parse(risk)
        plain, most = rho.value(best_deterministic(mdp, rho)[1]), best_with_memory(mdp, rho)
        found: list[float] = []
        began = time.perf_counter()
        for seed in SEEDS:
            run = rg.train(mdp, risk, max_episodes=100_000, memory="both", seed=seed)
            found.append(rho.value(law_with_memory(mdp, run.policy, run.theta)))
        seconds = (time.perf_counter() - began) / len(SEEDS)
        told = ", ".join(f"{value:.3f}" for value in found)
        print(f"| {name} | {risk} | {plain:.3f} | {most:.3f} | {told} | {min(found):.3f} | {seconds:.0f} |", flush=True)


def learn_ruin() -> None:
    """Print which share of the gap training has in the mean of `ruin`, by the number of episodes."""
    print("| episodes | by seed | least |")
    print("|---|---|---|")
    mdp = MODELS["ruin"]()
    for episodes in (50_000, 200_000, 700_000, 2_000_000):
        found = [share_reached(mdp, rg.train(mdp, "mean", max_episodes=episodes, seed=seed)) for seed in SEEDS]
        told = ", ".join(f"{share:.3f}" for share in found)
        print(f"| {episodes:,} | {told} | {min(found):.3f} |", flush=True)


def share_reached(mdp: FiniteMDP, run: rg.Run) -> float:
    """Give the share of the gap in the mean from the uniform policy to the best one that a run has closed."""
    table = run.policy.probabilities(run.theta, np.arange(mdp.n_states))
    low = rg.exact.return_law(mdp, np.full(table.shape, 1.0 / mdp.n_actions)).mean
    high = best_deterministic(mdp, rg.risk.Mean())[1].mean
    return (rg.exact.return_law(mdp, table).mean - low) / (high - low)


def times() -> None:
    """Print seconds of one processor, in one thread of one process."""
    print("| environment | until | seed | episodes | processor seconds |")
    print("|---|---|---|---|---|")
    for env, episodes, level in (("CartPole-v1", 600, 475.0), ("Pendulum-v1", 1_000, np.inf)):
        alone = {"threads": 1} if env == "CartPole-v1" else {"backend": "serial"}
        rg.train(env, "mean", iterations=2, **alone)  # compiles
        for seed in SEEDS:
            spent: list[tuple[float, float]] = []  # episodes and seconds after each iteration
            began = time.process_time()

            def note(
                line: dict[str, float],
                _: object,
                spent: list[tuple[float, float]] = spent,
                began: float = began,
                level: float = level,
            ) -> bool:
                spent.append((line["episodes"], time.process_time() - began))
                return line["mean"] >= level

            run = rg.train(env, "mean", max_episodes=episodes, seed=seed, callback=note, **alone)
            until = f"a batch has {level:g}"
            if not np.isfinite(level):
                until = "all is done"
                spent.append((run.episodes_used, time.process_time() - began))
            print(f"| {env} | {until} | {seed} | {spent[-1][0]:,} | {spent[-1][1]:.1f} |", flush=True)


def trading() -> None:
    """Print the most that trading can be worth."""
    print("| measure | discount | the most there is | who knows |")
    print("|---|---|---|---|")
    for discount in (1.0, 0.99):
        print(f"| mean | {discount:g} | {best_mean(discount):.2f} | price, shares, time |")
        plan = best_tail(0.5, discount, fine=2)
        print(f"| cvar:0.5 | {discount:g} | {plan.value:.2f} | also the return so far |", flush=True)
    played = best_tail(0.5, fine=2).play(400_000, seed=0)
    print(f"\nThe policy that knows the return has {rg.risk.CVaR(0.5).estimate(played):.3f} in 400,000 games.")


def main() -> None:
    kinds: dict[str, Callable[[], None]] = {
        "models": models,
        "maze": mazes,
        "chosen": lambda: problems(CHOSEN, shipped=True),
        "set-aside": lambda: problems(SET_ASIDE, shipped=False),
        "batches": lambda: batches(given.other),
        "memory": remembering,
        "limit": print_limit,
        "ruin": learn_ruin,
        "environments": lambda: print_table(some(learning_problems.CHOSEN), range(given.seeds), range(given.beside)),
        "environments-aside": lambda: print_table(
            some(learning_problems.SET_ASIDE), range(given.seeds), range(given.beside)
        ),
        "times": times,
        "trading": trading,
        "peers": lambda: measure_peers(some(learning_problems.CHOSEN), range(given.seeds), given.seconds, given.steps),
        "gymnasium": toy_texts,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", nargs="?", choices=list(kinds), default="models")
    parser.add_argument("--only", action="append", help="a problem of `environments`, by its name")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="of `environments` and `peers`")
    parser.add_argument("--beside", type=int, default=1, help="seeds of the score algorithm in `environments`")
    parser.add_argument("--other", help="the src folder of another version, for `batches`")
    parser.add_argument("--seconds", type=int, default=600, help="that a peer learns, at most")
    parser.add_argument("--steps", type=int, default=10**8, help="that a peer learns, at most")
    given = parser.parse_args()

    def some(listed: tuple[EnvProblem, ...]) -> list[EnvProblem]:
        return [problem for problem in listed if given.only is None or problem.name in given.only]

    kinds[given.what]()


if __name__ == "__main__":
    main()

"""Time and memory of all log importance ratios, against a loop over steps in NumPy, in one run.

    python benchmarks/weights.py

FrozenLake 8x8, m = 10,000 recorded episodes, P = 256 target policies. The loop does for each step what a trajectory
asks for: gather the log-probability of each running episode's action under each policy, and add it up. It is given the
table of log-probabilities for free. Both take turns; the best of the rounds counts.
"""

import time
import tracemalloc

import numpy as np

from riskgrad.kernels.formulas import log_softmax
from riskgrad.mdp import from_gymnasium
from riskgrad.policy import TabularGibbs
from riskgrad.random import Purpose, Stream
from riskgrad.sources import TabularSource
from riskgrad.types import Episodes
from riskgrad.weights import log_ratios

EPISODES, POLICIES, ROUNDS = 10_000, 256, 7


def trajectories(batch: Episodes, n_actions: int) -> tuple[np.ndarray, np.ndarray]:
    """Unfold visits into steps [T, m], in any order, padded; the loop's work does not depend on the order."""
    codes = np.repeat(batch.observations * n_actions + batch.actions, batch.counts)
    ends = np.cumsum(batch.lengths)
    steps = np.zeros((int(np.max(batch.lengths)), len(batch.lengths)), dtype=np.int64)
    for i, (begin, end) in enumerate(zip(ends - batch.lengths, ends, strict=True)):
        steps[: end - begin, i] = codes[begin:end]
    return steps, batch.lengths


def loop_over_steps(logs: np.ndarray, behavior: np.ndarray, steps: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    total = np.zeros((len(logs), len(lengths)))
    for t in range(len(steps)):
        running = np.flatnonzero(lengths > t)
        codes = steps[t, running]
        total[:, running] += logs[:, codes] - behavior[codes]
    return total


def main() -> None:
    mdp = from_gymnasium("FrozenLake-v1", map_name="8x8", horizon=100, discount=1.0)
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    theta = np.zeros(policy.dim)
    thetas = theta + 0.1 * np.random.default_rng(0).normal(size=(POLICIES, policy.dim))
    batch = TabularSource(mdp).record(policy, theta, EPISODES, Stream(0, Purpose.EXAMPLE))
    steps, lengths = trajectories(batch, mdp.n_actions)
    logs, behavior = (
        log_softmax(rows.reshape(-1, mdp.n_states, mdp.n_actions)).reshape(len(rows), -1)
        for rows in (thetas, theta[None])
    )
    best = {"riskgrad": float("inf"), "NumPy loop over steps": float("inf")}
    for _ in range(ROUNDS):
        for name, call in (
            ("riskgrad", lambda: log_ratios(policy, thetas, batch)),
            ("NumPy loop over steps", lambda: loop_over_steps(logs, behavior[0], steps, lengths)),
        ):
            begin = time.perf_counter()
            found = call()
            best[name] = min(best[name], time.perf_counter() - begin)
    ours = log_ratios(policy, thetas, batch)
    if not np.allclose(ours, found, rtol=0.0, atol=1e-9):
        raise SystemExit("the two disagree")
    tracemalloc.start()
    log_ratios(policy, thetas, batch)
    peak = tracemalloc.get_traced_memory()[1] / ours.nbytes
    tracemalloc.stop()
    own, other = best["riskgrad"], best["NumPy loop over steps"]
    print("| log ratios, m = 10,000, P = 256 | time | ratio | peak memory / result |")
    print("|---|---|---|---|")
    print(f"| riskgrad | {own * 1e3:.1f} ms | 1 | {peak:.2f} |")
    print(f"| NumPy loop over steps | {other * 1e3:.0f} ms | {other / own:.1f} | - |")


if __name__ == "__main__":
    main()

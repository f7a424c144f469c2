"""What the truth costs: the exact law of the return, and its gradient as a multiple of that, in one run.

    python benchmarks/exact.py

Prints a Markdown table. Times are the best of several calls after the first, which compiles or loads the kernels; the
first call's time is printed below the table. The goal for the gradient is a small multiple of the law, whatever d is.
"""

import time
from collections.abc import Callable

import numpy as np

from riskgrad.exact import gradient, return_law
from riskgrad.mdp import FiniteMDP, from_gymnasium, inventory, ruin, slippery_grid, two_roads
from riskgrad.policy import TabularGibbs
from riskgrad.risk import parse


def unit(seed: int = 0) -> FiniteMDP:
    """A random model of the size of those learned from intensive-care records."""
    rng = np.random.default_rng(seed)
    transition = np.zeros((716, 25, 716))
    for state in range(714):
        for action in range(25):
            transition[state, action, rng.choice(716, 12)] = 1.0
    transition[:714] /= transition[:714].sum(axis=2, keepdims=True)
    reward = np.zeros_like(transition)
    reward[:, :, 714], reward[:, :, 715] = 1.0, -1.0
    return FiniteMDP(transition, reward, start=0, terminal=[714, 715], horizon=20, discount=0.99)


def best_of(call: Callable[[], object], budget: float = 1.0) -> float:
    """Give the shortest time of a call, in seconds."""
    times: list[float] = []
    while len(times) < 3 or (sum(times) < budget and len(times) < 50):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return min(times)


MODELS: dict[str, Callable[[], FiniteMDP]] = {
    "two roads": two_roads,
    "inventory": inventory,
    "slippery grid": slippery_grid,
    "ruin": ruin,
    "FrozenLake8x8, 200 steps": lambda: from_gymnasium("FrozenLake8x8-v1"),
    "CliffWalking slippery, 100 steps": lambda: from_gymnasium("CliffWalking-v1", horizon=100, is_slippery=True),
    "the same, 16 steps, discount 0.99": lambda: from_gymnasium(
        "CliffWalking-v1", horizon=16, discount=0.99, is_slippery=True
    ),
    "Taxi-v4 in rain, 200 steps": lambda: from_gymnasium("Taxi-v4", is_rainy=True),
    "716 states x 25 actions, 20 steps": unit,
}


def main() -> None:
    from riskgrad.exact.law import advance_atoms, rounding_width  # noqa: PLC0415 - other versions name them otherwise

    rho = parse("dual-power:2")
    begun = time.perf_counter()
    return_law(two_roads(), np.full((4, 2), 0.5))
    gradient(two_roads(), TabularGibbs(4, 2), np.zeros(8), rho)
    first = time.perf_counter() - begun
    print("| model | d | build ms | atoms | (time, state, return) | law ms | gradient ms | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for name, make in MODELS.items():
        begun = time.perf_counter()
        mdp = make()
        built = time.perf_counter() - begun
        policy = TabularGibbs(mdp.n_states, mdp.n_actions)
        theta = np.zeros(policy.dim)
        table = policy.probabilities(theta, np.arange(mdp.n_states))
        table[mdp.terminal] = 0.0
        atoms = len(return_law(mdp, table))
        kept = advance_atoms(mdp, table, rounding_width(mdp), 10**8, keep=True)
        total = sum(len(atoms.values) for atoms in kept)
        del kept
        law = best_of(lambda: return_law(mdp, table))  # noqa: B023 - called at once
        slope = best_of(lambda: gradient(mdp, policy, theta, rho, max_atoms=10**8))  # noqa: B023
        print(
            f"| {name} | {policy.dim} | {1e3 * built:.0f} | {atoms} | {total} | {1e3 * law:.2f} | {1e3 * slope:.2f} "
            f"| {slope / law:.1f} |"
        )
    print(f"\nfirst call of both, compiling or loading from the cache: {first:.1f} s")


if __name__ == "__main__":
    main()

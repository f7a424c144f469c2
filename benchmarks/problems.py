"""The problems on which defaults are chosen and compared: finite models with exact answers, mazes and poles.

A result is judged by its reach, (value - start) / (best - start): 0 is the uniform policy that training starts from, 1
the best that is known. On finite models the value is exact and so is the best one, but for `betting`; in the maze the
value is CVaR(0.05) of the greedy policy, and standing still, which costs 32, counts as 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

import riskgrad as rg
from riskgrad.envs import compiled_twin
from riskgrad.exact.optimal import best_deterministic
from riskgrad.mdp import FiniteMDP
from riskgrad.mdp.models import MODELS
from riskgrad.policy import Greedy, LinearSoftmax, Policy, TabularGibbs
from riskgrad.random import Purpose, Stream
from riskgrad.sources import TabularSource
from riskgrad.sources.base import Source
from riskgrad.sources.compiled import CompiledSource

MAZE: Final = "riskgrad/GuardedMaze-v0"
TEST_EPISODES: Final = 50_000
STAND_STILL, BEST_MAZE = -32.0, -4.6  # in CVaR(0.05); the latter is the best of many runs
BEST_BETTING: Final = 14.83  # climb(betting(), "cvar:0.2"), the best of many local optima


@dataclass(frozen=True)
class Problem:
    """Something to train on, with a scale for what is reached.

    Attributes:
        name: what it is called in tables.
        risk: the measure that is trained.
        source: where episodes come from.
        policy: what is trained.
        value: theta [d] -> what it is worth.
        start: what the uniform policy is worth, or the worst that a learner may settle for.
        best: what the best known policy is worth.
    """

    name: str
    risk: str
    source: Source
    policy: Policy
    value: Callable[[np.ndarray], float]
    start: float
    best: float

    def reach(self, theta: np.ndarray) -> float:
        """How far from the start to the best, 1 being all the way."""
        return (self.value(theta) - self.start) / (self.best - self.start)


def betting(
    start: int = 8,
    target: int = 128,
    rounds: int = 6,
    chance: float = 0.9,
    fractions: Sequence[float] = (0.0, 0.25, 0.5, 1.0),
) -> FiniteMDP:
    """Build the model of a player who stakes nothing, a quarter, a half or all of a capital in a very good game.

    On average it is best to stake all, every time; then all is lost in one episode of three. The return is the gain.
    """

    def outcomes_of(capital: int, fraction: float) -> list[tuple[float, int, float, bool]]:
        stake = min(round(capital * fraction), target - capital)
        return [(chance, capital + stake, stake, False), (1.0 - chance, capital - stake, -stake, False)]

    outcomes = [[outcomes_of(capital, fraction) for fraction in fractions] for capital in range(target + 1)]
    return FiniteMDP.from_outcomes(outcomes, start=start, horizon=rounds, terminal=[0, target])


def finite(name: str, mdp: FiniteMDP, risk: str, best: float | None = None) -> Problem:
    """Give a finite model as a problem; its best value by trying all deterministic policies, unless given."""
    policy, rho = TabularGibbs(mdp.n_states, mdp.n_actions), rg.risk.parse(risk)

    def value(theta: np.ndarray) -> float:
        return rg.exact.value(mdp, policy, theta, rho)

    top = rho.value(best_deterministic(mdp, rho)[1]) if best is None else best
    return Problem(f"{name}, {risk}", risk, TabularSource(mdp), policy, value, value(np.zeros(policy.dim)), top)


def toy_text(identifier: str, horizon: int, **options: object) -> Problem:
    """Give a Gymnasium table as a problem of the mean; its best value over all policies by dynamic programming."""
    mdp = rg.mdp.from_gymnasium(identifier, horizon=horizon, discount=1.0, **options)
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)

    def value(theta: np.ndarray) -> float:
        return mean_value(mdp, policy.probabilities(theta, np.arange(mdp.n_states)))

    name = f"{identifier.removesuffix('-v1')}, mean"
    return Problem(name, "mean", TabularSource(mdp), policy, value, value(np.zeros(policy.dim)), mean_value(mdp, None))


def mean_value(mdp: FiniteMDP, table: np.ndarray | None) -> float:
    """Give the mean return of a policy [S, A], or of the best one, which may know the time, for None."""
    now = np.zeros(mdp.n_states)
    sizes = np.diff(mdp.offsets)
    pair = np.repeat(np.arange(len(sizes)), sizes)
    for _ in range(mdp.horizon):
        later = mdp.rewards + mdp.discount * np.where(mdp.ends, 0.0, now[mdp.next_states])
        each = np.bincount(pair, mdp.probabilities * later, minlength=len(sizes)).reshape(mdp.n_states, -1)
        now = np.max(each, axis=1) if table is None else np.sum(table * each, axis=1)
    return float(np.sum(mdp.start * now))


def maze(threads: int | None = None) -> Problem:
    """Give the guarded maze with a linear softmax of 256 weights; the greedy policy is tested."""
    source, policy = (
        CompiledSource(compiled_twin(MAZE), threads=threads),
        LinearSoftmax(64, 4, 1.0),
    )

    def value(theta: np.ndarray) -> float:
        return float(rg.risk.CVaR(0.05).estimate(maze_test(theta)))

    return Problem("guarded maze, cvar:0.05", "cvar:0.05", source, policy, value, STAND_STILL, BEST_MAZE)


def maze_test(theta: np.ndarray, episodes: int = TEST_EPISODES) -> np.ndarray:
    """Give returns of the greedy policy in the guarded maze, on episodes that no training uses."""
    source, policy = CompiledSource(compiled_twin(MAZE)), Greedy(LinearSoftmax(64, 4, 1.0))
    return source.returns(policy, theta[None], episodes, Stream(0, Purpose.EVALUATION)).values[0]


def cart_pole() -> Problem:
    """Give CartPole-v1 with a linear softmax, by its mean."""
    source, policy = CompiledSource(compiled_twin("CartPole-v1")), LinearSoftmax(4, 2)

    def value(theta: np.ndarray) -> float:
        return float(np.mean(source.returns(policy, theta[None], 1000, Stream(0, Purpose.EVALUATION)).values))

    return Problem("CartPole, mean", "mean", source, policy, value, value(np.zeros(policy.dim)), 500.0)


MAKERS: Final[dict[str, Callable[[], Problem]]] = {
    **{
        f"{name}, {risk}": (lambda name=name, risk=risk: finite(name, MODELS[name](), risk))
        for name in MODELS
        for risk in ("mean", "cvar:0.1")
    },
    "betting, cvar:0.2": lambda: finite("betting", betting(), "cvar:0.2", BEST_BETTING),
    "FrozenLake, mean": lambda: toy_text("FrozenLake-v1", 100),
    "CliffWalking, mean": lambda: toy_text("CliffWalking-v1", 100, is_slippery=True),
    "guarded maze, cvar:0.05": maze,
    "CartPole, mean": cart_pole,
}


@cache
def problem(name: str) -> Problem:
    """Give a problem by its name, built once in this process."""
    return MAKERS[name]()


def climb(mdp: FiniteMDP, risk: str, restarts: int = 60, seed: int = 0) -> float:
    """Give the best value that changing one action at a time leads to, from many random deterministic policies."""
    rho, rng, best = rg.risk.parse(risk), np.random.default_rng(seed), -np.inf

    def worth(actions: np.ndarray) -> float:
        return rho.value(rg.exact.return_law(mdp, np.eye(mdp.n_actions)[actions]))

    for _ in range(restarts):
        actions = rng.integers(mdp.n_actions, size=mdp.n_states)
        found, before = worth(actions), -np.inf
        while found > before + 1e-12:
            before = found
            for state in rng.permutation(np.flatnonzero(mdp.reachable)):
                values = [worth(np.where(np.arange(mdp.n_states) == state, a, actions)) for a in range(mdp.n_actions)]
                actions[state], found = int(np.argmax(values)), max(values)
        best = max(best, found)
    return best

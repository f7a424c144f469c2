"""Is this version as fast as an earlier one? Every kind of speed figure of these pages, old and new in turns.

    git worktree add ../earlier c81abd4
    python benchmarks/earlier.py --other ../earlier/src

The cases are those of the pages on the sampler, compiled environments, networks, Gymnasium environments, finite models
with their exact laws and gradients, estimates and importance weights, and whole trainings. Both versions do the same
work, with the same policies; `turns.py` says how they are timed.
"""

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import exact
import network_speed
import numpy as np
from turns import Cases, main

import riskgrad as rg
from riskgrad.backend import Processes
from riskgrad.policy import MLP, Deterministic, LinearSoftmax, TabularGibbs
from riskgrad.random import Purpose, Stream
from riskgrad.weights import log_ratios

STREAM = Stream(0, Purpose.EXAMPLE)
POLICIES, EPISODES = 64, 64
SHARED = (
    "quadratic:0.5",
    "dual-power:3",
    "exponential:3",
    "square-root:5",
    "logarithmic:5",
    "cvar:0.1",
    "smooth-cvar:0.1",
)
TWINS = ("Acrobot-v1", "CartPole-v1", "MountainCar-v0", "riskgrad/GuardedMaze-v0")


def cases() -> Cases:
    """Give all cases of all pages."""
    old = importlib.util.find_spec("riskgrad.sources") is None  # the folder was called episodes before 0.2.0
    sources: Any = importlib.import_module("riskgrad.episodes" if old else "riskgrad.sources")
    gymnasium: Any = importlib.import_module(
        "riskgrad.episodes.gymnasium" if old else "riskgrad.sources.gymnasium.source"
    )
    return {
        **samplers(sources.TabularSource),
        **compiled(sources.CompiledSource),
        **network_speed.cases(),
        **environments(gymnasium.GymnasiumSource),
        **estimates(),
        **laws(),
        **trainings(),
    }


def count_steps(source: Any, policy: Any, thetas: np.ndarray, episodes: int) -> Callable[[], float]:
    """Give a case that plays episodes and returns the number of their steps."""
    return lambda: float(np.sum(source.returns(policy, thetas, episodes, STREAM).lengths))


def repeat(call: Callable[[], object], times: int = 1) -> Callable[[], float]:
    """Give a case that calls a function so many times."""

    def case() -> float:
        for _ in range(times):
            call()
        return times

    return case


def samplers(make: Any) -> Cases:
    """Steps of finite models, and importance weights of 256 policies."""
    found: Cases = {}
    for title, identifier, options in (
        ("FrozenLake8x8", "FrozenLake8x8-v1", {}),
        ("CliffWalking slippery", "CliffWalking-v1", {"is_slippery": True}),
    ):
        mdp = rg.mdp.from_gymnasium(identifier, horizon=200, discount=1.0, **options)
        source, policy = make(mdp, threads=1), TabularGibbs(mdp.n_states, mdp.n_actions)
        drawn = np.random.default_rng(0).normal(size=(POLICIES, policy.dim))
        for words, thetas in (("uniform", np.zeros_like(drawn)), ("drawn", drawn)):
            for episodes in (16, 1000):
                name = f"sampler, {title}, {words} policies, m = {episodes:,}, a step"
                found[name] = count_steps(source, policy, thetas, episodes)
        both = make(mdp, threads=2)
        found[f"sampler, {title}, two threads, m = 10,000, a step, by the clock"] = count_steps(
            both, policy, np.zeros_like(drawn), 10_000
        )
    mdp = rg.mdp.from_gymnasium("FrozenLake-v1", map_name="8x8", horizon=100, discount=1.0)
    policy = TabularGibbs(mdp.n_states, mdp.n_actions)
    thetas = 0.1 * np.random.default_rng(0).normal(size=(256, policy.dim))
    batch = make(mdp).record(policy, np.zeros(policy.dim), 10_000, STREAM)
    found["weights of 256 policies, m = 10,000"] = repeat(lambda: log_ratios(policy, thetas, batch))
    return found


def compiled(make: Any) -> Cases:
    """Steps of compiled environments with linear policies and networks."""
    found: Cases = {}
    for identifier in TWINS:
        source = make(rg.envs.compiled_twin(identifier), threads=1)
        policy = LinearSoftmax(source.env.n_features, source.env.n_actions)
        thetas = 0.3 * np.random.default_rng(0).normal(size=(POLICIES, policy.dim))
        found[f"compiled, {identifier}, linear, a step"] = count_steps(source, policy, thetas, EPISODES)
        if identifier in ("Acrobot-v1", "MountainCar-v0"):
            network = MLP(source.env.n_features, source.env.n_actions, (32, 32))
            weights = 0.3 * np.random.default_rng(0).normal(size=(POLICIES, network.dim))
            found[f"{identifier}, MLP 32 x 32, a step"] = count_steps(source, network, weights, 8)
        if identifier == "CartPole-v1":  # pushes toward the side to which the pole leans and turns
            balance = np.array([0.0, 0.1, 0.0, 0.5, 0.0, 5.0, 0.0, 5.0])
            found["compiled, CartPole-v1, linear, trained, a step"] = count_steps(
                source, policy, thetas + balance, EPISODES
            )
    return found


def environments(make: Any) -> Cases:
    """Steps of Gymnasium environments, one by one and in CartPole's native vector form."""
    found: Cases = {}
    policy = MLP(4, 2, ())
    thetas = 0.3 * np.random.default_rng(0).normal(size=(32, policy.dim))
    for title, native in (("single", False), ("native", True)):
        source = make("CartPole-v1", native=native)
        found[f"Gymnasium, CartPole-v1, {title}, a step"] = count_steps(source, policy, thetas, 32)
    lander, hopper = MLP(8, 4), Deterministic(11, low=-np.ones(3), high=np.ones(3), hidden=(32, 32))
    for title, package, policy, options in (
        ("LunarLander-v3, MLP 32 x 32, a step", "Box2D", lander, {}),
        ("LunarLander-v3, two processes, a step, by the clock", "Box2D", lander, {"backend": Processes(2)}),
        ("Hopper-v5, MLP 32 x 32, a step", "mujoco", hopper, {}),
    ):
        if importlib.util.find_spec(package):
            thetas = 0.1 * np.random.default_rng(0).normal(size=(8, policy.dim))
            found[f"Gymnasium, {title}"] = count_steps(make(title.split(",")[0], **options), policy, thetas, 8)
    return found


def estimates() -> Cases:
    """Estimates of 256 policies from 10,000 episodes each."""
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=(256, 10_000)), rng.exponential(size=(256, 10_000))
    square = rg.risk.parse("dual-power:2")
    found = {
        "estimate, mean": repeat(lambda: rg.risk.Mean().estimate(values)),
        "estimate, dual-power:2": repeat(lambda: square.estimate(values)),
        "estimate, dual-power:2, weights": repeat(lambda: square.estimate(values, weights)),
        "estimate, mean-variance:0.5, weights": repeat(lambda: rg.risk.MeanVariance(0.5).estimate(values, weights)),
    }
    for text in ("dual-power:2", *SHARED):
        measure = rg.risk.parse(text)
        found[f"estimate, {text}, shared values"] = repeat(lambda r=measure: r.estimate(values[0], weights))
    return found


def laws() -> Cases:
    """Finite models made from arrays or Gymnasium, their exact laws and gradients."""
    found: Cases = {}
    rho = rg.risk.parse("dual-power:2")
    for title, build in exact.MODELS.items():
        mdp = build()
        policy = TabularGibbs(mdp.n_states, mdp.n_actions)
        theta = np.zeros(policy.dim)
        table = policy.probabilities(theta, np.arange(mdp.n_states))
        table[mdp.terminal] = 0.0
        times = 1 if mdp.n_states > 20 else 20
        found[f"model, {title}"] = repeat(build, times)
        found[f"exact law, {title}"] = repeat(lambda m=mdp, t=table: rg.exact.return_law(m, t), times)
        found[f"exact gradient, {title}"] = repeat(
            lambda m=mdp, p=policy, t=theta: rg.exact.gradient(m, p, t, rho, max_atoms=10**8), times
        )
    return found


def trainings() -> Cases:
    """Whole trainings with given policies; a step of CartPole, where a return is a number of steps."""

    def balance(seed: int) -> float:
        run = rg.train(
            "CartPole-v1",
            "mean",
            algorithm="score",
            policy=LinearSoftmax(4, 2),
            max_episodes=2_000,
            seed=seed,
            threads=1,
        )
        return float(sum(line["mean"] for line in run.history)) * run.episodes_used / len(run.history)

    def walk(algorithm: str) -> None:
        model: Any = rg.mdp.two_roads()
        rg.train(model, "cvar:0.1", algorithm=algorithm, iterations=40, seed=0, threads=1)

    def escape() -> None:
        twin = rg.envs.compiled_twin("riskgrad/GuardedMaze-v0")
        policy = LinearSoftmax(twin.n_features, twin.n_actions)
        rg.train(twin.id, "cvar:0.05", algorithm="score", policy=policy, max_episodes=4_000, seed=0, threads=1)

    def repeat_study() -> float:  # as `cart_pole.py` does; the policy of "linear" has had biases since 0.2.0
        for seed in range(15):
            rg.train("CartPole-v1", "mean", algorithm="score", max_episodes=2_000, seed=seed)
        return 15

    found: Cases = {f"train, CartPole-v1, score, seed {seed}, a step": (lambda s=seed: balance(s)) for seed in range(3)}
    found["train, CartPole-v1, score, default policy, 15 seeds"] = repeat_study
    found["train, guarded maze, score, 4,000 episodes"] = repeat(escape)
    for algorithm in ("onp-sf", "offp-sf", "score"):
        found[f"train, two-roads, {algorithm}, 40 iterations"] = repeat(lambda a=algorithm: walk(a))
    return found


if __name__ == "__main__":
    main(__doc__, cases)

"""Small training runs over all algorithms, sources, measures, policies and options.

An option that a case leaves out has its default; the options of PLAIN stand for none of what the paper does not have.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import gymnasium

import riskgrad as rg
from digests import parts
from riskgrad.paths import SquarePath
from riskgrad.risk import CVaR, Distortion, Mean, MeanVariance, SmoothCVaR

PLAIN = {"risk_path": None, "entropy": 0.0, "normalize": False}
PATHS = (None, 0.5, SquarePath(0.5))
MODELS = {
    name: getattr(rg.mdp.models, name) for name in ("two_roads", "inventory", "ruin", "risky_safe", "slippery_grid")
}
ALGORITHMS = {"onp-sf": rg.OnPSF, "offp-sf": rg.OffPSF, "score": rg.Score}
SMALL = {
    "onp-sf": {"directions": 4, "smoothing": 0.3, "episodes": 20, "orthogonal": False},
    "offp-sf": {"directions": 6, "smoothing": 0.05, "episodes": 60, "orthogonal": False, "steps_per_batch": 1},
    "score": {"episodes": 60, "steps_per_batch": 1},
}


@dataclass(frozen=True)
class Case:
    """One call of `rg.train`, under a name that no other has."""

    name: str
    env: Any
    risk: Any
    options: dict[str, Any]


def case(name: str, env: Any, risk: Any, algorithm: Any, **options: Any) -> Case:
    return Case(name, env, risk, {"algorithm": algorithm, **options})


def small(name: str, **options: Any) -> Any:
    """The algorithm of that name with small batches and no orthogonal directions, and with what is given."""
    return ALGORITHMS[name](**{**SMALL[name], **options})


def table(model: str) -> rg.policy.TabularGibbs:
    made = MODELS[model]()
    return rg.policy.TabularGibbs(made.n_states, made.n_actions)


def normal(**options: Any) -> rg.policy.Gaussian:
    return rg.policy.Gaussian(inputs=3, low=[-2.0], high=[2.0], **options)


def all_cases() -> Iterator[Case]:
    return chain(
        measures(), estimators(), models(), tables(), compiled(), played(), pendulum(), logs(), policies(),
        normalized(), schedules(), ascents(), budgets(), behaviors(), random_numbers(),
    )  # fmt: skip


MEASURES = (
    *("mean", "identity", "mean-variance:0.5", "mean-variance:0.5:seeking", "cvar:0.1", "cvar:0.1:seeking"),
    *("smooth-cvar:0.1", "smooth-cvar:0.1:seeking", "smooth-cvar:0.2:0.1", "dual-power:2", "dual-power:2:seeking"),
    *("dual-power:3", "dual-power:3:seeking", "exponential:3", "exponential:3:seeking", "logarithmic:5"),
    *("logarithmic:5:seeking", "quadratic:0.5", "quadratic:0.5:seeking", "square-root:5", "square-root:5:seeking"),
)


def measures():
    for i, risk in enumerate(MEASURES):
        # the worst tenth of a bad trader is ruin alone, and tells nothing
        names = ["slippery_grid" if "cvar" in risk and name == "ruin" else name for name in MODELS]
        first, second, third = (names[(i + k) % 5] for k in range(3))
        yield case(
            f"measure-{risk}-score", MODELS[first](), risk, rg.Score(episodes=80), iterations=6, seed=i, held_out=50
        )
        yield case(
            f"measure-{risk}-offp-sf", MODELS[second](), risk, small("offp-sf", steps_per_batch=1 + 7 * (i % 2)),
            iterations=5, seed=i + 1, held_out=40, risk_path=PATHS[i % 3], entropy=(0.0, 0.3)[i % 2],
        )  # fmt: skip
        yield case(
            f"measure-{risk}-onp-sf", MODELS[third](), risk, small("onp-sf"),
            iterations=5, seed=i + 2, held_out=40, risk_path=PATHS[i % 3 - 1], entropy=(0.3, 0.0)[i % 2],
        )  # fmt: skip


ESTIMATORS = {
    "mean-unbiased": Mean(estimator="unbiased"),
    "mean-self": Mean(estimator="self-normalized"),
    "mean-variance-unbiased": MeanVariance(0.3, estimator="unbiased"),
    "mean-variance-paper": MeanVariance(0.3, estimator="paper"),
    "mean-variance-seeking-unbiased": MeanVariance(0.1, attitude="seeking", estimator="unbiased"),
    "cvar-paper": CVaR(0.2, estimator="paper"),
    "cvar-seeking-paper": CVaR(0.2, attitude="seeking", estimator="paper"),
    "dual-power-paper": Distortion(rg.distortion.DualPower(2.0), estimator="paper"),
    "quadratic-self": Distortion(rg.distortion.Quadratic(0.5, attitude="seeking"), estimator="self-normalized"),
    "identity-paper": Distortion(rg.distortion.Identity(), estimator="paper"),
    "smooth-cvar-paper": SmoothCVaR(0.2, estimator="paper"),
    "cube": Distortion(parts.CUBE),
    "cube-alone": Distortion(parts.CUBE_ALONE),
    "flipped-cube-paper": Distortion(parts.FLIPPED_CUBE, estimator="paper"),
}


def estimators():
    for i, (name, risk) in enumerate(ESTIMATORS.items()):
        model = list(MODELS.values())[i % 5]()
        options = {"iterations": 4, "held_out": 30}
        offp = small("offp-sf", steps_per_batch=8, ess_floor=0.0 if i % 2 else None)
        yield case(
            f"estimator-{name}-offp-sf", model, risk, offp,
            seed=20 + i, risk_path=PATHS[-i % 3], entropy=0.0, **options,
        )  # fmt: skip
        yield case(
            f"estimator-{name}-score", model, risk, small("score", steps_per_batch=8),
            seed=40 + i, risk_path=PATHS[(1 - i) % 3], entropy=(0.2, 0.0)[i % 2], **options,
        )  # fmt: skip


def models():
    for name, make in MODELS.items():
        yield case(f"default-auto-{name}", make(), "cvar:0.1", "auto", iterations=4, seed=1)
        yield case(f"default-offp-sf-{name}", make(), "cvar:0.1", "offp-sf:episodes=50", iterations=3, seed=2)
        yield case(f"default-onp-sf-{name}", make(), "cvar:0.1", "onp-sf:episodes=15", iterations=3, seed=3)
    source = rg.sources.TabularSource(rg.mdp.models.inventory(discount=0.9))
    for name in ALGORITHMS:
        options = {"iterations": 4, "held_out": 30, **PLAIN}
        yield case(f"arrays-{name}", parts.make_model(), "cvar:0.2", small(name), seed=7, **options)
        yield case(
            f"tabular-source-{name}", source, "quadratic:0.5", small(name), policy=table("inventory"), seed=8, **options
        )


def tables():
    for name, env, env_options in (
        ("cliff", "CliffWalking-v1", None),
        ("slippery-cliff", "CliffWalking-v1", {"is_slippery": True}),
        ("lake", "FrozenLake-v1", None),
    ):
        options = {"env_options": env_options, "horizon": 20, "held_out": 40}
        yield case(
            f"table-{name}-score", env, "cvar:0.1", "score:episodes=60", discount=0.95, iterations=4, seed=4, **options
        )
        options = {**options, **PLAIN, "iterations": 3}
        yield case(f"table-{name}-offp-sf", env, "dual-power:2", small("offp-sf", directions=8), seed=5, **options)
        yield case(f"table-{name}-onp-sf", env, "mean-variance:0.1", small("onp-sf"), seed=6, **options)


# the mountain car starts along with its velocity, or it never arrives and all episodes are alike
ROLLING = [0.0, 0.0, 0.0, -80.0, 0.0, 80.0]
COMPILED = {  # id, observed numbers, actions, options
    "cartpole": ("CartPole-v1", 4, 2, {"horizon": 60}),
    "mountaincar": ("MountainCar-v0", 2, 3, {"discount": 0.99}),
    "acrobot": ("Acrobot-v1", 6, 3, {}),
    "maze": ("riskgrad/GuardedMaze-v0", 64, 4, {}),
    "maze-position": ("riskgrad/GuardedMaze-v0", 2, 4, {"discount": 0.98, "env_options": {"observation": "position"}}),
}


def plain_for(policy):
    """The algorithm without a critic that trains a policy of this name."""
    return "onp-sf" if policy == "deterministic" else "score"


def compiled():
    for i, (name, (env, inputs, n_actions, play)) in enumerate(COMPILED.items()):
        linear = rg.policy.LinearSoftmax(inputs, n_actions)
        network = rg.policy.MLP(inputs, n_actions, hidden=[8, 6], activation="tanh" if i % 2 else "relu")
        certain = rg.policy.Deterministic(inputs, n_actions, hidden=[] if i % 2 else [5])
        rolls = {"theta": ROLLING} if name == "mountaincar" else {}
        with_biases = {"theta": [*ROLLING, 0.0, 0.0, 0.0]} if rolls else {}
        options = {**play, "iterations": 4, "held_out": 30}
        yield case(f"compiled-{name}-auto", env, "cvar:0.1", "score:episodes=40", seed=9, **with_biases, **options)
        yield case(f"compiled-{name}-critic", env, "cvar:0.1", "critic:episodes=10", seed=9, **options)
        yield case(
            f"compiled-{name}-score-normalized", env, "cvar:0.2", rg.Score(episodes=40), policy=network,
            normalize=True, seed=10, **options,
        )  # fmt: skip
        yield case(
            f"compiled-{name}-offp-sf", env, "dual-power:2", small("offp-sf", episodes=40, steps_per_batch=8),
            policy=linear, risk_path=SquarePath(0.5), entropy=0.3, normalize=False, seed=11, **rolls, **options,
        )  # fmt: skip
        yield case(
            f"compiled-{name}-onp-sf", env, "cvar:0.1", small("onp-sf", episodes=15), policy=(network, linear)[i % 2],
            seed=12, **{**PLAIN, "normalize": i % 2 == 0}, **rolls, **options,
        )  # fmt: skip
        yield case(
            f"compiled-{name}-deterministic", env, "mean", small("onp-sf", episodes=10), policy=certain,
            seed=13, **PLAIN, **with_biases, **options,
        )  # fmt: skip


POLE = rg.policy.LinearSoftmax(n_features=4, n_actions=2)
POLE_NETWORK = rg.policy.MLP(inputs=4, n_actions=2, hidden=[6], activation="tanh")
TWO_CHOICES = rg.policy.MLP(inputs=2, n_actions=[2, 3], hidden=[5])


def played():
    def pole():
        return gymnasium.make("CartPole-v1")

    def native():
        return rg.sources.GymnasiumSource("CartPole-v1", 40, native=True)

    def single():
        return rg.sources.GymnasiumSource("CartPole-v1", 40, 0.98, native=False)

    short = {"horizon": 40}
    sutton = {"env_options": {"sutton_barto_reward": True}}
    for i, (name, make, policy, play) in enumerate(
        (
            ("instance", pole, POLE, short),
            ("native", native, POLE_NETWORK, {}),
            ("option", lambda: "CartPole-v1", POLE, {**short, **sutton, "discount": 0.97}),
            ("single", single, POLE, {}),
            ("blackjack", lambda: "Blackjack-v1", None, {"horizon": 12}),
            ("blackjack-sab", lambda: "Blackjack-v1", "mlp", {"horizon": 12, "env_options": {"sab": True}}),
            ("class", lambda: parts.Steps, TWO_CHOICES, {"horizon": 6, "env_options": {"longest": 5}}),
            ("factory", lambda: parts.make_steps, None, {"horizon": 6}),
        )
    ):
        options = {**play, "policy": policy, "held_out": 10}
        normalize = {**PLAIN, "normalize": i < 3}
        yield case(f"played-{name}-score", make(), "cvar:0.2", "score:episodes=20", iterations=4, seed=14, **options)
        options["iterations"] = 3
        offp, onp = small("offp-sf", episodes=20), small("onp-sf", directions=3, episodes=6)
        yield case(f"played-{name}-offp-sf", make(), "dual-power:2", offp, seed=15, **normalize, **options)
        yield case(f"played-{name}-onp-sf", make(), "mean-variance:0.1", onp, seed=16, **normalize, **options)
    reacher = rg.policy.Gaussian(inputs=2, low=[-1.0, -2.0], high=[1.0, 2.0], hidden=[4])
    for name in ALGORITHMS:
        options = {"horizon": 6, "iterations": 3, "seed": 24, "held_out": 10}
        yield case(
            f"reach-{name}", parts.Reach, "cvar:0.2", small(name, episodes=12), policy=reacher, **options, **PLAIN
        )


def pendulum():
    options = {"horizon": 15, "discount": 0.99, "iterations": 3, "held_out": 8}
    brief = small("onp-sf", directions=3, episodes=5)
    for i, (name, policy) in enumerate(
        {
            "linear": normal(),
            "tanh": normal(hidden=[6], activation="tanh"),
            "relu": normal(hidden=[5, 4], activation="relu", initial_std=0.8),
            "squashed": normal(squashed=True),
            "squashed-hidden": normal(hidden=[5], squashed=True),
        }.items()
    ):
        offp = small("offp-sf", episodes=15, steps_per_batch=1 + 7 * (i % 2))
        yield case(
            f"pendulum-{name}-score", "Pendulum-v1", "cvar:0.2", "score:episodes=15", policy=policy, seed=17, **options
        )
        yield case(
            f"pendulum-{name}-offp-sf", "Pendulum-v1", "mean", offp, policy=policy, seed=18,
            **{**PLAIN, "entropy": 0.1 * i}, **options,
        )  # fmt: skip
        yield case(
            f"pendulum-{name}-onp-sf", "Pendulum-v1", "dual-power:2", brief, policy=policy, seed=19, **PLAIN, **options
        )
    for name, more in {"linear": {}, "squashed": {"hidden": [5], "squashed": True}}.items():
        policy = rg.policy.Deterministic(inputs=3, low=[-2.0], high=[2.0], **more)
        yield case(
            f"pendulum-deterministic-{name}",
            "Pendulum-v1",
            "cvar:0.2",
            brief,
            policy=policy,
            seed=20,
            **PLAIN,
            **options,
        )
    for policy in ("linear", "mlp", "deterministic"):
        yield case(
            f"pendulum-named-{policy}",
            "Pendulum-v1",
            "cvar:0.5",
            f"{plain_for(policy)}:episodes=4",
            policy=policy,
            seed=21,
            **options,
        )
    yield case("pendulum-critic", "Pendulum-v1", "cvar:0.5", "critic:episodes=8", seed=21, **options)


def logs():
    states, discounted, vectors = parts.make_log("states"), parts.make_log("states", 0.9), parts.make_log("vectors")
    entries = rg.policy.TabularGibbs(6, 3)
    featured = rg.policy.LinearGibbs(parts.normals(11, 6, 3, 4))
    linear, network = rg.policy.LinearSoftmax(3, 2), rg.policy.MLP(3, 2, hidden=[5], activation="relu")
    for name, log, policy, normalize in (
        ("states-table", states, entries, False),
        ("states-features", discounted, featured, False),
        ("states-network", states, rg.policy.MLP(6, 3, hidden=[4]), False),
        ("vectors-linear", vectors, linear, True),
        ("vectors-linear-plain", vectors, linear, False),
        ("vectors-network", vectors, network, True),
    ):
        options = {"policy": policy, "iterations": 6, "normalize": normalize, "risk_path": None}
        score, offp = rg.Score(steps_per_batch=1), rg.OffPSF(directions=6, orthogonal=False, steps_per_batch=8)
        yield case(f"log-{name}-score", log, "cvar:0.2", score, seed=25, entropy=0.1, **options)
        yield case(f"log-{name}-offp-sf", log, "dual-power:2", offp, seed=26, entropy=0.0, **options)
    yield case(
        "log-any-ess-score", states, "mean", rg.Score(ess_floor=0.0), policy=entries, iterations=6, seed=27, held_out=0,
    )  # fmt: skip
    yield case(
        "log-any-ess-offp-sf-paper", states, MeanVariance(0.2, estimator="unbiased"), rg.OffPSF(ess_floor=0.0),
        policy=entries, schedule="paper", iterations=4, seed=28, held_out=0,
    )  # fmt: skip
    yield case(
        "log-theta-offp-sf", discounted, "cvar:0.3", rg.OffPSF(directions=5, ess_floor=0.3), policy=entries,
        iterations=6, seed=29, step_size="adam:0.05,clip=5", theta=0.2 * parts.normals(2, 18),
    )  # fmt: skip


def policies():
    gibbs = {"preference": parts.curved_preference, "dim": 3}
    start = {"theta": 0.3 * parts.normals(3, 3)}
    for name, model, policy, theta in (
        ("features", "ruin", rg.policy.LinearGibbs(parts.normals(11, 11, 2, 5)), {}),
        ("gibbs", "risky_safe", rg.policy.Gibbs(**gibbs), start),
        ("gibbs-gradient", "two_roads", rg.policy.Gibbs(**gibbs, gradient=parts.curved_gradient), start),
        ("tanh", "inventory", rg.policy.MLP(5, 5, hidden=[6], activation="tanh"), {}),
        ("relu", "ruin", rg.policy.MLP(11, 2, hidden=[6, 4], activation="relu"), {}),
        ("flat", "two_roads", rg.policy.MLP(4, 2, hidden=[]), {}),
    ):
        env, options = MODELS[model](), {"policy": policy, "iterations": 4, "held_out": 30, **theta}
        offp, onp = small("offp-sf", directions=3), small("onp-sf", directions=3)
        yield case(f"policy-{name}-score", env, "cvar:0.4", "score:episodes=50", seed=30, **options)
        yield case(f"policy-{name}-offp-sf", env, "quadratic:0.5", offp, risk_path=0.5, entropy=0.2, seed=31, **options)
        yield case(
            f"policy-{name}-onp-sf", env, "cvar:0.4", onp, risk_path=SquarePath(0.5), entropy=0.0, seed=32, **options
        )
    for policy in ("linear", "mlp", "deterministic"):
        yield case(
            f"policy-named-{policy}", "CartPole-v1", "cvar:0.1", f"{plain_for(policy)}:episodes=40", policy=policy,
            horizon=50, iterations=4, seed=34, held_out=20,
        )  # fmt: skip
    yield case(
        "policy-named-table", MODELS["slippery_grid"](), "cvar:0.1", "auto", policy="table", iterations=3, seed=34
    )
    yield case(
        "policy-deterministic-states", MODELS["slippery_grid"](), "cvar:0.1", small("onp-sf"), iterations=4, seed=33,
        policy=rg.policy.Deterministic(12, 3), held_out=30, **PLAIN,
    )  # fmt: skip
    options = {"horizon": 25, "iterations": 3, "held_out": 8, **PLAIN}
    preferred = rg.policy.Gibbs(parts.pole_preference, 5, example=[0.0] * 4)
    featured = rg.policy.LinearGibbs(parts.pole_features, example=[0.0] * 4)
    for name, policy, algorithm in (
        ("preference", preferred, small("score", episodes=12)),
        ("features", featured, small("offp-sf", directions=3, episodes=12)),
    ):
        yield case(
            f"policy-pole-{name}",
            gymnasium.make("CartPole-v1"),
            "cvar:0.2",
            algorithm,
            policy=policy,
            seed=35,
            **options,
        )


def normalized():
    seen = rg.policy.ObservationStatistics.of(parts.normals(3, 50, 4) * [1.0, 2.0, 3.0, 4.0] + 0.5)
    options = {"horizon": 40, "iterations": 4, "seed": 37, "held_out": 10, "risk_path": None, "entropy": 0.0}
    for name in ALGORITHMS:
        given, algorithm = rg.policy.Normalized(POLE_NETWORK, seen), small(name, episodes=12)
        unlimited = rg.policy.Normalized(POLE_NETWORK, seen, math.inf)
        yield case(
            f"normalized-compiled-{name}",
            "CartPole-v1",
            "cvar:0.2",
            algorithm,
            policy=unlimited,
            normalize=True,
            **options,
        )
        yield case(
            f"normalized-played-{name}", gymnasium.make("CartPole-v1"), "cvar:0.2", algorithm, policy=given,
            normalize=False, **options,
        )  # fmt: skip


def schedules():
    risk = Distortion(rg.distortion.DualPower(2.0, attitude="seeking"), estimator="paper")
    for name in ALGORITHMS:
        options = {"schedule": "paper", "iterations": 9}
        yield case(f"paper-{name}-cvar", MODELS["two_roads"](), "cvar:0.1", name, seed=38, held_out=0, **options)
        yield case(f"paper-{name}-dual-power", MODELS["ruin"](), risk, name, seed=39, held_out=25, **options)
        yield case(f"paper-{name}-mean", MODELS["inventory"](), "mean", name, seed=40, **options)


def ascents():
    for name, step_size in {
        "constant": 0.05,
        "constant-clip": "constant:0.1,clip=2",
        "adam": "adam:0.2",
        "adam-clip": "adam:0.05,clip=5",
    }.items():
        for algorithm in ALGORITHMS:
            yield case(
                f"ascent-{name}-{algorithm}", MODELS["ruin"](), "cvar:0.4", small(algorithm), step_size=step_size,
                iterations=5, seed=41, held_out=20, **PLAIN,
            )  # fmt: skip


def budgets():
    few = {
        "onp-sf": rg.OnPSF(episodes=10, directions=3),
        "offp-sf": rg.OffPSF(episodes=30),
        "score": rg.Score(episodes=30),
    }
    grid = rg.mdp.models.slippery_grid(discount=0.9)
    for name, algorithm in few.items():
        yield case(f"budget-{name}", MODELS["risky_safe"](), "cvar:0.2", name, max_episodes=1500, seed=42)
        yield case(f"budget-few-{name}", MODELS["ruin"](), "mean", algorithm, max_episodes=1000, seed=43, held_out=20)
        yield case(
            f"budget-normalized-{name}", "CartPole-v1", "cvar:0.2", algorithm, horizon=30, max_episodes=600,
            normalize=True, seed=64,
        )  # fmt: skip
        yield case(
            f"theta-{name}", grid, "cvar:0.1", small(name), theta=0.5 * parts.normals(1, 36), iterations=5, seed=46,
            risk_path=0.8, entropy=0.0,
        )  # fmt: skip


def behaviors():
    other = (table("ruin"), 0.2 * parts.normals(9, 22))
    other_kind = (rg.policy.LinearGibbs(parts.normals(11, 11, 2, 5)), 0.2 * parts.normals(8, 5))
    network = (POLE_NETWORK, 0.3 * parts.normals(7, POLE_NETWORK.dim))
    for name in ("offp-sf", "score"):
        for label, own in {
            "reuse": {"reuse_batch": True},
            "reuse-any-ess": {"reuse_batch": True, "ess_floor": 0.0},
            "behavior": {"behavior": other},
            "behavior-other-kind": {"behavior": other_kind, "ess_floor": 0.05, "steps_per_batch": 8},
            "behavior-reuse": {"behavior": other, "reuse_batch": True, "steps_per_batch": 8},
            "any-ess": {"ess_floor": 0.0, "steps_per_batch": 8},
            "high-ess": {"ess_floor": 0.97, "steps_per_batch": 8},
        }.items():
            yield case(
                f"{label}-{name}", MODELS["ruin"](), "cvar:0.4", small(name, **own), policy=table("ruin"),
                iterations=6, seed=56, held_out=30, **PLAIN,
            )  # fmt: skip
        options = {"policy": POLE, "horizon": 30, "iterations": 3, "held_out": 10, "risk_path": None, "entropy": 0.0}
        for label, env, own, normalize in (
            ("behavior-compiled", "CartPole-v1", {"behavior": network}, False),
            ("behavior-played", gymnasium.make("CartPole-v1"), {"behavior": network}, False),
            ("reuse-normalized", "CartPole-v1", {"reuse_batch": True}, True),
        ):
            algorithm = small(name, episodes=20, **own)
            yield case(f"{label}-{name}", env, "cvar:0.2", algorithm, normalize=normalize, seed=57, **options)


def random_numbers():
    """Orthogonal directions, random numbers of each direction's own, seeds and threads."""
    options = {"iterations": 4, "held_out": 20}
    for name in ("onp-sf", "offp-sf"):
        yield case(
            f"orthogonal-{name}", MODELS["two_roads"](), "cvar:0.1", small(name, orthogonal=True), seed=47, **options
        )
        blocks = small(name, directions=10, orthogonal=True)
        yield case(f"orthogonal-blocks-{name}", MODELS["risky_safe"](), "mean", blocks, seed=48, **options)
    native = rg.sources.GymnasiumSource("CartPole-v1", 25, native=True)
    for name, env, play in (
        ("model", MODELS["inventory"](), {}),
        ("compiled", "CartPole-v1", {"horizon": 25}),
        ("played", gymnasium.make("CartPole-v1"), {"horizon": 25}),
        ("native", native, {}),
    ):
        own = small("onp-sf", directions=2, episodes=6, common_random_numbers=False)
        yield case(f"own-numbers-{name}", env, "mean", own, seed=52, **play, **options)
    for threads in (1, 2):
        cart = {"horizon": 40, "threads": threads, "seed": 67}
        yield case(f"threads-{threads}-compiled", "CartPole-v1", "cvar:0.1", "score:episodes=60", **cart, **options)
    yield case("large-seed", MODELS["risky_safe"](), "cvar:0.2", "score:episodes=40", seed=2**40 + 5, **options)

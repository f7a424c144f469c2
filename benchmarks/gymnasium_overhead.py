"""How much of the time the source leaves to Gymnasium environments, and how it compares with vectorized ones.

    python benchmarks/gymnasium_overhead.py [--quick]

Three tables. CartPole: useful steps per second, those inside the counted episodes, of `SyncVectorEnv` with 64
environments and of the source's two ways, by turns in one run; processor time, the best of the rounds. LunarLander and
Hopper: the part of wall time inside `env.step`, measured in the same run by a clock around each call; of several rounds
the one that took least, which other programs disturbed least. LunarLander: two processes against one, by wall time,
which needs two idle cores to mean something, and by processor time: that of one process over that of the busier of two.
Processes are started, and their environments made, before the clock is. What is not installed is skipped.
"""

import argparse
import importlib.util
import itertools
import multiprocessing
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import gymnasium
import numpy as np
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.wrappers import TimeLimit

from riskgrad.backend import Processes
from riskgrad.policy import MLP
from riskgrad.policy.base import Policy
from riskgrad.policy.mlp import fit_network
from riskgrad.random import Purpose, Stream
from riskgrad.sources.gymnasium.source import GymnasiumSource

ROWS, EPISODES = 32, 32


def linear_cart_pole() -> tuple[MLP, np.ndarray]:
    """A linear softmax that balances for a while, and perturbed copies of it."""
    policy = MLP(4, 2, ())
    center = np.zeros((5, 2))
    center[:4, 1] = (0.1, 0.3, 3.0, 1.0)
    noise = np.random.default_rng(0).normal(size=(ROWS, policy.dim))
    return policy, center.ravel() + 0.3 * noise


def sync_vector(policy: MLP, thetas: np.ndarray, refill: bool, wrapped: bool = True, lanes: int = 64) -> float:
    """Useful steps per second of `SyncVectorEnv` at the same work: the same quota of each policy, all of it counted.

    Args:
        policy: what acts.
        thetas: parameters [P, d].
        refill: whether a lane whose episode is over takes the next one of a queue at once; otherwise each lane plays
            one episode and all wait for the longest, which is what `reset` and `step` give without book-keeping.
        wrapped: whether its environments are those of `make_vec`, which check every step and observation, or have a
            time limit and nothing else, which a user has to ask for.
        lanes: number of environments.
    """
    if wrapped:
        envs = gymnasium.make_vec("CartPole-v1", num_envs=lanes, vectorization_mode="sync")
    else:
        envs = gymnasium.vector.SyncVectorEnv([lambda: TimeLimit(CartPoleEnv(), 500)] * lanes)
    rng = np.random.default_rng(0)
    queue = np.repeat(np.arange(len(thetas)), EPISODES)
    steps, begin = 0, time.process_time()
    rounds = [queue] if refill else np.split(queue, len(queue) // lanes)
    for part in rounds:
        observations, _ = envs.reset(seed=len(part))
        playing, upcoming = np.arange(lanes), lanes
        age, fresh = np.zeros(lanes, dtype=np.int64), np.zeros(lanes, dtype=bool)
        while np.any(playing < len(part)):
            rows = part[np.minimum(playing, len(part) - 1)]
            actions = policy.act(thetas, rows, observations.astype(np.float64), rng.random((lanes, 1)))
            observations, _, terminated, truncated, _ = envs.step(actions)
            age += ~fresh  # the step after an end is the reset
            fresh = terminated | truncated
            for lane in np.flatnonzero(fresh):
                steps += int(age[lane]) if playing[lane] < len(part) else 0
                playing[lane], upcoming, age[lane] = upcoming, upcoming + 1, 0
    envs.close()
    return steps / (time.process_time() - begin)


def sync_vector_shares(policy: MLP, thetas: np.ndarray, lanes: int = 64) -> float:
    """Useful steps per second of `SyncVectorEnv` as `make_vec` gives it, each lane with a fixed share of the quota.

    A policy owns as many lanes as there are for each, and a lane plays its share of the policy's episodes, one after
    the other, by its own automatic reset. Lanes that are done go on, not counted, until all are: a fixed quota for each
    policy takes no more book-keeping than that.
    """
    envs = gymnasium.make_vec("CartPole-v1", num_envs=lanes, vectorization_mode="sync")
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(len(thetas)), lanes // len(thetas))
    share = EPISODES * len(thetas) // lanes
    played, fresh = np.zeros(lanes, dtype=np.int64), np.zeros(lanes, dtype=bool)
    steps, begin = 0, time.process_time()
    observations, _ = envs.reset(seed=0)
    while np.any(played < share):
        actions = policy.act(thetas, rows, observations.astype(np.float64), rng.random((lanes, 1)))
        observations, _, terminated, truncated, _ = envs.step(actions)
        steps += int(np.sum((played < share) & ~fresh))  # the step after an end is the reset
        fresh = terminated | truncated
        played += fresh
    envs.close()
    return steps / (time.process_time() - begin)


def bare_loop(steps: int = 40_000) -> float:
    """Steps per second of one environment without wrappers, policy, seeds or sums: as fast as single ones can be."""
    env = gymnasium.make("CartPole-v1").unwrapped
    env.reset(seed=0)
    begin = time.process_time()
    for t in range(steps):
        # two pushes each way by turns keep the pole up for about 33 steps
        if env.step((t >> 1) & 1)[2]:
            env.reset()
    return steps / (time.process_time() - begin)


def source_speed(source: GymnasiumSource, policy: Policy, thetas: np.ndarray, clock: Callable[[], float]) -> float:
    """Useful steps per second of a source."""
    begin = clock()
    played = source.returns(policy, thetas, EPISODES, Stream(0, Purpose.EXAMPLE))
    return int(np.sum(played.lengths)) / (clock() - begin)


def cart_pole(rounds: int) -> None:
    policy, thetas = linear_cart_pole()
    ways: dict[str, Callable[[], float]] = {
        "make_vec sync, 64 lanes, an episode each": lambda: sync_vector(policy, thetas, refill=False),
        "make_vec sync, 64 lanes, a share of the quota each": lambda: sync_vector_shares(policy, thetas),
        "make_vec sync, 64 lanes, refilled from a queue": lambda: sync_vector(policy, thetas, refill=True),
        "the same, environments without wrappers": lambda: sync_vector(policy, thetas, refill=True, wrapped=False),
    }
    for name, native in (("source, single environments", False), ("source, native vector form", True)):
        source = GymnasiumSource("CartPole-v1", native=native)
        source.returns(policy, thetas[:2], 2, Stream(1, Purpose.EXAMPLE))
        ways[name] = lambda source=source: source_speed(source, policy, thetas, time.process_time)
    ways["one bare environment, nothing else"] = bare_loop
    turns = [{name: way() for name, way in ways.items()} for _ in range(rounds)]
    speeds = {name: max(turn[name] for turn in turns) for name in ways}
    against = list(speeds.values())[:4]
    print(
        "| CartPole-v1, linear softmax, 32 policies x 32 episodes | steps/s | against row 1 | row 2 | row 3 | row 4 |"
    )
    print("|---|---|---|---|---|---|")
    for name, speed in speeds.items():
        ratios = " | ".join(f"{speed / other:.1f} x" for other in against)
        print(f"| {name} | {speed:,.0f} | {ratios} |")


class Clock(gymnasium.Wrapper):
    """Adds up the seconds inside `step` and `reset`.

    Both are closures, which take less time of their own than methods; it counts as the loop's.
    """

    seconds: ClassVar[list[Callable[[], list[float]]]] = []

    def __init__(self, env: gymnasium.Env) -> None:
        super().__init__(env)
        inner_step, inner_reset, now = env.step, env.reset, time.perf_counter
        stepping = resetting = 0.0

        def step(action: object) -> tuple:
            nonlocal stepping
            begin = now()
            answer = inner_step(action)
            stepping += now() - begin
            return answer

        def reset(**options: object) -> tuple:
            nonlocal resetting
            begin = now()
            answer = inner_reset(**options)
            resetting += now() - begin
            return answer

        self.step, self.reset = step, reset
        self.seconds.append(lambda: [stepping, resetting])

    @classmethod
    def read(cls) -> np.ndarray:
        """The seconds inside `step` and `reset` of all environments so far [2]."""
        return np.sum([each() for each in cls.seconds], axis=0)


def lander() -> np.ndarray:
    """A linear softmax that lands: engines against the turn and the fall, weights [8 + 1, 4] found by hand."""
    weights = np.zeros((9, 4))
    turn = np.array([5.0, 0.0, 10.0, 0.0, -10.0, -20.0, 0.0, 0.0, 0.0])
    weights[:, 1], weights[:, 3] = turn, -turn
    weights[:, 2] = (0.0, -6.0, 0.0, -30.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    weights[8, 1:] = -1.0
    weights[6:8] = (6.0, 0.0, 0.0, 0.0)  # legs on the ground: engines off
    return weights.ravel()


def through_network(weights: np.ndarray, policy: MLP, rng: np.random.Generator) -> np.ndarray:
    """The linear policy [8 + 1, 4] as a network of two hidden layers: small numbers pass tanh as they are.

    Units that the policy does not need are busy all the same, with no say in the action.
    """
    first, second = policy.network.hidden
    scale = 1e-3
    layers = [rng.normal(size=(n_in + 1, n_out)) for n_in, n_out in ((8, first), (first, second), (second, 4))]
    layers[0][:, :8], layers[1][:, :8], layers[2][:] = 0.0, 0.0, 0.0
    layers[0][:8, :8], layers[1][:8, :8] = scale * np.eye(8), np.eye(8)
    layers[2][:8], layers[2][-1] = weights[:8] / scale, weights[8]
    return np.concatenate([layer.ravel() for layer in layers])


def start(policy: Policy, by_hand: bool) -> np.ndarray:
    """Parameters [8, d] that land, or untrained ones."""
    rng = np.random.default_rng(0)
    if not by_hand:
        return np.stack([policy.initial_theta(rng) for _ in range(8)])
    linear = lander()
    return np.tile(through_network(linear.reshape(9, 4), policy, rng) if policy.network.hidden else linear, (8, 1))


def share_inside(env: str, hidden: tuple[int, ...], by_hand: bool, rounds: int) -> str:
    """A row of the table: the parts of wall time inside the environment."""

    def make_with_clock() -> gymnasium.Env:
        return Clock(gymnasium.make(env).unwrapped)

    source = GymnasiumSource(make_with_clock, horizon=gymnasium.spec(env).max_episode_steps)
    policy = fit_network(source.gives, source.takes, hidden)
    thetas = start(policy, by_hand)
    source.returns(policy, thetas, 4, Stream(1, Purpose.EXAMPLE))
    found = []
    for _ in range(rounds):
        before, begin = Clock.read(), time.perf_counter()
        played = source.returns(policy, thetas, 8 if by_hand else 16, Stream(0, Purpose.EXAMPLE))
        wall = time.perf_counter() - begin
        found.append((wall, *(Clock.read() - before)))
    wall, stepping, resetting = min(found)
    steps = int(np.sum(played.lengths))
    what = f"{hidden or 'linear'}, {'by hand' if by_hand else 'untrained'}"
    inside = " | ".join(f"{part / wall:.1%}" for part in (stepping, resetting, wall - stepping - resetting))
    return f"| {env} | {what} | {steps / played.lengths.size:.0f} | {1e6 * wall / steps:.1f} | {inside} |"


def processor_seconds() -> list[float]:
    """Processor seconds of this process and of each worker."""
    workers = [Path(f"/proc/{child.pid}/schedstat") for child in multiprocessing.active_children()]
    return [time.process_time(), *(int(file.read_text().split()[0]) / 1e9 for file in workers if file.exists())]


def two_processes(rounds: int) -> None:
    policy, thetas = MLP(8, 4, ()), np.tile(lander(), (4, 1))
    one = GymnasiumSource("LunarLander-v3")
    both: list[list[float]] = []
    busy: list[float] = []
    with Processes(2) as backend:
        two = GymnasiumSource("LunarLander-v3", backend=backend)
        for source in (one, two):
            source.returns(policy, thetas, 16, Stream(1, Purpose.EXAMPLE))
        for _ in range(rounds):
            marks, speeds = [processor_seconds()], []
            for source in (one, two):
                speeds.append(source_speed(source, policy, thetas, time.perf_counter))
                marks.append(processor_seconds())
            both.append(speeds)
            alone, shared = (np.subtract(after, before) for before, after in itertools.pairwise(marks))
            busy.append(alone[0] / np.max(shared[1:], initial=0.0) if len(shared) > 1 else np.nan)
    first, second = (statistics.median(column) for column in zip(*both, strict=True))
    print("| LunarLander-v3, linear, by hand | useful steps/s | against 1, wall time | processor time |")
    print("|---|---|---|---|")
    print(f"| 1 process | {first:,.0f} | 1.00 x | 1.00 x |")
    wall = statistics.median(b / a for a, b in both)
    print(f"| 2 processes | {second:,.0f} | {wall:.2f} x | {statistics.median(busy):.2f} x |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one round of each")
    rounds = 1 if parser.parse_args().quick else 3
    cart_pole(rounds)
    if importlib.util.find_spec("Box2D") or importlib.util.find_spec("mujoco"):
        print("\n| environment | policy | steps per episode | us per step | inside env.step | env.reset | the rest |")
        print("|---|---|---|---|---|---|---|")
    for env, package, by_hand in (
        ("LunarLander-v3", "Box2D", True),
        ("LunarLander-v3", "Box2D", False),
        ("Hopper-v5", "mujoco", False),
    ):
        for hidden in ((), (32, 32), (64, 64)) if importlib.util.find_spec(package) else ():
            print(share_inside(env, hidden, by_hand, rounds))
    if importlib.util.find_spec("Box2D"):
        print()
        two_processes(rounds)


if __name__ == "__main__":
    main()

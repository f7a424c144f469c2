"""Time per useful step of compiled environments, and of CartPole-v1 against gymnax, evosax and EvoTorch.

    python benchmarks/compiled.py [--quick]

A figure is the processor time of a whole call on one core, from parameters to returns [P, m], the best in so many
seconds, the same for all, divided by the steps inside the counted episodes. The peers run where they are installed,
also in another environment: RISKGRAD_PEERS_PYTHON=/path/to/python names its interpreter. They and we take turns, three
each, so that a machine that is noisy for a while is not so for one of us alone.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gymnasium
import numpy as np

import riskgrad as rg
from riskgrad.envs.twins import TWINS
from riskgrad.policy import MLP, LinearSoftmax, Policy
from riskgrad.random import Purpose, Stream
from riskgrad.sources import CompiledSource

POLICIES, EPISODES, TURNS = 64, 64, 3
STREAM = Stream(0, Purpose.EXAMPLE)
PEERS = {"gymnax": "gymnax while-loop", "evosax": "evosax GymnaxProblem", "evotorch": "EvoTorch GymNE"}


def nanoseconds(source: CompiledSource, policy: Policy, thetas: np.ndarray, seconds: float) -> tuple[float, float]:
    """Processor time per step, and the mean length of an episode."""
    lengths = source.returns(policy, thetas, EPISODES, STREAM).lengths  # compiles
    best, stop = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < stop:
        begin = time.thread_time()
        lengths = source.returns(policy, thetas, EPISODES, STREAM).lengths
        best = min(best, (time.thread_time() - begin) / np.sum(lengths))
    return best * 1e9, float(np.mean(lengths))


def gymnasium_step(identifier: str, seconds: float) -> float:
    """Time per step of a single Gymnasium environment under random actions, without a policy."""
    env = gymnasium.make(identifier)
    env.reset(seed=0)
    actions, steps = np.random.default_rng(0).integers(env.action_space.n, size=1000).tolist(), 0
    begin = time.thread_time()
    while time.thread_time() - begin < seconds:
        _, _, over, cut, _ = env.step(actions[steps % 1000])
        steps += 1
        if over or cut:
            env.reset()
    return (time.thread_time() - begin) / steps * 1e9


def peer(name: str, thetas: np.ndarray, seconds: float) -> float:
    """Nanoseconds per useful step of a peer; infinite, with a line that says why, where it does not run."""
    python = os.environ.get("RISKGRAD_PEERS_PYTHON", sys.executable)
    script = str(Path(__file__).parent / "reference" / "cart_pole_peers.py")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "policies.npz")
        np.savez(path, thetas=thetas)
        command = [python, script, name, path, str(EPISODES), str(seconds)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{name}: {(done.stderr.splitlines() or ['no message'])[-1]}", file=sys.stderr)
        return float("inf")
    return float(json.loads(done.stdout.splitlines()[-1])["nanoseconds"])


def environments(seconds: float) -> None:
    print("| environment | linear softmax, ns/step | MLP 16 x 16 | MLP 32 x 32 | Gymnasium's step alone | ratio |")
    print("|---|---|---|---|---|---|")
    for identifier in TWINS:
        source = CompiledSource(rg.envs.compiled_twin(identifier), threads=1)
        sizes = (source.env.n_features, source.env.n_actions)
        times = []
        for policy in (LinearSoftmax(*sizes), MLP(*sizes, hidden=(16, 16)), MLP(*sizes)):
            thetas = 0.3 * np.random.default_rng(0).normal(size=(POLICIES, policy.dim))
            times.append(nanoseconds(source, policy, thetas, seconds)[0])
        slow = gymnasium_step(identifier, seconds)
        cells = " | ".join(f"{value:.0f}" for value in (*times, slow, slow / times[0]))
        print(f"| {identifier} | {cells} |", flush=True)


def cart_pole(seconds: float) -> None:
    source, policy = CompiledSource(rg.envs.compiled_twin("CartPole-v1"), threads=1), LinearSoftmax(4, 2)
    rng = np.random.default_rng(0)
    noise = 0.3 * rng.normal(size=(POLICIES, policy.dim))
    # push toward the side to which the pole leans and turns
    balance = np.array([0.0, 0.1, 0.0, 0.5, 0.0, 5.0, 0.0, 5.0])
    print(
        "\n| CartPole-v1, 64 policies x 64 episodes | mean length | riskgrad, ns/step | peer | ns/useful step | ratio |"
    )
    print("|---|---|---|---|---|---|")
    for kind, thetas in (("untrained", noise), ("trained", noise + balance)):
        for name, title in PEERS.items():
            turns = [(peer(name, thetas, seconds), *nanoseconds(source, policy, thetas, seconds)) for _ in range(TURNS)]
            theirs, mine, length = (min(column) for column in zip(*turns, strict=True))
            cells = f"{theirs:,.0f} | {theirs / mine:,.1f}" if theirs < float("inf") else "does not run here | -"
            print(f"| {kind} | {length:.0f} | {mine:.1f} | {title} | {cells} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Time per step of compiled environments against their peers.")
    parser.add_argument("--quick", action="store_true", help="less time per row")
    chosen = 0.3 if parser.parse_args().quick else 2.0
    environments(chosen)
    cart_pole(chosen)

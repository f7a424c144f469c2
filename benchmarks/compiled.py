"""Time per useful step of compiled environments, and of CartPole-v1 against gymnax, evosax and EvoTorch.

    python benchmarks/compiled.py [--quick]

A figure is the processor time of a whole call on one core, from parameters to returns [P, m], the best of several,
divided by the steps inside the counted episodes. The peers run where they are installed, also in another environment:
RISKGRAD_PEERS_PYTHON=/path/to/python names its interpreter. The peers' calls alternate with ours, so that a noisy
machine is noisy for all of them.
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
from riskgrad.episodes import CompiledSource
from riskgrad.policy import MLP, LinearSoftmax, Policy
from riskgrad.random import Purpose, Stream

POLICIES, EPISODES = 64, 64
STREAM = Stream(0, Purpose.EXAMPLE)
PEERS = {"gymnax": "gymnax while-loop", "evosax": "evosax GymnaxProblem", "evotorch": "EvoTorch GymNE"}


def nanoseconds(source: CompiledSource, policy: Policy, thetas: np.ndarray, rounds: int) -> tuple[float, float]:
    """Processor time per step, and the mean length of an episode."""
    best, lengths = float("inf"), np.zeros(0)
    for _ in range(rounds + 1):
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


def peer(name: str, thetas: np.ndarray) -> float | None:
    """Nanoseconds per useful step of a peer; None where it is not installed."""
    python = os.environ.get("RISKGRAD_PEERS_PYTHON", sys.executable)
    script = str(Path(__file__).parent / "reference" / "cart_pole_peers.py")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "policies.npz")
        np.savez(path, thetas=thetas)
        command = [python, script, name, path, str(EPISODES)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    return float(json.loads(done.stdout.splitlines()[-1])["nanoseconds"]) if done.returncode == 0 else None


def environments(quick: bool) -> None:
    print("| environment | linear softmax, ns/step | MLP 16 x 16, ns/step | Gymnasium's step alone | ratio |")
    print("|---|---|---|---|---|")
    for identifier in TWINS:
        source = CompiledSource(rg.envs.compiled_twin(identifier), threads=1)
        sizes = (source.env.n_features, source.env.n_actions)
        times = []
        for policy in (LinearSoftmax(*sizes), MLP(*sizes, hidden=(16, 16))):
            thetas = 0.3 * np.random.default_rng(0).normal(size=(POLICIES, policy.dim))
            times.append(nanoseconds(source, policy, thetas, 3 if quick else 10)[0])
        slow = gymnasium_step(identifier, 0.3 if quick else 1.0)
        print(f"| {identifier} | {times[0]:.0f} | {times[1]:.0f} | {slow:.0f} | {slow / times[0]:.0f} |", flush=True)


def cart_pole(quick: bool) -> None:
    source, policy = CompiledSource(rg.envs.compiled_twin("CartPole-v1"), threads=1), LinearSoftmax(4, 2)
    rng = np.random.default_rng(0)
    noise = 0.3 * rng.normal(size=(POLICIES, policy.dim))
    # push towards the side to which the pole leans and turns
    balance = np.array([0.0, 0.1, 0.0, 0.5, 0.0, 5.0, 0.0, 5.0])
    print(
        "\n| CartPole-v1, 64 policies x 64 episodes | mean length | riskgrad, ns/step | peer | ns/useful step | ratio |"
    )
    print("|---|---|---|---|---|---|")
    for kind, thetas in (("untrained", noise), ("trained", noise + balance)):
        for name, title in PEERS.items():
            theirs = peer(name, thetas)
            mine, length = nanoseconds(source, policy, thetas, 5 if quick else 20)
            cells = "not installed | -" if theirs is None else f"{theirs:,.0f} | {theirs / mine:,.1f}"
            print(f"| {kind} | {length:.0f} | {mine:.1f} | {title} | {cells} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Time per step of compiled environments against their peers.")
    parser.add_argument("--quick", action="store_true", help="less time per row")
    chosen = parser.parse_args().quick
    environments(chosen)
    cart_pole(chosen)

"""Time per step of the compiled sampler, against C, JAX and Gymnasium, in one run.

    python benchmarks/sampler.py [--quick]

Every figure is nanoseconds per step of a whole call, from parameters to returns [P, m], P = 64, on one thread. It is
processor time, so that other work on the machine counts little, and the best of many rounds in which riskgrad and C
take turns. In brackets after C: riskgrad's time over C's; after JAX and Gymnasium: their time over riskgrad's. The C
programs are built by gcc -O3 -march=native from `reference/`. JAX runs where it is installed, also in another
environment: RISKGRAD_JAX_PYTHON=/path/to/python names its interpreter. The table of threads is wall time and needs an
idle machine.
"""

import argparse
import ctypes
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import gymnasium as gym
import numpy as np

from riskgrad.mdp import FiniteMDP, from_gymnasium
from riskgrad.policy import TabularGibbs
from riskgrad.random import Purpose, Stream
from riskgrad.sources import TabularSource

HERE = Path(__file__).parent
POLICIES = 64
PEERS = ("mapped", "lockstep", "gymnasium")
STREAM = Stream(0, Purpose.EXAMPLE)
MODELS = {
    "FrozenLake8x8": ("FrozenLake8x8-v1", {}),
    "CliffWalking slippery": ("CliffWalking-v1", {"is_slippery": True}),
}


def thetas_of(mdp: FiniteMDP, trained: bool) -> np.ndarray:
    """Uniform policies, or partly trained ones: preferences that grow with the action's value, and some noise."""
    rng = np.random.default_rng(0)
    noise = 0.3 * rng.normal(size=(POLICIES, mdp.n_states * mdp.n_actions))
    if not trained:
        return np.zeros_like(noise)
    transition, reward = mdp.dense()
    gains, value = np.sum(transition * reward, axis=2), np.zeros(mdp.n_states)
    for _ in range(mdp.horizon):
        values = gains + 0.99 * np.sum(transition * value, axis=2)
        value = np.where(mdp.terminal, 0.0, np.max(values, axis=1))
    advantage = values - np.max(values, axis=1, keepdims=True)
    spread = np.max(-advantage, axis=1, keepdims=True)
    return noise + 2.0 * (advantage / np.where(spread > 0.0, spread, 1.0)).ravel()


@cache
def build(name: str) -> ctypes.CDLL | None:
    if shutil.which("gcc") is None:
        return None
    library = Path(tempfile.mkdtemp()) / f"{name}.so"
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", str(HERE / "reference" / f"{name}.c")]
    subprocess.run([*command, "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def structure(fields: list[tuple[str, object]]) -> tuple[ctypes.Structure, list[np.ndarray]]:
    """Make a C structure from integers, floats and arrays, in order; the arrays must be kept alive."""
    kinds = {int: ctypes.c_int64, float: ctypes.c_double, np.ndarray: ctypes.c_void_p}
    kind = type("Fields", (ctypes.Structure,), {"_fields_": [(name, kinds[type(value)]) for name, value in fields]})
    arrays = [value for _, value in fields if isinstance(value, np.ndarray)]
    return kind(*(value.ctypes.data if isinstance(value, np.ndarray) else value for _, value in fields)), arrays


def c_same(library: ctypes.CDLL, source: TabularSource, thetas: np.ndarray, episodes: int) -> Callable[[], tuple]:
    tables, mdp = source._tables, source.mdp  # noqa: SLF001
    model, kept = structure(
        [
            ("states", mdp.n_states), ("actions", mdp.n_actions), ("stride", tables.stride),
            ("width", int(tables.width)), ("start_first", int(tables.start_first)),
            ("start_width", int(tables.start_width)), ("horizon", mdp.horizon), ("discount", mdp.discount),
            ("accept", tables.accept), ("target", tables.target), ("reward", tables.reward),
        ]
    )  # fmt: skip
    return c_call(library, model, kept, thetas, episodes)


def c_alias(library: ctypes.CDLL, source: TabularSource, thetas: np.ndarray, episodes: int) -> Callable[[], tuple]:
    mdp = source.mdp
    model, kept = structure(
        [
            ("states", mdp.n_states), ("actions", mdp.n_actions), ("start", int(np.argmax(mdp.start))),
            ("horizon", mdp.horizon), ("offsets", mdp.offsets), ("next_states", mdp.next_states),
            ("probabilities", mdp.probabilities), ("rewards", mdp.rewards), ("ends", mdp.ends.astype(np.uint8)),
        ]
    )  # fmt: skip
    return c_call(library, model, kept, thetas, episodes)


def c_call(
    library: ctypes.CDLL, model: ctypes.Structure, kept: list[np.ndarray], thetas: np.ndarray, episodes: int
) -> Callable[[], tuple]:
    keys = STREAM.keys(np.arange(len(thetas)))

    def call(_kept: list[np.ndarray] = kept) -> tuple[np.ndarray, np.ndarray]:
        values, lengths = np.empty((len(thetas), episodes)), np.empty((len(thetas), episodes), dtype=np.int64)
        sizes = (ctypes.c_int64(len(thetas)), ctypes.c_int64(episodes))
        failed = library.sample(
            ctypes.byref(model), pointer(thetas), pointer(keys), *sizes, pointer(values), pointer(lengths)
        )
        if failed:
            raise SystemExit("the C reference refuses this model")
        return values, lengths

    return call


def gymnasium_step(identifier: str, options: dict[str, object], seconds: float) -> float:
    """Nanoseconds per step of SyncVectorEnv with 64 environments under the uniform policy."""
    envs = gym.make_vec(identifier, num_envs=64, vectorization_mode="sync", **options)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 4, size=(1000, 64))
    steps, begin = 0, time.process_time()
    while time.process_time() - begin < seconds:
        envs.step(actions[steps % 1000])
        steps += 1
    return (time.process_time() - begin) / (64 * steps) * 1e9


def jax_steps(source: TabularSource, thetas: np.ndarray, episodes: int) -> dict[str, float]:
    """Nanoseconds per step of JAX while-loops over the same table, in an interpreter that has JAX; or nothing."""
    python = os.environ.get("RISKGRAD_JAX_PYTHON", sys.executable)
    mdp = source.mdp
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        arrays = {name: getattr(mdp, name) for name in ("offsets", "probabilities", "next_states", "rewards", "ends")}
        np.savez(
            path, start=np.argmax(mdp.start), shape=(mdp.n_states, mdp.n_actions, mdp.horizon), thetas=thetas, **arrays
        )
        script = str(HERE / "reference" / "jax_loop.py")
        done = subprocess.run([python, script, str(path), str(episodes)], check=False, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def best_in_turns(
    calls: dict[str, Callable[[], object]], seconds: float, clock: Callable[[], float]
) -> dict[str, float]:
    best = dict.fromkeys(calls, float("inf"))
    stop = time.perf_counter() + seconds
    while time.perf_counter() < stop:
        for name, call in calls.items():
            begin = clock()
            call()
            best[name] = min(best[name], clock() - begin)
    return best


def row(name: str, source: TabularSource, thetas: np.ndarray, episodes: int, seconds: float) -> dict[str, float]:
    """Time one line of the table: nanoseconds per step of each contestant."""
    policy = TabularGibbs(source.mdp.n_states, source.mdp.n_actions)
    expected = source.returns(policy, thetas, episodes, STREAM)
    steps = dict.fromkeys(("riskgrad", "same"), int(np.sum(expected.lengths)))
    calls: dict[str, Callable[[], object]] = {"riskgrad": lambda: source.returns(policy, thetas, episodes, STREAM)}
    if (same := build("same_algorithm")) and (alias := build("alias")):
        calls["same"] = c_same(same, source, thetas, episodes)
        calls["alias"] = c_alias(alias, source, thetas, episodes)
        values, lengths = calls["same"]()
        if not (np.allclose(values, expected.values) and np.mean(lengths != expected.lengths) < 1e-6):
            raise SystemExit(f"the C program and the sampler disagree on {name}")
        steps["alias"] = int(np.sum(calls["alias"]()[1]))
    best = best_in_turns(calls, seconds, time.thread_time)
    found = {key: spent / steps[key] * 1e9 for key, spent in best.items()}
    return found | jax_steps(source, thetas, episodes)


def table(quick: bool) -> None:
    seconds = 0.5 if quick else 3.0
    contestants = ["C, same algorithm", "C, alias", "JAX, mapped", "JAX, lockstep", "SyncVectorEnv"]
    columns = ["model", "policies", "m", "riskgrad", *contestants]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for name, (identifier, options) in MODELS.items():
        mdp = from_gymnasium(identifier, horizon=200, discount=1.0, **options)
        source = TabularSource(mdp, threads=1)
        slow = gymnasium_step(identifier, options, seconds)
        for trained, episodes in itertools.product((False, True), (16, 1000)):
            found = row(name, source, thetas_of(mdp, trained), episodes, seconds) | {"gymnasium": slow}
            own = found["riskgrad"]
            cells = [name, "trained" if trained else "uniform", str(episodes), f"{own:.2f}"]
            cells += [f"{found[k]:.2f} ({own / found[k]:.2f})" if k in found else "-" for k in ("same", "alias")]
            cells += [f"{found[k]:.0f} ({found[k] / own:.0f} x)" if k in found else "-" for k in PEERS]
            print("| " + " | ".join(cells) + " |", flush=True)


def threads(quick: bool) -> None:
    """Say how much faster two threads are than one, by the length of a call: medians of calls that take turns."""
    print(
        "\n| model | m | one thread, ms | two threads, ms | speed-up | processor time, two over one |\n"
        + "|---" * 6
        + "|"
    )
    for name, (identifier, options) in MODELS.items():
        mdp = from_gymnasium(identifier, horizon=200, discount=1.0, **options)
        policy, thetas = TabularGibbs(mdp.n_states, mdp.n_actions), thetas_of(mdp, trained=False)
        sources = [TabularSource(mdp, threads=count) for count in (1, 2)]
        for episodes, rounds in ((1000, 60), (10_000, 12), (50_000, 4)):
            spent = np.empty((rounds if quick else 4 * rounds, 2, 2))
            for turn, (index, source) in itertools.product(range(len(spent)), enumerate(sources)):
                wall, processor = time.perf_counter(), time.process_time()
                source.returns(policy, thetas, episodes, STREAM)
                spent[turn, index] = time.perf_counter() - wall, time.process_time() - processor
            (wall_one, cpu_one), (wall_two, cpu_two) = np.median(spent, axis=0)
            cells = [name, f"{episodes:,}", f"{1e3 * wall_one:.1f}", f"{1e3 * wall_two:.1f}"]
            cells += [f"{wall_one / wall_two:.2f}", f"{cpu_two / cpu_one:.2f}"]
            print("| " + " | ".join(cells) + " |", flush=True)


def print_first_call() -> None:
    """Say how long a process takes from import to its first returns, without and with the compiled code on disk."""
    script = (
        "import time; t = time.perf_counter(); import numpy as np; from riskgrad.mdp import from_gymnasium;"
        "from riskgrad.sources import TabularSource; from riskgrad.policy import TabularGibbs;"
        "from riskgrad.random import Stream, Purpose;"
        "s = TabularSource(from_gymnasium('FrozenLake8x8-v1', horizon=200, discount=1.0));"
        "s.returns(TabularGibbs(64, 4), np.zeros((4, 256)), 8, Stream(0, Purpose.EXAMPLE));"
        "print(time.perf_counter() - t)"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        run = [
            float(
                subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, env=environment).stdout
            )
            for _ in range(2)
        ]
    print(f"\nFrom import to the first returns: {run[0]:.1f} s when it compiles, {run[1]:.1f} s from then on.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Time per step of the sampler against its peers.")
    parser.add_argument("--quick", action="store_true", help="less time per row")
    quick = parser.parse_args().quick
    table(quick)
    threads(quick)
    print_first_call()

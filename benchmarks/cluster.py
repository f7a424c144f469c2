"""What a Ray cluster costs and gives, and whether a training survives its machines: two nodes on one machine.

    pip install "riskgrad[ray]"
    python benchmarks/cluster.py speed       # Ray against one process, with an environment of about 100 us a step
    python benchmarks/cluster.py overhead    # what an iteration costs beyond its episodes, and what that is made of
    python benchmarks/cluster.py memory      # the driver's memory over 1,000 iterations
    python benchmarks/cluster.py chaos       # 20 kills of workers and of the second node

Each node has one processor, so that two workers share two cores. Ray keeps its token and its files in a temporary
folder, and talks to 127.0.0.1 alone. Times are of the wall: they need two idle cores to mean something.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import riskgrad as rg
from riskgrad.backend import Ray
from riskgrad.critic.log import EPISODE_BYTES, STEP_BYTES

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from support.cluster import Chaos, resident, two_nodes

KILLS = 20  # every fourth of the second node
ROUNDS = 5600  # of the loop in a step, about 100 us


class Busy(gymnasium.Env):
    """A walk of 50 steps, each of which does a fixed amount of work; the same in every process.

    Args:
        rounds: of the loop in a step.
        length: steps of an episode.
    """

    observation_space = gymnasium.spaces.Box(-99.0, 99.0, (4,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, rounds: int = ROUNDS, length: int = 50) -> None:
        self.rounds, self.length = rounds, length

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin at 0."""
        super().reset(seed=seed, options=options)
        self.place, self.age = np.zeros(4, dtype=np.float32), 0
        return self.place.copy(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Work, and walk."""
        total = 0
        for number in range(self.rounds):
            total += number
        self.place = 0.9 * self.place + ((1 + action) * self.np_random.normal(size=4)).astype(np.float32)
        self.age += 1
        return self.place.copy(), float(self.place[0]) + 0.0 * total, self.age >= self.length, False, {}


class States(Busy):
    """The same walk, seen as one of 8 states, so that the critic keeps a log of steps."""

    observation_space = gymnasium.spaces.Discrete(8)

    def reset(self, **how: Any) -> tuple[Any, dict[str, Any]]:
        """Begin at 0."""
        return self._state(super().reset(**how)[0]), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Work, and walk."""
        seen, reward, *rest = super().step(action)
        return self._state(seen), float(round(reward)), *rest

    @staticmethod
    def _state(place: Any) -> int:
        return int(np.clip(2.0 * place[0] + 4.0, 0, 7))


def iteration_seconds(backend: Any, episodes: int, iterations: int, **env_options: int) -> list[float]:
    """Seconds of each iteration of a training, without the first ones, in which workers and environments are made."""
    marks: list[float] = []
    rg.train(
        Busy,
        "cvar:0.2",
        algorithm=rg.Score(episodes=episodes),
        iterations=iterations,
        held_out=0,
        env_options=env_options,
        backend=backend,
        callback=lambda *_: marks.append(time.perf_counter()),
        progress=False,
        seed=0,
    )
    return np.diff(marks)[2:].tolist()


def measure_step(rounds: int = ROUNDS) -> float:
    """Microseconds of a step."""
    env = Busy(rounds)
    env.reset(seed=0)
    begin = time.perf_counter()
    for _ in range(2000):
        env.step(0)
    return (time.perf_counter() - begin) / 2000 * 1e6


def show_speed() -> None:
    with two_nodes((1, 1)), Ray(2) as backend:
        print(f"a step takes {measure_step():.0f} us; 200 episodes of 50 steps an iteration; medians of iterations\n")
        times = {"serial": [], "ray": []}
        for _ in range(3):  # in turns, for other programs disturb both
            times["serial"] += iteration_seconds("serial", 200, 6)
            times["ray"] += iteration_seconds(backend, 200, 9)
    one, two = (statistics.median(times[name]) for name in ("serial", "ray"))
    print("| who plays | seconds an iteration | times one process |\n|---|---|---|")
    print(f"| one process | {one:.3f} | 1.00 |\n| Ray, two workers | {two:.3f} | {one / two:.2f} |")


def show_overhead() -> None:
    with two_nodes((1, 1)), Ray(2) as backend:
        alone = statistics.median(iteration_seconds("serial", 64, 60, rounds=0, length=5))
        times = iteration_seconds(backend, 64, 200, rounds=0, length=5)
        print("| an iteration of 64 episodes of 5 steps | ms |\n|---|---|")
        print(f"| one process | {1e3 * alone:.1f} |\n| Ray, median | {1e3 * statistics.median(times):.1f} |")
        print(f"| Ray, 95% of iterations are below | {1e3 * float(np.quantile(times, 0.95)):.1f} |\n")
        print("| what a map of Ray costs, two workers | ms |\n|---|---|")
        for name, seconds in measure_parts(backend).items():
            print(f"| {name} | {1e3 * seconds:.2f} |")


def measure_parts(backend: Ray) -> dict[str, float]:
    """Seconds of the parts of a map: what it costs by itself, for each task, and for a megabyte each way."""

    def seconds(work: Any, tasks: list[Any], rounds: int = 30) -> float:
        backend.map(work, tasks)
        found: list[float] = []
        for _ in range(rounds):
            begin = time.perf_counter()
            backend.map(work, tasks)
            found.append(time.perf_counter() - begin)
        return statistics.median(found)

    few, many = seconds(Reply(0), [0, 0]), seconds(Reply(0), [0] * 102)
    given = seconds(Reply(0, np.zeros(1 << 20)), [0, 0])
    taken = seconds(Reply(1 << 20), [0, 0])
    return {
        "a map of two tasks": few,
        "each task more": (many - few) / 100,
        "a megabyte of parameters, to two workers": (given - few) / 8,
        "a megabyte of answers": (taken - few) / 16,
    }


class Reply:
    """Work that answers with so many numbers.

    Args:
        size: how many.
        given: parameters that go with it.
    """

    def __init__(self, size: int, given: Any = None) -> None:
        self.size, self.given = size, given

    def __call__(self, task: int) -> Any:
        """Answer."""
        return np.random.default_rng(task).random(self.size)


def show_memory() -> None:
    print(
        "| 1,000 iterations of | MB after 100 | MB after 1,000 | growth | the log | beyond the log |"
        "\n|---|---|---|---|---|---|"
    )
    cases = {
        "score, vectors, 20 episodes of 20 steps": (Busy, rg.Score(episodes=20), 20),
        "critic, vectors, 20 episodes of 20 steps": (Busy, rg.Critic(episodes=20), 20),
        "critic, 8 states, 100 episodes of 5 steps": (States, rg.Critic(episodes=100), 5),
    }
    with two_nodes((1, 1)), Ray(2) as backend:
        for name, (env, algorithm, length) in cases.items():
            sizes: list[float] = []
            rg.train(
                env,
                "cvar:0.2",
                algorithm=algorithm,
                iterations=1000,
                held_out=0,
                env_options={"rounds": 0, "length": length},
                backend=backend,
                callback=lambda *_, sizes=sizes: sizes.append(resident()),
                progress=False,
                seed=0,
            )
            episode = EPISODE_BYTES + STEP_BYTES * length
            log = 900 * algorithm.episodes * episode / 2**20 if env is States else 0.0
            growth = sizes[-1] - sizes[99]
            row = (f"{sizes[99]:.0f}", f"{sizes[-1]:.0f}", f"{growth:.1f}", f"{log:.1f}", f"{growth - log:.1f}")
            print(f"| {name} | {' | '.join(row)} |", flush=True)


def train_for_chaos(backend: Any, mend: Any = None) -> tuple[rg.Run, float]:
    begin = time.perf_counter()
    options: dict[str, Any] = {"iterations": 30, "held_out": 0, "progress": False, "seed": 0, "callback": mend}
    run = rg.train(Busy, "cvar:0.2", algorithm=rg.Score(episodes=200), backend=backend, **options)
    return run, time.perf_counter() - begin


def show_chaos() -> None:
    alone, one = train_for_chaos("serial")
    with two_nodes((1, 1)) as cluster, Ray(2) as backend:
        begin = time.perf_counter()
        backend.map(abs, [1, 2])
        restart = time.perf_counter() - begin
        quiet, undisturbed = train_for_chaos(backend)
        with Chaos(cluster, backend, KILLS, 1.2 * undisturbed / KILLS, cpus=1) as chaos:
            run, seconds = train_for_chaos(backend, chaos.mend)
        same = np.array_equal(run.theta, alone.theta) and np.array_equal(quiet.theta, alone.theta)
        allowed = 2.0 * undisturbed + len(chaos.kills) * restart
        print(f"kills: {chaos.kills.count('worker')} of workers, {chaos.kills.count('node')} of the second node\n")
        print("| | seconds |\n|---|---|")
        print(f"| one process | {one:.1f} |\n| Ray, undisturbed | {undisturbed:.1f} |\n| Ray, killed | {seconds:.1f} |")
        print(f"| to start workers, once | {restart:.1f} |\n| twice undisturbed, and the restarts | {allowed:.1f} |\n")
        print(f"workers lost while they had tasks: {backend.lost}; bits of one process: {'yes' if same else 'NO'}")
        if not same or seconds > allowed or len(chaos.kills) < KILLS:
            raise SystemExit("it did not hold")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shows = {"speed": show_speed, "overhead": show_overhead, "memory": show_memory, "chaos": show_chaos}
    parser.add_argument("what", choices=list(shows))
    shows[parser.parse_args().what]()


if __name__ == "__main__":
    main()

"""How far a training scales on a cluster, worked out from the measured costs of an iteration.

    python benchmarks/scaling.py

A simulation of one iteration: the costs of a map are read from the table in `cluster.md`, which `cluster.py overhead`
printed; everything else is the plan of the backend itself. The process that trains is one line of work: it puts the
parameters into the object store, hands out lots of episodes, at most two to a worker, and takes answers in, one after
the other. Its network carries the parameters once to each machine. Workers play their lots; the length of an episode
varies, evenly between half and one and a half of the mean. What the algorithm does with the answers is not part of it.
"""

import heapq
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from riskgrad.backend.round import DEPTH
from riskgrad.sources.gymnasium.blocks import shrinking_edges

WORKERS = (1, 10, 100, 1000)
PER_MACHINE = 16  # workers of a machine
NETWORK = 1250.0  # MB a second, 10 Gbit/s


@dataclass(frozen=True)
class Costs:
    """What a map costs, in seconds.

    Attributes:
        batch: by itself.
        task: each task.
        given: a megabyte of parameters.
        taken: a megabyte of answers.
    """

    batch: float
    task: float
    given: float
    taken: float


@dataclass(frozen=True)
class Load:
    """What is played in an iteration.

    Attributes:
        name: in the table.
        episodes: how many.
        steps: of an episode, on average.
        step: seconds of a step.
        parameters: megabytes that go to each machine.
        answer: megabytes of each episode that come back.
    """

    name: str
    episodes: int
    steps: int
    step: float
    parameters: float = 0.1
    answer: float = 1.6e-5  # its return and its length


LOADS = (
    Load("1,000 episodes of 100 steps of 100 us", 1000, 100, 1e-4),
    Load("10,000 episodes of 200 steps of 100 us", 10_000, 200, 1e-4),
    Load("10,000 episodes of 200 steps of 1 ms", 10_000, 200, 1e-3),
    Load("the same, and all steps come back", 10_000, 200, 1e-3, answer=200 * 52e-6),
    Load("the same, 8 MB of parameters", 10_000, 200, 1e-3, parameters=8.0),
)


def read_costs(page: Path) -> Costs:
    """Read the costs from the page of `cluster.py`."""
    row = r"^\| (a map of two tasks|each task more|a megabyte.*?) \| ([\d.]+) \|$"
    found = dict(re.findall(row, page.read_text(), re.M))
    batch, task, given, taken = (float(value) / 1e3 for value in found.values())
    return Costs(batch, task, given, taken)


def simulate(load: Load, workers: int, costs: Costs) -> float:
    """Seconds of an iteration.

    Args:
        load: what is played.
        workers: how many.
        costs: of a map.
    """
    dice = np.random.default_rng(0)
    lengths = load.steps * dice.uniform(0.5, 1.5, load.episodes)
    edges = shrinking_edges(load.episodes, workers)
    lots = [float(np.sum(lengths[first:last])) * load.step for first, last in pairwise(edges)]
    sizes = np.diff(edges) * load.answer
    machines = -(-workers // PER_MACHINE)
    now = costs.batch + load.parameters * costs.given
    ready = now + load.parameters * machines / NETWORK  # the last machine has the parameters
    free = [ready] * workers  # when each worker has done what it has
    waiting: list[tuple[float, int, int]] = []  # when an answer comes, of which worker, of which lot
    upcoming = 0
    open_hands = [worker for _ in range(DEPTH) for worker in range(workers)]
    while upcoming < len(lots) or waiting:
        while upcoming < len(lots) and open_hands and not (waiting and waiting[0][0] <= now):
            worker = open_hands.pop(0)
            now += costs.task / 2.0  # half to hand out, half to take in
            free[worker] = max(free[worker], now) + lots[upcoming]
            heapq.heappush(waiting, (free[worker], worker, upcoming))
            upcoming += 1
        come, worker, lot = heapq.heappop(waiting)
        now = max(now, come) + costs.task / 2.0 + float(sizes[lot]) * costs.taken
        open_hands.append(worker)
    return now


def main() -> None:
    costs = read_costs(Path(__file__).with_name("cluster.md"))
    print("| an iteration | " + " | ".join(f"{count:,} worker{'s' if count > 1 else ''}" for count in WORKERS) + " |")
    print("|---" * (len(WORKERS) + 1) + "|")
    for load in LOADS:
        alone = load.episodes * load.steps * load.step
        cells: list[str] = []
        for count in WORKERS:
            seconds = simulate(load, count, costs)
            shown = f"{seconds:.3g}" if seconds < 1000 else f"{seconds:,.0f}"  # not 2e+03
            cells.append(f"{shown} s, {alone / seconds:.3g} x")
        print(f"| {load.name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()

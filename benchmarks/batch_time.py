"""How long an iteration takes at the end of a training, in any version of riskgrad; `learning.py batches` calls it.

Its arguments are a model, a measure and an algorithm, such as two-roads cvar:0.1 critic. It prints the median of the
last 24 iterations of 50,000 episodes, in milliseconds.
"""

import sys
import time
from typing import Any

import numpy as np

import riskgrad as rg

EPISODES, LAST = 50_000, 25


def time_batch(model: str, risk: str, algorithm: str) -> float:
    """Give the milliseconds of an iteration at the end."""
    models: Any = rg.mdp  # they are there in every version
    marks: list[float] = []
    rg.train(
        getattr(models, model.replace("-", "_"))(),
        risk,
        max_episodes=EPISODES,
        algorithm=algorithm,
        callback=lambda *_: marks.append(time.perf_counter()),
    )
    return 1e3 * float(np.median(np.diff(marks[-LAST:])))


if __name__ == "__main__":
    print(time_batch(*sys.argv[1:4]))

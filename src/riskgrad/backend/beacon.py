"""Where a worker process is: what it leaves in shared memory before it calls an environment, for who waits for it.

An environment that hangs inside compiled code may hold its whole process, so that nobody in that process can tell. The
process that waits reads the beacon instead, and ends a worker whose call has not come back in time. The clock is the
system's, the same for all processes.
"""

import time
from typing import Any, NamedTuple


class Place(NamedTuple):
    """What a worker was doing when its time was over.

    Attributes:
        seed: with which the episode was reset.
        step: how many steps had been taken.
        seconds: how long it was waited for.
    """

    seed: int
    step: int
    seconds: float


class Beacon:
    """Four shared numbers: when the call should be over (0: none is watched), how long it may take, seed and step.

    Args:
        context: of multiprocessing, in which the worker is started.
    """

    def __init__(self, context: Any) -> None:
        self._cells = context.RawArray("d", 4)

    def set(self, seconds: float, seed: int, step: int) -> None:
        """Say what is about to be called, and how long it may take."""
        self._cells[1:] = (seconds, seed, step)
        self._cells[0] = time.monotonic() + seconds

    def clear(self) -> None:
        """Say that the call is over."""
        self._cells[0] = 0.0

    def overdue(self) -> Place | None:
        """Give what should be over by now and is not; None if there is nothing."""
        until = self._cells[0]
        if until == 0.0 or time.monotonic() < until:
            return None
        seconds, seed, step = self._cells[1:]
        return Place(int(seed), int(step), seconds)


_mine: list[Beacon] = []


def light(beacon: Beacon) -> None:
    """Make a beacon that of this process, which is a worker."""
    _mine[:] = [beacon]


class Watched:
    """An environment whose calls of `reset` and `step` are watched, where this process is a worker.

    Args:
        env: a Gymnasium environment, single or vector.
        seconds: how long a call may take.
    """

    def __init__(self, env: Any, seconds: float) -> None:
        self._env, self._seconds = env, seconds
        self._seed = self._age = 0

    def reset(self, **how: Any) -> Any:
        """Reset it; a seed begins a new count of steps."""
        if how.get("seed") is not None:
            self._seed, self._age = int(how["seed"]), 0
        return self._call(self._env.reset, **how)

    def step(self, action: Any) -> Any:
        """Take a step."""
        answer = self._call(self._env.step, action)
        self._age += 1
        return answer

    def _call(self, function: Any, *args: Any, **how: Any) -> Any:
        if not _mine:
            return function(*args, **how)
        beacon = _mine[0]
        beacon.set(self._seconds, self._seed, self._age)
        try:
            return function(*args, **how)
        finally:
            beacon.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)

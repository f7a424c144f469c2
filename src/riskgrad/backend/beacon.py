"""A note in shared memory of the call of an environment that a worker process is in.

An environment that hangs inside compiled code may hold its whole process, so that no other thread of it can notice. The
process that waits reads the beacon instead, and ends a worker whose call has not come back in time. The clock is the
system's, the same for all processes. By the same memory the process that waits asks a worker to stop.
"""

import math
import time
from functools import cached_property
from typing import Any, NamedTuple


class EnvCall(NamedTuple):
    """The call of an environment that a worker is in, or was in when it died.

    Attributes:
        seed: the seed with which the episode was reset.
        step: how many steps had been taken.
        seconds: how long the call may take.
    """

    seed: int
    step: int
    seconds: float


class Beacon:
    """Five shared numbers: when the call should be over (0: nothing is called), how long it may take, seed and step.

    The fifth is the signal by which the worker is asked to stop what it trains after the iteration (0: it is not).

    Args:
        context: the context of multiprocessing in which the worker is started.
    """

    def __init__(self, context: Any) -> None:
        self._shared = context.RawArray("d", 5)

    @cached_property
    def _cells(self) -> Any:
        """The numbers in the form that is fastest to write, since a worker writes them at each step."""
        return memoryview(self._shared).cast("B").cast("d")

    def __getstate__(self) -> dict[str, Any]:
        return {"_shared": self._shared}

    def set(self, seconds: float, seed: int, step: int) -> None:
        """Say what is about to be called, and how long it may take."""
        cells = self._cells
        cells[1], cells[2], cells[3] = seconds, seed, step
        cells[0] = time.monotonic() + seconds

    def clear(self) -> None:
        """Say that the call is over."""
        self._cells[0] = 0.0

    def find_overdue(self) -> EnvCall | None:
        """Give the call that should be over by now and is not; None if there is none."""
        return None if time.monotonic() < self._cells[0] else self.find_call()

    def find_call(self) -> EnvCall | None:
        """Give the call that the worker is in, or was in when it died; None if there is none."""
        until, seconds, seed, step = self._cells[:4]
        return None if until == 0.0 else EnvCall(int(seed), int(step), seconds)

    def ask_to_stop(self, number: int) -> None:
        """Ask the worker to stop because of a signal; 0 takes that back."""
        self._cells[4] = number

    def stop_signal(self) -> int:
        """Give the number of the signal by which the worker is asked to stop; 0 if it is not."""
        return int(self._cells[4])


_mine: list[Beacon] = []
_all_calls: list[bool] = [False]


def use_beacon(beacon: Beacon, all_calls: bool = False) -> None:
    """Use a beacon for this process, a worker; it shows all calls, or only those with a time limit."""
    _mine[:], _all_calls[:] = [beacon], [all_calls]


def find_stop_signal() -> int:
    """Give the number of the signal by which this process, a worker, is asked to stop; 0 if it is not."""
    return _mine[0].stop_signal() if _mine else 0


def watch(env: Any, seconds: float | None) -> Any:
    """Give an environment whose calls are watched, if they have a time limit or this process watches all calls."""
    return env if seconds is None and not _all_calls[0] else WatchedEnv(env, math.inf if seconds is None else seconds)


class WatchedEnv:
    """An environment whose calls of `reset` and `step` are watched, where this process is a worker.

    Args:
        env: a Gymnasium environment, single or vector.
        seconds: how long a call may take.
    """

    def __init__(self, env: Any, seconds: float) -> None:
        self._env, self._seconds = env, seconds
        self._seed = self._age = 0

    def reset(self, **how: Any) -> Any:
        """Reset the environment; a seed begins a new count of steps."""
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

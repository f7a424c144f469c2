"""Several trainings that do not wait for each other, shared by processes, with news of each while they run.

Processes are spawned (see `riskgrad.backend`), and end when this one is interrupted. News come back through a queue.
Numbers do not depend on who trains what: a training is a function of its arguments.
"""

import contextlib
import pickle
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from types import TracebackType
from typing import Any, Self

from riskgrad._train import train
from riskgrad.backend import Processes
from riskgrad.checks import check_count
from riskgrad.errors import InputError
from riskgrad.kernels.compile import cores
from riskgrad.run import Run
from riskgrad.run.store import Line
from riskgrad.types import FloatArray

Progress = Callable[[str, Line | None], None]

SECONDS = 0.1  # between two news of a training, at least


@dataclass(frozen=True)
class Training:
    """One call of `rg.train`.

    Attributes:
        label: what it is called in news.
        env: what to train on.
        risk: what to maximize.
        options: more for `rg.train`.
    """

    label: str
    env: Any
    risk: str
    options: Mapping[str, Any]


class Crew:
    """Trains several at once; a context manager, whose processes stay for the next round until its end.

    Args:
        processes: how many trainings at once, each in a process of its own; 1 trains here, one after the other.
        progress: told (label, line) now and then, and (label, None) when a training ends.
    """

    def __init__(self, processes: int = 1, progress: Progress | None = None) -> None:
        self._processes, self._progress = check_count("processes", processes), progress
        self._open = contextlib.ExitStack()
        self._ways: tuple[Processes, Any] | None = None

    def train(self, trainings: Sequence[Training]) -> list[Run]:
        """Train all and give the runs in their order."""
        if self._processes == 1:
            return [_here(one, self._progress) for one in trainings]
        _refuse_unportable(trainings)
        backend, news = self._ways or self._start()
        threads = max(1, cores() // self._processes)
        return backend.map(_there, [(one, news, threads) for one in trainings])

    def _start(self) -> tuple[Processes, Any]:
        manager = self._open.enter_context(get_context("spawn").Manager())
        news = manager.Queue()
        told = threading.Thread(target=_pass_on, args=(news, self._progress), daemon=True)
        told.start()
        # ended in the order opposite to this: the processes, the news that they sent, the manager
        self._open.callback(told.join)
        self._open.callback(news.put, None)
        self._ways = (self._open.enter_context(Processes(self._processes)), news)
        return self._ways

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()


def _refuse_unportable(trainings: Sequence[Training]) -> None:
    for one in trainings:
        try:
            pickle.dumps(one)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            advice = "pass an id, or a class or function of a module; or train with processes=1"
            raise InputError("env", "be found by its name in each process", one.env, advice) from error


def _here(one: Training, progress: Progress | None) -> Run:
    def callback(line: Line, theta: FloatArray) -> None:
        del theta
        if progress is not None:
            progress(one.label, line)

    run = train(one.env, one.risk, callback=callback, progress=False, **one.options)
    if progress is not None:
        progress(one.label, None)
    return run


def _there(task: tuple[Training, Any, int]) -> Run:
    """Train in a process of its own; an iteration's news are sent only if the last ones are a while ago."""
    one, news, threads = task
    last = [0.0]

    def callback(line: Line, theta: FloatArray) -> None:
        del theta
        now = time.monotonic()
        if now - last[0] >= SECONDS:
            last[0] = now
            news.put((one.label, line))

    options: dict[str, Any] = {"threads": threads, **one.options}
    run = train(one.env, one.risk, callback=callback, progress=False, **options)
    news.put((one.label, None))
    return run


def _pass_on(news: "queue.Queue[tuple[str, Line | None] | None]", progress: Progress | None) -> None:
    while (told := news.get()) is not None:
        if progress is not None:
            progress(*told)

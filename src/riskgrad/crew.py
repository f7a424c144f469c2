"""Several independent trainings, shared by the workers of a backend, with news of the progress of each.

A frontier and an experiment are both many trainings on a backend. Numbers do not depend on who trains what: a training
is a function of its arguments. Workers play their environments themselves, one training each. Where a cluster has at
least twice as many workers as there are trainings, the trainings run in this process, one after the other, and the
workers play the episodes of each.

Workers that share a queue with this process send news through it while they train. The first signal asks them to stop:
each finishes its iteration, and writes a checkpoint where its run is kept; a second signal ends them at once. Other
backends give news when they are done, and end their workers at the first signal.
"""

import contextlib
import inspect
import pickle
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.managers import SyncManager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from riskgrad._train import train
from riskgrad.backend import Backend, Serial, parse_backend
from riskgrad.backend.beacon import find_stop_signal
from riskgrad.backend.processes import unnamed_script
from riskgrad.backend.worker import depend_on_parent, holding_signals
from riskgrad.checks import check_path
from riskgrad.errors import InputError, Stopped
from riskgrad.keywords import refuse_keyword_of_train
from riskgrad.run import Run
from riskgrad.run.live_crew import ProgressCallback
from riskgrad.run.stopping import StopRequest, say_if_uncaught, stop_here
from riskgrad.settings import TrainOptions, facts_of
from riskgrad.types import FloatArray, Line

SECONDS = 0.1  # least time between two news of a training


@dataclass(frozen=True)
class Training:
    """One call of `rg.train`.

    Attributes:
        label: what it is called in news.
        env: what to train on.
        risk: what to maximize.
        options: further keywords for `rg.train`.
    """

    label: str
    env: Any
    risk: Any
    options: Mapping[str, Any]


@dataclass(frozen=True)
class _Task:
    """A training for a worker, with the number of its threads and the queue for its news."""

    training: Training
    threads: int
    news: Any = None


def refuse_unknown_options(function: str, call: Callable[..., Any], training: Mapping[str, Any]) -> None:
    """Refuse keywords that neither a function of several trainings nor `rg.train`, to which it passes them, has.

    Args:
        function: as the user writes it, such as "rg.frontier".
        call: the function.
        training: the keywords that it passes on.
    """
    known, own = facts_of(TrainOptions), inspect.signature(call).parameters
    if not {*known, *own} >= training.keys():
        refuse_keyword_of_train(training, known, function, own)


def find_folder(folder: str | Path | None, resume: str | Path | None) -> Path | None:
    """Give the folder that keeps several trainings, of two arguments of which one may be given; None for none."""
    if folder is not None and resume is not None:
        raise InputError("folder and resume", "not both be given", str(resume), "resume= alone begins or goes on")
    if resume is not None:
        return check_path("resume", resume)
    return None if folder is None else check_path("folder", folder)


class Crew:
    """Several trainings at once, on one backend whose workers stay for further rounds; a context manager.

    Args:
        backend: who trains: "processes:4", or a backend; None or "serial" trains here, one after the other. A backend
            that a string names is closed with the crew; one that is given as an object stays open.
        progress: called with (label, line) now and then, and with (label, None) when a training ends.
    """

    def __init__(self, backend: str | Backend | None = None, progress: ProgressCallback | None = None) -> None:
        self._backend = parse_backend(backend) if isinstance(backend, str) else backend or Serial()
        self._owned, self._progress = isinstance(backend, str), progress
        self._open = contextlib.ExitStack()
        self._news: Any = None

    def train(self, trainings: Sequence[Training]) -> list[Run]:
        """Train all and give the runs in their order."""
        if not self._backend.sends_work:
            return self._train_in_turn(trainings)
        _refuse_unportable(trainings, self._backend)
        threads = self._backend.threads
        if not self._backend.shares_queues:
            if 2 * len(trainings) <= self._backend.workers:
                given = {"backend": self._backend}
                return self._train_in_turn([replace(one, options={**given, **one.options}) for one in trainings])
            runs = self._backend.map(_train_there, [_Task(one, threads) for one in trainings])
            for one in trainings:
                if self._progress is not None:
                    self._progress(one.label, None)
            return runs
        try:
            with StopRequest(self._backend.ask_to_stop) as stop:
                news = self._news or self._open_queue()
                runs = self._backend.map(_train_there, [_Task(one, threads, news) for one in trainings])
        finally:
            self._backend.ask_to_stop(0)  # takes the request back, since the backend may have more to do
        if stop.signal:
            raise say_if_uncaught(Stopped(_say_how_far(trainings, runs, stop.signal), stop.signal))
        return runs

    def _train_in_turn(self, trainings: Sequence[Training]) -> list[Run]:
        """Train one after the other, in this process."""
        runs: list[Run] = []
        for one in trainings:
            try:
                runs.append(_train_here(one, self._progress))
            except Stopped as stopped:
                words = _say_how_far(trainings, runs, stopped.signal)
                raise say_if_uncaught(Stopped(words, stopped.signal, stopped.run)) from stopped
        return runs

    def _open_queue(self) -> Any:
        manager = SyncManager(ctx=get_context("spawn"))
        with unnamed_script(), holding_signals():
            manager.start(depend_on_parent)
        self._open.enter_context(manager)
        news = self._news = manager.Queue()
        telling = threading.Thread(target=_pass_on, args=(news, self._progress), daemon=True)
        telling.start()
        # ended in the order opposite to this: the workers, the news that they sent, the manager
        self._open.callback(telling.join)
        self._open.callback(news.put, None)
        return news

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._owned:
            self._backend.close()
        self._open.close()


def _refuse_unportable(trainings: Sequence[Training], backend: Backend) -> None:
    for one in trainings:
        try:
            backend.dumps(one)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            advice = "pass an id, or a class or function of a module; or train here, with backend='serial'"
            raise InputError("env", "be found by its name in each process", one.env, advice) from error


def _train_here(one: Training, progress: ProgressCallback | None) -> Run:
    def callback(line: Line, theta: FloatArray) -> None:
        del theta
        if progress is not None:
            progress(one.label, line)

    run = train(one.env, one.risk, callback=callback, progress=False, **one.options)
    if progress is not None:
        progress(one.label, None)
    return run


def _train_there(task: _Task) -> Run:
    """Train in a worker until it is asked to stop; news are sent only if the last ones are a while ago."""
    one, news, last = task.training, task.news, [0.0]

    def callback(line: Line, theta: FloatArray) -> None:
        del theta
        if asked := find_stop_signal():
            stop_here(asked)
        now = time.monotonic()
        if news is not None and now - last[0] >= SECONDS:
            last[0] = now
            news.put((one.label, line))

    _refuse_other_disk(one.options.get("resume"))
    options: dict[str, Any] = {"threads": task.threads, "backend": "serial", **one.options}
    try:
        run = train(one.env, one.risk, callback=callback, progress=False, **options)
    except Stopped as stopped:
        return stopped.run
    if news is not None:
        news.put((one.label, None))
    return run


def _say_how_far(trainings: Sequence[Training], runs: Sequence[Run | None], signal: str) -> str:
    done = sum(run is not None and run.finished for run in runs)
    is_kept = any(one.options.get("resume") for one in trainings)
    advice = "pass resume= to go on" if is_kept else "nothing is kept without folder="
    return f"stopped by {signal} with {done} of {len(trainings)} trainings finished; {advice}"


def _refuse_other_disk(folder: str | Path | None) -> None:
    """Refuse a folder on a disk that only the machine that began the trainings can see."""
    if folder is not None and not any(place.is_dir() for place in Path(folder).parents[:2]):
        rule = "be on a disk that each machine of the cluster sees"
        raise InputError("folder", rule, str(folder), "or train without a folder, and save the runs")


def _pass_on(news: "queue.Queue[tuple[str, Line | None] | None]", progress: ProgressCallback | None) -> None:
    while (one := news.get()) is not None:
        if progress is not None:
            progress(*one)

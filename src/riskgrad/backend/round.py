"""One round of work on a cluster: tasks are given to actors, answers collected, and lost tasks done again."""

import contextlib
import importlib
import pickle
import time
from collections.abc import Callable
from typing import Any, Final

from riskgrad.backend.processes import LOOK
from riskgrad.backend.supervisor import find_versions
from riskgrad.backend.worker import CallError, RemoteTraceback
from riskgrad.errors import EpisodeError, InputError, WorkerError

DEPTH: Final = 2  # tasks of a worker at once: one that it does and one that waits
START: Final = 600.0  # seconds without any worker before giving up; clusters take minutes to grow
MOST_LOSSES: Final = 20  # workers that may die on one task, which as a rule is not at fault
GONE: Final = "its worker or machine died, or was taken away"


class RemoteActor:
    """A worker as it is seen from here: its handle, and the numbers of its tasks by the references to their answers."""

    def __init__(self, handle: Any, beginning: Any) -> None:
        self.handle, self.beginning = handle, beginning
        self.tasks: dict[Any, int] = {}
        self.process = 0  # its number, once it has begun

    @property
    def ready(self) -> bool:
        """Whether it has begun."""
        return self.process > 0


class Round:
    """One call of `map`: its tasks, and which worker does which.

    Args:
        actors: who does them; those that die are taken off the list.
        start: puts more of them on the list, as many as there should be.
        work: the number of the map, where the work is and where its parcels are, as `Supervisor.do` takes them.
        tasks: pickled.
        retries: how often a task that failed is done again.
        lost: called for each worker that died.
    """

    def __init__(
        self,
        actors: list[RemoteActor],
        start: Callable[[], None],
        work: tuple[int, Any, Any],
        tasks: list[bytes],
        retries: int,
        lost: Callable[[], None],
    ) -> None:
        self.ray, self.actors, self.start, self.work = import_ray(), actors, start, work
        self.tasks, self.retries, self.lost = tasks, retries, lost
        self.answers: list[Any] = [None] * len(tasks)
        self.open = list(range(len(tasks)))  # tasks that no worker has
        self.tries, self.losses = [0] * len(tasks), [0] * len(tasks)
        self.failed: dict[int, tuple[Exception, str]] = {}
        self.busy_until = time.monotonic() + START
        self.refused = 0  # workers that did not begin since the last one that did

    def play(self) -> list[Any]:
        """Hand the tasks out in their order and take the answers in; of several errors raise that of the first task."""
        while self.open or any(actor.tasks for actor in self.actors):
            if self.open:
                self.start()
                self._hand_out()
            self._take_in()
        if self.failed:
            error, trace = self.failed[min(self.failed)]
            raise error from RemoteTraceback(trace)
        return self.answers

    def _hand_out(self) -> None:
        for depth in range(1, DEPTH + 1):  # one for each, before anyone gets a second one
            for actor in self.actors:
                if self.open and actor.ready and len(actor.tasks) < depth:
                    index = self.open.pop(0)
                    answer = actor.handle.do.remote(*self.work, self.tasks[index], self.tries[index] > 0)
                    actor.tasks[answer] = index

    def _take_in(self) -> None:
        """Wait a while for answers, and for workers that begin."""
        owners: dict[Any, RemoteActor] = {actor.beginning: actor for actor in self.actors if not actor.ready}
        owners |= {answer: actor for actor in self.actors for answer in actor.tasks}
        found, _ = self.ray.wait(list(owners), num_returns=1, timeout=LOOK)
        if found and len(owners) > 1:
            found, _ = self.ray.wait(list(owners), num_returns=len(owners), timeout=0)
        for answer in found:
            actor = owners[answer]
            if actor in self.actors:  # it may have died with another answer
                self._take(actor, answer)
        if any(actor.ready for actor in self.actors):
            self.busy_until = time.monotonic() + START
        elif time.monotonic() > self.busy_until:
            raise WorkerError(f"the cluster gave no worker within {START:g} s; each needs one processor")

    def _take(self, actor: RemoteActor, answer: Any) -> None:
        try:
            content = self.ray.get(answer)
        except self.ray.exceptions.RayError as error:
            self._bury(actor, error)
            return
        if not actor.ready:
            actor.process, versions = content
            self.refused = 0
            _refuse_other_versions(versions)
            return
        index = actor.tasks.pop(answer)
        fine, found, trace = pickle.loads(content)  # noqa: S301 - pickled by a process that was started for this
        if fine:
            self.answers[index] = found
            return
        if isinstance(found, CallError):
            found = CallError(index, found.place, found.reason)
        if isinstance(found, CallError | EpisodeError):
            self._try_again(index, found, trace, self.tries, self.retries)
        else:
            self._fail(index, found, trace)

    def _bury(self, actor: RemoteActor, error: Exception) -> None:
        """Take a worker that died off the list, and do its tasks again."""
        self.actors.remove(actor)
        kill(actor)
        if not actor.ready:
            self.refused += 1
            if self.refused > (1 + self.retries) * (1 + len(self.actors)):
                words = " ".join(str(error).split())
                advice = "riskgrad has to be installed on each machine of the cluster"
                raise WorkerError(f"workers cannot begin on the cluster; {advice}: {words}") from error
            return
        self.lost()
        for place, index in enumerate(actor.tasks.values()):
            if place == 0:  # the one that it did; the other had not begun
                self._try_again(index, CallError(index, None, GONE), str(error), self.losses, MOST_LOSSES)
            elif not self.failed:
                self.open.insert(0, index)

    def _try_again(self, index: int, error: Exception, trace: str, counts: list[int], most: int) -> None:
        counts[index] += 1
        if counts[index] > most:
            self._fail(index, error, trace)
        elif not self.failed:
            self.open.insert(0, index)

    def _fail(self, index: int, error: Exception, trace: str) -> None:
        self.failed[index] = (error, trace)
        self.open.clear()  # begin no more; an earlier task that is in progress may fail too


def import_ray() -> Any:
    """Import Ray; say how to install it where it is missing."""
    try:
        ray: Any = importlib.import_module("ray")
        for name in ("ray.exceptions", "cloudpickle"):
            importlib.import_module(name)
    except ImportError as error:
        advice = "pip install 'riskgrad[ray]'"
        raise InputError("backend", "be installed", "ray", advice) from error
    return ray


def _refuse_other_versions(found: dict[str, str]) -> None:
    """Refuse a worker whose numbers may differ in the last bit."""
    for name, ours in find_versions().items():
        if found[name] != ours:
            advice = "install the same versions on each machine, since bits depend on them"
            raise WorkerError(f"a worker has {name} {found[name]}, this process {ours}; {advice}")


def kill(actor: RemoteActor) -> None:
    """End a worker at once."""
    ray = import_ray()
    with contextlib.suppress(ray.exceptions.RayError, ValueError):
        ray.kill(actor.handle)

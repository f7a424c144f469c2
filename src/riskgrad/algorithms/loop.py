"""What every algorithm shares around its iteration: the record, checkpoints, held-out looks, theta_R, polite stopping.

An algorithm is a function from (k, policy_k, theta_k, memory) to the next ones. Everything it draws is keyed by the
seed and k, so the loop can stop after any iteration and go on later, to the bit. The policy stays the same, unless
observations are normalized: then its statistics move (see `observing`), and a theta means something only with those
that were in force at it. They are kept with each theta that is kept.

- theta_R of the paper (R uniform on theta_0 .. theta_{N-1}) is kept by a reservoir of one: theta_k replaces it with
  probability 1 / (k + 1), so that an interrupted run has one as well.
- The best iterate is chosen by held-out episodes at up to 5 iterates, the first and the last among them. They are
  never those used for a step, and they count in the cost.
"""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from riskgrad.algorithms.state import Iterate, State, resumed
from riskgrad.ascent import Memory
from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.random import Purpose, Stream
from riskgrad.run import Run
from riskgrad.run.callbacks import Callback, tell
from riskgrad.run.recipes import describe, plain_number
from riskgrad.run.record import Line, plain
from riskgrad.run.result import from_facts
from riskgrad.run.signals import StopRequest
from riskgrad.run.store import Store, opened
from riskgrad.types import FloatArray

CHECKPOINT_SECONDS = 5.0


class Keeping(TypedDict, total=False):
    """What every algorithm takes besides its own arguments.

    Attributes:
        folder: keep the record and checkpoints of a new run there.
        resume: the same, but go on with the run that the folder holds, if it does.
        callback: called after each iteration with its line and the new theta; stops the run by returning True. Or
            several of them; see `riskgrad.run.callbacks`.
        checkpoint_seconds: least time between two checkpoints; 0 makes one after every iteration.
        about: more to keep with the settings, by name; what JSON can hold.
    """

    folder: str | Path | None
    resume: str | Path | None
    callback: Callback | Sequence[Callback] | None
    checkpoint_seconds: float
    about: Mapping[str, Any]


@dataclass(frozen=True)
class Iteration:
    """What one iteration gives.

    Attributes:
        policy: what acts by theta_{k+1}.
        theta: theta_{k+1} [d].
        memory: what the ascent remembers.
        line: what to record: risk, mean, gradient_norm, gradient_error, ess, events.
        episodes: how many episodes were sampled.
        returns: of the episodes behind it, as they were played, for callbacks; None where there are none.
    """

    policy: Policy
    theta: FloatArray
    memory: Memory
    line: Mapping[str, Any]
    episodes: int
    returns: FloatArray | None = None


@dataclass(frozen=True)
class Judge:
    """How iterates are compared, by episodes that no step has used.

    Attributes:
        value: (policy, theta [d]) -> estimate of the risk; not finite where the episodes cannot tell, and then not
            chosen.
        first: episodes sampled by the first look.
        later: episodes sampled by each later look.
    """

    value: Callable[[Policy, FloatArray], float]
    first: int
    later: int


@dataclass(frozen=True)
class Course:
    """A whole run of an algorithm, before it begins.

    Attributes:
        iterate: (k, policy_k, theta_k, memory) -> what follows.
        judge: how iterates are compared; None takes the last one.
        looks: the iterations k at which theta_k is judged.
        theta: theta_0 [d].
        memory: what the ascent remembers at the beginning.
        iterations: N.
        seed: the run's seed.
        policy: what theta is for, as it was given.
        begin: gives the policy that acts by theta_0, and how many episodes it took to find its statistics.
        settings: everything above by name, as JSON can hold it.
        notes: what a reader of the result must know.
    """

    iterate: Callable[[int, Policy, FloatArray, Memory], Iteration]
    judge: Judge | None
    looks: frozenset[int]
    theta: FloatArray
    memory: Memory
    iterations: int
    seed: int
    policy: Policy
    begin: Callable[[], tuple[Policy, int]]
    settings: dict[str, Any]
    notes: tuple[str, ...]


def follow(
    course: Course,
    *,
    folder: str | Path | None = None,
    resume: str | Path | None = None,
    callback: Callback | Sequence[Callback] | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    about: Mapping[str, Any] | None = None,
) -> Run:
    """Run an algorithm from where it is to its end, or to where it is stopped.

    Args:
        course: the run.
        folder: keep the record and checkpoints of a new run there.
        resume: the same, but go on with the run that the folder holds, if it does.
        callback: called after each iteration with its line and the new theta; stops the run by returning True.
            Several are called in turn.
        checkpoint_seconds: least time between two checkpoints.
        about: more to keep with the settings, by name.

    Returns:
        the run so far.
    """
    settings = _json({**course.settings, **(about or {})})
    with opened(folder, resume, settings) as store, StopRequest() as stop:
        state = _restored(course, store)
        saved, saved_at = (state.iteration if state.iteration else None), time.monotonic()
        while state.iteration < course.iterations and not stop.name:
            began = time.monotonic()
            line, returns = _advance(course, state)
            now = time.monotonic()
            if store is not None:
                store.write(line, now - began)
            if store is not None and now - saved_at >= checkpoint_seconds:
                store.checkpoint(state.iteration, state.arrays(), state.facts(settings))
                saved, saved_at = state.iteration, now
            if tell(callback, line, state.now.theta, returns):
                break
        ended = _finish(course, state)
        if store is not None and (ended or saved != state.iteration):
            store.checkpoint(state.iteration, state.arrays(), state.facts(settings))
    return from_facts(state.arrays(), {**state.facts(settings), "history": state.history}, course.policy)


def _json(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Give the settings as they are read back from a file."""
    try:
        return json.loads(json.dumps(dict(settings), allow_nan=False, default=_number))
    except (TypeError, ValueError) as error:
        raise InputError("about", "hold what JSON can hold", str(error)) from error


def _number(value: object) -> Any:
    """Give the plain number that a numpy scalar is."""
    found = plain_number(value)
    if found is value:
        raise TypeError(f"{describe(value)} is not among them")
    return found


def _restored(course: Course, store: Store | None) -> State:
    if store is None or store.found is None:
        policy, cost = course.begin()
        first = Iterate(policy, course.theta)
        return State(first, course.memory, first, first, episodes=cost, notes=list(course.notes))
    return resumed(course.policy, store.found, store.history)


def _advance(course: Course, state: State) -> tuple[Line, FloatArray | None]:
    """Do iteration k: judge theta_k, keep it as theta_R by chance, and step to theta_{k+1}; give line and returns."""
    k = state.iteration
    held_out = _look(course, state) if k in course.looks else None
    if Stream(course.seed, Purpose.RESERVOIR, k).generator().random() < 1.0 / (k + 1):
        state.random = state.now
    step = course.iterate(k, *state.now, state.memory)
    state.now, state.memory = Iterate(step.policy, step.theta), step.memory
    state.episodes += step.episodes
    state.iteration = k + 1
    line = plain({"iteration": k, **step.line, "held_out": held_out, "episodes": state.episodes})
    state.history.append(line)
    return line, step.returns


def _look(course: Course, state: State) -> float | None:
    """Judge the current theta by held-out episodes and keep it if it is the best so far."""
    if course.judge is None:
        return None
    cost = course.judge.later if state.held_out_episodes else course.judge.first
    value = course.judge.value(*state.now)
    state.episodes += cost
    state.held_out_episodes += cost
    if not math.isfinite(value):
        return None
    # at equal value the later one, which has had more steps
    if state.best_value is None or value >= state.best_value:
        state.best, state.best_value = state.now, value
    return value


def _finish(course: Course, state: State) -> bool:
    """Judge the last iterate if all iterations are done; tell whether that was done now."""
    ended = state.iteration == course.iterations and not state.finished
    if ended:
        _look(course, state)
        state.finished = True
    if course.judge is None:
        state.best = state.now
    return ended

"""The loop around an algorithm: the record, checkpoints, held-out judging, theta_R, polite stopping.

Everything that a step draws is keyed by the seed and k, so the loop can stop after any iteration and go on later, to
the bit. The policy stays the same, unless observations are normalized: then its statistics move (see `normalization`),
and a theta means something only with those that were in force at it. They are kept with each theta that is kept.

theta_R of the paper (R uniform on theta_0 .. theta_{N-1}) is kept by a reservoir of one: theta_k replaces it with
probability 1 / (k + 1), so that an interrupted run has one as well.
"""

import math
import time

from riskgrad.random import Purpose, Stream
from riskgrad.run import Run
from riskgrad.run.callbacks import tell
from riskgrad.run.record import Line, round_trip
from riskgrad.run.result import run_from_facts
from riskgrad.run.signals import StopRequest
from riskgrad.run.store import Store, open_store
from riskgrad.settings import Settings, TrainOptions
from riskgrad.training.algorithm import State
from riskgrad.training.judging import Judge, find_judge, judged_iterations
from riskgrad.training.normalization import first_policy
from riskgrad.training.plan import Plan
from riskgrad.training.progress import Iterate, Progress, read_progress
from riskgrad.types import FloatArray


def run_training(plan: Plan, settings: Settings, options: TrainOptions) -> Run:
    """Run an algorithm from where it is to its end, or to where it is stopped.

    Args:
        plan: the problem and the algorithm.
        settings: what is kept of what the run was asked to do.
        options: where it is kept, and who is told.

    Returns:
        the run so far.
    """
    problem = plan.problem
    judge = find_judge(problem, plan.held_out, plan.algorithm.ess_floor)
    with open_store(options.folder, options.resume, settings) as store, StopRequest() as stop:
        progress = _begin(plan, store)
        done = progress.state.iteration
        saved, saved_at = (done if done else None), time.monotonic()
        while progress.state.iteration < problem.iterations and not stop.name:
            began = time.monotonic()
            line, returns = _advance(plan, judge, progress)
            now, done = time.monotonic(), progress.state.iteration
            if store is not None:
                store.write(line, now - began)
            if store is not None and now - saved_at >= options.checkpoint_seconds:
                store.checkpoint(done, progress.arrays(), progress.facts(settings))
                saved, saved_at = done, now
            if tell(options.callback, line, progress.state.theta, returns):
                break
        ended = _finish(plan, judge, progress)
        done = progress.state.iteration
        if store is not None and (ended or saved != done):
            store.checkpoint(done, progress.arrays(), progress.facts(settings))
    facts = {**progress.facts(settings), "history": progress.history}
    return run_from_facts(progress.arrays(), facts, problem.policy)


def _begin(plan: Plan, store: Store | None) -> Progress:
    problem = plan.problem
    if store is not None and store.found is not None:
        return read_progress(problem.policy, store.found, store.history)
    policy, cost = first_policy(problem)
    first = Iterate(policy, problem.theta)
    state = State(0, policy, problem.theta, problem.ascent.start(problem.dim))
    return Progress(state, first, first, episodes=cost, notes=list(problem.notes))


def _advance(plan: Plan, judge: Judge | None, progress: Progress) -> tuple[Line, FloatArray | None]:
    """Do iteration k: judge theta_k, keep it as theta_R by chance, and step to theta_{k+1}; give line and returns."""
    problem, k = plan.problem, progress.state.iteration
    held_out = _judge(judge, progress) if k in judged_iterations(problem.iterations) else None
    if Stream(problem.seed, Purpose.RESERVOIR, k).generator().random() < 1.0 / (k + 1):
        progress.random = progress.now
    progress.state, info = plan.algorithm.step(problem, progress.state)
    progress.episodes += info.episodes
    line = round_trip({"iteration": k, **info.line, "held_out": held_out, "episodes": progress.episodes})
    progress.history.append(line)
    return line, info.returns


def _judge(judge: Judge | None, progress: Progress) -> float | None:
    """Judge the current theta by held-out episodes and keep it if it is the best so far."""
    if judge is None:
        return None
    cost = judge.later if progress.held_out_episodes else judge.first
    value = judge.value(*progress.now)
    progress.episodes += cost
    progress.held_out_episodes += cost
    if not math.isfinite(value):
        return None
    # at equal value the later one, which has had more steps
    if progress.best_value is None or value >= progress.best_value:
        progress.best, progress.best_value = progress.now, value
    return value


def _finish(plan: Plan, judge: Judge | None, progress: Progress) -> bool:
    """Judge the last iterate if all iterations are done; tell whether that was done now."""
    ended = progress.state.iteration == plan.problem.iterations and not progress.finished
    if ended:
        _judge(judge, progress)
        progress.finished = True
    if judge is None:
        progress.best = progress.now
    return ended

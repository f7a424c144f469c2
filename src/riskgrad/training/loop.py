"""The loop around an algorithm: the record, checkpoints, held-out judging, theta_R, polite stopping.

Everything that a step draws is keyed by the seed and k, so the loop can stop after any iteration and go on later, to
the bit. The policy stays the same, unless observations are normalized: then its statistics move (see `normalization`),
and a theta means something only with those that were in force at it. They are kept with each theta that is kept.

theta_R of the paper (R uniform on theta_0 .. theta_{N-1}) is kept by a reservoir of one: theta_k replaces it with
probability 1 / (k + 1), so that an interrupted run has one as well.

Which iterate is the best is judged by held-out episodes, which no step has used and which count in the cost: at up to 5
iterates, the first and the last among them. Where the current policy acts, an iterate plays fresh episodes of its own,
with the same random numbers for all, so that they compare well. Elsewhere one held-out batch of the policy that acts is
reweighted for each iterate.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from riskgrad.policy import Policy
from riskgrad.random import Purpose, Stream
from riskgrad.run import Run
from riskgrad.run.callbacks import StopRequest, tell
from riskgrad.run.result import current_versions, run_from_facts
from riskgrad.run.store import Line, Store, open_store, round_trip
from riskgrad.settings import TrainOptions
from riskgrad.training.normalization import first_policy
from riskgrad.training.plan import Plan, judged_iterations
from riskgrad.training.problem import Problem
from riskgrad.training.progress import Iterate, Progress, read_progress
from riskgrad.types import Episodes, FloatArray
from riskgrad.weights import log_ratios, ratios_from_logs, worth


@dataclass(frozen=True)
class Judge:
    """How iterates are compared.

    Attributes:
        value: (policy, theta [d]) -> estimate of the risk; not finite where the episodes say too little, and then not
            chosen.
        first: episodes sampled when the first iterate is judged.
        later: episodes sampled for each later one.
    """

    value: Callable[[Policy, FloatArray], float]
    first: int
    later: int


def run_training(plan: Plan, options: TrainOptions) -> Run:
    """Run an algorithm from where it is to its end, or to where it is stopped.

    Args:
        plan: the problem and the algorithm.
        options: where it is kept, and who is told.

    Returns:
        the run so far.
    """
    problem, settings = plan.problem, plan.settings
    judge = find_judge(problem, plan.held_out, plan.algorithm.ess_floor)
    versions = current_versions()
    with open_store(options.folder, options.resume, settings) as store, StopRequest() as stop:
        progress = _start_or_resume(plan, store, versions)
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
        facts, arrays, done = progress.facts(settings), progress.arrays(), progress.state.iteration
        if store is not None and (ended or saved != done):
            store.checkpoint(done, arrays, facts)
    return run_from_facts(arrays, {**facts, "history": progress.history}, problem.policy)


def _start_or_resume(plan: Plan, store: Store | None, versions: dict[str, str]) -> Progress:
    problem, state, cost = plan.problem, plan.start, 0
    if store is not None and store.found is not None:
        return read_progress(problem.policy, store.found, store.history, versions)
    if problem.normalize:
        policy, cost = first_policy(problem, state.theta)
        state = replace(state, policy=policy)
    first = Iterate(state.policy, state.theta)
    return Progress(state, first, first, episodes=plan.pilot + cost, notes=list(problem.notes), versions=versions)


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


def find_judge(problem: Problem, episodes: int, floor: float) -> Judge | None:
    """Give the judge of a run; None where no episode is held out.

    Args:
        problem: what is maximized.
        episodes: held-out episodes.
        floor: least effective sample size, as a part of them, where they are reweighted.
    """
    if episodes == 0:
        return None
    apart = problem.batches.apart
    if apart is not None:
        return Judge(_judge_by_weights(problem, apart, floor), 0 if problem.batches.logged is not None else episodes, 0)

    def value(policy: Policy, theta: FloatArray) -> float:
        stream = Stream(problem.seed, Purpose.HELD_OUT)
        returns = problem.source.returns(policy, theta[np.newaxis], episodes, stream)
        return float(problem.risk.estimate(returns.values)[0])

    return Judge(value, episodes, episodes)


def _judge_by_weights(
    problem: Problem, apart: Callable[[Policy], Episodes], floor: float
) -> Callable[[Policy, FloatArray], float]:
    drawn: list[Episodes] = []

    def value(policy: Policy, theta: FloatArray) -> float:
        if not drawn:
            drawn.append(apart(policy))
        logs = log_ratios(policy, theta[np.newaxis], drawn[0])
        if worth(logs)[0] < floor * len(drawn[0].values):
            return float("nan")
        return float(problem.risk.estimate(drawn[0].values, ratios_from_logs(logs)[0]))

    return value

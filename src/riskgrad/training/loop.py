"""The loop around an algorithm: the record, checkpoints, held-out judging, theta_R, polite stopping.

Everything that a step draws is keyed by the seed and k, so the loop can stop after any iteration and go on later, to
the bit. The policy stays the same, unless observations are normalized: then its statistics move (see `normalization`),
and a theta means something only with those that were in force at it. They are kept with each theta that is kept.

theta_R of the paper (R uniform on theta_0 .. theta_{N-1}) is kept by a reservoir of one: theta_k replaces it with
probability 1 / (k + 1), so that an interrupted run has one as well.

Which iterate is the best is judged by held-out episodes, which no step has used and which count in the cost: at up to 5
iterates, the first and the last among them. Where the current policy acts, an iterate plays fresh episodes of its own,
with the same random numbers for all, so that they compare well. Elsewhere one held-out batch of the policy that acts is
reweighted for each iterate. An algorithm that sharpens compares late iterates only, and has held-out episodes choose
how sharp the best of them is (see `sharpness`).
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from riskgrad.critic.log import StepLog
from riskgrad.policy import Policy
from riskgrad.random import Purpose, Stream
from riskgrad.run import Run
from riskgrad.run.callbacks import StopRequest, tell
from riskgrad.run.result import Look, current_versions, run_from_facts
from riskgrad.run.store import Line, Store, open_store, round_trip
from riskgrad.settings import TrainOptions
from riskgrad.training.normalization import first_policy
from riskgrad.training.plan import Plan, judged_iterations
from riskgrad.training.problem import Problem
from riskgrad.training.progress import Iterate, Progress, read_progress
from riskgrad.training.sharpness import sharpen
from riskgrad.types import Episodes, FloatArray
from riskgrad.weights import log_ratios, ratios_from_logs, worth


@dataclass(frozen=True)
class Judge:
    """Who compares iterates.

    Attributes:
        look: (policy, theta [d]) -> what held-out episodes say; None where they say too little.
        first: episodes sampled when the first iterate is judged.
        later: episodes sampled for each later one.
    """

    look: Callable[[Policy, FloatArray], Look | None]
    first: int
    later: int


def find_judge(problem: Problem, floor: float) -> Judge | None:
    """Give the judge of a run; None where no episode is held out.

    Args:
        problem: what is maximized.
        floor: least effective sample size, as a part of the held-out episodes, where they are reweighted.
    """
    if problem.look_size == 0:
        return None
    apart = problem.batches.apart
    if apart is not None:
        first = 0 if problem.batches.logged is not None else problem.look_size
        return Judge(_look_by_weights(problem, apart, floor), first, 0)

    def look(policy: Policy, theta: FloatArray) -> Look:
        return problem.look_at(problem.play_held_out(policy, theta))

    return Judge(look, problem.look_size, problem.look_size)


def _look_by_weights(
    problem: Problem, apart: Callable[[Policy], Episodes], floor: float
) -> Callable[[Policy, FloatArray], Look | None]:
    """Give how iterates are judged by episodes of another policy, which are drawn when the first one is."""
    risk, drawn = problem.risk, list[Episodes]()

    def look(policy: Policy, theta: FloatArray) -> Look | None:
        if not drawn:
            drawn.append(apart(policy))
        values, logs = drawn[0].values, log_ratios(policy, theta[np.newaxis], drawn[0])
        if worth(logs)[0] < floor * len(values):
            return None
        weights = ratios_from_logs(logs)[0]
        mean = float(np.sum(weights * values) / np.sum(weights))
        return Look(float(risk.estimate(values, weights)), mean, values, weights)

    return look


def run_training(plan: Plan, options: TrainOptions) -> Run:
    """Run an algorithm from where it is to its end, or to where it is stopped.

    Args:
        plan: the problem and the algorithm.
        options: where it is kept, and who is told.

    Returns:
        the run so far.
    """
    problem, settings = plan.problem, plan.settings
    judge = find_judge(problem, plan.algorithm.ess_floor)
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
                store.checkpoint(done, progress.arrays(), progress.facts(settings), progress.state.log)
                saved, saved_at = done, now
            if tell(options.callback, line, progress.state.theta, returns):
                break
        ended = _finish(plan, judge, progress)
        facts, arrays, done = progress.facts(settings), progress.arrays(), progress.state.iteration
        if store is not None and (ended or saved != done):
            store.checkpoint(done, arrays, facts, progress.state.log)
    return run_from_facts(arrays, {**facts, "history": progress.history}, problem.policy)


def _start_or_resume(plan: Plan, store: Store | None, versions: dict[str, str]) -> Progress:
    problem, state, cost = plan.problem, plan.start, 0
    log = StepLog(*plan.log_sizes) if plan.log_sizes is not None else None
    if store is not None and store.found is not None:
        if log is not None:
            store.read_log(log)
        return read_progress(problem.policy, store.found, store.history, versions, log)
    state = replace(state, log=log)
    if problem.normalize:
        policy, cost = first_policy(problem, state.theta)
        state = replace(state, policy=policy)
    first = Iterate(state.policy, state.theta)
    return Progress(state, first, first, episodes=plan.pilot + cost, remarks=list(problem.notes), versions=versions)


def _advance(plan: Plan, judge: Judge | None, progress: Progress) -> tuple[Line, FloatArray | None]:
    """Do iteration k: judge theta_k, keep it as theta_R by chance, and step to theta_{k+1}; give line and returns."""
    problem, k = plan.problem, progress.state.iteration
    held_out = judge_iterate(judge, progress) if k in judged_iterations(problem, plan.algorithm) else None
    if Stream(problem.seed, Purpose.RESERVOIR, k).generator().random() < 1.0 / (k + 1):
        progress.random = progress.now
    progress.state, info = plan.algorithm.step(problem, progress.state)
    progress.episodes += info.episodes + info.looked
    progress.held_out_episodes += info.looked
    progress.remarks += info.notes
    line = round_trip({"iteration": k, **info.line, "held_out": held_out, "episodes": progress.episodes})
    progress.history.append(line)
    return line, info.returns


def judge_iterate(judge: Judge | None, progress: Progress) -> float | None:
    """Judge the current theta; keep it if it is the best so far, by the risk, and at equal risk by the mean."""
    if judge is None:
        return None
    cost = judge.later if progress.held_out_episodes else judge.first
    look, best = judge.look(*progress.now), progress.best_look
    progress.episodes += cost
    progress.held_out_episodes += cost
    if look is None or not math.isfinite(look.risk):
        return None
    if best is None or (look.risk, look.mean) >= (best.risk, best.mean):
        progress.best, progress.best_look = progress.now, look
    return look.risk


def _finish(plan: Plan, judge: Judge | None, progress: Progress) -> bool:
    """Judge the last iterate if all iterations are done; tell whether that was done now."""
    ended = progress.state.iteration == plan.problem.iterations and not progress.finished
    if ended:
        if judge is not None and plan.algorithm.sharpens and plan.settings.schedule != "paper":
            sharpen(plan.problem, progress)
        else:
            judge_iterate(judge, progress)
        progress.finished = True
    if judge is None:
        progress.best = progress.now
    return ended

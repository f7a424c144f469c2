"""The loop around an algorithm: the record, checkpoints, held-out judging, theta_R, patience, stopping on signals.

All random numbers of a step are keyed by the seed and k, so the loop can stop after any iteration and go on later with
the same bits. The policy stays the same, unless observations are normalized: then its statistics move (see
`normalization`), and a theta has a meaning only together with its statistics. Both are kept together.

theta_R of the paper (R uniform on theta_0 .. theta_{N-1}) is kept by a reservoir of one: theta_k replaces it with
probability 1 / (k + 1), so that an interrupted run has one as well.

The best iterate is chosen by held-out episodes, which no step has used and which count in the cost. At most 5
iterates are judged, the first and the last among them. Where the current policy acts, each iterate plays fresh
episodes, with the same random numbers for all, so that differences show clearly. Otherwise one held-out batch of the
policy that acts is reweighted for each iterate. An algorithm that sharpens compares late iterates only, and held-out
episodes also choose how sharp the kept policy is (see `sharpness`).

When a run is stopped before its end, its last iterate is judged before the best is chosen. This judgment is in the run
that is returned, and in the last checkpoint for `rg.load`. A resumed run ignores it, and ends as if it had never been
stopped.
"""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from riskgrad.critic.log import StepLog
from riskgrad.errors import Stopped
from riskgrad.policy import Policy
from riskgrad.random import Purpose, Stream, current_versions
from riskgrad.run import Run
from riskgrad.run.callbacks import Callback, Watcher
from riskgrad.run.result import Judgment, run_from_facts
from riskgrad.run.stopping import StopRequest, say_if_uncaught
from riskgrad.run.store import Store, open_store
from riskgrad.settings import TrainOptions
from riskgrad.training.normalization import first_policy
from riskgrad.training.plan import LEAST_HELD_OUT, Plan, judged_iterations
from riskgrad.training.problem import Problem
from riskgrad.training.progress import Iterate, Progress, has_converged, read_progress
from riskgrad.training.sharpness import sharpen
from riskgrad.types import Episodes, FloatArray, Line, round_trip
from riskgrad.weights import log_ratios, ratios_from_logs, worth


@dataclass(frozen=True)
class Judge:
    """How iterates are judged, and what that costs.

    Attributes:
        rule: (policy, theta [d]) -> what held-out episodes say; None where they say too little.
        first: episodes sampled when the first iterate is judged.
        later: episodes sampled when a later iterate is judged.
    """

    rule: Callable[[Policy, FloatArray], Judgment | None]
    first: int
    later: int


def find_judge(problem: Problem, floor: float) -> Judge | None:
    """Give the judge of a run; None where no episode is held out.

    Args:
        problem: what is maximized.
        floor: least effective sample size, as a part of the held-out episodes, where they are reweighted.
    """
    if problem.judging_episodes == 0:
        return None
    apart = problem.batches.apart
    if apart is not None:
        first = 0 if problem.batches.logged is not None else problem.judging_episodes
        return Judge(_judge_by_weights(problem, apart, floor), first, 0)

    def judge(policy: Policy, theta: FloatArray) -> Judgment:
        return problem.judge_returns(problem.play_held_out(policy, theta))

    return Judge(judge, problem.judging_episodes, problem.judging_episodes)


def _judge_by_weights(
    problem: Problem, apart: Callable[[Policy], Episodes], floor: float
) -> Callable[[Policy, FloatArray], Judgment | None]:
    """Give the rule that judges iterates by episodes of another policy, drawn when the first iterate is judged."""
    risk, drawn = problem.risk, list[Episodes]()

    def judge(policy: Policy, theta: FloatArray) -> Judgment | None:
        if not drawn:
            drawn.append(apart(policy))
        values, logs = drawn[0].values, log_ratios(policy, theta[np.newaxis], drawn[0])
        if worth(logs)[0] < floor * len(values):
            return None
        weights = ratios_from_logs(logs)[0]
        mean = float(np.sum(weights * values) / np.sum(weights))
        return Judgment(float(risk.estimate(values, weights)), mean, values, weights)

    return judge


def run_training(plan: Plan, options: TrainOptions, callbacks: Sequence[Callback], stop: StopRequest) -> Run:
    """Run an algorithm from where it is to its end, or to where it is stopped.

    Args:
        plan: the problem and the algorithm.
        options: where the run is kept, and how often a checkpoint is written.
        callbacks: what is called after each iteration, and may end the run.
        stop: notes the signals that ask the run to stop.

    Returns:
        the run, at its end or where a callback ended it; after a signal `Stopped` is raised with the run so far.
    """
    judge = find_judge(plan.problem, plan.algorithm.ess_floor)
    kept = options.folder is not None or options.resume is not None
    with open_store(options.folder, options.resume, plan.settings) if kept else nullcontext() as store:
        progress = _start_or_resume(plan, store, current_versions())
        saved, saved_at, asked = progress.state.iteration or None, time.monotonic(), False
        try:
            while not (_is_done(plan, progress) or asked or stop.signal):
                began = time.monotonic()
                progress, line, returns = _advance(plan, judge, progress)
                now, done = time.monotonic(), progress.state.iteration
                if store is not None:
                    store.write(line, now - began)
                if store is not None and now - saved_at >= options.checkpoint_seconds:
                    _keep(plan, store, progress)
                    saved, saved_at = done, now
                asked = _call_back(callbacks, line, progress.state.theta, returns)
            ended = _finish(plan, judge, progress)
            if store is not None and (ended or saved != progress.state.iteration):
                _keep(plan, store, progress)
            handed = progress if progress.finished else _judge_stopped(plan, judge, progress, stop.signal)
            if store is not None and handed is not progress:
                _keep(plan, store, progress, handed)
        except Stopped as stopped:
            if stopped.run is None:
                note = f"{stopped}; the iterate that it was stopped at was not judged"
                stopped.run = _hand_back(plan, options, replace(progress, remarks=[*progress.remarks, note]))
            raise
    run = stop.run = _hand_back(plan, options, handed)
    if stop.signal:
        raise say_if_uncaught(Stopped(_say_why(plan, progress, stop.signal), stop.signal, run))
    return run


def _call_back(callbacks: Sequence[Callback], line: Line, theta: FloatArray, returns: FloatArray | None) -> bool:
    """Call the callbacks of an iteration; say whether one of them asks the run to stop."""
    answers: list[bool] = []
    for one in callbacks:
        if returns is not None and isinstance(one, Watcher):
            one.returns(returns)
        answers.append(one(line, theta) is True)
    return any(answers)


def _keep(plan: Plan, store: Store, progress: Progress, handed: Progress | None = None) -> None:
    """Write a checkpoint; where the run that is handed back differs from the state to go on from, add it."""
    arrays, facts = progress.arrays(), progress.facts(plan.settings)
    if handed is not None:
        arrays, facts = {**arrays, **handed.handed_arrays()}, {**facts, **handed.handed_facts()}
    store.checkpoint(progress.state.iteration, arrays, facts, progress.state.log)


def _say_why(plan: Plan, progress: Progress, signal: str) -> str:
    by = signal or "a callback"
    return f"stopped by {by} after {progress.state.iteration:,} of {plan.problem.iterations:,} iterations"


def _judge_stopped(plan: Plan, judge: Judge | None, progress: Progress, signal: str) -> Progress:
    """Give a copy of the progress in which the last iterate is judged; the given progress stays as it is."""
    handed = replace(progress, remarks=list(progress.remarks))
    if judge is not None and judge.later:
        # a large budget plans many held-out episodes; a stop plays no more of them than the training did so far
        most = max(LEAST_HELD_OUT, progress.episodes - progress.held_out_episodes)
        problem = replace(plan.problem, judging_episodes=min(plan.problem.judging_episodes, most))
        judge = find_judge(problem, plan.algorithm.ess_floor)
    judge_iterate(judge, handed)
    used = handed.held_out_episodes - progress.held_out_episodes
    by = f"; {used} more held-out episodes judged the last iterate" if used else ""
    handed.remarks.append(f"{_say_why(plan, progress, signal)}{by}")
    return handed


def _hand_back(plan: Plan, options: TrainOptions, progress: Progress) -> Run:
    """Give the run that a user gets."""
    facts, history = progress.facts(plan.settings), progress.history[: progress.state.iteration]
    problem = plan.problem
    run = run_from_facts(progress.arrays(), {**facts, "history": history}, problem.policy, problem.risk)
    return replace(run, given_options=options.env_options)


def _start_or_resume(plan: Plan, store: Store | None, versions: dict[str, str]) -> Progress:
    problem, state, cost = plan.problem, plan.start, 0
    log = StepLog(*plan.log_sizes) if plan.log_sizes is not None else None
    if store is not None and store.found is not None:
        if log is not None:
            store.read_log(log)
        return read_progress(problem.policy, store.found, store.history, versions, log)
    notes = problem.notes
    doubt = problem.source.find_unseeded(state.policy, state.theta, Stream(problem.seed, Purpose.CHECKING))
    state = replace(state, log=log)
    if problem.normalize:
        policy, cost = first_policy(problem, state.theta)
        state = replace(state, policy=policy)
    first = Iterate(state.policy, state.theta)
    remarks = [*notes, doubt] if doubt else list(notes)
    return Progress(state, first, first, episodes=plan.pilot + cost, remarks=remarks, versions=versions)


def _is_done(plan: Plan, progress: Progress) -> bool:
    """Say whether all iterations are done, or the run has converged by its patience."""
    patience, history = plan.settings.patience, progress.history[: progress.state.iteration]
    return progress.state.iteration >= plan.problem.iterations or has_converged(history, patience)


def _advance(plan: Plan, judge: Judge | None, before: Progress) -> tuple[Progress, Line, FloatArray | None]:
    """Do iteration k: judge theta_k, keep it as theta_R by chance, and step to theta_{k+1}; give line and returns.

    `before` stays usable if a signal interrupts: of what it holds, only the history is shared, and its readers ignore
    lines beyond their own iteration.
    """
    problem, k = plan.problem, before.state.iteration
    progress = replace(before, remarks=list(before.remarks))
    held_out = judge_iterate(judge, progress) if k in judged_iterations(problem, plan.algorithm) else None
    if Stream(problem.seed, Purpose.RESERVOIR, k).generator().random() < 1.0 / (k + 1):
        progress.random = progress.now
    progress.state, info = plan.algorithm.step(problem, progress.state)
    progress.episodes += info.episodes + info.judging_episodes
    progress.held_out_episodes += info.judging_episodes
    progress.remarks += info.notes
    progress.remarks += [note for note in problem.source.notes if note not in progress.remarks]
    line = round_trip({"iteration": k, **info.line, "held_out": held_out, "episodes": progress.episodes})
    progress.history.append(line)
    return progress, line, info.returns


def judge_iterate(judge: Judge | None, progress: Progress) -> float | None:
    """Judge the current theta and give its risk; keep it if it is the best by the risk, at equal risk by the mean."""
    if judge is None:
        return None
    cost = judge.later if progress.held_out_episodes else judge.first
    found, best = judge.rule(*progress.now), progress.best_judgment
    progress.episodes += cost
    progress.held_out_episodes += cost
    if found is None or not math.isfinite(found.risk):
        return None
    if best is None or (found.risk, found.mean) >= (best.risk, best.mean):
        progress.best, progress.best_judgment = progress.now, found
    return found.risk


def _finish(plan: Plan, judge: Judge | None, progress: Progress) -> bool:
    """Judge the last iterate if the run is done and this was not done before; say whether it was done now."""
    ended = _is_done(plan, progress) and not progress.finished
    if ended:
        done, planned = progress.state.iteration, plan.problem.iterations
        if done < planned:
            words = f"{plan.settings.risk} no longer rose, with a patience of {plan.settings.patience:,}"
            progress.remarks.append(f"stopped after {done:,} of {planned:,} iterations: {words}")
        if judge is not None and plan.algorithm.sharpens and plan.settings.schedule != "paper":
            sharpen(plan.problem, progress)
        else:
            judge_iterate(judge, progress)
        progress.finished = True
    if judge is None:
        progress.best = progress.now
    return ended

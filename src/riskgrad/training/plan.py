"""From options to a problem: what is not given is settled by the rules beside the options.

A budget in episodes settles m as well as N. Many rough steps lead further than few exact ones: with 2,000 episodes and
the usual batch of 400 a run has four iterations, and learns next to nothing. So m is lowered until there is room for
80 iterations, as far as the measure allows: its tail must hold an episode or two.
"""

import math
from dataclasses import dataclass
from typing import Final

from riskgrad.ascent import parse_ascent
from riskgrad.checks import check_theta
from riskgrad.errors import InputError
from riskgrad.paths import find_way
from riskgrad.policy import Policy
from riskgrad.random import Purpose, Stream
from riskgrad.risk import RiskMeasure
from riskgrad.settings import Options, TrainOptions, default_of, facts_of
from riskgrad.sources import LoggedEpisodes, Source
from riskgrad.theory import schedule as theorem
from riskgrad.training.algorithm import Algorithm, Circumstances
from riskgrad.training.batches import choose_batches
from riskgrad.training.judging import HELD_OUT_SHARE, count_held_out, judged_iterations
from riskgrad.training.normalization import check_normalizable, first_cost
from riskgrad.training.problem import Problem

LEAST_ITERATIONS: Final = 80  # a budget that allows fewer with the usual m makes m smaller
LEAST_IN_TAIL: Final = 2  # episodes that a small budget leaves in the tail of each estimate
UNKNOWN_SLOPE: Final = 10.0  # stands for M_g' where the measure is no distortion, or has no bound
STEP: Final = 0.1  # of Adam
LAYERED_STEP: Final = 0.4  # longest step of a network, over all parameters, which multiply one another
CERTAIN_STEP: Final = 0.3  # the same for a policy that draws nothing: within the ball over which OnP-SF averages


@dataclass(frozen=True)
class Plan:
    """A training with nothing left to decide.

    Attributes:
        problem: what the algorithm is given.
        algorithm: with all of its options.
        held_out: episodes by which an iterate is judged.
    """

    problem: Problem
    algorithm: Algorithm
    held_out: int


def plan_training(
    source: Source, policy: Policy, risk: RiskMeasure, algorithm: Algorithm, options: TrainOptions
) -> Plan:
    """Settle every option, and check what can be checked before the first episode."""
    facts, schedule = facts_of(Options), options.schedule
    iterations = options.iterations or default_of(facts["iterations"], schedule)
    theorem_plan = theorem(iterations) if schedule == "paper" else None
    bonus = options.entropy
    if bonus is None:
        bonus = default_of(facts["entropy"], schedule, policy.has_density)
    is_log = isinstance(source, LoggedEpisodes)
    if is_log and not algorithm.takes_log:
        raise InputError("algorithm", "learn from logged episodes", algorithm.name, "try 'offp-sf' or 'score'")
    circumstances = Circumstances(
        schedule=schedule,
        plan=theorem_plan,
        dim=policy.dim,
        has_density=policy.has_density,
        slope=find_slope(risk),
        has_bonus=bonus > 0.0,
        max_episodes=options.max_episodes,
        is_log=is_log,
    )
    filled = algorithm.fill_options(circumstances)
    cost = filled.episodes * filled.count_estimates(bonus > 0.0)
    if options.max_episodes is not None:
        iterations = afford_iterations(options, cost, first_cost(options.normalize, policy))
    if options.normalize:
        check_normalizable(source, policy, filled.takes_log)
    held_out = count_held_out(options.held_out, iterations, cost)
    step_size = options.step_size
    if step_size is None:
        given = theorem_plan if schedule == "paper" else usual_step(policy)
        step_size = default_of(facts["step_size"], schedule, given)
    first = Stream(options.seed, Purpose.INITIAL).generator()
    theta = options.theta
    start = policy.initial_theta(first) if theta is None else check_theta(theta, policy.dim).copy()
    problem = Problem(
        source=source,
        policy=policy,
        theta=start,
        way=find_way(options.risk_path, risk, schedule),
        ascent=parse_ascent(step_size),
        iterations=iterations,
        seed=options.seed,
        entropy=float(bonus),
        normalize=options.normalize,
        batches=choose_batches(source, filled, start, options.seed, held_out),
    )
    return Plan(problem, filled, held_out)


def usual_step(policy: Policy) -> float:
    """Give the length of Adam's step: shorter where parameters multiply one another, or where no action is drawn."""
    step = min(STEP, LAYERED_STEP / math.sqrt(policy.dim)) if policy.layered else STEP
    return step if policy.has_density else min(step, CERTAIN_STEP / math.sqrt(policy.dim))


def find_slope(risk: RiskMeasure) -> float:
    """Give how many episodes a measure needs to show itself: the largest weight M_g' of one, over that of the mean."""
    if risk.attitude == "neutral":
        return 1.0
    slope = math.inf if risk.function is None else risk.function.slope_bound
    return max(1.0, slope) if math.isfinite(slope) else UNKNOWN_SLOPE


def afford_episodes(case: Circumstances, algorithm: Algorithm, usual: int) -> int:
    """Give m: the usual one, or fewer where a budget in episodes would leave few iterations.

    Args:
        case: the circumstances, with the budget.
        algorithm: with the options before this one.
        usual: m without a budget.
    """
    if case.max_episodes is None:
        return usual
    estimates = algorithm.count_estimates(case.has_bonus)
    room = int(case.max_episodes / (1.0 + HELD_OUT_SHARE) / (LEAST_ITERATIONS * estimates))
    return min(usual, max(room, math.ceil(LEAST_IN_TAIL * case.slope), algorithm.least_episodes))


def afford_iterations(options: TrainOptions, cost: int, first: int) -> int:
    """Give N for a budget in episodes.

    Args:
        options: with the budget and the held-out episodes.
        cost: episodes of one iteration.
        first: episodes before the first iteration.
    """
    budget = options.max_episodes or 0

    def total(count: int) -> int:
        judged = len(judged_iterations(count)) + 1
        return first + count * cost + judged * count_held_out(options.held_out, count, cost)

    count = budget // cost
    while count >= 1 and total(count) > budget:
        count = min(count - 1, int(count * budget / total(count)))
    if count < 1:
        rule = f"allow one iteration and the episodes that judge it, {total(1)} episodes"
        raise InputError("max_episodes", rule, budget)
    return count

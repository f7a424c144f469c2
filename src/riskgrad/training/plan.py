"""From options to a problem: options that are not given get the defaults or rules written beside them.

A budget in episodes determines both m and N. Many rough steps lead further than few exact ones: with 2,000 episodes and
the usual batch of 400 a run has four iterations, and learns next to nothing. So m is lowered until there is room for
80 iterations, as far as the measure allows: its tail must hold an episode or two.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from riskgrad.ascent import Ascent, parse_ascent
from riskgrad.checks import plain_number
from riskgrad.errors import InputError
from riskgrad.paths import LevelPath, MeasurePath, choose_path, choose_paths
from riskgrad.policy import Policy
from riskgrad.random import Purpose, Stream
from riskgrad.risk import RiskMeasure
from riskgrad.settings import Options, Settings, TrainOptions, default_of, facts_of
from riskgrad.sources import Source
from riskgrad.theory import Schedule
from riskgrad.theory import schedule as schedule_of_theorem
from riskgrad.training.algorithm import TIMES_JUDGED, Algorithm, Circumstances, Defaults, State, choose_algorithm
from riskgrad.training.normalization import FIRST_EPISODES, check_normalizable, first_cost
from riskgrad.training.problem import Problem, choose_batches
from riskgrad.types import Choice, FloatArray, States, describe, digest

AUTO: Final = "auto"
LATE: Final = 0.8  # the part of a run after which a late iterate is judged, to be compared with the last one
LEAST_HELD_OUT: Final = 100  # the fewest episodes by which an iterate is judged
HELD_OUT_SHARE: Final = 0.1  # all judging episodes of a run, as a part of those for training
LEAST_ITERATIONS: Final = 80  # a budget that allows fewer with the usual m makes m smaller
LEAST_IN_TAIL: Final = 2  # episodes that a small budget leaves in the tail of each estimate
PILOT_EPISODES: Final = 400  # to which memory of the return is fitted
PILOT_SHARE: Final = 0.1  # the largest part of a budget that a pilot takes
LEAST_OF_PILOT: Final = 20  # the fewest episodes of a pilot
UNKNOWN_SLOPE: Final = 10.0  # stands for M_g' where the measure is no distortion, or has no bound
STEP: Final = 0.1  # step size of Adam
LAYERED_STEP: Final = 0.4  # norm of Adam's step for a network, at most: its parameters multiply one another
CERTAIN_STEP: Final = 0.3  # the same for a deterministic policy: within the ball over which OnP-SF averages


@dataclass(frozen=True)
class Plan:
    """A training with all of its options settled.

    Attributes:
        problem: what the algorithm is given.
        algorithm: the algorithm, with all of its options.
        start: where the ascent begins, before observations are normalized.
        settings: what the run was asked to do, in the form that a file can hold.
        log_sizes: states, actions and horizon of the log of steps; None for an algorithm that keeps none.
        pilot: how many episodes were played already to fit the policy's memory.
    """

    problem: Problem
    algorithm: Algorithm
    start: State
    settings: Settings
    log_sizes: tuple[int, int, int] | None = None
    pilot: int = 0


def _measure_length(source: Source, policy: Policy, theta: FloatArray, seed: int) -> float:
    """Give the mean length of 20 episodes of the untrained policy, the same that give the first statistics."""
    stream = Stream(seed, Purpose.OBSERVING)
    return float(np.mean(source.returns(policy, theta[np.newaxis], FIRST_EPISODES, stream).lengths))


def plan_training(
    source: Source,
    policy: Policy,
    theta: FloatArray,
    path: MeasurePath,
    options: TrainOptions,
    known: Settings,
    pilot: int = 0,
) -> Plan:
    """Make the plan of a training: settle every option, and check what can be checked before the first iteration.

    Args:
        source: where episodes come from.
        policy: what is trained.
        theta: theta_0 [d].
        path: the path to the named measure.
        options: the options as they were given.
        known: the settings that are known already: the measure, the environment and the policy.
        pilot: how many episodes were played already to fit the policy's memory.
    """
    given = choose_algorithm(options.algorithm, path.risk, policy, source, options.schedule)
    defaults = Defaults() if options.schedule == "paper" else given.defaults_for(source.gives)
    rescales = defaults.rescales if options.normalize == AUTO else bool(options.normalize)
    if options.risk_path == AUTO and defaults.levels is not None and path.risk.bad_tail is not None:
        path = choose_path(LevelPath(defaults.levels), path.risk, options.schedule)
    has_states, bonus = isinstance(source.gives, States), _find_bonus(policy, options)
    iterations = options.iterations or default_of(facts_of(Options)["iterations"], options.schedule)
    theorem = schedule_of_theorem(iterations) if options.schedule == "paper" else None
    if source.logged is not None and not given.takes_log:
        raise InputError("algorithm", "learn from logged episodes", given.name, "try 'offp-sf' or 'score'")
    algorithm = given.fill_options(_find_circumstances(source, policy, theta, path, options, theorem, bonus > 0.0))
    if rescales:
        check_normalizable(source, policy, given.needs_steps or given.takes_log)
    cost = algorithm.episodes * algorithm.count_estimates(bonus > 0.0)
    if options.max_episodes is not None:
        iterations = afford_iterations(options, cost, pilot + first_cost(rescales, policy), algorithm, has_states)
    judgments, least = algorithm.count_judgments(iterations, has_states), least_held_out(algorithm, has_states)
    held_out = count_held_out(options.held_out, iterations, cost, judgments, least)
    ascent = _find_ascent(policy, defaults.step, options, theorem)
    known = replace(known, start=digest(theta), step_size=describe(ascent))
    start = State(0, policy, theta, ascent.start(policy.dim))
    races = algorithm.races and has_states
    problem = Problem(
        source=source,
        policy=policy,
        path=path,
        paths=choose_paths(options.risk_path, path.risk, options.schedule) if races else (path,),
        judging_episodes=held_out,
        judgments=judgments,
        start=theta,
        ascent=ascent,
        iterations=iterations,
        seed=options.seed,
        threads=options.threads,
        entropy=bonus,
        normalize=rescales,
        batches=choose_batches(source, policy, algorithm, theta, options.seed, held_out),
    )
    known = _complete_settings(known, problem, algorithm, **_describe_options(options, given))
    return Plan(problem, algorithm, start, known, _find_log_sizes(algorithm, source), pilot)


def _find_circumstances(
    source: Source,
    policy: Policy,
    theta: FloatArray,
    path: MeasurePath,
    options: TrainOptions,
    theorem: Schedule | None,
    has_bonus: bool,
) -> Circumstances:
    """Give what the rules for an algorithm's defaults may depend on."""
    return Circumstances(
        schedule=options.schedule,
        theorem=theorem,
        dim=policy.dim,
        has_density=policy.has_density,
        slope=find_slope(path.risk),
        has_bonus=has_bonus,
        max_episodes=options.max_episodes,
        is_log=source.logged is not None,
        source=source,
        measure_length=lambda: _measure_length(source, policy, theta, options.seed),
    )


def _find_log_sizes(algorithm: Algorithm, source: Source) -> tuple[int, int, int] | None:
    """Give states, actions and horizon of the log that an algorithm learns from; None for one that needs none."""
    if algorithm.needs_steps and isinstance(source.gives, States) and isinstance(source.takes, Choice):
        return source.gives.n, source.takes.n, source.horizon or 0
    return None


def _find_bonus(policy: Policy, options: TrainOptions) -> float:
    """Give the bonus for random actions at the start of the run: as given, or by its rule."""
    if options.entropy is not None:
        return float(options.entropy)
    return default_of(facts_of(Options)["entropy"], options.schedule, policy.has_density)


def _find_ascent(policy: Policy, step: float | None, options: TrainOptions, theorem: Schedule | None) -> Ascent:
    """Give the ascent: as given, or by its rule."""
    if options.step_size is not None:
        return parse_ascent(options.step_size)
    length = usual_step(policy) if step is None else step
    return parse_ascent(default_of(facts_of(Options)["step_size"], options.schedule, theorem or length))


def _complete_settings(known: Settings, problem: Problem, algorithm: Algorithm, **others: Any) -> Settings:
    """Add to the known settings the options that were settled with the problem and the algorithm, and others."""
    return replace(
        known,
        algorithm=algorithm.name,
        own=algorithm.options(),
        risk_path=str(problem.path) if len(problem.paths) == 1 else AUTO,
        entropy=problem.entropy,
        held_out=problem.judging_episodes,
        normalize=problem.normalize,
        iterations=problem.iterations,
        **others,
    )


def _describe_options(options: TrainOptions, algorithm: Algorithm) -> dict[str, Any]:
    """Give the settings that no rule decides, in the form that a file can hold, and the names of all options given."""
    env_options, env_options_text = describe_env_options(options.env_options)
    usual, own, usual_own = TrainOptions(), algorithm.options(), type(algorithm)().options()
    given = [name for name in facts_of(Options) if getattr(options, name) != getattr(usual, name)]
    given += [name for name, value in own.items() if value != usual_own[name]]
    as_given = ("horizon", "discount", "schedule", "patience")
    return {
        **{name: getattr(options, name) for name in as_given},
        "env_options": env_options,
        "env_options_text": env_options_text,
        "seed": int(options.seed),
        "given": tuple(given),
    }


def describe_env_options(options: Mapping[str, Any] | None) -> tuple[dict[str, Any] | None, str | None]:
    """Give an environment's options as they are where a file can hold them, otherwise in words."""
    if options is None:
        return None, None
    plain = {name: plain_number(value) for name, value in options.items()}
    try:
        if json.loads(json.dumps(plain, allow_nan=False)) == plain:
            return plain, None
    except (TypeError, ValueError):
        pass
    return None, ", ".join(f"{name}={describe(value)}" for name, value in options.items())


def usual_step(policy: Policy) -> float:
    """Give the step size of Adam: smaller where parameters multiply one another, or where the policy draws nothing."""
    step = min(STEP, LAYERED_STEP / math.sqrt(policy.dim)) if policy.layered else STEP
    return step if policy.has_density else min(step, CERTAIN_STEP / math.sqrt(policy.dim))


def find_slope(risk: RiskMeasure) -> float:
    """Give about how many episodes it takes to tell a measure from the mean: M_g', the largest slope of its g."""
    if risk.attitude == "neutral":
        return 1.0
    slope = math.inf if risk.function is None else risk.function.slope_bound
    return max(1.0, slope) if math.isfinite(slope) else UNKNOWN_SLOPE


def afford_episodes(case: Circumstances, algorithm: Algorithm, usual: int) -> int:
    """Give m: the usual one, or fewer where a budget in episodes would leave few iterations.

    Args:
        case: the circumstances, with the budget.
        algorithm: the algorithm, with the options of the fields before `episodes`.
        usual: m without a budget.
    """
    if case.max_episodes is None:
        return usual
    estimates = algorithm.count_estimates(case.has_bonus)
    room = int(case.max_episodes / (1.0 + HELD_OUT_SHARE) / (LEAST_ITERATIONS * estimates))
    return min(usual, max(room, math.ceil(LEAST_IN_TAIL * case.slope), algorithm.least_episodes))


def afford_iterations(options: TrainOptions, cost: int, first: int, algorithm: Algorithm, has_states: bool) -> int:
    """Give N for a budget in episodes.

    Args:
        options: the options, with the budget and the number of held-out episodes.
        cost: episodes of one iteration.
        first: episodes before the first iteration.
        algorithm: the algorithm, which says how often iterates are judged.
        has_states: whether observations are states.
    """
    budget = options.max_episodes or 0

    def total(count: int) -> int:
        judged = algorithm.count_judgments(count, has_states)
        least = least_held_out(algorithm, has_states)
        return first + count * cost + judged * count_held_out(options.held_out, count, cost, judged, least)

    count = budget // cost
    while count >= 1 and total(count) > budget:
        count = min(count - 1, int(count * budget / total(count)))
    if count < 1:
        rule = f"allow one iteration and the episodes that judge it, {total(1)} episodes"
        advice = f"pass max_episodes={total(1)}, better {10 * total(1)} or more"
        raise InputError("max_episodes", rule, budget, advice)
    return count


def afford_pilot(options: TrainOptions) -> int:
    """Give the episodes of a pilot, to which memory is fitted: the usual ones, or fewer on a small budget."""
    budget = options.max_episodes
    most = PILOT_EPISODES if budget is None else int(PILOT_SHARE * budget)
    return max(LEAST_OF_PILOT, min(PILOT_EPISODES, most))


def judged_iterations(problem: Problem, algorithm: Algorithm) -> frozenset[int]:
    """Give the iterations at which iterates are judged; the last iterate is judged when the run ends."""
    iterations = problem.iterations
    if algorithm.sharpens:
        return frozenset([int(LATE * iterations)] if problem.judgments > 1 else [])
    count = min(TIMES_JUDGED, iterations)
    return frozenset(j * iterations // count for j in range(count))


def least_held_out(algorithm: Algorithm, has_states: bool) -> int:
    """Give the fewest episodes by which an iterate is judged: 100, or one batch where a critic learns from vectors."""
    return LEAST_HELD_OUT if has_states or not algorithm.needs_steps else algorithm.episodes


def count_held_out(given: int | None, iterations: int, cost: int, judgments: int, least: int) -> int:
    """Give the episodes by which an iterate is judged: as given, or a share of those for training.

    Args:
        given: the number that the user gave, or None.
        iterations: N.
        cost: episodes of one iteration.
        judgments: how often iterates are judged.
        least: the fewest episodes of one judgment.
    """
    share = HELD_OUT_SHARE * iterations * cost / judgments
    return default_of(facts_of(Options)["held_out"], "practical", share, least) if given is None else given

"""`rg.train`: from an environment and a risk measure to a trained policy, with defaults that need no tuning.

What it picks: a finite model gives the compiled sampler and a softmax over a table; `algorithm="auto"` is the score
algorithm where the measure has an influence, OffP-SF, which needs estimates only, where it has none, and OnP-SF for a
policy without a density, which can be neither scored nor reweighted. On the way to the named measure it follows a path
from a milder one and adds an entropy bonus that fades (see `riskgrad.algorithms`); the run says so in its notes. With
`schedule="paper"` there is no path, no bonus and one step per batch.
"""

import contextlib
import inspect
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import Any, Final, Literal, Unpack

from numpy.typing import ArrayLike

from riskgrad.algorithms import PRACTICAL, offp_sf, onp_sf, score_ascent
from riskgrad.algorithms.loop import Keeping
from riskgrad.algorithms.observing import first_cost
from riskgrad.algorithms.path import RiskPath, SquarePath
from riskgrad.algorithms.problem import held_out_size, looks, whole
from riskgrad.algorithms.schedule import ScheduleName, affordable_episodes, default_numbers
from riskgrad.ascent import Ascent
from riskgrad.backend import Patient, Processes
from riskgrad.errors import InputError, UnknownNameError
from riskgrad.kernels.compile import cores
from riskgrad.policy import Policy
from riskgrad.policy.base import POLICIES
from riskgrad.risk import RiskMeasure, parse
from riskgrad.run import Run
from riskgrad.run.recipes import describe, kept_options, written
from riskgrad.sources.base import Source
from riskgrad.sources.fit import make_policy
from riskgrad.sources.gymnasium.source import GymnasiumSource
from riskgrad.sources.resolve import Environment, closing, resolve_source

ALGORITHMS: Final[Mapping[str, Callable[..., Run]]] = {"onp_sf": onp_sf, "offp_sf": offp_sf, "score": score_ascent}


def train(
    env: Environment,
    risk: str | RiskMeasure,
    *,
    algorithm: str = "auto",
    iterations: int | None = None,
    max_episodes: int | None = None,
    policy: Policy | str | None = None,
    horizon: int | None = None,
    discount: float | None = None,
    env_options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    processes: int | None = None,
    normalize: bool = False,
    schedule: ScheduleName = "practical",
    step_size: float | str | Ascent | None = None,
    smoothing: float | None = None,
    directions: int | None = None,
    episodes: int | None = None,
    steps_per_batch: int | None = None,
    risk_path: RiskPath | Literal["auto"] | None = "auto",
    entropy: float | None = None,
    seed: int = 0,
    theta: ArrayLike | None = None,
    held_out: int | None = None,
    **keeping: Unpack[Keeping],
) -> Run:
    """Train a policy on the risk of its return.

    Args:
        env: a Gymnasium id, a class or factory, an environment, a finite model, or a source of episodes.
        risk: a risk measure, or a string such as "cvar:0.1".
        algorithm: "auto", "onp_sf", "offp_sf" or "score".
        iterations: the budget in iterations; 200 if neither budget is given.
        max_episodes: the budget in episodes instead, held-out ones included; never exceeded.
        policy: what is trained, or its name: "table", "linear", "mlp" or "deterministic"; by default a softmax over a
            table for a finite model, and a linear policy elsewhere.
        horizon: largest number of steps of an episode, for a Gymnasium environment; by default its own limit.
        discount: gamma in (0, 1], for a Gymnasium environment; 1 by default.
        env_options: options for `gymnasium.make`, the class or the factory.
        threads: for a finite model or a compiled environment; the result does not depend on it.
        processes: how many processes play a Gymnasium environment; they are ended with the training, and the result
            does not depend on their number. By default this process, until playing has taken some seconds, and from
            then on one for each core, where they can make the environment (see `riskgrad.backend.Patient`). For another
            engine than processes of this machine give `env` as a source, `GymnasiumSource(env, backend=...)`.
        normalize: whether the policy sees observations less their mean, over their spread, from statistics of what was
            seen in the first half of the run; see `riskgrad.algorithms.observing`. For observations whose coordinates
            differ much in scale.
        schedule: "practical", or "paper" for the schedule of the main theorem.
        step_size: a number is a constant step; or an ascent, such as `Adam(0.1)`, or its name, "adam:0.1".
        smoothing: mu in (0, 1], of the two SF algorithms.
        directions: n, of the two SF algorithms.
        episodes: m, of each estimate or batch; by default fewer where `max_episodes` is small.
        steps_per_batch: most ascent steps on one batch, of `offp_sf` and `score`.
        risk_path: the part of the run over which the measure goes from the mean to the named one; None for no path.
            "auto" is a `SquarePath`, which starts from the worse of two episodes.
        entropy: the bonus at the start, in standard deviations of the return.
        seed: the run's seed.
        theta: where to start [d]; by default what the policy starts from, mostly zeros.
        held_out: episodes of each look at an iterate; None for a tenth of the training, 0 takes the last iterate.
        keeping: `folder`, `resume`, `callback`, `checkpoint_seconds`; see `riskgrad.algorithms.loop.Keeping`.

    Returns:
        the run: the policy, its parameters, the history and the exact cost in episodes.
    """
    measure = parse(risk)
    with _played(env, horizon, discount, env_options, threads, processes) as source:
        trained = policy if isinstance(policy, Policy) else make_policy(source, policy)
        name = _algorithm(algorithm, measure, trained)
        plain = schedule == "paper"
        options: dict[str, Any] = {"step_size": step_size, "episodes": episodes, "schedule": schedule}
        options |= {"held_out": held_out, "normalize": normalize}
        bonus = 0.0 if plain or not trained.has_density else PRACTICAL.entropy
        options["entropy"] = bonus if entropy is None else entropy
        options["risk_path"] = _path(measure, plain) if risk_path == "auto" else risk_path
        options |= _own(name, plain, smoothing=smoothing, directions=directions, steps_per_batch=steps_per_batch)
        if max_episodes is not None:
            options["episodes"], iterations = _afforded(name, trained, measure, options, iterations, max_episodes)
        options["iterations"] = PRACTICAL.iterations if iterations is None else iterations
        keeping["about"] = {
            "env": env if isinstance(env, str) else None,
            "env_text": None if isinstance(env, str) else describe(env),
            "horizon": horizon,
            "discount": discount,
            **kept_options(env_options),
            "policy_name": policy if isinstance(policy, str) else _name_of(trained, source),
            "schedule": schedule,
            "own_start": None if theta is None else True,
            **keeping.get("about", {}),
        }
        run = ALGORITHMS[name](source, trained, measure, seed=seed, theta=theta, **options, **keeping)
        return replace(run, given_risk=measure, given_options=env_options)


@contextlib.contextmanager
def _played(
    env: Environment,
    horizon: int | None,
    discount: float | None,
    env_options: Mapping[str, Any] | None,
    threads: int | None,
    processes: int | None,
) -> Generator[Source]:
    """Give the source of episodes, and end its processes afterwards."""
    count = cores() if processes is None else whole("processes", processes)
    with Patient(count) if processes is None or count == 1 else Processes(count) as backend:
        source = resolve_source(env, horizon, discount, env_options=env_options, threads=threads, backend=backend)
        if processes is not None:
            _refuse_processes(source, backend, processes)
        with closing(source, env):
            yield source


def _refuse_processes(source: Source, backend: object, processes: int) -> None:
    """Refuse a number of processes for a source that does not play in them."""
    if not isinstance(source, GymnasiumSource):
        rule = "be left out for a finite model or a compiled environment, which run on threads"
        raise InputError("processes", rule, processes, "give threads= instead")
    if source.backend is not backend:
        raise InputError("processes", "be left out for a source, which has a backend of its own", processes)


def _name_of(policy: Policy, source: Source) -> str | None:
    """Give the name by which this policy could have been asked for; None where it has none."""
    made = written(policy)
    for name in POLICIES.named() if made["recipe"] is not None else ():
        with contextlib.suppress(InputError):
            if written(make_policy(source, name)) == made:
                return name
    return None


def _algorithm(name: str, risk: RiskMeasure, policy: Policy) -> str:
    plain = str(name).lower().replace("-", "_")
    if plain == "auto" and not policy.has_density:
        return "onp_sf"
    if plain == "auto":
        return "offp_sf" if type(risk).influence is RiskMeasure.influence else "score"
    if plain not in ALGORITHMS:
        raise UnknownNameError("algorithm", name, ["auto", *ALGORITHMS])
    return plain


def _path(risk: RiskMeasure, plain: bool) -> SquarePath | None:
    return None if plain or risk.attitude == "neutral" else SquarePath(PRACTICAL.risk_path)


def _own(name: str, plain: bool, **given: float | None) -> dict[str, Any]:
    """Keep the options that an algorithm has; refuse those it has not."""
    known = set(inspect.signature(ALGORITHMS[name]).parameters)
    for option, value in given.items():
        if option not in known and value is not None:
            raise InputError(option, f"not be given for the algorithm {name}, which has none", value)
    if "steps_per_batch" in known and given["steps_per_batch"] is None:
        given["steps_per_batch"] = 1 if plain else PRACTICAL.steps_per_batch
    return {option: value for option, value in given.items() if option in known}


def _afforded(
    name: str,
    policy: Policy,
    risk: RiskMeasure,
    options: Mapping[str, Any],
    iterations: int | None,
    max_episodes: int,
) -> tuple[int, int]:
    """Settle the episodes of each estimate and the number of iterations from a budget in episodes."""
    if iterations is not None:
        raise InputError("iterations and max_episodes", "not both be given", (iterations, max_episodes))
    if options["schedule"] == "paper":
        raise InputError("max_episodes", "not be given with the paper's schedule", max_episodes, "give iterations=")
    budget, on_policy = whole("max_episodes", max_episodes), name == "onp_sf"
    default = default_numbers(policy, risk, off_policy=not on_policy)
    estimates = 1
    if on_policy:
        estimates = 2 * (options["directions"] or default.directions) + (1 if options["entropy"] > 0.0 else 0)
    usual = default.episodes
    m = options["episodes"] or affordable_episodes(budget, usual, estimates, risk, off_policy=not on_policy)
    cost = m * estimates

    def total(count: int) -> int:
        first = first_cost(options["normalize"], policy)
        return first + count * cost + (len(looks(count)) + 1) * held_out_size(options["held_out"], count, cost)

    count = budget // cost
    while count >= 1 and total(count) > budget:
        count = min(count - 1, int(count * budget / total(count)))
    if count < 1:
        raise InputError(
            "max_episodes", f"allow one iteration with its held-out looks, {total(1)} episodes", max_episodes
        )
    return m, count

"""`rg.train`: from an environment and a risk measure to a trained policy, with defaults that need no tuning.

What it picks: a finite model gives the compiled sampler and a softmax over a table; `algorithm="auto"` fits the measure
and the policy (see `riskgrad.algorithms.choose`). On the way to the named measure it follows a path from a milder one
and adds a bonus for random actions that fades; the run says so in its notes. With `schedule="paper"` there is no path,
no bonus and one step per batch.
"""

import contextlib
import inspect
from collections.abc import Callable, Generator
from dataclasses import fields, replace
from typing import Any, Concatenate, ParamSpec

from riskgrad.algorithms import choose_algorithm
from riskgrad.backend import Backend, Patient, parse_backend
from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.policy.base import describe_policy
from riskgrad.risk import RiskMeasure, parse
from riskgrad.run import Run
from riskgrad.run.describe import describe, describe_env_options, digest
from riskgrad.settings import Settings, TrainOptions, facts_of, read_options
from riskgrad.sources import Environment, Source, closing, find_policy_name, make_policy, resolve_source
from riskgrad.training.algorithm import Algorithm
from riskgrad.training.loop import run_training
from riskgrad.training.plan import Plan, plan_training

Given = ParamSpec("Given")


def takes_options(
    options: Callable[Given, TrainOptions],
) -> Callable[[Callable[..., Run]], Callable[Concatenate[Environment, str | RiskMeasure, Given], Run]]:
    """Give a function the keywords of the options' class, for editors, `help` and type checkers."""
    del options

    def decorate(function: Callable[..., Run]) -> Callable[Concatenate[Environment, str | RiskMeasure, Given], Run]:
        first = list(inspect.signature(function).parameters.values())[:2]
        keywords = [
            inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type)
            for one in fields(TrainOptions)
        ]
        told: Any = function
        told.__signature__ = inspect.Signature([*first, *keywords], return_annotation=Run)
        told.__doc__ = f"{function.__doc__}".replace("given: OPTIONS", _describe_options())
        return told

    return decorate


def _describe_options() -> str:
    """Give a line of the docstring for each option."""
    lines = (f"{name}: {facts.help}" for name, facts in facts_of(TrainOptions).items())
    return "\n        ".join(lines)


@takes_options(TrainOptions)
def train(env: Environment, risk: str | RiskMeasure, **given: Any) -> Run:
    """Train a policy on the risk of its return.

    Args:
        env: a Gymnasium id, a class or factory, an environment, a finite model, a source of episodes, or a log.
        risk: a risk measure, or a string such as "cvar:0.1".
        given: OPTIONS

    Returns:
        the run: the policy, its parameters, the history and the exact cost in episodes.
    """
    options, measure = read_options(given), parse(risk)
    with _open_source(env, options) as source:
        policy = options.policy if isinstance(options.policy, Policy) else make_policy(source, options.policy)
        algorithm = choose_algorithm(options.algorithm, measure, policy)
        plan = plan_training(source, policy, measure, algorithm, options)
        settings = _describe_run(env, plan, options, algorithm)
        run = run_training(plan, settings, options)
        return replace(run, given_risk=measure, given_options=options.env_options)


@contextlib.contextmanager
def _open_source(env: Environment, options: TrainOptions) -> Generator[Source]:
    """Give the source of episodes; what was started or made for it is ended afterwards."""
    given = parse_backend(options.backend) if isinstance(options.backend, str) else options.backend
    with contextlib.ExitStack() as stack:
        # a backend that was given as a value is the user's, to be used again
        backend: Backend = given or Patient()
        if not isinstance(options.backend, Backend):
            stack.enter_context(backend)
        source = resolve_source(
            env,
            options.horizon,
            options.discount,
            env_options=options.env_options,
            threads=options.threads,
            backend=backend,
        )
        if options.backend is not None and source.workers != "backend":
            rule = "be left out for a finite model, a compiled environment or a log"
            raise InputError("backend", rule, options.backend, "give threads= instead")
        if options.backend is not None and source is env:
            raise InputError("backend", "be left out for a source, which has a backend of its own", options.backend)
        stack.enter_context(closing(source, env))
        yield source


def _describe_run(env: Environment, plan: Plan, options: TrainOptions, algorithm: Algorithm) -> Settings:
    """Give what the run was asked to do, as a file can hold it."""
    problem = plan.problem
    env_options, env_options_text = describe_env_options(options.env_options)
    named = options.policy if isinstance(options.policy, str) else find_policy_name(problem.policy, problem.source)
    usual, own, usual_own = TrainOptions(), algorithm.options(), type(algorithm)().options()
    given = [name for name in facts_of(Settings) if getattr(options, name) != getattr(usual, name)]
    given += [name for name, value in own.items() if value != usual_own[name]]
    return Settings(
        algorithm=plan.algorithm.name,
        iterations=problem.iterations,
        policy=named,
        horizon=options.horizon,
        discount=options.discount,
        env_options=env_options,
        seed=int(options.seed),
        normalize=problem.normalize,
        schedule=options.schedule,
        step_size=describe(problem.ascent),
        risk_path=str(problem.way),
        entropy=problem.entropy,
        held_out=plan.held_out,
        own=plan.algorithm.options(),
        given=tuple(given),
        risk=describe(problem.risk),
        estimator=problem.risk.estimator_name,
        env=env if isinstance(env, str) else None,
        env_text=None if isinstance(env, str) else describe(env),
        env_options_text=env_options_text,
        source=problem.source.fingerprint(),
        start=digest(problem.theta),
        own_start=options.theta is not None,
        policy_facts=describe_policy(problem.policy),
    )

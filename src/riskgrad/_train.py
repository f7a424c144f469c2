"""`rg.train`: from an environment and a risk measure to a trained policy, with defaults that need no tuning.

What it picks: a finite model is played by the compiled sampler, with a softmax over a table as the policy; where
observations are vectors, the policy is a network that reads them standardized if the critic trains it, and linear
otherwise. `algorithm="auto"` depends on the measure, the policy and the observations (see
`riskgrad.training.algorithm`). By default the training follows a path from a milder measure to the named one and adds a
bonus for random actions that falls to 0; the run says so in its notes. With `schedule="paper"` there is no path, no
bonus and one step per batch.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ParamSpec

from riskgrad.kinds import refuse_unbound
from riskgrad.paths import choose_path
from riskgrad.policy.base import describe_policy
from riskgrad.risk import RiskMeasure, parse
from riskgrad.run import Run
from riskgrad.run.live import show_progress
from riskgrad.run.stopping import StopRequest
from riskgrad.settings import Settings, TrainOptions, facts_of, read_options
from riskgrad.sources import Environment, choose_policy, open_source
from riskgrad.sources.resolve import refuse_huge
from riskgrad.training.algorithm import find_usual_policy
from riskgrad.training.loop import run_training
from riskgrad.training.pilot import fit_memory
from riskgrad.training.plan import afford_pilot, plan_training
from riskgrad.types import describe

Given = ParamSpec("Given")


@dataclass(frozen=True)
class TrainCall(TrainOptions):
    """All arguments of `rg.train`.

    Attributes:
        env: a Gymnasium id, a class or factory, an environment, a finite model, a source of episodes, or a log.
        risk: a risk measure, or a string such as "cvar:0.1".
    """

    env: Environment
    risk: str | RiskMeasure


def with_signature_of(call: Callable[Given, TrainCall]) -> Callable[[Callable[..., Run]], Callable[Given, Run]]:
    """Give a function the signature of a dataclass, for editors, `help` and type checkers; list it in the docstring."""

    def decorate(function: Callable[..., Run]) -> Callable[Given, Run]:
        @functools.wraps(function)
        def checked(*args: Any, **given: Any) -> Run:
            try:
                return function(*args, **given)
            except TypeError:
                refuse_unbound(train, args, given)
                raise

        train: Any = checked
        train.__signature__ = inspect.signature(call).replace(return_annotation=Run)
        lines = (f"{name}: {facts.help}" for name, facts in facts_of(TrainOptions).items())
        train.__doc__ = f"{function.__doc__}".replace("given: OPTIONS", "\n        ".join(lines))
        return train

    return decorate


@with_signature_of(TrainCall)
def train(env: Environment, risk: str | RiskMeasure, **given: Any) -> Run:
    """Train a policy on the risk of its return.

    Args:
        env: a Gymnasium id, a class or factory, an environment, a finite model, a source of episodes, or a log.
        risk: a risk measure, or a string such as "cvar:0.1".
        given: OPTIONS

    Returns:
        the run: the policy, its parameters, the history and the exact cost in episodes. A signal (Ctrl-C, SIGTERM,
        SIGHUP) raises `rg.errors.Stopped`, whose `run` is the run so far.
    """
    options, measure = read_options(given), parse(risk)
    path = choose_path(options.risk_path, measure, options.schedule)
    known = Settings(risk=describe(measure), estimator=measure.estimator_name, own_start=options.theta is not None)
    with StopRequest() as stop, show_progress(options, known.risk) as callbacks, open_source(env, options) as source:
        known = replace(known, env=env if isinstance(env, str) else None, source=source.fingerprint())
        known = replace(known, return_range=source.return_range, spaces=source.spaces)
        wanted, pilot = options.policy, 0
        if wanted is None:
            refuse_huge(source)
            wanted = find_usual_policy(options.algorithm, measure, source, options.schedule)
        policy, name = choose_policy(source, wanted)
        if options.memory is not None:
            policy, pilot = fit_memory(source, policy, options.memory, options.seed, afford_pilot(options))
        known = replace(known, policy=name, policy_facts=describe_policy(policy))
        known = replace(known, memory=None if policy.memory is None else policy.memory.kind)
        theta = policy.first_theta(options.theta, options.seed)
        plan = plan_training(source, policy, theta, path, options, known, pilot)
        return replace(run_training(plan, options, callbacks, stop), given_env=env if source.logged is None else None)

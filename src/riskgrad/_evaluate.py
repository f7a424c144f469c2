"""`rg.evaluate`: each risk measure of a policy on fresh episodes, with a certified and a bootstrap interval."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import check_flag, check_theta
from riskgrad.errors import InputError
from riskgrad.evaluation.bootstrap import RESAMPLES
from riskgrad.evaluation.table import Table, table_of_returns
from riskgrad.kinds import checks_kinds
from riskgrad.making import refuse_import
from riskgrad.mdp import FiniteMDP
from riskgrad.policy import Greedy, Policy
from riskgrad.random import Purpose, Stream
from riskgrad.risk import RiskMeasure, parse
from riskgrad.risk.base import parse_several
from riskgrad.run import Run, load
from riskgrad.sources.base import Source
from riskgrad.sources.resolve import Environment, closing, resolve_source

Risks = str | RiskMeasure | Sequence[str | RiskMeasure]


@checks_kinds
def evaluate(
    run: Run | str | Path | tuple[Policy, ArrayLike],
    env: Environment | None = None,
    risk: Risks | None = None,
    episodes: int = 10_000,
    confidence: float = 0.95,
    *,
    return_range: tuple[float, float] | None = None,
    greedy: bool = False,
    seed: int = 0,
    resamples: int = RESAMPLES,
    horizon: int | None = None,
    discount: float | None = None,
    env_options: Mapping[str, Any] | None = None,
    trust: bool = False,
) -> Table:
    """Evaluate a trained policy on fresh episodes, from random streams that training never uses.

    Args:
        run: a run, evaluated at its `theta`, or the folder or file of one; or a pair (policy, theta).
        env: what `rg.train` takes: a source, a `FiniteMDP`, or an environment; None takes what the run was trained on.
        risk: one measure or several, as strings or objects; None is the run's own measure and the mean.
        episodes: how many fresh episodes.
        confidence: of each interval, in (0, 1).
        return_range: bounds (low, high) of every possible return; None takes those of the source, where it knows them.
        greedy: play the mode of the policy, its likeliest action, instead of drawing actions.
        seed: the seed of the episodes and of the resamples.
        resamples: how many resamples the bootstrap draws.
        horizon: largest number of steps, for a Gymnasium environment; None takes what the run was trained with.
        discount: the discount, for a Gymnasium environment; None takes what the run was trained with.
        env_options: options for `gymnasium.make`, the class or the factory; None takes what the run was trained with.
        trust: import the module that the run names, as in "module:Name-v0"; modules run code.

    Returns:
        the table, one row per measure in the order given.
    """
    if isinstance(run, str | Path):
        run = load(run)
    if not isinstance(run, Run) and not (isinstance(run, tuple) and len(run) == 2 and isinstance(run[0], Policy)):
        raise InputError("run", "be a run, its folder or file, or a pair (policy, theta)", run)
    if env is None:
        env = find_env({"": run} if isinstance(run, Run) else {}, trust=trust)
    options = play_options(run, env, horizon, discount, env_options)
    if risk is None:
        own = [run.risk, parse("mean")] if isinstance(run, Run) else [parse("mean")]
        measures = list({str(measure): measure for measure in own}.values())
    else:
        measures = parse_several("risk", risk)
    if not measures:
        raise InputError("risk", "name at least one measure", risk)
    policy, theta = (run.policy, run.theta) if isinstance(run, Run) else run
    at = check_theta(theta, policy.dim)[np.newaxis]
    acts = Greedy(policy) if check_flag("greedy", greedy) else policy
    source = resolve_source(env, **options)
    bounds = source.return_range if return_range is None else return_range
    with closing(source, env):
        stream = Stream(seed, Purpose.EVALUATION)
        values = source.returns(acts, at, episodes, stream).values[0]
    return table_of_returns(values, measures, bounds, confidence, seed=seed, resamples=resamples)


def find_env(
    runs: Mapping[str, Run], how: str = "with --env; in Python pass env= or trust=True", *, trust: bool = False
) -> Environment:
    """Give the environment that the first of some runs was trained on; refuse runs that do not say what it was.

    A module that only the file of a run names is not imported unless it is trusted.

    Args:
        runs: the runs, by the names that messages use for them.
        how: how the user can name the environment instead, for the message.
        trust: whether the environment's module may be imported.
    """
    for label, run in runs.items():
        if run.settings.env is None and run.given_env is None:
            name = f"the run {label}".strip()
            raise InputError("env", f"be given, since {name} does not say what it was trained on", None)
    if not runs:
        raise InputError("env", "be given, since a policy does not say what it was trained on", None)
    first = next(iter(runs.values()))
    if first.given_env is not None:
        return first.given_env
    name = str(first.settings.env)
    return name if check_flag("trust", trust) else refuse_import(name, f"if you trust it, name it yourself {how}")


def play_options(
    run: object,
    env: Environment,
    horizon: int | None = None,
    discount: float | None = None,
    env_options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Give the horizon, discount and options with which an environment is played, for `resolve_source`.

    Args:
        run: if it is a run, its own values are used for the arguments that are None.
        env: what is played; a model or source has its own horizon and discount, an environment object its own options.
        horizon: largest number of steps, or None.
        discount: the discount, or None.
        env_options: options of the environment, or None.
    """
    if isinstance(run, Run) and not isinstance(env, Source | FiniteMDP):
        horizon = run.settings.horizon if horizon is None else horizon
        discount = run.settings.discount if discount is None else discount
        env_options = run.env_options if env_options is None and not isinstance(env, gymnasium.Env) else env_options
    return {"horizon": horizon, "discount": discount, "env_options": env_options}

"""Runs played on fresh episodes: the returns of all runs from the same random numbers, and the exact laws.

The random numbers of episode i have the key (seed, evaluation, i) for every run, so that episodes i of two runs are a
pair: luck that both share cancels in their difference. Training never uses these keys.
"""

import contextlib
import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from riskgrad._evaluate import find_env, play_options
from riskgrad.checks import check_count
from riskgrad.errors import InputError, TooLargeError
from riskgrad.exact import return_law
from riskgrad.pages.prose import run_letter, write
from riskgrad.pages.style import PALE, find_hues
from riskgrad.random import Purpose, Stream
from riskgrad.risk import Mean, RiskMeasure, parse
from riskgrad.run import Run, load
from riskgrad.sources.base import Source
from riskgrad.sources.resolve import Environment, closing, resolve_source
from riskgrad.types import DiscreteLaw, FloatArray

# the settings that describe the environment of a run
WHERE: Final = ("env", "horizon", "discount", "env_options", "env_options_text")

EPISODES = 10_000
UNTRAINED: Final = "the untrained policy"

Runs = Run | str | Path | Sequence[Run | str | Path] | Mapping[str, Run | str | Path]


@dataclass(frozen=True, eq=False)
class PlayedRun:
    """A run with the returns of its policy on fresh episodes.

    Attributes:
        name: the name that readers see.
        run: the run.
        risk: the measure that it was trained on.
        source: where the episodes come from.
        values: returns of the fresh episodes [m].
        law: the exact law of the return, for finite models that are not too large and policies without memory.
        tail: the mass of the bad tail that the page shows: that of the measure, or a tenth if it has none; a neutral
            run has that of the first run that is not neutral.
        about: the measure that it was trained on, in words.
        hue: its color on a page; see `riskgrad.pages.style.find_hues`.
        letter: the letter by which figures call it; empty for the untrained policy.
    """

    name: str
    run: Run
    risk: RiskMeasure
    source: Source
    values: FloatArray
    law: DiscreteLaw | None
    tail: float = 0.1
    about: str = ""
    hue: int = 0
    letter: str = "A"

    @property
    def label(self) -> str:
        """The letter and the name, for legends."""
        return f"{self.letter} {self.name}".strip()

    def write_estimate(self, measure: RiskMeasure) -> str:
        """Write the estimate of a measure with as many digits as its episodes justify."""
        error = measure.standard_error(self.values)
        width = 4.0 * error if math.isfinite(error) and error > 0.0 else None
        return write(float(measure.estimate(self.values)), width)


def set_apart(played: Sequence[PlayedRun]) -> list[PlayedRun]:
    """Give the runs with their letters and colors on a page, risk-neutral ones first."""
    ordered = sorted(played, key=lambda one: one.risk.attitude != "neutral")
    hues = find_hues([one.risk.attitude for one in ordered])
    return [
        replace(one, hue=hue, letter=run_letter(place))
        for place, (one, hue) in enumerate(zip(ordered, hues, strict=True))
    ]


def name_runs(runs: Runs) -> dict[str, Run]:
    """Give runs by name: as given, by the ends of their paths, or by the measures that they were trained on.

    Args:
        runs: one run, several, or runs by name; a path stands for the run that is kept there.
    """
    if isinstance(runs, Mapping):
        _refuse_no_runs(runs.values(), Run | str | Path)
        _refuse_no_runs(runs, str)
        return {name: one if isinstance(one, Run) else load(one) for name, one in runs.items()}
    given: object = runs
    is_list = isinstance(given, Iterable) and not isinstance(given, str)
    several: list[Run | str | Path] = list(cast("Sequence[Run]", given)) if is_list else [cast("Run", given)]
    _refuse_no_runs(several, Run | str | Path)
    places = [one for one in several if not isinstance(one, Run)]
    if len(places) == len(several):
        return {name: load(place) for name, place in name_paths(places).items()}
    found: dict[str, Run] = {}
    for one in several:
        run = one if isinstance(one, Run) else load(one)
        name = str(run.risk) if isinstance(one, Run) else Path(one).name
        found[name if name not in found else f"{name} ({len(found) + 1})"] = run
    return found


def _refuse_no_runs(several: Iterable[object], kind: Any) -> None:
    for one in several:
        if not isinstance(one, kind):
            raise InputError("runs", "be runs, paths of runs, or runs by their names", one)


def name_paths(paths: Sequence[str | Path]) -> dict[str, Path]:
    """Name each run by the end of its path, with as much of the path as makes the names differ."""
    places = [Path(path) for path in paths]
    for depth in range(1, 1 + max((len(place.parts) for place in places), default=1)):
        names = ["/".join(place.parts[-depth:]) for place in places]
        if len(set(names)) == len(names):
            return dict(zip(names, places, strict=True))
    raise InputError("runs", "be different runs", ", ".join(str(place) for place in places))


def play_runs(
    runs: Mapping[str, Run],
    env: Environment | None = None,
    episodes: int = EPISODES,
    *,
    seed: int = 0,
    trust: bool = False,
) -> list[PlayedRun]:
    """Play every run's policy on the same fresh episodes; `closing_played` closes the environments made for it.

    Args:
        runs: runs of one environment, by name.
        env: where to play; None takes the environment of the runs.
        episodes: m, the number of episodes of each run.
        seed: the seed of the episodes.
        trust: import the module that a run names; modules run code.
    """
    if not runs:
        raise InputError("runs", "be at least one run", 0)
    source = _source(runs, env, trust)
    try:
        return _play(runs, source, episodes, seed)
    except BaseException:
        _close(source, env)
        raise


@contextlib.contextmanager
def closing_played(played: Sequence[PlayedRun], env: Environment | None) -> Generator[None]:
    """Close, at the end of the context, the environments that were made to play the runs."""
    try:
        yield
    finally:
        _close(played[0].source, env)


def _close(source: Source, env: Environment | None) -> None:
    with closing(source, "" if env is None else env):
        pass


def _play(runs: Mapping[str, Run], source: Source, episodes: int, seed: int) -> list[PlayedRun]:
    stream = Stream(seed, Purpose.EVALUATION)
    count = check_count("episodes", episodes, 2)
    risks = {name: run.risk for name, run in runs.items()}
    tails = {name: 0.1 if risk.bad_tail is None else risk.bad_tail for name, risk in risks.items()}
    abouts = {name: risk.meaning for name, risk in risks.items()}
    averse = next((tails[name] for name, risk in risks.items() if risk.attitude != "neutral"), None)
    return [
        PlayedRun(
            name,
            run,
            risks[name],
            source,
            source.returns(run.policy, run.theta[np.newaxis], count, stream).values[0],
            _law(run, source),
            averse if averse is not None and risks[name].attitude == "neutral" else tails[name],
            abouts[name],
        )
        for name, run in runs.items()
    ]


def play_untrained(one: PlayedRun, *, seed: int = 0) -> PlayedRun:
    """Play the policy of a run as it is before training, on the same episodes, to show what training gained.

    Args:
        one: the run, played.
        seed: the seed of its episodes.
    """
    policy = one.run.policy
    run = replace(one.run, theta=policy.first_theta(None, one.run.settings.seed), history=(), judgment=None)
    stream = Stream(seed, Purpose.EVALUATION)
    values = one.source.returns(policy, run.theta[np.newaxis], len(one.values), stream).values[0]
    return replace(one, name=UNTRAINED, run=run, values=values, law=_law(run, one.source), hue=PALE, letter="")


def measures_of(played: Sequence[PlayedRun], more: Sequence[str] = ()) -> list[RiskMeasure]:
    """Give the mean, the measures of the runs, and `more`; each once, in that order."""
    found = {str(measure): measure for measure in [Mean(), *(one.risk for one in played), *map(parse, more)]}
    return list(found.values())


def _source(runs: Mapping[str, Run], env: Environment | None, trust: bool) -> Source:
    first = next(iter(runs.values()))
    if env is not None:
        return resolve_source(env, **play_options(first, env))
    name = find_env(runs, trust=trust)
    for label, run in runs.items():
        if any(getattr(run.settings, key) != getattr(first.settings, key) for key in WHERE):
            words = f"{label} was trained on {run.settings.env}, not on {name} as the first run was"
            raise InputError("runs", "be of one environment", words, "give all of them one with env=")
    return resolve_source(name, **play_options(first, name))


def _law(run: Run, source: Source) -> DiscreteLaw | None:
    mdp = source.mdp
    if mdp is None or run.policy.memory is not None:
        return None
    try:
        return return_law(mdp, run.policy.probabilities(run.theta, np.arange(mdp.n_states)))
    except TooLargeError:
        return None

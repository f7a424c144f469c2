"""The efficient frontier: a family of policies from neutral to averse, and how much mean each gives up for less risk.

The first policy is trained on the mean, the others on one measure at the levels given, from mild to averse. Risk
measures have local optima: a policy that has settled on one way no longer tries the others. So each level is trained
from three starts, and the run that is best on held-out episodes, the same for all three, is kept:

    path      a fresh start, from a milder measure to the measure of the level along the run, the default of `rg.train`
    direct    a fresh start, on the measure of the level from the beginning
    warm      from the better of these two runs of the level before; from the neutral policy for the mildest level

On the shipped models none of the three is always best. All policies are then played on the same fresh episodes.

A warm start needs only the fresh runs of the level before, so the family is trained in two rounds of independent runs:
first all fresh starts, then all warm starts. In each round the workers of a backend share the runs. A run depends only
on its seed and its start, so any backend gives the same family.
"""

import contextlib
import inspect
import itertools
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from riskgrad.backend import Backend
from riskgrad.checks import check_count, check_number, check_path, check_switch
from riskgrad.crew import Crew, Training, find_folder, refuse_unknown_options
from riskgrad.errors import InputError, UnknownNameError
from riskgrad.evaluation import Row, table_of_returns
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.markup import html_table, text_table
from riskgrad.pages.comparison import resample_measures
from riskgrad.pages.played import EPISODES, play_runs
from riskgrad.pages.prose import span_of, write
from riskgrad.risk import Mean, RiskMeasure, builders, parse
from riskgrad.run import Run
from riskgrad.run.files import refuse_unwritable, without_links
from riskgrad.run.live_crew import Watch, watch_crew
from riskgrad.run.lock import lock_folder
from riskgrad.settings import read_options
from riskgrad.sources.resolve import Environment, closing, resolve_source
from riskgrad.types import FloatArray

STARTS = ("path", "direct", "warm")  # if several are equally good, the first is kept
TRAININGS = "trainings"  # the folder, in that of a frontier, with a folder for each training


@checks_calls
@dataclass(frozen=True)
class FrontierPoint:
    """One policy of the family.

    Attributes:
        risk: the measure that it was trained on.
        start: which of the starts was best: "path", "direct" or "warm".
        episodes_used: how many episodes the trainings from all starts used together.
        mean: the mean on fresh episodes.
        own: the measure that it was trained on, on fresh episodes.
        against: the measure that is shown against the mean, on fresh episodes.
        efficient: whether no other policy is surely better by one of these two, the mean and `against`, and at least
            as good by the other; surely means that the interval of the difference on the same episodes excludes 0.
    """

    risk: str
    start: str
    episodes_used: int
    mean: Row
    own: Row
    against: Row
    efficient: bool


@checks_calls
@dataclass(frozen=True, eq=False)
class Frontier:
    """A family of policies from neutral to averse.

    Attributes:
        against: the measure that is shown against the mean.
        points: the policies, from neutral to averse.
        runs: the best run of each measure.
        episodes: how many fresh episodes each policy played.
        confidence: of every interval.
        seed: of training and of the fresh episodes.
    """

    against: str
    points: tuple[FrontierPoint, ...]
    runs: Mapping[str, Run]
    episodes: int
    confidence: float
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """Give everything but the runs as plain lists, numbers and strings, ready for JSON."""
        kept = ("against", "episodes", "confidence", "seed")
        return {**{name: getattr(self, name) for name in kept}, "points": [asdict(point) for point in self.points]}

    def __str__(self) -> str:
        return text_table(self._cells(), title=self._title(), header=self._header())

    def _repr_html_(self) -> str:
        return html_table(self._cells(), title=self._title(), header=self._header())

    def _title(self) -> str:
        return f"What less risk costs, on {self.episodes:,} episodes"

    def _header(self) -> tuple[str, ...]:
        return "trained on", "mean", self.against, "efficient"

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (
                point.risk,
                *(write(row.value, span_of(row.bootstrap)) for row in (point.mean, point.against)),
                "yes" if point.efficient else "",
            )
            for point in self.points
        ]

    def save_runs(self, folder: str | Path) -> None:
        """Write every run to a file in a folder, named by its measure."""
        place = check_path("folder", folder)
        refuse_unwritable(place / "mean")
        _save_runs(self.runs, place)


@checks_kinds
def frontier(
    env: Environment,
    risk: str = "cvar",
    levels: Sequence[float] = (0.5, 0.2, 0.1, 0.05),
    *,
    against: str | RiskMeasure | None = None,
    episodes: int = EPISODES,
    confidence: float = 0.95,
    seed: int = 0,
    backend: str | Backend | None = None,
    folder: str | Path | None = None,
    resume: str | Path | None = None,
    progress: bool | Literal["auto"] = "auto",
    **training: Any,
) -> Frontier:
    """Train a family of policies from neutral to averse and play them on the same episodes.

    Args:
        env: the environment, as for `rg.train`.
        risk: the name of a measure with one number, such as "cvar" or "mean-variance".
        levels: its numbers, from mild to averse.
        against: the measure to show against the mean; None takes that of the last level.
        episodes: how many fresh episodes each policy plays.
        confidence: of every interval, in (0, 1).
        seed: of training and of the fresh episodes.
        backend: where to train, such as "processes:4"; None trains in this process, one run after the other. Other
            processes need an `env` that they can make, such as an id.
        folder: keeps a new frontier, with a folder for each training; the best run of each measure is a file in it.
        resume: folder of a frontier to go on with; begins one where there is none. Levels may be added.
        progress: show progress: True or False; "auto" shows it on a terminal and in a notebook.
        training: further keywords for `rg.train`, such as iterations=100.
    """
    refuse_unknown_options("rg.frontier", frontier, training)
    check_switch("progress", progress)
    how: dict[str, Any] = {"against": against, "episodes": episodes, "confidence": confidence, "seed": seed}
    more: dict[str, Any] = {"backend": backend, "folder": folder, "resume": resume, **training}
    return train_frontier(watch_crew(progress, training), env, risk, levels, **how, **more)


def train_frontier(
    watch: Watch,
    env: Environment,
    risk: str,
    levels: Sequence[float],
    *,
    against: str | RiskMeasure | None = None,
    episodes: int = EPISODES,
    confidence: float = 0.95,
    seed: int = 0,
    backend: str | Backend | None = None,
    folder: str | Path | None = None,
    resume: str | Path | None = None,
    **training: Any,
) -> Frontier:
    """Do what `frontier` says, shown as asked.

    Args:
        watch: maps the number of trainings to a context in which they run, and which takes their news.
        env: see `frontier`, as for the other arguments.
        risk: the name of a measure with one number.
        levels: its numbers, from mild to averse.
        against: the measure to show against the mean.
        episodes: how many fresh episodes each policy plays.
        confidence: of every interval.
        seed: of training and of the fresh episodes.
        backend: where to train.
        folder: keeps a new frontier.
        resume: folder of a frontier to go on with.
        training: further keywords for `rg.train`.
    """
    measures = _read_levels(risk, levels)
    check_count("episodes", episodes, 2)
    if "callback" in training:
        raise InputError("callback", "not be given to rg.frontier", training["callback"], "use rg.train for each level")
    options: dict[str, Any] = {**training, "seed": seed}
    read_options(options)  # refuses options that rg.train would refuse, before anything is written
    names = ["mean", *(str(measure) for measure in measures)]
    reference = measures[-1] if against is None else parse(against)
    place = find_folder(folder, resume)
    with _open_folder(place, fresh=resume is None):
        with watch(1 + 3 * len(measures)) as news, Crew(backend, news) as crew:
            runs, starts = _family(env, names, options, crew, place)
        if place is not None:
            _save_runs(runs, place)
    points = _evaluate(env, runs, starts, reference, options, episodes, confidence)
    return Frontier(str(reference), points, runs, episodes, confidence, seed)


def _evaluate(
    env: Environment,
    runs: Mapping[str, Run],
    starts: Mapping[str, tuple[str, int]],
    reference: RiskMeasure,
    options: Mapping[str, Any],
    episodes: int,
    confidence: float,
) -> tuple[FrontierPoint, ...]:
    """Play the best runs on the same fresh episodes, and say which are efficient."""
    seed: int = options["seed"]
    where: dict[str, Any] = {key: options.get(key) for key in ("horizon", "discount", "env_options")}
    source = resolve_source(env, **where)
    found: list[tuple[str, Row, Row, Row]] = []
    with closing(source, env):
        played = play_runs(runs, source, episodes, seed=seed)
        for one in played:
            asked = {str(measure): measure for measure in (Mean(), one.risk, reference)}
            table = table_of_returns(one.values, list(asked.values()), source.return_range, confidence, seed=seed)
            found.append((one.name, table["mean"], table[one.name], table[str(reference)]))
    best = find_efficient(np.stack([one.values for one in played]), [Mean(), reference], confidence, seed=seed)
    return tuple(
        FrontierPoint(name, *starts[name], mean, own, other, bool(efficient))
        for (name, mean, own, other), efficient in zip(found, best, strict=True)
    )


def _read_levels(risk: str, levels: Sequence[float]) -> list[RiskMeasure]:
    """Give the measure at each level; refuse what is not the name of a measure with one number, or no levels."""
    numbers = [check_number("levels", level) for level in levels]
    found = {name: _takes_number(build) for name, (build, _) in builders().items()}
    word = risk.strip().lower() if isinstance(risk, str) else ""
    if word not in found and re.fullmatch("[a-z-]+", word):
        raise UnknownNameError("risk", risk, [name for name, fits in found.items() if fits])
    if not found.get(word):
        rule = "be the name of a measure with one number, such as 'cvar'"
        got = str(risk) if isinstance(risk, RiskMeasure) else risk
        raise InputError("risk", rule, got, "its numbers are levels=")
    if not numbers:
        raise InputError("levels", "be at least one number", levels)
    measures = [parse(f"{word}:{level:g}") for level in numbers]
    if len(set(map(str, measures))) < len(measures):
        raise InputError("levels", "be different", levels)
    return measures


def _takes_number(build: Callable[..., RiskMeasure]) -> bool:
    first = next(iter(inspect.signature(build).parameters.values()), None)
    return first is not None and first.kind is first.POSITIONAL_OR_KEYWORD


def _save_runs(runs: Mapping[str, Run], place: Path) -> None:
    for risk, run in runs.items():
        run.save(place / _file_name(risk))


def _file_name(risk: str) -> str:
    return risk.replace(":", "-")


@contextlib.contextmanager
def _open_folder(place: Path | None, *, fresh: bool) -> Generator[None]:
    """Lock the folder of a frontier; refuse one that holds a frontier where a fresh one is to begin."""
    if place is None:
        yield
        return
    with lock_folder(place):
        if fresh and (place / TRAININGS).exists():
            raise InputError("folder", "not hold a frontier already", str(place), "pass resume= to go on with it")
        (place / TRAININGS).mkdir(exist_ok=True)
        yield


def _family(
    env: Environment, names: Sequence[str], options: Mapping[str, Any], crew: Crew, place: Path | None
) -> tuple[dict[str, Run], dict[str, tuple[str, int]]]:
    """Train every level from every start; give the best run of each, its start, and the episodes of all its runs."""
    direct: dict[str, Any] = {"risk_path": None}
    found: dict[str, Run] = {}

    def plan(name: str, start: str, more: Mapping[str, Any], after: str = "") -> Training:
        kept = Path(TRAININGS) / _file_name(name) / f"{start}{after and f'-after-{_file_name(after)}'}"
        where = {} if place is None else {"resume": without_links(place.absolute(), kept)}
        return Training(f"{name} {start}", env, name, {**options, **more, **where})

    def train(trainings: Sequence[Training]) -> None:
        found.update(zip((one.label for one in trainings), crew.train(trainings), strict=True))

    def best(name: str) -> str:
        labels = [f"{name} {start}" for start in STARTS]
        return max((label for label in labels if label in found), key=lambda label: _value(found[label]))

    train([*(plan(name, "path", {}) for name in names), *(plan(name, "direct", direct) for name in names[1:])])
    starts = [(name, before, found[best(before)].theta) for before, name in itertools.pairwise(names)]
    train([plan(name, "warm", {**direct, "theta": at}, before) for name, before, at in starts])
    chosen = {name: best(name) for name in names}
    used = {name: sum(run.episodes_used for label, run in found.items() if label.split()[0] == name) for name in names}
    runs = {name: found[label] for name, label in chosen.items()}
    return runs, {name: (label.split()[1], used[name]) for name, label in chosen.items()}


def _value(run: Run) -> float:
    return float("-inf") if run.held_out_risk is None else run.held_out_risk


def find_efficient(
    table: FloatArray, measures: Sequence[RiskMeasure], confidence: float, *, seed: int
) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Give the mask [runs] of the runs that no other run dominates.

    A run dominates another if it is surely better by one measure and at least as good by all.

    Args:
        table: returns of the runs on the same episodes [runs, m].
        measures: the measures by which they are compared.
        confidence: of the interval of a difference; a run is surely better if the interval lies above 0.
        seed: the seed of the resamples.
    """
    values = np.array([[float(measure.estimate(row)) for row in table] for measure in measures])
    resampled = resample_measures(table, measures, seed)
    apart = resampled[:, np.newaxis, :, :] - resampled[:, :, np.newaxis, :]  # [measure, this, other, resample]
    low = np.quantile(apart, (1.0 - confidence) / 2.0, axis=-1, method="weibull")
    as_good = np.all(values[:, np.newaxis, :] >= values[:, :, np.newaxis], axis=0)
    return ~np.any(np.any(low > 0.0, axis=0) & as_good, axis=1)

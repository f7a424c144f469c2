"""`rg.experiment`: every measure trained with every seed, and statistics over the seeds.

A training with one seed shows what may happen, not what usually happens. An experiment trains each measure with the
same seeds, on the workers of a backend, and plays every policy on the same fresh episodes. The estimate of a measure is
the score of a run. Over seeds, scores are summarized by their interquartile mean, and two measures are compared by the
probability that a seed of one has a higher score than a seed of the other (`riskgrad.evaluation.seeds`).

An experiment that is kept in a folder can be killed at any moment and resumed. It then ends with the same bits as if it
had never been killed, since each run does; finished runs are not trained again.
"""

import contextlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from riskgrad.backend import Backend
from riskgrad.checks import check_count, check_switch
from riskgrad.crew import Crew, Training, find_folder, refuse_unknown_options
from riskgrad.errors import InputError
from riskgrad.evaluation.seeds import Aggregate, aggregate_seeds, compare_seeds
from riskgrad.experiments.record import Record, describe_options, read_record, refuse_other_experiment, write_record
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.markup import TableOfText, html_table, text_table
from riskgrad.pages.played import EPISODES, closing_played, play_runs, play_untrained
from riskgrad.pages.prose import percent, span_of, write, write_interval
from riskgrad.risk import Mean, RiskMeasure
from riskgrad.risk.base import parse_several
from riskgrad.run import Run
from riskgrad.run.files import without_links
from riskgrad.run.live_crew import Watch, watch_crew
from riskgrad.run.lock import lock_folder
from riskgrad.settings import read_options
from riskgrad.sources.resolve import Environment
from riskgrad.types import FloatArray

# options of `rg.train` that the experiment sets itself, and what to use instead
OWN_TO_IT = {
    "seed": "seeds=5, or seeds=[3, 4]",
    "callback": "rg.train for each seed",
    "theta": "rg.train for a single start",
    "threads": "backend=",
}


@checks_calls
@dataclass(frozen=True)
class Reached:
    """The scores of the seeds of one training measure by one measure.

    Attributes:
        trained_on: the measure that the seeds were trained on.
        risk: the measure of the scores.
        seeds: the number of seeds.
        aggregate: the interquartile mean of the scores and its interval.
        lowest: the score of the worst seed.
        highest: the score of the best seed.
        untrained: the score of the policy before training.
    """

    trained_on: str
    risk: str
    seeds: int
    aggregate: Aggregate
    lowest: float
    highest: float
    untrained: float


@checks_calls
@dataclass(frozen=True)
class Improvement:
    """The probability that a seed of one training measure has a higher score than a seed of another.

    Attributes:
        trained_on: the measure that the first seed was trained on.
        over: the measure that the other seed was trained on.
        risk: the measure of both scores.
        aggregate: the probability and its interval.
    """

    trained_on: str
    over: str
    risk: str
    aggregate: Aggregate


@checks_calls
@dataclass(frozen=True, eq=False)
class Experiment:
    """Trainings that differ only in measure and seed, with their scores.

    Attributes:
        runs: the runs, by measure and seed.
        measures: the mean and the measures that were trained on, each once; every run has a score by each of them.
        scores: the estimate of each measure for each run on fresh episodes [risks, seeds, measures].
        untrained: the scores of the policy of the first seed before training [measures].
        episodes: how many fresh episodes each run played, the same for all.
        confidence: of every interval.
        seed: of the fresh episodes and of resampling.
        folder: the folder in which the runs are kept; None if they are not kept.
    """

    runs: Mapping[tuple[str, int], Run]
    measures: tuple[str, ...]
    scores: FloatArray
    untrained: FloatArray
    episodes: int
    confidence: float
    seed: int
    folder: Path | None = None

    @property
    def risks(self) -> tuple[str, ...]:
        """The measures that were trained on."""
        return tuple(dict.fromkeys(risk for risk, _ in self.runs))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of each measure."""
        return tuple(dict.fromkeys(seed for _, seed in self.runs))

    def scores_of(self, trained_on: str, risk: str) -> FloatArray:
        """Give the score of each seed of a training measure by a measure [seeds]."""
        if trained_on not in self.risks or risk not in self.measures:
            raise InputError("trained_on and risk", "be measures of the experiment", (trained_on, risk))
        return self.scores[self.risks.index(trained_on), :, self.measures.index(risk)]

    def table(self) -> tuple[Reached, ...]:
        """Give the scores over seeds, ordered by training measure and then by measure."""
        options: dict[str, Any] = {"confidence": self.confidence, "seed": self.seed}
        rows: list[Reached] = []
        for trained_on in self.risks:
            for risk, untrained in zip(self.measures, self.untrained.tolist(), strict=True):
                scores = self.scores_of(trained_on, risk)
                found, ends = aggregate_seeds(scores, **options), (float(scores.min()), float(scores.max()))
                rows.append(Reached(trained_on, risk, len(scores), found, *ends, untrained))
        return tuple(rows)

    def improvements(self) -> tuple[Improvement, ...]:
        """Give the probability that each training measure improves on the first one, by every measure."""
        options: dict[str, Any] = {"confidence": self.confidence, "seed": self.seed}
        first, *others = self.risks
        return tuple(
            Improvement(
                one, first, risk, compare_seeds(self.scores_of(one, risk), self.scores_of(first, risk), **options)
            )
            for one in others
            for risk in self.measures
        )

    def interval_of(self, found: Aggregate) -> tuple[float, float] | None:
        """Give the interval over seeds of what was found; None for a single seed, which says nothing of others."""
        return found.interval if len(self.seeds) > 1 else None

    def as_dict(self) -> dict[str, Any]:
        """Give everything but the runs as plain lists, numbers and strings, ready for JSON."""
        kept = {name: getattr(self, name) for name in ("episodes", "confidence", "seed")}
        lists = {"risks": list(self.risks), "seeds": list(self.seeds), "measures": list(self.measures)}
        rows = {
            "table": [asdict(row) for row in self.table()],
            "improvements": [asdict(r) for r in self.improvements()],
        }
        return {**lists, **kept, "scores": self.scores.tolist(), **rows}

    def report(self, path: str | Path, title: str = "") -> Path:
        """Write one page about the experiment, with bands over seeds; give its path.

        Args:
            path: the file to write; its name ends in .html or .htm.
            title: of the page; by default the environment's name.
        """
        from riskgrad.experiments.page import write_experiment_page  # noqa: PLC0415 - matplotlib is slow to load

        return write_experiment_page(self, path, title)

    def texts(self) -> tuple[TableOfText, ...]:
        """Give the tables to show: the scores, and the improvements if there are several training measures."""
        sure = f"{percent(self.confidence)} interval"
        reached: list[tuple[str, ...]] = []
        for row in self.table():
            ends = row.aggregate.interval
            middle, *seeds = (write(value, span_of(ends)) for value in (row.aggregate.value, row.lowest, row.highest))
            reached.append((row.trained_on, row.risk, middle, write_interval(self.interval_of(row.aggregate)), *seeds))
        played = f"({self.episodes:,} fresh episodes each)"
        title = f"Interquartile means over {len(self.seeds)} seeds {played}"
        if len(self.seeds) == 1:
            title = f"What one seed reached {played}; several show how seeds differ"
        header = ("trained on", "measure", "middle", sure, "worst seed", "best seed")
        better = [
            (
                row.trained_on,
                row.risk,
                percent(row.aggregate.value),
                " to ".join(map(percent, ends)) if ends else "none",
            )
            for row in self.improvements()
            for ends in [self.interval_of(row.aggregate)]
        ]
        other = f"How probably a seed reaches more than one trained on {self.risks[0]}"
        columns = ("trained on", "by measure", "probability of improvement", sure)
        found = (TableOfText(title, header, reached), TableOfText(other, columns, better))
        return found if better else found[:1]

    def __str__(self) -> str:
        return "\n\n".join(text_table(one.rows, title=one.title, header=one.header) for one in self.texts())

    def _repr_html_(self) -> str:
        return "".join(html_table(one.rows, title=one.title, header=one.header) for one in self.texts())

    def __repr__(self) -> str:
        return f"<Experiment: {', '.join(map(str, self.risks))}; seeds {', '.join(map(str, self.seeds))}>"


@checks_kinds
def experiment(
    env: Environment,
    risks: Sequence[str | RiskMeasure] | str | RiskMeasure = ("mean", "cvar:0.1"),
    seeds: int | Sequence[int] = 5,
    *,
    episodes: int = EPISODES,
    confidence: float = 0.95,
    seed: int = 0,
    backend: str | Backend | None = None,
    folder: str | Path | None = None,
    resume: str | Path | None = None,
    progress: bool | Literal["auto"] = "auto",
    **training: Any,
) -> Experiment:
    """Train every measure with every seed, and summarize the results over the seeds.

    Args:
        env: the environment, as for `rg.train`.
        risks: the measures to train on; the others are compared with the first one.
        seeds: how many seeds (0, 1, ...), or which ones.
        episodes: how many fresh episodes each trained policy plays, the same for all.
        confidence: of every interval, in (0, 1).
        seed: of the fresh episodes and of resampling.
        backend: where to train, such as "processes:4"; None trains in this process, one run after the other. Other
            processes need an `env` that they can make, such as an id.
        folder: keeps a new experiment, with a folder for each run.
        resume: folder of an experiment to go on with; begins one where there is none. Measures and seeds may be added.
        progress: show progress: True or False; "auto" shows it on a terminal and in a notebook.
        training: further keywords for `rg.train`, the same for all runs, such as iterations=100.
    """
    refuse_unknown_options("rg.experiment", experiment, training)
    check_switch("progress", progress)
    how: dict[str, Any] = {"episodes": episodes, "confidence": confidence, "seed": seed, "backend": backend}
    more: dict[str, Any] = {"folder": folder, "resume": resume, **training}
    return train_experiment(watch_crew(progress, training), env, risks, seeds, **how, **more)


def train_experiment(
    watch: Watch,
    env: Environment,
    risks: Sequence[str | RiskMeasure] | str | RiskMeasure,
    seeds: int | Sequence[int],
    *,
    episodes: int = EPISODES,
    confidence: float = 0.95,
    seed: int = 0,
    backend: str | Backend | None = None,
    folder: str | Path | None = None,
    resume: str | Path | None = None,
    **training: Any,
) -> Experiment:
    """Do what `experiment` says, shown by `watch`: a context for so many trainings, which takes their news.

    Args:
        watch: maps the number of trainings to that context.
        env: the environment; all else is as for `experiment`.
        risks: the measures to train on.
        seeds: how many seeds, or which ones.
        episodes: how many fresh episodes each trained policy plays.
        confidence: of every interval.
        seed: of the fresh episodes and of resampling.
        backend: where to train.
        folder: keeps a new experiment.
        resume: goes on with it.
        training: further keywords for `rg.train`.
    """
    measures, numbers = _read_risks(risks), _read_seeds(seeds)
    check_count("episodes", episodes, 2)
    for name in OWN_TO_IT.keys() & training.keys():
        raise InputError(name, "not be given to rg.experiment", training[name], f"use {OWN_TO_IT[name]}")
    read_options(training)  # refuses options that rg.train would refuse, before anything is written
    asked = Record(env if isinstance(env, str) else None, tuple(measures), numbers, describe_options(training))
    place = find_folder(folder, resume)
    with _open_experiment(place, asked, fresh=resume is None) as record:
        trainings: dict[tuple[str, int], Training] = {}
        for risk, measure in measures.items():
            for one in numbers:
                kept = {} if place is None else {"resume": without_links(place.absolute(), record.folder_of(risk, one))}
                trainings[risk, one] = Training(f"{risk} seed {one}", env, measure, {**training, "seed": one, **kept})
        with watch(len(trainings)) as news, Crew(backend, news) as crew:
            runs = dict(zip(trainings, crew.train(list(trainings.values())), strict=True))
    told = list({str(measure): measure for measure in [Mean(), *measures.values()]}.values())
    played = play_runs({f"{risk} seed {one}": run for (risk, one), run in runs.items()}, env, episodes, seed=seed)
    with closing_played(played, env):
        everyone = [*played, play_untrained(played[0], seed=seed)]
    scores = np.array([[float(measure.estimate(one.values)) for measure in told] for one in everyone])
    return Experiment(
        runs=runs,
        measures=tuple(str(measure) for measure in told),
        scores=scores[:-1].reshape(len(measures), len(numbers), len(told)),
        untrained=scores[-1],
        episodes=episodes,
        confidence=confidence,
        seed=seed,
        folder=place and place.absolute(),
    )


def _read_risks(risks: Sequence[str | RiskMeasure] | str | RiskMeasure) -> dict[str, RiskMeasure]:
    given = parse_several("risks", risks)
    found = {str(measure): measure for measure in given}
    if not given or len(found) < len(given):
        raise InputError("risks", "be at least one measure, and different ones", [str(one) for one in given])
    return found


def _read_seeds(seeds: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(seeds, int | np.integer):
        return tuple(range(check_count("seeds", seeds)))
    found = tuple(check_count("seeds", one, 0) for one in seeds)
    if not found or len(set(found)) < len(found):
        raise InputError("seeds", "be at least one number, and different ones", list(found))
    return found


@contextlib.contextmanager
def _open_experiment(place: Path | None, asked: Record, *, fresh: bool) -> Generator[Record]:
    """Lock the folder of an experiment, and yield its record, with all measures and seeds so far."""
    if place is None:
        yield asked
        return
    with lock_folder(place):
        before = read_record(place)
        if before is not None and fresh:
            raise InputError("folder", "not hold an experiment already", str(place), "pass resume= to go on with it")
        if before is not None:
            refuse_other_experiment(before, asked)
            risks = tuple(dict.fromkeys([*before.risks, *asked.risks]))
            asked = replace(asked, risks=risks, seeds=tuple(dict.fromkeys([*before.seeds, *asked.seeds])))
        if asked != before:
            write_record(place, asked)
        yield asked

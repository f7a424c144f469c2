"""Comparisons of runs on the same episodes: differences of risk with paired bootstrap intervals.

All runs play the same episodes (`played.py`). A resample draws episodes with replacement and takes the returns of every
run on them, so that luck that the runs share cancels:

    difference = rho(second) - rho(first)        interval: percentiles of the difference over the resamples
    better     = share of the resamples with a difference above 0, plus half the share with a difference of 0

`better` says how strongly these episodes suggest that the second run is better; it says nothing about trainings with
other seeds.

The story of a page states the comparison in sentences; it speaks of a difference only if the interval excludes 0.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from riskgrad._evaluate import Risks
from riskgrad.errors import InputError
from riskgrad.evaluation.bootstrap import CHUNK, RESAMPLES, flag_few
from riskgrad.evaluation.masses import count_atoms, put_in_bins
from riskgrad.kinds import checks_calls, checks_kinds
from riskgrad.markup import html_table, text_table
from riskgrad.pages.played import EPISODES, PlayedRun, Runs, closing_played, measures_of, name_runs, play_runs
from riskgrad.pages.prose import certainty, percent, span_of, write, write_interval
from riskgrad.random import Purpose, Stream
from riskgrad.risk import CVaR, Mean, RiskMeasure
from riskgrad.risk.base import parse_several
from riskgrad.sources.resolve import Environment
from riskgrad.types import FloatArray

COMPARED = ("run", "risk", "value", "difference", "better")


@checks_calls
@dataclass(frozen=True)
class Difference:
    """The difference of one run from the first by one risk measure; larger is better.

    Attributes:
        risk: the measure.
        first: name of the first run.
        second: name of the other run.
        first_value: estimate for the first run.
        second_value: estimate for the other run.
        difference: second_value - first_value.
        interval: (low, high) of the difference, by paired resampling.
        better: probability that the other run is better, given these episodes.
        exact: the exact difference; None where the exact laws are not known.
        flag: why the interval should not be relied on; None where it may be.
    """

    risk: str
    first: str
    second: str
    first_value: float
    second_value: float
    difference: float
    interval: tuple[float, float]
    better: float
    exact: float | None
    flag: str | None = None


@checks_calls
@dataclass(frozen=True)
class Comparison:
    """The differences of all runs from the first, by all measures.

    Attributes:
        rows: the differences, ordered by run and then by measure.
        episodes: how many episodes each run played.
        confidence: of each interval.
        seed: of the episodes and the resamples.
    """

    rows: tuple[Difference, ...]
    episodes: int
    confidence: float
    seed: int

    def of(self, second: str, risk: str) -> Difference:
        """Give the row of a run and a measure."""
        found = [row for row in self.rows if (row.second, row.risk) == (second, risk)]
        if not found:
            raise InputError("run and risk", "be in the comparison", (second, risk))
        return found[0]

    def as_dict(self) -> dict[str, Any]:
        """Give everything as plain lists, numbers and strings, ready for JSON."""
        rows = [{**asdict(row), "interval": list(row.interval)} for row in self.rows]
        return {"rows": rows, "episodes": self.episodes, "confidence": self.confidence, "seed": self.seed}

    def __str__(self) -> str:
        return "\n".join([text_table(self._cells(), title=self._title(), header=COMPARED), *self.footnotes()])

    def _repr_html_(self) -> str:
        return html_table(self._cells(), title=self._title(), header=COMPARED, notes=self.footnotes())

    def footnotes(self) -> list[str]:
        """Give a line for each reason for which intervals are marked with a star."""
        return [f"* not to be relied on: {flag}" for flag in dict.fromkeys(row.flag for row in self.rows) if flag]

    def _title(self) -> str:
        return f"Against {self.rows[0].first}, on the same {self.episodes:,} episodes"

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (
                row.second,
                row.risk,
                f"{write(row.second_value, span)} instead of {write(row.first_value, span)}",
                f"{write(row.difference, span)}, {write_interval(row.interval)}{' *' if row.flag else ''}",
                certainty(row.better, RESAMPLES),
            )
            for row in self.rows
            for span in [span_of(row.interval)]
        ]


@checks_kinds
def compare(
    runs: Runs,
    env: Environment | None = None,
    risk: Risks | None = None,
    episodes: int = EPISODES,
    confidence: float = 0.95,
    *,
    seed: int = 0,
    trust: bool = False,
) -> Comparison:
    """Compare every run with the first one, on the same fresh episodes.

    Args:
        runs: two or more, by name or in a list; a path stands for the run that is kept there.
        env: where to play; None takes the environment of the runs.
        risk: the measures; None takes the mean and the measures of the runs.
        episodes: m, the number of episodes of each run.
        confidence: of each interval, in (0, 1).
        seed: of the episodes and the resamples.
        trust: import the module that a run names, as in "module:Name-v0"; modules run code.
    """
    named = name_runs(runs)
    if len(named) < 2:
        raise InputError("runs", "be at least two", len(named))
    played = play_runs(named, env, episodes, seed=seed, trust=trust)
    with closing_played(played, env):
        measures = measures_of(played) if risk is None else parse_several("risk", risk)
        return compare_played(played, measures, confidence, seed=seed)


def compare_played(
    played: Sequence[PlayedRun], measures: Sequence[RiskMeasure], confidence: float = 0.95, *, seed: int = 0
) -> Comparison:
    """Compare runs that have been played on the same episodes; see `compare`."""
    if not 0.0 < confidence < 1.0:
        raise InputError("confidence", "be in (0, 1)", confidence, "0.95 is usual")
    table = np.stack([one.values for one in played])
    resampled = resample_measures(table, measures, seed)
    levels = [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0]
    samples = [put_in_bins(count_atoms(one.values)) for one in played]
    rows: list[Difference] = []
    for index, one in enumerate(played[1:], start=1):
        for row, measure in enumerate(measures):
            before, now = float(measure.estimate(table[0])), float(measure.estimate(table[index]))
            apart: FloatArray = resampled[row, index] - resampled[row, 0]
            low, high = (float(np.quantile(apart, level, method="weibull")) for level in levels)
            rows.append(
                Difference(
                    risk=str(measure),
                    first=played[0].name,
                    second=one.name,
                    first_value=before,
                    second_value=now,
                    difference=now - before,
                    interval=(low, high),
                    better=float(np.count_nonzero(apart > 0.0) + np.count_nonzero(apart == 0.0) / 2.0) / RESAMPLES,
                    exact=_exact_difference(measure, played[0], one),
                    flag=flag_few(measure, samples[0]) or flag_few(measure, samples[index]),
                )
            )
    return Comparison(tuple(rows), table.shape[1], float(confidence), seed)


def resample_measures(table: FloatArray, measures: Sequence[RiskMeasure], seed: int) -> FloatArray:
    """Give every measure of every run on each resample [measures, runs, resamples], from returns [runs, m]."""
    # episodes with the same returns of all runs are one atom, drawn with their number as its weight
    atoms, counts = np.unique(table, axis=1, return_counts=True)
    size, rows = table.shape[1], max(1, CHUNK // atoms.shape[1])
    results = np.empty((len(measures), len(table), RESAMPLES))
    stream = Stream(seed, Purpose.BOOTSTRAP)
    for part, start in enumerate(range(0, RESAMPLES, rows)):
        end = min(start + rows, RESAMPLES)
        drawn = stream.generator(part).multinomial(size, counts / size, size=end - start)
        for row, measure in enumerate(measures):
            for run, returns in enumerate(atoms):
                results[row, run, start:end] = measure.estimate_counts(returns, drawn)
    return results


def _exact_difference(measure: RiskMeasure, first: PlayedRun, second: PlayedRun) -> float | None:
    if first.law is None or second.law is None:
        return None
    return measure.value(second.law) - measure.value(first.law)


@dataclass(frozen=True)
class Story:
    """The sentences at the top of a page.

    Attributes:
        headlines: the comparison of each run with the first one; for a single run, its results before that.
        details: the results of each run, if there are several.
    """

    headlines: Sequence[str]
    details: Sequence[str]


def tell_story(played: Sequence[PlayedRun], before: Sequence[PlayedRun], comparison: Comparison) -> Story:
    """Give the results of the runs and the comparison of each with the first one, in sentences.

    Args:
        played: the runs.
        before: the policy of a single run before training; empty where there are several.
        comparison: the comparison with the first of `before` and `played` together.
    """
    each = [_tell_alone(one) for one in played]
    first, *others = [*before, *played]
    against = [_tell_against(one, comparison, call_run(one), call_run(first)) for one in others]
    return Story([*each, *against], ()) if before else Story(against, each)


def call_run(one: PlayedRun) -> str:
    """Give the letter and the name of a run, by which sentences call it."""
    return f"{one.letter} ({one.name})" if one.letter else one.name


def _tell_alone(one: PlayedRun) -> str:
    alpha = one.tail
    state = "" if one.run.finished else " It was stopped before its end."
    return (
        f"{call_run(one)} was trained on {one.about}. On {write(len(one.values))} fresh episodes it returns "
        f"{one.write_estimate(Mean())} on average and {one.write_estimate(CVaR(alpha))} over the worst "
        f"{percent(alpha)}.{state}"
    )


def _tell_against(one: PlayedRun, comparison: Comparison, name: str, first: str) -> str:
    mean = comparison.of(one.name, "mean")
    risk = comparison.of(one.name, "cvar:0.1" if one.risk.attitude == "neutral" else str(one.risk))
    what = "the mean of the worst 10%" if one.risk.attitude == "neutral" else one.about
    gives, gets = _side(mean), _side(risk)
    if gives == gets == "same":
        return f"Between {name} and {first} these episodes show no difference, in the mean or in the risk."
    if gives == "worse" and gets == "better":
        return (
            f"Compared with {first}, {name} gives up {_size(mean)} of mean return and gains {_size(risk)} in {what}: "
            f"{_write_value(risk, risk.second_value)} instead of {_write_value(risk, risk.first_value)}."
        )
    if gives == "better" and gets == "worse":
        return (
            f"Compared with {first}, {name} gains {_size(mean)} of mean return and loses {_size(risk)} in {what}: "
            f"{_write_value(risk, risk.second_value)} instead of {_write_value(risk, risk.first_value)}."
        )
    return f"Compared with {first}, {name} is {_part(mean, 'on average')} and {_part(risk, f'in {what}')}."


def _part(row: Difference, where: str) -> str:
    side = _side(row)
    return f"no different {where}" if side == "same" else f"{side} by {_size(row)} {where}"


def _size(row: Difference) -> str:
    """Write the size of a difference with as many digits as its interval justifies."""
    return write(abs(row.difference), span_of(row.interval))


def _write_value(row: Difference, value: float) -> str:
    return write(value, span_of(row.interval))


def _side(row: Difference) -> str:
    """Give "better" or "worse" if the interval excludes 0, otherwise "same"."""
    if row.interval[0] <= 0.0 <= row.interval[1]:
        return "same"
    return "better" if row.difference > 0.0 else "worse"

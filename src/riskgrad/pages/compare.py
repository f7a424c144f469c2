"""Which run is better, on the same episodes: differences of risk with paired bootstrap intervals.

All runs play the same episodes (`played.py`). A resample draws episodes with replacement and takes the returns of every
run on them, so that what the runs share cancels:

    difference = rho(second) - rho(first)        interval: percentiles of the difference over the resamples
    better     = share of the resamples with a difference above 0, and half of those with none

`better` says how sure these episodes make us that the second run is better; it says nothing about another training with
another seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from riskgrad.errors import InputError
from riskgrad.evaluation.bootstrap import CHUNK, RESAMPLES
from riskgrad.pages.played import EPISODES, Played, measures_of, play
from riskgrad.random import Purpose, Stream
from riskgrad.risk import RiskMeasure, parse
from riskgrad.run import Run
from riskgrad.sources.resolve import Environment
from riskgrad.types import FloatArray


@dataclass(frozen=True)
class Difference:
    """How one run differs from the first by one risk measure; larger is better.

    Attributes:
        risk: the measure.
        first: name of the run compared with.
        second: name of the run.
        first_value: estimate for the first.
        second_value: estimate for the second.
        difference: second_value - first_value.
        interval: (low, high) of the difference, by paired resampling.
        better: probability that the second is better, given these episodes.
        exact: the exact difference, for finite models.
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


@dataclass(frozen=True)
class Comparison:
    """Every run against the first, by every measure.

    Attributes:
        rows: by run, then by measure.
        episodes: how many each run played.
        confidence: of each interval.
        seed: of the episodes and the resamples.
    """

    rows: tuple[Difference, ...]
    episodes: int
    confidence: float
    seed: int

    def of(self, second: str, risk: str) -> Difference:
        """The row of a run and a measure."""
        found = [row for row in self.rows if (row.second, row.risk) == (second, risk)]
        if not found:
            raise InputError("run and risk", "be in the comparison", (second, risk))
        return found[0]

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain lists, numbers and strings, ready for JSON."""
        rows = [{**asdict(row), "interval": list(row.interval)} for row in self.rows]
        return {"rows": rows, "episodes": self.episodes, "confidence": self.confidence, "seed": self.seed}


def compare(
    runs: Mapping[str, Run],
    env: Environment | None = None,
    risk: Sequence[str | RiskMeasure] | None = None,
    episodes: int = EPISODES,
    confidence: float = 0.95,
    *,
    seed: int = 0,
) -> Comparison:
    """Compare every run with the first one, on the same fresh episodes.

    Args:
        runs: two or more, by name.
        env: where to play; None takes what the runs were trained on.
        risk: the measures; None for the mean and what the runs were trained on.
        episodes: m, for each run.
        confidence: of each interval, in (0, 1).
        seed: of the episodes and the resamples.
    """
    if len(runs) < 2:
        raise InputError("runs", "be at least two", len(runs))
    played = play(runs, env, episodes, seed=seed)
    measures = measures_of(played) if risk is None else [parse(name) for name in risk]
    return compare_played(played, measures, confidence, seed=seed)


def compare_played(
    played: Sequence[Played], measures: Sequence[RiskMeasure], confidence: float = 0.95, *, seed: int = 0
) -> Comparison:
    """Compare runs that have been played on the same episodes; see `compare`."""
    if not 0.0 < confidence < 1.0:
        raise InputError("confidence", "be in (0, 1)", confidence, "0.95 is usual")
    table = np.stack([one.values for one in played])
    resampled = _resampled(table, measures, seed)
    levels = [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0]
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
                    exact=_exact(measure, played[0], one),
                )
            )
    return Comparison(tuple(rows), table.shape[1], float(confidence), seed)


def _resampled(table: FloatArray, measures: Sequence[RiskMeasure], seed: int) -> FloatArray:
    """Every measure of every run on each resample [measures, runs, resamples], from returns [runs, m]."""
    # episodes on which all runs have the same returns are one atom, drawn by its count
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


def _exact(measure: RiskMeasure, first: Played, second: Played) -> float | None:
    if first.law is None or second.law is None:
        return None
    return measure.value(second.law) - measure.value(first.law)

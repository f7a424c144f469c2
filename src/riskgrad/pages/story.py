"""What a reader should take away, in sentences; a difference is told only where the episodes can tell it."""

from collections.abc import Sequence
from dataclasses import dataclass

from riskgrad.evaluation import Table
from riskgrad.pages.compare import Comparison, Difference
from riskgrad.pages.played import Played
from riskgrad.pages.shared_figures import letter
from riskgrad.pages.words import number, percent
from riskgrad.risk import CVaR


@dataclass(frozen=True)
class Story:
    """What the page says first.

    Attributes:
        headlines: what each run bought against the one they are compared with; for a single run what it does.
        details: what each run does.
    """

    headlines: Sequence[str]
    details: Sequence[str]


def told(played: Sequence[Played], tables: Sequence[Table], comparison: Comparison | None) -> Story:
    """Tell what the runs do, and what each bought against the one they are compared with."""
    each = [_alone(one, index, table) for index, (one, table) in enumerate(zip(played, tables, strict=True))]
    if comparison is None:
        return Story(each, ())
    names = {one.name: f"{letter(index)} ({one.name})" for index, one in enumerate(played)}
    first = comparison.rows[0].first
    others = [one for one in played if one.name != first]
    return Story([_against(one, comparison, names[one.name], names[first]) for one in others], each)


def _alone(one: Played, index: int, table: Table) -> str:
    alpha = one.tail
    tail = float(CVaR(alpha).estimate(one.values))
    state = "" if one.run.finished else " It was stopped before its end."
    mean, size = number(table["mean"].value), number(len(one.values))
    return (
        f"{letter(index)} ({one.name}) was trained on {one.risk.meaning}. On {size} fresh episodes it returns {mean} "
        f"on average and {number(tail)} over the worst {percent(alpha)}.{state}"
    )


def _against(one: Played, comparison: Comparison, name: str, first: str) -> str:
    mean = comparison.of(one.name, "mean")
    risk = comparison.of(one.name, "cvar:0.1" if one.risk.attitude == "neutral" else str(one.risk))
    what = "the mean of the worst 10%" if one.risk.attitude == "neutral" else one.risk.meaning
    gives, gets = _side(mean), _side(risk)
    if gives == gets == "same":
        return f"Between {name} and {first} these episodes show no difference, in the mean or in the risk."
    if gives == "worse" and gets == "better":
        return (
            f"Compared with {first}, {name} gives up {_size(mean)} of mean return and gains {_size(risk)} in {what}: "
            f"{number(risk.second_value)} instead of {number(risk.first_value)}."
        )
    if gives == "better" and gets == "worse":
        return (
            f"Compared with {first}, {name} gains {_size(mean)} of mean return and loses {_size(risk)} in {what}: "
            f"{number(risk.second_value)} instead of {number(risk.first_value)}."
        )
    return f"Compared with {first}, {name} is {_part(mean, 'on average')} and {_part(risk, f'in {what}')}."


def _part(row: Difference, where: str) -> str:
    side = _side(row)
    return f"no different {where}" if side == "same" else f"{side} by {_size(row)} {where}"


def _size(row: Difference) -> str:
    """How large a difference is, with the digits that its interval is worth."""
    return number(abs(row.difference), row.interval[1] - row.interval[0])


def _side(row: Difference) -> str:
    """Better or worse where the interval leaves no doubt, otherwise the same."""
    if row.interval[0] <= 0.0 <= row.interval[1]:
        return "same"
    return "better" if row.difference > 0.0 else "worse"

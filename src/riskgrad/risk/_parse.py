"""Risk measures from strings: `mean`, `cvar:0.1`, `mean-variance:0.5`, `dual-power:2`, `dual-power:2:seeking`.

A string is a name, its numbers and, at the end, the attitude if it is not the default; `str(measure)` gives it back.
The names are those of the measures and, for the distortion measure of a family, those of the distortions.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from riskgrad.distortion import DISTORTIONS, DistortionFunction
from riskgrad.errors import InputError, UnknownNameError
from riskgrad.risk.base import MEASURES, RiskMeasure
from riskgrad.risk.distortion import Distortion


def parse(risk: str | RiskMeasure) -> RiskMeasure:
    """Turn a string into a risk measure; a measure is given back as it is.

    Args:
        risk: `name[:number...][:averse|seeking]`, for instance "cvar:0.05" or "exponential:3:seeking".
    """
    if isinstance(risk, RiskMeasure):
        return risk
    if not isinstance(risk, str) or not risk.strip():
        raise InputError("risk", "be a string such as 'cvar:0.1' or a risk measure", risk)
    name, *words = risk.strip().lower().split(":")
    known = builders()
    if name not in known:
        raise UnknownNameError("risk", name, known, "for example 'cvar:0.1', 'mean-variance:0.5', 'dual-power:2'")
    build, example = known[name]
    attitude = {"attitude": words.pop()} if words and words[-1].isalpha() and words[-1] not in ("inf", "nan") else {}
    try:
        numbers = [float(word) for word in words]
        inspect.signature(build).bind(*numbers, **attitude)
    except (ValueError, TypeError) as problem:
        raise InputError("risk", f"look like {example!r}", risk) from problem
    return build(*numbers, **attitude)


def builders() -> Mapping[str, tuple[Callable[..., RiskMeasure], str]]:
    """Give every name that `parse` knows, with what builds its measure and an example."""
    measures = {name: (measure, measure.example) for name, measure in MEASURES.named().items()}
    families = {name: (_measure_of(family), family.example) for name, family in DISTORTIONS.named().items()}
    return {**families, **measures}


def _measure_of(family: type[DistortionFunction]) -> Callable[..., RiskMeasure]:
    def build(*args: Any, **kwargs: Any) -> RiskMeasure:
        return Distortion(family(*args, **kwargs))

    build.__signature__ = inspect.signature(family)  # pyright: ignore[reportFunctionMemberAccess]
    return build

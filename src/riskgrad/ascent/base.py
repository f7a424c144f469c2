"""What an ascent is: one step uphill along a gradient, and what it remembers between steps.

An ascent is frozen; its running moments of the gradient are plain arrays that `step` takes and gives back, so that a
checkpoint can hold them. A string names an ascent: `adam:0.1`, `constant:0.5`, with more numbers after commas as in
`adam:0.1,clip=5`. `parse_ascent` reads such a string, and `str(ascent)` writes it.

To add an ascent: a file here with a final, frozen dataclass that is an `Ascent`, whose first field is `step_size`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, ClassVar

import numpy as np

from riskgrad.checks import check_number, check_positive
from riskgrad.errors import InputError, UnknownNameError
from riskgrad.kinds import checks_kinds
from riskgrad.registry import PartList
from riskgrad.types import FloatArray

Moments = Mapping[str, FloatArray]


class Ascent(ABC):
    """A rule for one step uphill.

    Attributes:
        name: the name of the ascent in a string.
        step_size: how long a step is, positive.
        clip: largest norm of a gradient; longer ones are shortened to it.
    """

    name: ClassVar[str] = ""
    step_size: float
    clip: float = math.inf

    @abstractmethod
    def start(self, dim: int) -> Moments:
        """Give the moments before the first step, for d parameters."""

    @abstractmethod
    def step(self, theta: FloatArray, gradient: FloatArray, moments: Moments) -> tuple[FloatArray, Moments]:
        """Move theta [d] along the gradient [d]; give the new theta and the new moments."""

    def scale_step(self, factor: float) -> "Ascent":
        """Give the same ascent with its step size multiplied by a factor."""
        own: Any = self
        return replace(own, step_size=self.step_size * factor)

    def __post_init__(self) -> None:
        check_positive("step_size", self.step_size)
        if not self.clip > 0.0:
            raise InputError("clip", "be positive", self.clip)

    def __str__(self) -> str:
        own: Any = self
        numbers = {one.name: getattr(self, one.name) for one in fields(own)}
        usual = {one.name: one.default for one in fields(own) if one.default is not MISSING}
        more = [f",{key}={value!r}" for key, value in numbers.items() if key in usual and value != usual[key]]
        return f"{self.name}:{numbers['step_size']!r}{''.join(more)}"


ASCENTS = PartList("step_size", Ascent, "riskgrad.ascent")


@checks_kinds
def parse_ascent(step_size: "float | str | Ascent") -> Ascent:
    """Give the ascent that `step_size` stands for.

    Args:
        step_size: an ascent; a number, which is the paper's constant step; or a string, `adam:0.1` or `constant:0.5`,
            with `,name=number` for each further field.
    """
    if isinstance(step_size, Ascent):
        return step_size
    text = step_size if isinstance(step_size, str) else f"constant:{check_number('step_size', step_size)!r}"
    first, *more = text.strip().lower().split(",")
    name, _, size = first.rpartition(":")
    kind: Any = ASCENTS.find(name or "constant", "for example 'adam:0.1'")
    known = [one.name for one in fields(kind)]
    try:
        pairs = [("step_size", size), *(pair.split("=", 1) for pair in more)]
        numbers = {key.strip().replace("-", "_"): float(value) for key, value in pairs}
    except ValueError as error:
        raise InputError("step_size", "look like 0.5, 'adam:0.1' or 'adam:0.1,clip=5'", text) from error
    for key in numbers:
        if key not in known:
            raise UnknownNameError(f"what follows {name} in step_size", key, known)
    return kind(**numbers)


def shorten(gradient: FloatArray, longest: float) -> FloatArray:
    """Shorten a gradient [d] to a norm of at most `longest`, keeping its direction."""
    norm = float(np.sqrt(np.sum(gradient * gradient)))
    return gradient if norm <= longest else gradient * (longest / norm)

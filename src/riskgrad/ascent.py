"""One step uphill: the paper's constant step (`eq:approx_theta_update`) and Adam.

An ascent is frozen; what it remembers between steps is a dictionary of plain arrays that it takes and gives back, so
that a checkpoint can hold it. A string names one: `adam:0.1`, `constant:0.5`, with more numbers after commas as in
`adam:0.1,clip=5`; `str(ascent)` gives it back, and `parse` reads it.

Adam divides each coordinate by the root of its running second moment. No constant is added to that root: a coordinate
whose gradient has been zero throughout stays where it is, and rewards in cents or in millions give the same steps.
A constant step has no such invariance; its size is in units of theta per unit of gradient.
"""

import decimal
import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Final, Protocol

import numpy as np

from riskgrad.errors import InputError, UnknownNameError
from riskgrad.types import FloatArray

Memory = Mapping[str, FloatArray]


class Ascent(Protocol):
    """What the algorithms need of an ascent."""

    def start(self, dim: int) -> dict[str, FloatArray]:
        """Give the memory before the first step, for d parameters."""
        ...

    def step(self, theta: FloatArray, gradient: FloatArray, memory: Memory) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Move theta [d] along the gradient [d]; give the new theta and the new memory."""
        ...


@dataclass(frozen=True, slots=True)
class ConstantStep:
    """The paper's update theta + alpha * gradient.

    Attributes:
        step_size: alpha, positive.
        clip: largest norm of a gradient; longer ones are shortened to it. Infinity, the paper's, never clips.
    """

    step_size: float
    clip: float = math.inf

    def __post_init__(self) -> None:
        _check(self.step_size, self.clip)

    def start(self, dim: int) -> dict[str, FloatArray]:  # noqa: ARG002
        """Give the memory before the first step: none."""
        return {}

    def step(self, theta: FloatArray, gradient: FloatArray, memory: Memory) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Move theta [d] along the gradient [d]."""
        return theta + self.step_size * clipped(gradient, self.clip), dict(memory)

    def __str__(self) -> str:
        return _text("constant", self)


@dataclass(frozen=True, slots=True)
class Adam:
    """Adam: running means of the gradient and of its square, with the bias of their start removed.

    Attributes:
        step_size: how far a coordinate moves when its gradient keeps its sign, positive.
        mean_decay: memory of the mean, in [0, 1).
        square_decay: memory of the square, in [0, 1).
        clip: largest norm of a gradient; longer ones are shortened to it.
    """

    step_size: float
    mean_decay: float = 0.9
    square_decay: float = 0.999
    clip: float = math.inf

    def __post_init__(self) -> None:
        _check(self.step_size, self.clip)
        for name in ("mean_decay", "square_decay"):
            decay = getattr(self, name)
            if not 0.0 <= decay < 1.0:
                raise InputError(name, "be in [0, 1)", decay)

    def start(self, dim: int) -> dict[str, FloatArray]:
        """Give the memory before the first step, for d parameters."""
        return {"mean": np.zeros(dim), "square": np.zeros(dim), "steps": np.zeros(1)}

    def step(self, theta: FloatArray, gradient: FloatArray, memory: Memory) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Move theta [d] along the gradient [d]."""
        slope = clipped(gradient, self.clip)
        steps = memory["steps"] + 1.0
        mean = self.mean_decay * memory["mean"] + (1.0 - self.mean_decay) * slope
        square = self.square_decay * memory["square"] + (1.0 - self.square_decay) * slope * slope
        count = int(steps[0])
        root = np.sqrt(square / (1.0 - power(self.square_decay, count)))
        move = np.divide(mean / (1.0 - power(self.mean_decay, count)), root, out=np.zeros_like(mean), where=root > 0.0)
        return theta + self.step_size * move, {"mean": mean, "square": square, "steps": steps}

    def __str__(self) -> str:
        return _text("adam", self)


def power(base: float, count: int) -> float:
    """Give base^count, rounded once, to the same bits on every machine."""
    with decimal.localcontext(prec=40):
        return float(decimal.Decimal(base) ** count)


KINDS: Final = {"adam": Adam, "constant": ConstantStep}


def parse(text: str) -> Adam | ConstantStep:
    """Turn a string into an ascent.

    Args:
        text: `adam:step_size` or `constant:step_size`, with `,name=number` for what else it takes; a number alone is a
            constant step.
    """
    first, *more = text.strip().lower().split(",")
    name, _, size = first.rpartition(":")
    if name and name not in KINDS:
        raise UnknownNameError("step_size", name, KINDS, "for example 'adam:0.1'")
    kind = KINDS[name or "constant"]
    known = [field.name for field in fields(kind)]
    try:
        pairs = [("step_size", size), *(pair.split("=", 1) for pair in more)]
        numbers = {option.strip().replace("-", "_"): float(value) for option, value in pairs}
    except ValueError as problem:
        raise InputError("step_size", "look like 0.5, 'adam:0.1' or 'adam:0.1,clip=5'", text) from problem
    for option in numbers:
        if option not in known:
            raise UnknownNameError(f"what follows {name} in step_size", option, known)
    return kind(**numbers)


def _text(name: str, ascent: "Adam | ConstantStep") -> str:
    """Write an ascent as `parse` reads it, without what is left at its default."""
    numbers = {field.name: getattr(ascent, field.name) for field in fields(ascent)}
    usual = {field.name: field.default for field in fields(ascent) if field.default is not MISSING}
    more = [f",{option}={value!r}" for option, value in numbers.items() if option in usual and value != usual[option]]
    return f"{name}:{numbers['step_size']!r}{''.join(more)}"


def clipped(gradient: FloatArray, longest: float) -> FloatArray:
    """Shorten a gradient [d] to a norm of at most `longest`, keeping its direction."""
    norm = float(np.sqrt(np.sum(gradient * gradient)))
    return gradient if norm <= longest else gradient * (longest / norm)


def _check(step_size: float, clip: float) -> None:
    if not 0.0 < step_size < math.inf:
        raise InputError("step_size", "be positive and finite", step_size)
    if not clip > 0.0:
        raise InputError("clip", "be positive", clip)

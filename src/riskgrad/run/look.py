"""What held-out episodes say of an iterate, and how a file keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from riskgrad.types import FloatArray

LOOK: Final = "look."


@dataclass(frozen=True, eq=False)
class Look:
    """What held-out episodes say of an iterate.

    Attributes:
        risk: the estimate of the risk.
        mean: the estimate of the mean, by which equal risks are told apart.
        values: their returns [m].
        weights: their weights [m] where another policy acted; None where the iterate did.
    """

    risk: float
    mean: float
    values: FloatArray
    weights: FloatArray | None = None


def flatten_look(look: Look | None) -> dict[str, FloatArray]:
    """Give what a file holds of what held-out episodes say; nothing where there is none."""
    found = {} if look is None else vars(look)
    return {f"{LOOK}{name}": np.asarray(value) for name, value in found.items() if value is not None}


def read_look(arrays: Mapping[str, Any]) -> Look | None:
    """Read what held-out episodes say from what a file holds; None where there is none."""
    found = {name.removeprefix(LOOK): array for name, array in arrays.items() if name.startswith(LOOK)}
    return Look(float(found.pop("risk")), float(found.pop("mean")), **found) if found else None

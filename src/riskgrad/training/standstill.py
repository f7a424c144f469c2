"""When a run has converged: the estimates of its iterations no longer rise by more than chance would have it.

With `patience` p the mean of the last p estimates of the risk is compared with the mean of the p before. The run stands
still if it is not larger by more than two standard errors of the difference, which the record holds. While the path
leads from a milder measure to the named one, and while another way takes the lead in a race, nothing stands still.

It is decided by the record alone, so that a run that is killed and resumed stops at the same iteration.
"""

import math
from collections.abc import Sequence
from statistics import fmean, pvariance
from typing import Any, Final

from riskgrad.run.store import Line

CLEAR: Final = 2.0  # standard errors of a rise that is no accident


def stands_still(history: Sequence[Line], patience: int | None) -> bool:
    """Say whether the last estimates of a record no longer rise; never where there is no patience to lose."""
    if patience is None or len(history) < 2 * patience:
        return False
    late = history[-2 * patience :]
    values: list[Any] = [line.get("risk") for line in late]
    arrived = all(line.get("path") in (None, 1.0) for line in late) and len({line.get("way") for line in late}) == 1
    if not arrived or None in values:
        return False
    before, now = values[:patience], values[patience:]
    errors: list[Any] = [line.get("risk_error") for line in late]
    if None in errors:
        variance = (pvariance(before) + pvariance(now)) / patience
    else:
        variance = sum(error**2 for error in errors) / patience**2
    return fmean(now) - fmean(before) <= CLEAR * math.sqrt(variance)

"""The schedule of the main theorem (`tm:sf`): alpha = N^-1/2, mu = N^-1/4, n = N^1/2, m = N.

n is rounded up, since the theorem's bound need not hold with n rounded down. The theorem's step and smoothing do not
depend on the scale of the rewards or of the parameters; two multipliers adapt them, and 1 gives the paper's values.

In each of N iterations OnP-SF samples 2 n m episodes, about 2 N^(5/2) in the whole run; OffP-SF samples a fresh batch
of m episodes, N^2 in the whole run.
"""

import math
from dataclasses import dataclass, replace

from riskgrad.checks import check_count
from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls, checks_kinds

LARGEST = 10**300  # most iterations; a float can still hold the number


@checks_calls
@dataclass(frozen=True, slots=True)
class Schedule:
    """The four numbers of a run of N iterations.

    Attributes:
        iterations: N.
        step_size: the constant step alpha.
        smoothing: the perturbation mu, in (0, 1].
        directions: n, the number of unit vectors of one iteration.
        episodes: m, the number of episodes of each estimate of the risk.
    """

    iterations: int
    step_size: float
    smoothing: float
    directions: int
    episodes: int

    @property
    def onp_sf_episodes(self) -> int:
        """Episodes that OnP-SF samples in the whole run: 2 n m N."""
        return 2 * self.directions * self.episodes * self.iterations

    @property
    def offp_sf_episodes(self) -> int:
        """Episodes that OffP-SF samples in the whole run, a fresh batch per iteration: m N."""
        return self.episodes * self.iterations


@checks_kinds
def schedule(iterations: int, *, step_multiplier: float = 1.0, smoothing_multiplier: float = 1.0) -> Schedule:
    """Give the theorem's step size, smoothing, directions and episodes for N iterations.

    Args:
        iterations: N, at least 1.
        step_multiplier: factor of the step size, to adapt it to the scale of the rewards.
        smoothing_multiplier: factor of the smoothing, which must stay in (0, 1].

    Returns:
        the schedule of `tm:sf`.
    """
    iterations = check_count("iterations", iterations, most=LARGEST)
    step_size, smoothing = (
        step_multiplier / math.sqrt(iterations),
        smoothing_multiplier / math.sqrt(math.sqrt(iterations)),
    )
    if not 0.0 < step_size < math.inf:
        raise InputError("step_multiplier", "be positive and finite", step_multiplier)
    if not 0.0 < smoothing <= 1.0:
        raise InputError("smoothing_multiplier", "give a smoothing in (0, 1]", smoothing_multiplier)
    return Schedule(iterations, step_size, smoothing, 1 + math.isqrt(iterations - 1), iterations)


@checks_kinds
def thrifty_schedule(iterations: int, *, step_multiplier: float = 1.0, smoothing_multiplier: float = 1.0) -> Schedule:
    """Give a schedule with one direction and m = sqrt(N) episodes, rounded up, at least 3.

    With it the sharp bound falls like 1 / sqrt(N), as with the schedule of `tm:sf`, for every estimator whose bias is
    O(1 / m); OnP-SF samples about 2 N^(3/2) episodes in all, and OffP-SF N^(3/2).

    Args:
        iterations: N.
        step_multiplier: as for `schedule`.
        smoothing_multiplier: as for `schedule`.
    """
    full = schedule(iterations, step_multiplier=step_multiplier, smoothing_multiplier=smoothing_multiplier)
    return replace(full, directions=1, episodes=max(3, full.directions))

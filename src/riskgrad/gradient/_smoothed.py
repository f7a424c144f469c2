"""The smoothed-functional gradient from values at perturbed parameters (`eq:hat_nabla_hat_rho`).

    (d / n) sum_i s_i v_i,   s_i = (rho_hat(theta + mu v_i) - rho_hat(theta - mu v_i)) / (2 mu)

Its mean over directions is the gradient of rho averaged over the ball of radius mu (`eq:rho_mu`).

The reported error is about that mean. It is estimated from how the terms differ from direction to direction:

- Independent directions: the spread of the n terms d s_i v_i, which is unbiased whatever the function.
- A block of r < d orthogonal directions is sampling without replacement: the same spread times 1 - r / d. This is
  exact for a linear function; noise in the values is then counted with the factor 1 - r / d as well.
- One whole block of d is a full finite difference: its direction error is zero for a linear function, but it does not
  show the noise in the values, so the error is NaN. Several blocks are independent, and their spread is the error.

Noise that all directions share, as when one batch of episodes serves every perturbed policy, moves all terms alike and
cannot be seen here; `batch_error` estimates it from the batch.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import as_reals, check_smoothing
from riskgrad.errors import InputError
from riskgrad.kinds import checks_kinds
from riskgrad.risk.base import ERROR_GROUPS, SMALLEST_GROUP, RiskMeasure
from riskgrad.types import FloatArray, Gradient

UNIT_TOLERANCE = 1e-6
ORTHOGONAL_TOLERANCE = 1e-9

Objective = Callable[[FloatArray], FloatArray]


@checks_kinds
def smoothed(objective: Objective, theta: ArrayLike, directions: ArrayLike, smoothing: float) -> Gradient:
    """Estimate the gradient of a function from its values at theta +- smoothing * directions.

    Args:
        objective: thetas [2n, d] -> values [2n]; called once. Rows i and n + i are the + and - of direction i.
        theta: where the gradient is wanted [d].
        directions: unit vectors [n, d], from `sphere` or your own.
        smoothing: the distance mu of the perturbed parameters, in (0, 1].

    Returns:
        the estimate with its standard error over directions; NaN where that cannot be estimated (see the module).
    """
    center, units, mu = _check_arguments(theta, directions, smoothing)
    return smoothed_difference(objective(around(center, units, mu)), units, mu)


@checks_kinds
def around(theta: FloatArray, directions: FloatArray, smoothing: float) -> FloatArray:
    """Give the perturbed parameters theta +- smoothing * directions [2n, d]; rows i and n + i are + and -.

    Args:
        theta: the center [d].
        directions: unit vectors [n, d].
        smoothing: mu.
    """
    return np.concatenate([theta + smoothing * directions, theta - smoothing * directions])


@checks_kinds
def smoothed_difference(values: ArrayLike, directions: FloatArray, smoothing: float) -> Gradient:
    """Estimate the gradient from the values of a function at the parameters that `around` gives.

    Args:
        values: one for each perturbed parameter vector [2n].
        directions: unit vectors [n, d].
        smoothing: mu.

    Returns:
        the estimate with its standard error over directions; NaN where that cannot be estimated (see the module).
    """
    units, mu, values = directions, smoothing, as_reals("objective", values)
    n, d = units.shape
    if values.shape != (2 * n,) or not np.all(np.isfinite(values)):
        raise InputError("objective", f"give {2 * n} finite values, one per row of thetas", values)
    slopes = (values[:n] - values[n:]) / (2.0 * mu)
    vector = combine(slopes, units)
    if _is_orthogonal(units):
        return Gradient(vector, _block_error(slopes, units))
    if n == 1:
        return Gradient(vector, float("nan"))
    return Gradient(vector, float(np.sqrt(np.sum((d * slopes[:, None] * units - vector) ** 2) / (n * (n - 1)))))


def combine(slopes: FloatArray, directions: FloatArray) -> FloatArray:
    """Sum the slopes along their directions: (d / n) sum_i s_i v_i.

    Args:
        slopes: derivatives along the directions [n].
        directions: unit vectors [n, d].

    Returns:
        the gradient [d].
    """
    n, d = directions.shape
    return np.sum((d / n) * slopes[:, None] * directions, axis=0)


@checks_kinds
def with_batch_error(
    gradient: Gradient,
    risk: RiskMeasure,
    values: FloatArray,
    weights: FloatArray,
    directions: FloatArray,
    smoothing: float,
) -> Gradient:
    """Give a gradient from one batch whose error combines that over directions with that over episodes.

    The error over directions counts as 0 where they are a full basis, and it is NaN for a single one of several. The
    other arguments are those of `batch_error`.
    """
    n, d = directions.shape
    between = 0.0 if n == d and np.isnan(gradient.standard_error) else gradient.standard_error
    own = batch_error(risk, values, weights, directions, smoothing)
    return Gradient(gradient.vector, float(np.hypot(between, own)))


@checks_kinds
def batch_error(
    risk: RiskMeasure, values: FloatArray, weights: FloatArray | None, directions: FloatArray, smoothing: float
) -> float:
    """Estimate the standard error of a smoothed gradient over its episodes.

    The episodes of every perturbed policy are cut into the same groups: 8, or fewer so that each has at least 4
    episodes. Each group gives a gradient along the same directions, and the spread of these gradients gives the error
    of the whole. With one batch for all perturbed policies this is the part of the error that the directions cannot
    show. With fewer than d directions it is a little too large, since it also contains the noise that the choice of
    directions adds.

    Args:
        risk: the measure.
        values: returns [2n, m], or [m] for one batch; rows i and n + i are the + and - of direction i.
        weights: ratios [2n, m] of one reweighted batch; None where each perturbed policy acted.
        directions: unit vectors [n, d].
        smoothing: mu.

    Returns:
        the standard error; NaN below 8 episodes.
    """
    m, n = values.shape[-1], len(directions)
    groups = min(ERROR_GROUPS, m // SMALLEST_GROUP)
    if groups < 2:
        return float("nan")
    gradients: list[FloatArray] = []
    for g in range(groups):
        span = slice(m * g // groups, m * (g + 1) // groups)
        found = risk.estimate(values[..., span], None if weights is None else weights[..., span])
        gradients.append(combine((found[:n] - found[n:]) / (2.0 * smoothing), directions))
    table = np.stack(gradients)
    return float(np.sqrt(np.sum((table - np.mean(table, axis=0)) ** 2) / (groups * (groups - 1))))


def _check_arguments(theta: ArrayLike, directions: ArrayLike, smoothing: float) -> tuple[FloatArray, FloatArray, float]:
    center, units = as_reals("theta", theta), as_reals("directions", directions)
    if center.ndim != 1 or not np.all(np.isfinite(center)):
        raise InputError("theta", "be a finite vector", theta)
    if units.ndim != 2 or units.shape[0] < 1 or units.shape[1] != center.size:
        raise InputError("directions", f"have shape (n, {center.size})", units.shape)
    lengths = np.sqrt(np.sum(units * units, axis=1))
    if not np.all(np.abs(lengths - 1.0) <= UNIT_TOLERANCE):
        raise InputError("directions", "be unit vectors", f"a norm of {lengths[np.argmax(np.abs(lengths - 1.0))]}")
    return center, units, check_smoothing("smoothing", smoothing)


def _is_orthogonal(directions: FloatArray) -> bool:
    """Say whether every block of d consecutive directions is orthogonal; False for a single direction."""
    n, d = directions.shape
    if n < 2:
        return False
    blocks = (directions[start : start + d] for start in range(0, n, d))
    # the answer affects the reported error only, so a BLAS product, whose last bits may differ by machine, is safe
    return all(np.allclose(b @ b.T, np.eye(len(b)), rtol=0.0, atol=ORTHOGONAL_TOLERANCE) for b in blocks)


def _block_error(slopes: FloatArray, directions: FloatArray) -> float:
    """Compute the standard error of the estimate from independent blocks of orthogonal directions.

    The estimate is the average of the block estimates E_b, weighted by r_b / n. A whole block has variance N, from the
    noise in the values alone. A block of r < d directions has variance S + N, where S = (1 - r / d) d^2 sum s^2 / r^2:
    its noise has variance N d / r, of which S already contains N (d / r - 1). With one whole block and a shorter one, N
    is estimated as half of ||E_1 - E_2||^2 - S; a negative total variance is set to 0, so that it is then a little too
    large on average.
    """
    n, d = directions.shape
    whole, rest = divmod(n, d)
    if n == d:
        return float("nan")
    estimates = [combine(slopes[i : i + d], directions[i : i + d]) for i in range(0, n, d)]
    tail = slopes[whole * d :]
    sampling = (1.0 - rest / d) * (d / rest) ** 2 * float(np.sum(tail * tail)) if rest else 0.0
    noise = 0.0
    if whole >= 2:
        full = np.stack(estimates[:whole])
        noise = float(np.sum((full - np.mean(full, axis=0)) ** 2)) / (whole - 1)
    elif whole == 1:
        noise = (float(np.sum((estimates[0] - estimates[1]) ** 2)) - sampling) / 2.0
    variance = whole * (d / n) ** 2 * noise + (rest / n) ** 2 * (sampling + noise)
    return float(np.sqrt(max(0.0, variance)))

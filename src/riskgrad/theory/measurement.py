"""Measured constants of a model, to compare with the guaranteed ones: by search and sampling on the exact model.

A constant bounds a quantity at all parameters; here the quantity is measured at some, which gives a number below the
constant. Parameters with a long gradient are found by random search, first everywhere and then near the best so far.
There the curvature is measured along some unit vectors, the errors of estimates by sampling, and the bias and variance
of the smoothed gradient by averaging over unit vectors. The linear part of the risk is averaged exactly, since the
noise of its average would hide the bias.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from riskgrad.checks import check_count
from riskgrad.exact import gradient, return_law, value
from riskgrad.gradient import sphere
from riskgrad.mdp import FiniteMDP
from riskgrad.policy import Policy
from riskgrad.random import Purpose, Stream
from riskgrad.risk import RiskMeasure
from riskgrad.sources import TabularSource
from riskgrad.types import FloatArray
from riskgrad.weights import log_ratios

EPISODES = 16
REPEATS = 2000
SCALES = (0.5, 1.5, 4.0)
CLIMB = 0.5
STEP = 1e-3
MAX_ATOMS = 1_000_000  # of an exact law; a search over larger ones takes too long

Sampling = Literal["on-policy", "uniform", "current"]  # whose episodes the estimates use


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Measured counterparts of the constants.

    Attributes:
        theta: the parameters with the longest gradient found [d].
        slope: the length of that gradient.
        curvature: the largest rate at which the gradient changes along a unit vector at theta.
        error: m times the mean squared error of estimates from m = 16 episodes, at theta, or at a distance of mu from
            it for the sampling "current"; None without a sampling.
        ratio: the largest importance ratio of the sampled episodes, 1 on policy; None without a sampling.
        smoothing_bias: ||grad rho_mu - grad rho|| at theta.
        direction_variance: E||y||^2 of `gradient_bounds` for one direction at theta.
    """

    theta: FloatArray
    slope: float
    curvature: float
    error: float | None
    ratio: float | None
    smoothing_bias: float
    direction_variance: float


def measure(
    mdp: FiniteMDP,
    policy: Policy,
    risk: RiskMeasure,
    *,
    smoothing: float,
    sampling: Sampling | None = "on-policy",
    effort: int = 16,
    seed: int = 0,
) -> Measurement:
    """Measure the quantities that the constants of the theory bound.

    Args:
        mdp: the model, small enough for exact gradients.
        policy: a policy over its states.
        risk: a measure with an influence function.
        smoothing: mu, of the smoothed gradient; also the distance from theta for the sampling "current".
        sampling: the policy whose episodes the estimates use; None leaves out the error and the ratio.
        effort: how many parameter vectors to try in each of two rounds; also sets the number of unit vectors.
        seed: of all random numbers.
    """
    check_count("effort", effort)
    rng = Stream(seed, Purpose.EXAMPLE).generator()
    theta, slope = _steepest(mdp, policy, risk, effort, rng)
    units = sphere(rng, 4 * effort, policy.dim, orthogonal=True)
    bias, variance = _measure_smoothing(mdp, policy, risk, theta, smoothing, units)
    measured = _units_with_theta(units[: max(1, effort // 4)], theta)
    curvature = max(float(np.linalg.norm(_change(mdp, policy, risk, theta, unit))) for unit in measured)
    error, ratio = (
        (None, None) if sampling is None else _error(mdp, policy, risk, theta, smoothing * units[0], sampling, rng)
    )
    return Measurement(
        theta=theta,
        slope=slope,
        curvature=curvature,
        error=error,
        ratio=ratio,
        smoothing_bias=bias,
        direction_variance=variance,
    )


def _steepest(
    mdp: FiniteMDP, policy: Policy, risk: RiskMeasure, effort: int, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    best, length = np.zeros(policy.dim), -1.0
    for turn in range(2 * effort):
        start = best if turn >= effort else np.zeros(policy.dim)
        scale = CLIMB if turn >= effort else SCALES[turn % len(SCALES)]
        theta = start + scale * rng.standard_normal(policy.dim) * (turn > 0)
        found = float(gradient(mdp, policy, theta, risk, MAX_ATOMS).norm)
        if found > length:
            best, length = theta, found
    return best, length


def _units_with_theta(units: FloatArray, theta: FloatArray) -> FloatArray:
    """Add the unit vector of theta to others, unless theta is zero."""
    length = float(np.linalg.norm(theta))
    return np.concatenate([units, theta[None] / length]) if length > 0.0 else units


def _change(mdp: FiniteMDP, policy: Policy, risk: RiskMeasure, theta: FloatArray, unit: FloatArray) -> FloatArray:
    above, below = (gradient(mdp, policy, theta + sign * STEP * unit, risk, MAX_ATOMS).vector for sign in (1.0, -1.0))
    return (above - below) / (2.0 * STEP)


def _measure_smoothing(
    mdp: FiniteMDP, policy: Policy, risk: RiskMeasure, theta: FloatArray, smoothing: float, units: FloatArray
) -> tuple[float, float]:
    slope = gradient(mdp, policy, theta, risk, MAX_ATOMS).vector
    ahead, behind = (
        np.array([value(mdp, policy, theta + sign * smoothing * unit, risk) for unit in units]) for sign in (1.0, -1.0)
    )
    linear: FloatArray = np.sum(units * slope, axis=1)
    rest = (ahead - behind) / (2.0 * smoothing) - linear
    d = policy.dim
    bias = d * np.mean(rest[:, None] * units, axis=0)
    moment = d * float(np.sum(slope * slope)) + d * d * float(np.mean(rest * (rest + 2.0 * linear)))
    variance = max(0.0, moment - float(np.sum((slope + bias) ** 2)))
    return float(np.linalg.norm(bias)), variance


def _error(
    mdp: FiniteMDP,
    policy: Policy,
    risk: RiskMeasure,
    theta: FloatArray,
    move: FloatArray,
    sampling: Sampling,
    rng: np.random.Generator,
) -> tuple[float, float]:
    shape = (REPEATS, EPISODES)
    if sampling == "on-policy":
        law = return_law(mdp, policy.probabilities(theta, np.arange(mdp.n_states)))
        sample = rng.choice(law.values, size=shape, p=law.probabilities / np.sum(law.probabilities))
        return EPISODES * float(np.mean((risk.estimate(sample) - risk.value(law)) ** 2)), 1.0
    acting, target = (np.zeros(policy.dim), theta) if sampling == "uniform" else (theta, theta + move)
    stream = Stream(int(rng.integers(1 << 62)), Purpose.EXAMPLE)
    batch = TabularSource(mdp).record(policy, acting, REPEATS * EPISODES, stream)
    logs = log_ratios(policy, target[None], batch)[0]
    errors = risk.estimate(batch.values.reshape(shape), np.exp(logs).reshape(shape)) - value(mdp, policy, target, risk)
    return EPISODES * float(np.mean(errors * errors)), float(np.exp(np.max(logs)))

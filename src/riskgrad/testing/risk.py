"""The contract of a risk measure: what `estimate` and `value` must do, and that the declared axioms hold."""

import warnings
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from riskgrad.checks import check_count
from riskgrad.errors import ContractError, InputError
from riskgrad.kinds import checks_kinds
from riskgrad.risk import RiskMeasure
from riskgrad.types import DiscreteLaw, FloatArray

TOLERANCE = 1e-9
LARGE_SAMPLE = 200_000
GROUPS = 100
ERRORS_ALLOWED = 6.0  # standard errors; two-sided false alarm 2e-9 for a normal error

Case = tuple[FloatArray, FloatArray | None]
Sides = tuple[FloatArray, FloatArray]


@checks_kinds
def check_risk_measure(measure: RiskMeasure, seed: int = 0) -> None:
    """Check a risk measure against its contract; raise `ContractError` naming the first broken clause.

    Clauses: weights that are all one equal none; samples may be permuted; leading axes are independent rows; shared
    values broadcast over rows of weights; the declared axioms hold on random samples, ties and weights
    included; the exact value of a law is met by a large sample from it; bad input is a `ValueError`; the influence
    function is there if it is declared, and is the derivative of the exact value.

    Args:
        measure: the measure to check.
        seed: of the random samples; the same seed checks the same samples.
    """
    rng = np.random.default_rng(check_count("seed", seed, 0))
    for clause in (_weights, _permutation, _rows, _attitude, _axioms, _large_sample, _bad_input, _influence):
        clause(measure, rng)


def _weights(measure: RiskMeasure, rng: np.random.Generator) -> None:
    for values, _ in _cases(rng):
        ones = np.ones_like(values)
        _expect(
            measure, "weights that are all one equal none", measure.estimate(values, ones), measure.estimate(values)
        )


def _permutation(measure: RiskMeasure, rng: np.random.Generator) -> None:
    for values, weights in _cases(rng):
        order = rng.permutation(len(values))
        turned = measure.estimate(values[order], None if weights is None else weights[order])
        _expect(measure, "a permuted sample gives the same estimate", turned, measure.estimate(values, weights))


def _rows(measure: RiskMeasure, rng: np.random.Generator) -> None:
    values, weights = rng.normal(size=(2, 3, 7)), rng.exponential(size=(2, 3, 7))
    index = list(product(range(2), range(3)))
    together = np.asarray(measure.estimate(values, weights))
    if together.shape != (2, 3):
        raise ContractError(f"{measure}: estimate of values [2, 3, 7] must have shape (2, 3), got {together.shape}")
    alone = np.array([measure.estimate(values[i], weights[i]) for i in index]).reshape(2, 3)
    _expect(measure, "leading axes are independent rows", together, alone)
    shared = np.array([measure.estimate(values[0, 0], weights[i]) for i in index]).reshape(2, 3)
    _expect(measure, "shared values broadcast", measure.estimate(values[0, 0], weights), shared)


def _attitude(measure: RiskMeasure, rng: np.random.Generator) -> None:
    if "direction" not in measure.axioms:
        return
    for values, weights in _cases(rng):
        mean = np.average(values, weights=weights)
        excess = float(measure.estimate(values, weights) - mean)
        slack = TOLERANCE * (1.0 + np.abs(values).max() ** 2)
        high = measure.attitude in ("averse", "neutral") and excess > slack
        low = measure.attitude in ("seeking", "neutral") and excess < -slack
        if high or low:
            raise ContractError(f"{measure}: declared {measure.attitude}, but estimate - mean = {excess:g}")


def _axioms(measure: RiskMeasure, rng: np.random.Generator) -> None:
    for values, weights in _cases(rng):
        for axiom in sorted(measure.axioms - {"direction"}):
            left, right = _AXIOMS[axiom](lambda v, w=weights: measure.estimate(v, w), values, rng)
            if axiom == "monotonicity":
                left = np.minimum(left, right)
            _expect(measure, f"the declared axiom {axiom!r} holds", left, right)


def _large_sample(measure: RiskMeasure, rng: np.random.Generator) -> None:
    law = DiscreteLaw([-3.0, -0.5, 0.25, 1.0, 2.0], [0.1, 0.2, 0.3, 0.25, 0.15])
    sample = rng.choice(law.values, size=(GROUPS, LARGE_SAMPLE // GROUPS), p=law.probabilities)
    parts = np.asarray(measure.estimate(sample))
    error = float(np.std(parts, ddof=1) / np.sqrt(GROUPS))
    estimate, exact = float(measure.estimate(sample.reshape(-1))), float(measure.value(law))
    if not abs(estimate - exact) <= ERRORS_ALLOWED * error + TOLERANCE:
        raise ContractError(f"{measure}: value of a law is {exact:g}, a sample of {LARGE_SAMPLE} gives {estimate:g}")


def _bad_input(measure: RiskMeasure, rng: np.random.Generator) -> None:
    del rng
    bad: list[tuple[str, list[float], list[float] | None]] = [
        ("an empty sample", [], None),
        ("a NaN return", [1.0, np.nan, 2.0], None),
        ("an infinite return", [1.0, np.inf, 2.0], None),
        ("a negative weight", [1.0, 2.0, 3.0], [1.0, -1.0, 1.0]),
        ("a NaN weight", [1.0, 2.0, 3.0], [1.0, np.nan, 1.0]),
        ("weights that are all zero", [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]),
        ("weights of another length", [1.0, 2.0, 3.0], [1.0, 1.0]),
    ]
    for what, values, weights in bad:
        try:
            with warnings.catch_warnings(action="ignore"):
                measure.estimate(values, weights)
        except ValueError:
            continue
        raise ContractError(f"{measure}: {what} must be a ValueError; riskgrad.risk.check_sample refuses it for you")


def _influence(measure: RiskMeasure, rng: np.random.Generator) -> None:
    atoms, masses = np.sort(rng.normal(size=6)), rng.dirichlet(np.full(6, 5.0))
    if not measure.has_influence:
        try:
            measure.influence(atoms, masses)
        except InputError:
            return
        raise ContractError(f"{measure}: has an influence function, but declares has_influence = False")
    toward = rng.dirichlet(np.full(6, 5.0)) - masses
    step = 1e-6
    ahead, behind = (measure.value(DiscreteLaw(atoms, masses + sign * step * toward)) for sign in (1, -1))
    slope = float(np.sum(measure.influence(atoms, masses) * toward))
    if not abs((ahead - behind) / (2 * step) - slope) <= 1e-6 * (1.0 + abs(slope)):
        raise ContractError(
            f"{measure}: influence gives slope {slope:g}, the exact value {(ahead - behind) / 2 / step:g}"
        )


def _translation(rho: Callable[[FloatArray], FloatArray], values: FloatArray, rng: np.random.Generator) -> Sides:
    shift = float(rng.normal(scale=10.0))
    return rho(values + shift), rho(values) + shift


def _homogeneity(rho: Callable[[FloatArray], FloatArray], values: FloatArray, rng: np.random.Generator) -> Sides:
    factor = float(rng.exponential(3.0))
    return rho(factor * values), factor * rho(values)


def _monotonicity(rho: Callable[[FloatArray], FloatArray], values: FloatArray, rng: np.random.Generator) -> Sides:
    return rho(values + rng.exponential(size=values.shape)), rho(values)


def _comonotone(rho: Callable[[FloatArray], FloatArray], values: FloatArray, rng: np.random.Generator) -> Sides:
    other = np.sort(rng.normal(size=values.shape))[np.argsort(np.argsort(values))]
    return rho(values + other), rho(values) + rho(other)


_AXIOMS = {
    "translation": _translation,
    "homogeneity": _homogeneity,
    "monotonicity": _monotonicity,
    "comonotone-additivity": _comonotone,
}


def _cases(rng: np.random.Generator) -> Iterator[Case]:
    """Give samples of several sizes, with ties, signs and weights (some of them zero)."""
    for size in (2, 3, 10, 101):
        smooth, tied = rng.normal(scale=5.0, size=size), rng.integers(-2, 3, size=size).astype(np.float64)
        weights = rng.exponential(size=size) * (rng.random(size) < 0.8)
        weights[:2] += 0.1
        for values in (smooth, tied, np.full(size, -1.5)):
            yield values, None
            yield values, weights


def _expect(measure: RiskMeasure, clause: str, left: FloatArray, right: FloatArray) -> None:
    if not np.allclose(left, right, rtol=TOLERANCE, atol=TOLERANCE):
        raise ContractError(f"{measure}: {clause}: got {np.max(np.abs(left - right)):.3g} of difference")

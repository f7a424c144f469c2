"""Exact expectations over all samples, written without the project's estimators."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np

Outcome = tuple[Fraction, Fraction, Fraction]  # probability under b, return, ratio psi


def samples(outcomes: list[Outcome], m: int) -> Iterator[tuple[Fraction, list[Fraction], list[Fraction]]]:
    """Every ordered sample of size m with its probability, returns and ratios."""
    for drawn in product(outcomes, repeat=m):
        probability = Fraction(1)
        for chance, _, _ in drawn:
            probability *= chance
        yield probability, [value for _, value, _ in drawn], [ratio for _, _, ratio in drawn]


def expectation(function: Callable[[list[Fraction], list[Fraction]], float], outcomes: list[Outcome], m: int) -> float:
    """E[function(values, weights)] by enumeration."""
    return sum(float(p) * float(function(values, weights)) for p, values, weights in samples(outcomes, m))


def two_point(pi: float, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All samples of R in {0, 1} under a fair b up to order: binomial masses [m + 1], values and ratios [m + 1, m]."""
    ones = np.arange(m + 1)
    masses = np.array([comb(m, k) / 2**m for k in ones])
    values = (np.arange(m)[np.newaxis] >= m - ones[:, np.newaxis]).astype(float)
    return masses, values, np.where(values > 0, 2 * pi, 2 * (1 - pi))


def distorted_sum(g: Callable[[Fraction], Fraction], values: list[Fraction], weights: list[Fraction]) -> Fraction:
    """The self-normalized estimate from its definition: an integral over the steps of the weighted law."""
    total = sum(weights)
    result = Fraction(0)
    for i, (value, _) in enumerate(order := sorted(zip(values, weights, strict=True))):
        above = sum((w for _, w in order[i:]), Fraction(0)) / total
        beyond = sum((w for _, w in order[i + 1 :]), Fraction(0)) / total
        result += value * (g(above) - g(beyond))
    return result


def literal_sum(g: Callable[[Fraction], Fraction], values: list[Fraction], weights: list[Fraction]) -> Fraction:
    """`eq:hat_rho_H1` as printed."""
    m = len(values)
    order = sorted(zip(values, weights, strict=True))

    def level(count: int) -> Fraction:
        return g(1 - min(Fraction(1), sum((w for _, w in order[:count]), Fraction(0)) / m))

    first = order[0][0] + sum((order[i - 1][0] * level(i - 1) for i in range(2, m + 1)), Fraction(0))
    return first - sum((order[i - 1][0] * level(i) for i in range(1, m)), Fraction(0))


def integral_form(g: Callable[[float], float], values: np.ndarray, weights: np.ndarray, bound: float) -> float:
    """`eq:hat_rho_H` as printed: the integral over [-bound, bound] of the clipped weighted law."""
    order = np.argsort(values)
    ordered, ratios = np.asarray(values, float)[order], np.asarray(weights, float)[order]
    knots = np.concatenate([[-bound], ordered, [bound]])
    heights = np.minimum(1.0, np.concatenate([[0.0], np.cumsum(ratios) / len(ratios)]))
    return float(-bound + sum((knots[i + 1] - knots[i]) * g(1.0 - heights[i]) for i in range(len(heights))))

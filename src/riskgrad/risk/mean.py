"""The mean of the return: the neutral measure."""

from dataclasses import dataclass, field, replace
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import check_word
from riskgrad.distortion import DistortionFunction
from riskgrad.risk.base import EVERY_AXIOM, Axiom, RiskMeasure
from riskgrad.risk.sample import check_sample, mean_of_products
from riskgrad.risk.smoothness import Constants, Smoothness, mean_smoothness, weighted_mean_error
from riskgrad.types import DiscreteLaw, FloatArray, IntArray


@final
@dataclass(frozen=True)
class Mean(RiskMeasure):
    """E[R], what risk-neutral training maximizes.

    Attributes:
        estimator: with weights, "self-normalized" (default) is sum psi R / sum psi; "unbiased" is `eq:Jm_b`, the mean
            of psi R, which moves by c times the mean weight when every return moves by c.
    """

    name = "mean"
    example = "mean"
    has_influence = True
    attitude = "neutral"
    variance_price = 0.0
    estimator: Literal["self-normalized", "unbiased"] = field(default="self-normalized", kw_only=True)

    def __post_init__(self) -> None:
        check_word("estimator", self.estimator, ["self-normalized", "unbiased"])

    @property
    def axioms(self) -> frozenset[Axiom]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Every axiom; the unbiased estimator lacks direction and translation, since it scales with the mean weight."""
        return EVERY_AXIOM if self.estimator == "self-normalized" else EVERY_AXIOM - {"direction", "translation"}

    @property
    def estimator_name(self) -> str:
        """Which of its estimators is used."""
        return self.estimator

    def estimate(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """Estimate the mean of each row [...]."""
        sample = check_sample(values, weights)
        if sample.weights is not None and self.estimator == "unbiased":
            return mean_of_products(sample)
        return sample.mean()

    def value(self, law: DiscreteLaw) -> float:
        """Give the exact mean."""
        return law.mean

    def estimate_counts(self, values: FloatArray, counts: IntArray) -> FloatArray:
        """Estimate the mean of each sample [rows]."""
        return check_sample(values, counts).mean()

    def influence(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """Give the returns themselves [..., m]."""
        sample = check_sample(values, weights)
        return np.broadcast_to(sample.values, (*sample.shape, sample.size)).copy()

    def smoothness(self, problem: Constants, *, off_policy: bool = False, literal: bool = False) -> Smoothness:
        """Give the constants of `lm:est_error_mvrm_pi` and `lm:lip_rho_lambda` at lambda = 0, or sharp ones."""
        found = mean_smoothness(problem, off_policy=off_policy, literal=literal)
        if literal or not off_policy or self.estimator == "self-normalized":
            return found
        return replace(found, error=weighted_mean_error(problem), bias=0.0)

    def along(self, weight: float, start: DistortionFunction | None = None) -> "Mean":
        """Give the mean again."""
        del weight, start
        return self

    @property
    def meaning(self) -> str:
        """What it is in plain words."""
        return "the mean return"

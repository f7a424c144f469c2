"""What a risk measure is: a number for a law of the return, and an estimate of it from episodes.

A measure sees only returns and importance weights. With no weights `estimate` is the on-policy estimator; with weights
it is the off-policy one; weights that are all equal give the on-policy value, so there is one `estimate`, not two.

To add a measure: one file in this folder with a final subclass of `RiskMeasure` that has `estimate` and `value`. It is
then a name of `riskgrad.risk`, in `parse`, the command line, the docs and the contract tests. A measure of your own
that lives elsewhere joins by `rg.register`; `riskgrad.testing.check_risk_measure` says whether it keeps what it
declares. A measure that also has `influence` can be trained by score gradients and gets exact gradients on finite MDPs;
one with `smoothness` gets the guarantees of `riskgrad.theory`.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, cast, final, get_args

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import as_reals, check_share
from riskgrad.distortion import Attitude, DistortionFunction
from riskgrad.errors import InputError, UnknownNameError
from riskgrad.kinds import checks_kinds
from riskgrad.markup import html_table
from riskgrad.registry import PartList, demand_example, write_name
from riskgrad.risk.sample import check_sample
from riskgrad.risk.smoothness import Constants, Smoothness, mean_smoothness, mix_smoothness
from riskgrad.types import DiscreteLaw, FloatArray, IntArray

Axiom = Literal["direction", "translation", "homogeneity", "monotonicity", "comonotone-additivity"]

ERROR_GROUPS = 8
SMALLEST_GROUP = 4
EVERY_AXIOM: frozenset[Axiom] = frozenset(get_args(Axiom))


class RiskMeasure(ABC):
    """A risk measure of the return; larger is better.

    Attributes:
        name: how `parse` and the command line call it; empty for measures that no string can build.
        example: a string that `parse` turns into such a measure.
        attitude: "averse" if never above the mean, "seeking" if never below, "neutral" if equal, else "mixed".
        axioms: which of these hold for the estimate on every sample, for any weights:
            direction averse <= mean <= seeking, translation rho(R + c) = rho(R) + c, homogeneity rho(cR) = c rho(R)
            for c > 0, monotonicity R <= R' => rho(R) <= rho(R'), comonotone-additivity rho(R + R') = rho(R) + rho(R')
            when R and R' are ordered alike.
        has_influence: whether `influence` is defined, which score gradients and exact gradients need.
        function: the distortion g, for a measure that is the distortion of the law; None for others.
        bad_tail: the mass of the bad tail, for a measure that depends on it alone; None for others.
        variance_price: lambda, for a measure that is J - lambda V; None for others.
    """

    name: ClassVar[str] = ""
    example: ClassVar[str] = ""
    attitude: Attitude
    axioms: frozenset[Axiom] = frozenset()
    has_influence: bool = False
    function: DistortionFunction | None = None
    bad_tail: float | None = None
    variance_price: float | None = None

    def __init_subclass__(cls) -> None:
        demand_example(cls)

    def __str__(self) -> str:
        own = {name: value for name, value in vars(self).items() if name not in ("attitude", "estimator")}
        if not self.name or not all(isinstance(value, int | float) for value in own.values()):
            return repr(self)
        return write_name(self.name, *own.values(), "seeking" if self.attitude == "seeking" else "")

    @classmethod
    def builders(cls) -> dict[str, tuple[Callable[..., "RiskMeasure"], str]]:
        """Give the names by which a string builds such a measure, each with what builds it and an example."""
        return {cls.name: (cls, cls.example)} if cls.name else {}

    def _repr_html_(self) -> str:
        about = inspect.getdoc(type(self)) or ""
        return html_table([("attitude", self.attitude)], title=str(self), notes=about.splitlines()[:1])

    @abstractmethod
    def estimate(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """Estimate the measure from samples.

        Args:
            values: returns [..., m].
            weights: importance weights psi [..., m], or None when the policy itself acted. Leading axes broadcast.

        Returns:
            the estimate, one number for each leading index [...].
        """

    @abstractmethod
    def value(self, law: DiscreteLaw) -> float:
        """Give the measure of an exact law."""

    def influence(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """Give the derivative of the estimate with respect to each sample's mass, up to one constant per row [..., m].

        With Z the score of an episode, grad rho = E[influence(R) Z]; on an exact law pass its values and probabilities.
        """
        del values, weights
        raise InputError(
            "risk",
            "have an influence function for this gradient",
            str(self),
            "use onp-sf or offp-sf, which need only estimates",
        )

    def standard_error(self, values: FloatArray, weights: FloatArray | None = None) -> float:
        """Estimate the standard error of the estimate from a batch.

        It is computed from the influence I_i of each episode: with p_i = psi_i / sum psi the variance of the estimate
        is about sum p_i^2 (I_i - sum p_j I_j)^2. Without an influence, up to 8 groups of episodes are compared.

        Args:
            values: returns [m]; or [2n, m] of n pairs whose estimates are averaged, rows i and n + i from the same
                random numbers.
            weights: psi [m]; None where the policy itself acted, and for pairs.

        Returns:
            the error; NaN where there are too few episodes.
        """
        if self.has_influence:
            return error_of_mean(self.influence(values, weights), weights)
        m = values.shape[-1]
        groups = min(ERROR_GROUPS, m // SMALLEST_GROUP)
        if groups < 2:
            return float("nan")
        cuts = [slice(m * g // groups, m * (g + 1) // groups) for g in range(groups)]
        parts = [self.estimate(values[..., cut], None if weights is None else weights[..., cut]) for cut in cuts]
        found = np.array([float(np.mean(part)) for part in parts])
        return float(np.std(found, ddof=1) / np.sqrt(groups))

    def smoothness(self, problem: Constants, *, off_policy: bool = False, literal: bool = False) -> Smoothness:
        """Give the constants of `as:mse`, `as:lip` and `as:smooth`, from which `riskgrad.theory` makes a guarantee.

        Args:
            problem: what is known of the model and the policies.
            off_policy: whether the estimate is weighted.
            literal: the constants as the paper states them, instead of the sharp ones.
        """
        del problem, off_policy, literal
        raise InputError(
            "risk",
            "bring its own constants for a guarantee",
            str(self),
            "give your measure a method smoothness(problem, *, off_policy, literal)",
        )

    def estimate_counts(self, values: FloatArray, counts: IntArray) -> FloatArray:
        """Estimate from unweighted samples that are given as counts of each return, such as bootstrap resamples.

        Args:
            values: distinct returns [K].
            counts: how often each is in each sample [rows, K]; all rows have the same sum.

        Returns:
            the estimate of each sample [rows].
        """
        return np.array([float(self.estimate(np.repeat(values, row))) for row in counts])

    def episodes_counted(self, size: int) -> float:
        """Give how many of m episodes the estimate depends on: by default all, and alpha m for CVaR(alpha)."""
        return float(size)

    @property
    def estimator_name(self) -> str | None:
        """Which of its estimators a measure with several uses; None for others."""
        return None

    @property
    def meaning(self) -> str:
        """What the measure is in plain words, to follow "trained on"."""
        return str(self)

    def along(self, weight: float, start: DistortionFunction | None = None) -> "RiskMeasure":
        """Give (1 - weight) times a milder measure plus weight times this one: a point on the path to this one.

        Args:
            weight: the weight of this measure, in [0, 1].
            start: the distortion from which a distortion measure comes; None for the mean, as for all other measures.
        """
        del start
        return Blend(self, weight)


@final
@dataclass(frozen=True)
class Blend(RiskMeasure):
    """(1 - w) times the mean plus w times another measure.

    Attributes:
        measure: the measure at the end of the path.
        weight: w in [0, 1].
    """

    measure: RiskMeasure
    weight: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", check_share("weight", self.weight))

    @property
    def attitude(self) -> Attitude:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The attitude of the measure, neutral at weight 0."""
        return self.measure.attitude if self.weight > 0.0 else "neutral"

    @property
    def axioms(self) -> frozenset[Axiom]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the measure declares, since the mean keeps every axiom."""
        return self.measure.axioms

    @property
    def has_influence(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the measure has an influence."""
        return self.measure.has_influence

    @property
    def variance_price(self) -> float | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The weight times the price of the measure."""
        price = self.measure.variance_price
        return None if price is None else self.weight * price

    def estimate(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """Estimate the mean and the measure, and mix the estimates."""
        sample = check_sample(values, weights)
        return (1.0 - self.weight) * sample.mean() + self.weight * self.measure.estimate(values, weights)

    def value(self, law: DiscreteLaw) -> float:
        """Mix the exact values."""
        return (1.0 - self.weight) * law.mean + self.weight * self.measure.value(law)

    def influence(self, values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
        """Mix the influences; that of the mean is the return itself."""
        returns = as_reals("values", values)
        return (1.0 - self.weight) * returns + self.weight * self.measure.influence(values, weights)

    def estimate_counts(self, values: FloatArray, counts: IntArray) -> FloatArray:
        """Estimate the mean and the measure of each sample, and mix the estimates."""
        mean = check_sample(values, counts).mean()
        return (1.0 - self.weight) * mean + self.weight * self.measure.estimate_counts(values, counts)

    def smoothness(self, problem: Constants, *, off_policy: bool = False, literal: bool = False) -> Smoothness:
        """Mix the constants of both; for the error, mix its square root."""
        neutral = mean_smoothness(problem, off_policy=off_policy, literal=literal)
        measure = self.measure.smoothness(problem, off_policy=off_policy, literal=literal)
        return mix_smoothness(neutral, measure, self.weight)


MEASURES = PartList("risk", RiskMeasure, "riskgrad.risk")


def error_of_mean(shares: FloatArray, weights: FloatArray | None) -> float:
    """Give the standard error of the mean of influences [m], or of n pairs of rows [2n, m]; NaN below two episodes."""
    if shares.shape[-1] < 2:
        return float("nan")
    with np.errstate(over="ignore", invalid="ignore"):  # an error may overflow to inf or NaN
        return _root_mean_error(shares, weights)


def _root_mean_error(shares: FloatArray, weights: FloatArray | None) -> float:
    if weights is not None:
        p = weights / np.sum(weights)
        return float(np.sqrt(np.sum((p * (shares - np.sum(p * shares))) ** 2)))
    # + and - of a pair share their random numbers: what counts is their mean, episode by episode
    half = len(shares) // 2
    paired = (shares[:half] + shares[half:]) / 2.0 if shares.ndim == 2 else shares[np.newaxis]
    variances = np.var(paired, axis=-1, ddof=1) / shares.shape[-1]
    return float(np.sqrt(np.sum(variances)) / len(paired))


@checks_kinds
def builders() -> dict[str, tuple[Callable[..., RiskMeasure], str]]:
    """Give every name that `parse` knows, with what builds its measure and an example."""
    found: dict[str, tuple[Callable[..., RiskMeasure], str]] = {}
    for measure in MEASURES.parts():
        found |= measure.builders()
    return found


def parse_several(name: str, given: object) -> list[RiskMeasure]:
    """Give the measures that one measure, its name, or several of these stand for.

    Args:
        name: the argument, in the user's words.
        given: what the user passed.
    """
    if isinstance(given, str | RiskMeasure):
        return [parse(given)]
    if not isinstance(given, Iterable):
        raise InputError(name, "be a risk measure, or a list of them", given)
    return [parse(one) for one in cast("Iterable[str | RiskMeasure]", given)]


@checks_kinds
def parse(risk: str | RiskMeasure) -> RiskMeasure:
    """Turn a string into a risk measure; a measure is given back as it is.

    A string is a name, its numbers and, at the end, the attitude if it is not the default; `str(measure)` gives it
    back. The names are those of the measures and, for the distortion measure of a family, those of the distortions.

    Args:
        risk: `name[:number...][:averse|seeking]`, for instance "cvar:0.05" or "exponential:3:seeking".
    """
    if isinstance(risk, RiskMeasure):
        return risk
    if not isinstance(risk, str) or not risk.strip():
        raise InputError("risk", "be a string such as 'cvar:0.1' or a risk measure", risk)
    name, *words = risk.strip().lower().split(":")
    known = builders()
    if name not in known:
        raise UnknownNameError("risk", name, known, "for example 'cvar:0.1', 'mean-variance:0.5', 'dual-power:2'")
    build, example = known[name]
    attitude = {"attitude": words.pop()} if words and words[-1].isalpha() and words[-1] not in ("inf", "nan") else {}
    try:
        numbers = [float(word) for word in words]
        inspect.signature(build).bind(*numbers, **attitude)
    except (ValueError, TypeError) as error:
        raise InputError("risk", f"look like {example!r}", risk) from error
    return build(*numbers, **attitude)
